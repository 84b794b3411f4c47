"""Calls in orders that a busy program makes: cancelled batches, rewards nobody asked for, arms that go."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import thrifty
from thrifty import Bandit
from thrifty.online.posterior import PosteriorCore
from thrifty.policies import Policy

Floats = NDArray[np.float64]

# Cancelled batches -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["scan", "kinetic"])
def test_time_goes_back_when_many_pulls_are_cancelled(engine: str) -> None:
    """Arms 0 and 1 of UCB1 cross at t = 190 or so: what was compared at 240 is not so at 160."""
    known = {"arm": [0, 1, 2], "pulls": [10, 100, 50], "mean": [0.1, 0.8, 1.0]}
    bandit = Bandit(thrifty.UCB1(), 3, seed=0, statistics=known, engine=engine)
    chosen = bandit.select_many(80)
    assert set(chosen) == {2}
    for arm in chosen:
        bandit.cancel(arm)
    bandit.remove_arm(2)
    assert bandit.select() == 1


class Normal:
    """The Gaussian law, as an object of one's own."""

    def __init__(self) -> None:
        self.pulls, self.sums = np.zeros(20), np.zeros(20)

    def observe(self, arm: int, reward: float) -> None:
        self.pulls[arm] += 1.0
        self.sums[arm] += reward

    def draw(self, arm: int, size: int, rng: np.random.Generator) -> Any:
        return rng.normal(self.sums[arm] / self.pulls[arm], 1.0 / math.sqrt(self.pulls[arm]), size)


def indices(bandit: Bandit) -> Floats:
    core: Any = bandit._player.core
    found: Floats = core._arms["index"] if isinstance(core, PosteriorCore) else core.memory.state.index
    return found.copy()


@pytest.mark.parametrize(
    ("policy", "engine"),
    [
        (thrifty.TSMA(phi=30), "scan"),
        (thrifty.TSMA(phi=30), "tournament"),
        (thrifty.TSTD(phi=2), "scan"),
        (thrifty.TSTD(phi=2), "sleepers"),
        (thrifty.TSMA(law=Normal(), phi=30, sampling="batch"), "scan"),
        (thrifty.TSTD(law=Normal(), phi=2), "scan"),
    ],
    ids=[
        "TS-MA",
        "TS-MA on a tree",
        "TS-TD",
        "TS-TD on sleepers",
        "TS-MA of one's own",
        "TS-TD of one's own",
    ],
)
def test_a_cancelled_batch_is_forgotten(policy: Policy, engine: str) -> None:
    """In a batch an index is drawn anew until it does not win. When all of it is cancelled, every arm has the
    index that it had, and the arm that won is the next one again."""
    bandit = Bandit(policy, 20, 10**5, seed=1, engine=engine)
    bandit.update_many(list(range(20)) * 4, [0.0, 1.0] * 40)
    for _ in range(5):  # TS-TD is in phase II then
        bandit.cancel(bandit.select())
    before = indices(bandit)
    for _ in range(3):
        chosen = bandit.select_many(300)
        assert len(set(chosen)) > 3
        for arm in sorted(chosen):
            bandit.cancel(arm)
        np.testing.assert_array_equal(indices(bandit), before)
    assert bandit.select() == before.argmax()


def test_rewards_in_between_make_a_new_index() -> None:
    bandit = Bandit(thrifty.TSMA(phi=30), 20, 10**5, seed=1)
    bandit.update_many(list(range(20)) * 4, [0.0, 1.0] * 40)
    chosen = bandit.select_many(300)
    arm = chosen[0]
    assert chosen.count(arm) > 2
    bandit.update(arm, 1.0)
    after = indices(bandit)[arm]
    for _ in range(chosen.count(arm) - 1):
        bandit.cancel(arm)
    assert indices(bandit)[arm] == after


# Rewards of pulls that nobody asked for --------------------------------------------------------------------


def test_they_count_in_the_time() -> None:
    """Or UCB1 would have no bonus: ln t of 0."""
    bandit = Bandit(thrifty.UCB1(), 2, seed=0)
    bandit.update_many([0] * 1000 + [1] * 10, [0.5] * 1000 + [0.4] * 10)
    warm = Bandit(thrifty.UCB1(), 2, seed=0, statistics=bandit.statistics())
    assert (bandit.select(), warm.select()) == (1, 1)
    assert (bandit.decisions, warm.decisions) == (1, 1)


