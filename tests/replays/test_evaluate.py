"""Evaluation: a fixed arm, tables, what was learnt before; and that nothing is seen that must not be."""

import dataclasses
import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import thrifty
from tests.support.chance import SIGMAS
from thrifty.errors import ThriftyError
from thrifty.replays import evaluate as evaluations
from thrifty.replays import targets
from thrifty.replays.estimators import ESTIMATORS

MEANS, SHARES = np.array([0.6, 0.4, 0.3, 0.5]), np.array([0.1, 0.4, 0.3, 0.2])
BETA = thrifty.ThompsonSampling(law="beta")


def synthetic(seed: int, rows: int) -> dict[str, Any]:
    rng = np.random.default_rng([33, seed])
    arm = rng.choice(4, rows, p=SHARES)
    return {"arm": arm, "reward": (rng.random(rows) < MEANS[arm]) * 1.0, "propensity": SHARES[arm]}


def test_a_fixed_arm_a_table_rows_and_a_column_are_one_thing() -> None:
    log, shares = synthetic(0, 800), np.array([0.5, 0.2, 0.0, 0.3])
    by_arm, by_table = thrifty.evaluate(log, arm=1), thrifty.evaluate(log, probabilities={1: 1.0})
    assert by_arm == dataclasses.replace(by_table, policy="arm 1")
    for name in ESTIMATORS:
        table = thrifty.evaluate(log, probabilities=dict(enumerate(shares)), estimator=name, arms=4)
        rows = thrifty.evaluate(log, probabilities=np.tile(shares, (800, 1)), estimator=name, arms=4)
        assert rows.value == pytest.approx(table.value, abs=1e-12)
        assert rows.interval == pytest.approx(table.interval, abs=1e-9)
        assert table.probabilities == pytest.approx({0: 0.5, 1: 0.2, 3: 0.3})
        if name in ("direct", "dr"):
            continue
        column = thrifty.evaluate({**log, "new": shares[log["arm"]]}, estimator=name, target_column="new")
        assert column.value == pytest.approx(table.value, abs=1e-12)
        assert column.interval == pytest.approx(table.interval, abs=1e-9)
        assert column.probabilities == {}


def test_the_log_itself() -> None:
    """Its own probabilities make every weight 1, and every estimator but direct's the mean of the log."""
    log = synthetic(1, 500)
    for name in ESTIMATORS:
        found = thrifty.evaluate(log, probabilities=dict(enumerate(SHARES)), estimator=name)
        assert found.logged == pytest.approx(log["reward"].mean())
        if name not in ("direct", "dr"):
            assert found.value == pytest.approx(found.logged)
        assert abs(found.value - found.logged) < 0.05
        assert found.effective == pytest.approx(500)
        if name == "snips":
            assert found.interval == pytest.approx(found.logged_interval, rel=0.01)


def test_rows_of_probabilities_follow_the_rows_of_the_source(tmp_path: Path) -> None:
    """Also if rows are sorted by time, left out, or no rows at all."""
    path = tmp_path / "log.csv"
    path.write_text(
        "time,arm,reward,propensity\n3,a,1,0.5\n2,b,1,0.25\n1,a,nan,0.5\n\n0,a,0,0.5,9\n1,b,0,0.5\n"
    )
    given = [[0.9, 0.1], [0.8, 0.2], [0.5, 0.5], [0.5, 0.5], [0.3, 0.7]]
    found = thrifty.evaluate(path, probabilities=given, arms=["a", "b"], estimator="ips")
    assert found.value == pytest.approx((0.9 / 0.5 + 0.2 / 0.25 + 0.0) / 3)
    assert (found.rows, found.bad) == (3, 2)


def test_memory_is_of_rows_and_of_arms_not_of_their_product() -> None:
    rows, arms = 20_000, 1000
    arm = np.arange(rows) % arms
    log = thrifty.read_log({"arm": arm, "reward": np.zeros(rows), "propensity": np.full(rows, 1e-3)}, arms)
    tracemalloc.start()
    try:
        for name in ESTIMATORS:
            thrifty.evaluate(log, arm=3, estimator=name)
        assert tracemalloc.get_traced_memory()[1] < rows * arms
    finally:
        tracemalloc.stop()


def test_rewards_in_another_range() -> None:
    log = synthetic(2, 600)
    scaled = log | {"reward": 10.0 * log["reward"] - 4.0}
    for name in ESTIMATORS:
        unit = thrifty.evaluate(log, arm=3, estimator=name)
        found = thrifty.evaluate(scaled, arm=3, estimator=name, reward_range=(-4.0, 6.0))
        assert found.value == pytest.approx(10.0 * unit.value - 4.0)
        assert found.interval == pytest.approx([10.0 * end - 4.0 for end in unit.interval])
        assert -4.0 <= found.interval[0] < found.interval[1] <= 6.0


