"""What can be seen of a log without the truth: right ones pass, and wrong ones do not."""

from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty.replays import audit as audits
from thrifty.replays import log as logs


def drawn(rng: np.random.Generator, shares: Any, rows: int) -> dict[str, Any]:
    shares = np.asarray(shares)
    arm = rng.choice(shares.size, rows, p=shares)
    return {"arm": arm, "reward": np.zeros(rows), "propensity": shares[arm]}


def faults(table: dict[str, Any], **options: Any) -> tuple[str, ...]:
    return audits.audit(logs.read(table, **options)).faults


@pytest.mark.parametrize(
    "shares",
    [[1.0], [0.5, 0.5], [0.1, 0.4, 0.3, 0.2], [1 / 80] * 80, [0.999] + [1e-4] * 10, [0.33, 0.33, 0.34]],
    ids=len,
)
def test_right_logs_pass(shares: list[float]) -> None:
    """However skewed, and also if some arms were never chosen: one in a million may be refused."""
    shares = (np.array(shares) / sum(shares)).tolist()
    for seed in range(150):
        table = drawn(np.random.default_rng([3, seed]), shares, 10 ** (1 + seed % 3))
        assert faults(table) == ()


def test_a_log_of_a_policy_that_learns_passes() -> None:
    """Propensities that fall: those of a softmax that becomes ever surer."""
    rng = np.random.default_rng(4)
    arm, propensity = [], []
    for t in range(5000):
        shares = np.exp(np.arange(5) * min(1.0, t / 4000))
        shares /= shares.sum()
        arm.append(int(rng.choice(5, p=shares)))
        propensity.append(float(shares[arm[-1]]))
    assert faults({"arm": arm, "reward": np.zeros(5000), "propensity": propensity}) == ()


def learner(kind: str, seed: int, rows: int) -> dict[str, Any]:
    """The log of a policy that learns, with the propensities that it had."""
    rng = np.random.default_rng([5, seed])
    pulls, sums, means = np.zeros(4), np.zeros(4), np.array([0.3, 0.37, 0.43, 0.5])
    arm, reward, propensity = [], [], []
    for _ in range(rows):
        known = (sums + 0.5) / (pulls + 1.0) + 1e-9 * rng.random(4)
        shares = np.exp((known - known.max()) / 0.05)
        if kind == "epsilon-greedy":
            shares = np.where(known == known.max(), 0.925, 0.025)
        shares /= shares.sum()
        arm.append(int(rng.choice(4, p=shares)))
        reward.append(float(rng.random() < means[arm[-1]]))
        propensity.append(float(shares[arm[-1]]))
        pulls[arm[-1]] += 1.0
        sums[arm[-1]] += reward[-1]
    return {"arm": arm, "reward": reward, "propensity": propensity}


@pytest.mark.parametrize("kind", ["epsilon-greedy", "softmax"])
def test_logs_of_policies_that_learn_from_rewards_pass(kind: str) -> None:
    """An arm that they come to like late has large propensities in all of its rows, and one that they dislike
    has ever smaller ones, few of which are in the log."""
    for seed in range(30):
        assert faults(learner(kind, seed, 1500)) == ()


def test_arms_that_were_never_chosen_may_be_named() -> None:
    """One in ten of these logs has the rare arm."""
    for seed in range(30):
        table = drawn(np.random.default_rng([8, seed]), [0.9, 0.0999, 0.0001], 1000)
        assert faults(table, arms=3) == ()
    few = audits.audit(logs.read(drawn(np.random.default_rng(8), [0.4, 0.6], 1000), arms=3))
    assert few.found[0].endswith("and should be 2, the number of arms with rows")
    wrong = drawn(np.random.default_rng(8), [0.5, 0.5], 1000) | {"propensity": np.full(1000, 1 / 3)}
    assert len(faults(wrong, arms=3)) == 1


def test_wrong_propensities_are_found() -> None:
    rng = np.random.default_rng(5)
    right = drawn(rng, [0.1, 0.4, 0.3, 0.2], 5000)
    mean = float((1.0 / right["propensity"]).mean())
    half, twice = (right | {"propensity": f * right["propensity"]} for f in (0.5, 2.0))
    assert faults(right) == ()
    assert (
        faults(half)[0] == f"the mean of 1/propensity is {2 * mean:.4g}, and should be 4, the number of arms"
    )
    assert (
        faults(twice)[0] == f"the mean of 1/propensity is {mean / 2:.4g}, and should be 4, the number of arms"
    )
    flat = right | {"propensity": np.full(5000, 0.25)}
    assert faults(flat) == ()  # only the frequencies could tell, and those are the policy's to choose
    one = right | {"propensity": np.where(np.arange(5000) == 17, 1.0, right["propensity"])}
    (text,) = faults(one)
    assert text == (
        "the propensity 1 in line 18 must be at most 0.7, as there are 4 arms, and each has one of at least "
        "0.1"
    )


def test_rounded_propensities_pass() -> None:
    rng = np.random.default_rng(6)
    table = drawn(rng, [1 / 3] * 3, 5000)
    assert faults(table | {"propensity": np.full(5000, 0.333)}) == ()
    assert faults(table | {"propensity": np.full(5000, 0.4)}) != ()


def test_absences() -> None:
    """The chance of the longest one, times the number of all of them; in rows where the arm was there."""
    arm = [0, 1] * 10 + [0] * 30 + [1] + [0, 1] * 10
    table = {"arm": arm, "reward": np.zeros(71), "propensity": np.full(71, 0.5)}
    found = audits.audit(logs.read(table))
    chance = 0.5**30 * (71 + 2)
    assert found.found[2] == (
        "the least likely absence: 30 rows without arm 1, from line 21 on; the chance of one like that is "
        f"{chance:.2g}"
    )
    assert len(found.faults) == 1
    on = [[0, 1]] * 20 + [[0]] * 30 + [[0, 1]] * 21
    there = table | {"propensity": np.r_[np.full(20, 0.5), np.ones(30), np.full(21, 0.5)], "available": on}
    assert faults(there) == ()


def test_rows_of_unknown_arms_count() -> None:
    rng = np.random.default_rng(7)
    table = drawn(rng, [0.1, 0.4, 0.3, 0.2], 5000)
    made = audits.audit(logs.read(table, arms=3))
    assert made.faults == ()
    assert "and should be 3, the number of arms" in made.found[0]


def test_a_log_that_cannot_be_is_refused_unless_it_is_trusted() -> None:
    table = {"arm": [0, 1] * 50, "reward": [0, 1] * 50, "propensity": [1.0, 0.5] * 50}
    log = logs.read(table)
    with pytest.raises(thrifty.InvalidValue) as caught:
        audits.admit(log, trust=False)
    assert str(caught.value).splitlines()[0] == (
        "the log must be one in which all of its 2 arms are there to be chosen, with these propensities, got"
    )
    assert audits.admit(log, trust=True) == audits.audit(log)
    assert len(str(audits.audit(log)).splitlines()) == 3


def test_a_chance_that_is_too_small_for_a_number() -> None:
    log = logs.read({"arm": [0] * 9999 + [1], "reward": [0] * 10_000, "propensity": [0.5] * 10_000})
    assert audits.audit(log).found[2].endswith("the chance of one like that is below 1e-300")
