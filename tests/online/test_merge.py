"""Statistics from elsewhere, added to those that there are."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.live import EVERYWHERE, Coins, Widening, column, decide, needs_every_reward, refused, state
from thrifty.policies import Policy

TABLE = {"arm": [4, 1], "pulls": [3, 2], "mean": [1.0, 0.5]}
REWARDS = [4, 1, 4, 1, 4], [1.0, 0.0, 1.0, 1.0, 1.0]  # the same one by one


def begun(policy: Policy, engine: str, prior: Any = None) -> thrifty.Bandit:
    """A bandit of five arms, with some rewards and some pulls on their way; arm 4 has neither."""
    bandit = thrifty.Bandit(policy, 5, 1000, 4, prior, engine=engine)
    bandit.update_many([0, 1, 2, 3], [1.0, 0.0, 1.0, 0.0])
    bandit.update_many([0, 1, 0], [1.0, 1.0, 0.0])
    for _ in range(3):
        bandit.select()
    return bandit


@pytest.mark.parametrize("prior", [None, (0.5, 2.0), ([0.1, 0.2, 0.3, 0.4, 0.5], 2.5)], ids=str)
@EVERYWHERE
def test_merging_is_learning(policy: Policy, engine: str, prior: Any) -> None:
    """All that follows from the statistics is as if the rewards had come one by one, unasked, here."""
    if isinstance(policy, thrifty.Forgetting):  # each reward that comes unasked is a decision
        policy = thrifty.Forgetting(policy.policy, 1e12)
    merged, told = begun(policy, engine, prior), begun(policy, engine, prior)
    if needs_every_reward(policy):
        with refused(thrifty.InvalidValue, "which needs every reward: use update_many", merged):
            merged.merge(TABLE)
        return
    merged.merge(TABLE)
    pending = column(told, "pending")
    for arm in REWARDS[0]:  # which would otherwise be taken for the rewards of those
        state(told).pending[arm, 0] = 0
    told.update_many(*REWARDS)
    for arm in REWARDS[0]:
        state(told).pending[arm, 0] = pending[arm]
    for name in ("pulls", "sums", "squares", "weights", "prefix", "spread", "waiting"):
        np.testing.assert_array_equal(getattr(state(merged), name), getattr(state(told), name), err_msg=name)
    for name in ("means", "params"):
        np.testing.assert_allclose(getattr(state(merged), name), getattr(state(told), name), rtol=1e-15)
    assert column(merged, "pending") == pending
    assert merged.decisions == told.decisions == 3
    assert merged._player.t == told._player.t
    decide(merged, Coins([0.5] * 5, 1), 100)
    assert merged.statistics()["pulls"].sum() == 112


@pytest.mark.parametrize(
    "policy",
    [thrifty.KLUCBPlusPlus(), thrifty.UCB1(), thrifty.UCBV(), thrifty.BayesUCB(), thrifty.IMED(),
     thrifty.AdaUCB(), thrifty.DMED(), thrifty.UCBImproved(), Widening(width=0.5)],
    ids=repr,
)  # fmt: skip
def test_the_next_decisions(policy: Policy) -> None:
    """Without draws they are the very same, on every engine."""
    for engine in policy.runs_on:
        bandits = [thrifty.Bandit(policy, 5, 1000, 4, engine=engine) for _ in range(2)]
        for bandit in bandits:
            bandit.update_many([0, 1, 2, 3, 4, 0, 1], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
        bandits[0].merge(TABLE)
        bandits[1].update_many(*REWARDS)
        first, second = (decide(bandit, Coins([0.2, 0.9, 0.4, 0.6, 0.1], 1), 300) for bandit in bandits)
        assert first == second


@pytest.mark.parametrize("engine", ["scan", "tournament"])
def test_only_arms_that_changed_get_new_indices(engine: str) -> None:
    bandit = begun(thrifty.TSMA(), engine)
    before, draws = state(bandit).index.copy(), column(bandit, "draws")
    bandit.merge(TABLE)
    changed = np.flatnonzero(state(bandit).index != before).tolist()
    assert changed == [1, 4]
    assert {arm: n - draws[arm] for arm, n in column(bandit, "draws").items()} == {
        0: 0,
        1: 1,
        2: 0,
        3: 0,
        4: 1,
    }
    assert state(bandit).pending[[1, 4], 1].tolist() == [0, 0]  # and these are not spent


def test_arms_come_to_the_front_as_with_rewards() -> None:
    """An arm of which something is known need not be pulled first."""
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(), list("abc"), seed=1)
    bandit.merge({"arm": ["b"], "pulls": [5], "mean": [0.25]})
    assert bandit.select_many(2) == ["a", "c"]
    assert bandit.select() == "b"  # the others' rewards are not there yet
    assert column(bandit, "mean")["b"] == 0.25


def test_merged_pulls_count_in_the_time() -> None:
    """A guessed horizon is ahead of them at the next decision, and not before."""
    bandit = thrifty.Bandit(thrifty.TSMA(), 3, seed=1)
    assert bandit.horizon == 1024
    bandit.merge({"arm": [0, 1, 2], "pulls": [5000, 10, 10], "mean": [0.5, 0.5, 0.5]})
    assert (bandit.horizon, bandit.decisions) == (1024, 0)
    bandit.select()
    assert (bandit.horizon, bandit.decisions) == (8192, 1)


def test_workers_and_one_writer() -> None:
    """As in docs/online.md: what each worker has learnt since the last time, sent to the writer."""
    writer = thrifty.Bandit(thrifty.TSMA(), ["red", "green"], seed=1)
    everything = Counter[str]()
    for round_ in range(3):
        for seed in range(4):
            worker = thrifty.Bandit(thrifty.TSMA(), ["red", "green"], seed=10 * round_ + seed)
            worker.merge(writer.statistics())
            pulls, sums = Counter[str](), Counter[str]()
            for _ in range(8):
                arm = worker.select()
                worker.update(arm, 1.0)
                pulls[arm] += 1
                sums[arm] += 1
            arms = list(pulls)
            writer.merge(
                {
                    "arm": arms,
                    "pulls": [pulls[arm] for arm in arms],
                    "mean": [sums[arm] / pulls[arm] for arm in arms],
                }
            )
            everything += pulls
    assert column(writer, "pulls") == everything
    assert column(writer, "mean") == {"red": 1.0, "green": 1.0}


def test_means_are_in_the_unit_of_the_caller() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 2, reward_range=(-2.0, 8.0))
    bandit.update_many([0, 1], [-2.0, 8.0])
    bandit.merge({"arm": [0], "pulls": [1], "mean": [8.0]})
    assert bandit.statistics()["mean"].tolist() == [3.0, 8.0]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"arm": [0], "pulls": [1]}, "columns arm, pulls, mean, and lacks mean"),
        ({"arm": [0, 9], "pulls": [1, 1], "mean": [1.0, 1.0]}, r"arm\[1\] must be one of the 5 arms, got 9"),
        ({"arm": [0, 0], "pulls": [1, 1], "mean": [1.0, 1.0]}, "every arm once, got 0 again"),
        ({"arm": [0, 1], "pulls": [1, -1], "mean": [1.0, 1.0]}, r"statistics pulls\[1\] must be at least 0"),
        ({"arm": [0, 1], "pulls": [1, 1], "mean": [1.0, 2.0]}, r"mean\[1\] must be in \[0.0, 1.0\]"),
        ({"arm": [0, 1], "pulls": [1, 1], "mean": [1.0, np.nan]}, r"statistics mean\[1\]"),
        (
            {"arm": [0, 1], "pulls": [2**53, 1], "mean": [1.0, 1.0]},
            r"must sum to at most 9007199254740982, .* 9007199254740992 in all, got 9007199254740993",
        ),
        ({"arm": [0], "pulls": [2**53 - 9], "mean": [1.0]}, "must sum to at most 9007199254740982, "),
    ],
    ids=str,
)  # fmt: skip
def test_a_bad_table_changes_nothing(table: dict[str, Any], says: str) -> None:
    bandit = begun(thrifty.TSMA(), "tournament")
    with refused(thrifty.ThriftyError, says, bandit):
        bandit.merge(table)
    bandit.merge({"arm": [], "pulls": [], "mean": []})
    bandit.merge({"arm": [0], "pulls": [0], "mean": [np.nan]})
    assert column(bandit, "pulls") == {0: 3, 1: 2, 2: 1, 3: 1, 4: 0}


def test_a_warm_start_beyond_what_can_be_counted() -> None:
    """A sum that 64 bits do not hold."""
    table = {"arm": range(2000), "pulls": [2**53] * 2000, "mean": [0.5] * 2000}
    with pytest.raises(
        thrifty.InvalidValue, match=r"must sum to at most 9007199254740992, .* got 18014398509481984000"
    ):
        thrifty.Bandit(thrifty.TSMA(), 2000, statistics=table)


def test_a_posterior_of_your_own_is_told_rewards() -> None:
    class Fixed:
        def observe(self, arm: Any, reward: float) -> None:
            pass

        def draw(self, arm: Any, size: int, rng: Any) -> Any:
            return np.zeros(size)

    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=Fixed()), 2)
    with refused(thrifty.InvalidValue, "a posterior of your own: tell it the rewards", bandit):
        bandit.merge({"arm": [0], "pulls": [1], "mean": [1.0]})