def test_an_arm_that_the_log_hardly_ever_has() -> None:
    """Weights of 1,000: estimates may leave the range, and intervals do not."""
    arm = [0] * 998 + [1] * 2
    log = {"arm": arm, "reward": [0] * 998 + [1, 1], "propensity": [0.9999] * 998 + [1e-4] * 2}
    found = {name: thrifty.evaluate(log, arm=1, estimator=name, trust=True) for name in ESTIMATORS}
    assert found["ips"].value == pytest.approx(20.0)
    for one in found.values():
        assert 0.0 <= one.interval[0] < one.interval[1] <= 1.0
        assert one.interval[1] - one.interval[0] > 0.5
    assert found["clipped"].bias == pytest.approx(2.0 * (1e4 - math.sqrt(1000)) / 1000)
    assert "too low by up to 20, which is in the interval" in str(found["clipped"])


def test_what_the_log_never_has_is_not_known() -> None:
    """Its probability is 0 in every row of the log: there is no value, and the interval is the range."""
    log = {"arm": ["a", "b"] * 5, "reward": [1, 0] * 5, "propensity": [0.5] * 10, "new": [0.0] * 10}
    found = thrifty.evaluate(log, target_column="new", estimator="ips")
    assert math.isnan(found.value)
    assert found.interval == (0.0, 1.0)
    assert str(found).splitlines()[2].split() == ["the", "target", "ips", "-", "-", "0.00000", "1.00000", "0"]
    del log["new"]
    log["propensity"] = [1 / 3] * 10
    for name in ESTIMATORS:
        with pytest.raises(thrifty.InvalidValue, match="every arm that is evaluated must have rows"):
            thrifty.evaluate(log, arm="c", arms=list("abc"), estimator=name)


def test_probabilities_that_cannot_be_those_of_the_rows_arms_are_refused() -> None:
    """A column of ones, say, as the policy that is to be evaluated would not draw: weights of 4 or more."""
    log = synthetic(7, 300) | {"new": np.ones(300)}
    with pytest.raises(thrifty.InvalidValue, match=r"the mean of probability/propensity, .* must be about 1"):
        thrifty.evaluate(log, target_column="new", estimator="ips")
    assert thrifty.evaluate(log, target_column="new", estimator="ips", trust=True).value > 1.0
    for seed in range(50):  # right ones pass, also of an arm that is rare
        assert thrifty.evaluate(synthetic(seed, 200), arm=0, arms=4, estimator="ips").rows == 200


# Arms that come and go -------------------------------------------------------------------------------------


def test_arms_are_evaluated_where_they_were_there() -> None:
    """The best arm begins in the middle: its value is that of the rows since then, not half of it."""
    rng = np.random.default_rng(34)
    rows, half = 6000, 3000
    arm = np.r_[rng.integers(4, size=half), rng.integers(5, size=half)]
    means = np.array([0.3, 0.35, 0.4, 0.45, 0.5])
    log = {
        "arm": arm,
        "reward": (rng.random(rows) < means[arm]) * 1.0,
        "propensity": np.r_[np.full(half, 0.25), np.full(half, 0.2)],
    }
    with pytest.raises(thrifty.InvalidValue, match=r"the mean of 1/propensity is 4\.5, and should be 5"):
        thrifty.evaluate(log, arm=4)
    log["available"] = [[0, 1, 2, 3]] * half + [[0, 1, 2, 3, 4]] * half
    for name in ESTIMATORS:
        found = thrifty.evaluate(log, arm=4, estimator=name)
        assert found.rows == half
        assert abs(found.value - 0.5) < SIGMAS * found.error
        both = thrifty.evaluate(log, probabilities={0: 0.5, 4: 0.5}, estimator=name)
        assert (
            abs(both.value - (0.3 + 0.4) / 2.0) < SIGMAS * both.error
        )  # among themselves: 1 and 0, then halves
        assert both.probabilities == pytest.approx({0: 0.75, 4: 0.25})
    with pytest.raises(
        thrifty.InvalidValue, match="arms must be all of the log's, if those that are evaluated"
    ):
        thrifty.evaluate(log, arm=4, arms=[0, 1, 2, 4])