def test_they_count_towards_a_guessed_horizon() -> None:
    bandit = Bandit(thrifty.KLUCBPlusPlus(), 2, seed=0)
    bandit.update_many([0, 1] * 40_000, [0.5] * 80_000)
    bandit.select()
    assert bandit.horizon == 2**17
    assert bandit.decisions == 1


def test_they_are_told_apart_from_late_ones(tmp_path: Path) -> None:
    bandit = Bandit(thrifty.TSMA(), 3, seed=0)
    arms = bandit.select_many(5)
    bandit.update_many([*arms, 0, 1, 2], [1.0] * 8)
    assert bandit.decisions == 5
    bandit.save(tmp_path / "bandit.npz")
    for one in (bandit, Bandit.load(tmp_path / "bandit.npz")):
        assert (one._player.t, one.decisions) == (8, 5)


# Arms that come and go -------------------------------------------------------------------------------------


def test_a_guessed_horizon_grows_with_the_arms() -> None:
    """KL-UCB++ has no bonus where n > T/K."""
    bandit = Bandit(thrifty.KLUCBPlusPlus(), ["a0"], seed=0, prior=(0.5, 1.0))
    assert bandit.horizon == 1024
    for i in range(1, 3000):
        bandit.add_arm(f"a{i}")
    assert bandit.horizon == 8192
    assert np.all(bandit._player.core.memory.state.index[1:] > 0.6)  # type: ignore[union-attr]


def test_ucb_improved_judges_a_new_arm_by_itself() -> None:
    bandit = Bandit(thrifty.UCBImproved(), ["good"], 1000, seed=0)
    for _ in range(800):
        bandit.update(bandit.select(), 1.0)
    bandit.add_arm("bad")
    chosen = []
    for _ in range(200):
        chosen.append(bandit.select())
        bandit.update(chosen[-1], float(chosen[-1] == "good"))
    assert 5 < chosen.count("bad") < 60
    assert "bad" not in chosen[100:]


def test_dmed_keeps_the_turn_of_an_arm_that_gets_another_number() -> None:
    bandit = Bandit(thrifty.DMED(), list("abcd"), seed=8)
    for arm in "abcd":
        bandit.update_many([arm] * 50, [0.0] * 50)
    assert bandit.select_many(2) == ["a", "b"]
    bandit.update_many(["b"] * 300, [1.0] * 300)
    bandit.remove_arm("a")  # d has its number now
    chosen = bandit.select_many(20)
    assert (chosen.count("c"), chosen.count("d")) == (1, 1)


def test_sleepers_find_a_new_level_when_the_leaders_are_removed() -> None:
    """Without a reward that would make them look."""
    arms, leaders = 10_000, 30
    means = np.full(arms, 0.02)
    means[:leaders] = 0.9
    known = {"arm": np.arange(arms), "pulls": np.full(arms, 10_000), "mean": means}
    bandit = Bandit(thrifty.ThompsonSampling(), arms, seed=0, statistics=known)
    assert bandit.engine == "sleepers"
    for arm in range(leaders):
        bandit.remove_arm(arm)
    bandit.select_many(50)
    state = bandit._player.core.memory.state  # type: ignore[union-attr]
    before = int(state.evaluations[0])
    bandit.select_many(100)
    assert (int(state.evaluations[0]) - before) / 100 < 10.0 * math.log(arms)


# Policies inside others ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Until(thrifty.IndexPolicy):
    until: float = 5.0

    @property
    def rewards(self) -> str:
        return "unit"

    def index(self, n: float, mean: float, t: int, rng: Any) -> float:
        return mean if t < self.until else math.nan


def test_an_index_of_your_own_is_watched_inside_another_policy_too() -> None:
    bandit = Bandit(thrifty.Binarised(Until()), ["a", "b", "c"], seed=0)
    bandit.update_many(bandit.select_many(3), [0.0, 1.0, 0.0])
    bandit.select_many(2)
    for _ in range(2):
        with pytest.raises(thrifty.InvalidValue, match="must be a number, got NaN or an error after 5 pulls"):
            bandit.select()
        assert bandit.decisions == 5
    assert bandit.statistics()["pending"].sum() == 2