def test_what_was_learnt_is_asked_for_the_arms_that_are_there() -> None:
    """In the second part the best arm of the first one is gone, and a new one is there, to be tried first."""
    rng = np.random.default_rng(35)
    arm = np.r_[rng.integers(3, size=300), 1 + rng.integers(2, size=150), 1 + rng.integers(3, size=150)]
    means = np.array([0.9, 0.7, 0.1, 0.5])
    log = {
        "arm": arm,
        "reward": (rng.random(600) < means[arm]) * 1.0,
        "propensity": np.r_[np.full(300, 1 / 3), np.full(150, 0.5), np.full(150, 1 / 3)],
        "available": ["0|1|2"] * 300 + ["1|2"] * 150 + ["1|2|3"] * 150,
    }
    log["arm"] = [str(a) for a in arm]
    found = thrifty.evaluate(log, policy=BETA)
    assert found.probabilities == pytest.approx({"1": 0.5, "3": 0.5}, abs=0.01)


# Learning --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy", [BETA, thrifty.UCB1(), thrifty.TSMA(), thrifty.EpsilonGreedy(epsilon=0.1)], ids=str
)
def test_what_is_evaluated_on_is_not_learnt_from(policy: thrifty.Policy) -> None:
    """Labels of the second part, shuffled: the policy is the same. With others in the first: it is
    another one, and its estimate that of its table on the second part alone."""
    log, rng = synthetic(3, 1200), np.random.default_rng(36)
    found = thrifty.evaluate(log, policy=policy)
    assert found.rows == 600
    order = np.r_[np.arange(600), 600 + rng.permutation(600)]
    for other in (
        log | {"reward": log["reward"][order]},
        log | {"reward": np.r_[log["reward"][:600], 1.0 - log["reward"][600:]]},
        {name: column[order] for name, column in log.items()},
    ):
        again = thrifty.evaluate(other, policy=policy)
        assert again.probabilities == found.probabilities
    assert thrifty.evaluate({name: column[order] for name, column in log.items()}, policy=policy).value == (
        pytest.approx(found.value)
    )
    turned = np.r_[(log["arm"][:600] == 2) * 1.0, log["reward"][600:]]
    turned_one = thrifty.evaluate(log | {"reward": turned}, policy=policy)
    assert turned_one.probabilities != found.probabilities
    assert turned_one.logged == found.logged
    second = {name: column[600:] for name, column in log.items()}
    for one in (found, turned_one):  # what was learnt has no part in the estimate but by its table
        table = thrifty.evaluate(second, probabilities=one.probabilities)
        assert one.value == pytest.approx(table.value, abs=1e-9)
        assert one.interval == pytest.approx(table.interval, abs=1e-9)


def test_what_is_learnt_is_what_a_bandit_learns() -> None:
    """The shares of decisions after the same rewards, by hand."""
    log = synthetic(4, 200)
    found = thrifty.evaluate(log, policy=BETA, learn=0.25, arms=4)
    bandit = thrifty.Bandit(BETA, 4, seed=9)
    bandit.update_many(log["arm"][:50], log["reward"][:50])
    shares = np.zeros(4)
    for _ in range(targets.DRAWS):
        arm = bandit.select()
        bandit.cancel(arm)
        shares[arm] += 1.0 / targets.DRAWS
    for arm in range(4):
        error = math.sqrt(2.0 * shares[arm] * (1.0 - shares[arm]) / targets.DRAWS) + 1e-3
        assert abs(found.probabilities.get(arm, 0.0) - shares[arm]) < SIGMAS * error


def test_a_prior_of_what_learns() -> None:
    log = synthetic(5, 200)
    for best in range(4):
        means = [0.9 if arm == best else 0.1 for arm in (2, 0, 3, 1)]
        found = thrifty.evaluate(log, policy=thrifty.UCB1(), prior=(means, 1e9), arms=[2, 0, 3, 1])
        assert found.probabilities == {best: 1.0}


def test_policies_without_initial_pulls() -> None:
    log = synthetic(6, 200)
    assert thrifty.evaluate(log, policy=thrifty.FixedArm(2), arms=4).probabilities == {2: 1.0}
    uniform = thrifty.evaluate(log, policy=thrifty.Uniform(), learn=0.05).probabilities
    error = math.sqrt(0.25 * 0.75 / targets.DRAWS)
    assert uniform == pytest.approx(dict.fromkeys(range(4), 0.25), abs=SIGMAS * error)


def test_arms_that_were_not_seen_in_the_first_part_are_tried_first() -> None:
    log = {"arm": list("ababcbac"), "reward": [0, 1] * 4, "propensity": [1 / 3] * 8}
    assert thrifty.evaluate(log, policy=thrifty.UCB1()).probabilities == {"c": 1.0}


# Texts and mistakes ----------------------------------------------------------------------------------------


def test_the_table() -> None:
    log = synthetic(6, 400)
    both = [thrifty.evaluate(log, arm=arm, estimator=name) for arm in (0, 1) for name in ("dr", "snips")]
    lines = evaluations.table(both).splitlines()
    assert lines[0].split("  ")[-1].strip() == "rows' worth"
    assert [line.split()[:3] for line in lines[2:6]] == [
        ["arm", "0", "dr"], ["arm", "0", "snips"], ["arm", "1", "dr"], ["arm", "1", "snips"],
    ]  # fmt: skip
    assert lines[6].split()[:2] == ["the", "log"]
    assert str(both[0]) == f"{evaluations.table(both[:1])}\n\n{both[0].checks}"
    assert repr(both[0]).startswith(f"<Evaluation of arm 0, dr: {both[0].value:.5f}, 95 % from ")
    assert "<table>" in both[0]._repr_html_()
    assert both[0].checks.splitlines()[0] in both[0]._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one of arm, probabilities, policy, target_column must say what is evaluated, got none of them"),
        ({"arm": "a", "policy": BETA},
         "one of arm, probabilities, policy, target_column must say what is evaluated, got arm, policy"),
        ({"arm": "x"}, "arm must be one of the log's 2 arms, got 'x'"),
        ({"arm": "a", "estimator": "switch"},
         "estimator must be one of ips, snips, clipped, direct, dr, got 'switch'"),
        ({"arm": "a", "clip": 0}, "clip must be above 0, got 0"),
        ({"arm": "a", "level": 95}, "level must be in (0, 1), got 95"),
        ({"arm": "a", "prior": (0.5, 1.0)}, "prior must be None without a policy that learns"),
        ({"arm": "a", "reward_range": None},
         "reward_range must be (low, high), as intervals are for bounded rewards, got None"),
        ({"arm": "a", "reward_range": (0.0, 0.5)}, "the reward in line 1 must be in [0.0, 0.5], got 1.0"),
        ({"policy": "TSMA"}, "policy must be a policy such as TSMA(), got 'TSMA'"),
        ({"policy": BETA, "learn": 1.0}, "learn must be in (0, 1) and leave rows to either part, got 1.0"),
        ({"policy": BETA, "learn": 0.001},
         "learn must be in (0, 1) and leave rows to either part, got 0.001"),
        ({"policy": BETA, "learn": "half"}, "learn must be a number, got 'half'"),
        ({"probabilities": {"a": 0.5}}, "probabilities must sum to 1, got 0.5"),
        ({"probabilities": {"a": 1.5, "b": -0.5}}, "probabilities['a'] must be in [0, 1], got 1.5"),
        ({"probabilities": {"a": 0.5, "x": 0.5}}, "arm must be one of the log's 2 arms, got 'x'"),
        ({"probabilities": "new"},
         "probabilities must be a mapping from ids to numbers, or rows of numbers, one for each arm, got "
         "'new'"),
        ({"probabilities": [[0.5, 0.5]] * 4},
         "probabilities in rows must come with arms, in whose order they are"),
        ({"probabilities": [[0.5, 0.5]] * 3, "arms": ["a", "b"]},
         "probabilities must have 4 rows, as the log, of 2 arms, got 3 of 2"),
        ({"probabilities": [[0.5, 0.5]] * 3 + [[0.5, 0.6]], "arms": ["a", "b"]},
         "probabilities must be in [0, 1], sum to 1, and be 0 where an arm is not there, got [0.5, 0.6] for "
         "line 4"),
        ({"probabilities": [[0.5, 0.5]] * 3 + [[math.nan, 0.6]], "arms": ["a", "b"]},
         "probabilities must be in [0, 1], sum to 1, and be 0 where an arm is not there, got [nan, 0.6] for "
         "line 4"),
        ({"target_column": "reward"},
         "reward_column and target_column must be different columns, got 'reward' for both"),
    ],
)  # fmt: skip
def test_mistakes(options: dict[str, Any], message: str) -> None:
    log = {"arm": list("abab"), "reward": [1.0, 0.0, 1.0, 0.0], "propensity": [0.5] * 4}
    with pytest.raises(ThriftyError) as caught:
        thrifty.evaluate(log, **options)
    assert str(caught.value) == message


def test_more_mistakes() -> None:
    log = {"arm": list("abab"), "reward": [1.0, 0.0, 1.0, 0.0], "propensity": [0.5] * 4, "new": [0.5] * 4}
    with pytest.raises(
        thrifty.InvalidValue, match="estimator must be ips, snips or clipped where only the prob"
    ):
        thrifty.evaluate(log, target_column="new")
    with pytest.raises(thrifty.InvalidValue, match="arms must be given to read_log if the log is read by it"):
        thrifty.evaluate(thrifty.read_log(log), arm="a", arms=["a", "b"])
    assert thrifty.evaluate(thrifty.read_log(log), arm="a") == thrifty.evaluate(
        polars.DataFrame(log), arm="a"
    )
