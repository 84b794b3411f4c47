"""Bandits of very many arms: where to draw for all of them the reserve stands in, and there is spare room."""

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import thrifty
from tests.support.chance import assert_share
from thrifty.engines.memory import MANY, roomy
from thrifty.engines.sleepers import line

ARMS, LEADERS = 60_000, 8


def state(bandit: thrifty.Bandit) -> Any:
    return bandit._player.core.memory.state  # type: ignore[union-attr]


@pytest.mark.parametrize("runs", [100, pytest.param(500, marks=pytest.mark.slow)])
def test_when_the_leaders_go_the_reserve_decides_by_the_law(runs: int) -> None:
    """Half of the others have a law that is wider. Without the leaders nobody exceeds the level."""
    half = ARMS // 2
    pulls = np.array([10**6] * LEADERS + [100] * half + [400] * half)
    means = np.array([0.9] * LEADERS + [0.3] * half + [0.48] * half)
    known = {"arm": range(pulls.size), "pulls": pulls, "mean": means}
    grid = np.linspace(0.0, 1.2, 20_001)
    wide, narrow = (stats.norm(mean, 1.0 / np.sqrt(n)) for mean, n in ((0.3, 100), (0.48, 400)))
    nobody = np.exp(half * (wide.logcdf(grid) + narrow.logcdf(grid)))
    share = integrate.trapezoid(half * wide.pdf(grid) / wide.cdf(grid) * nobody, grid)
    assert ARMS >= line.MANY
    assert 0.2 < share < 0.8
    won = 0
    for seed in range(runs):
        bandit = thrifty.Bandit(thrifty.ThompsonSampling(), pulls.size, seed=seed, statistics=known)
        for arm in range(LEADERS):
            bandit.remove_arm(arm)
        before = state(bandit).evaluations[0]
        won += bandit.select() in range(LEADERS, LEADERS + half)
        assert state(bandit).evaluations[0] - before < 5000
    assert_share(won, runs, share)


def test_arms_that_become_very_many_have_a_reserve_too() -> None:
    """Nobody exceeds the level without the leaders, and not all arms are drawn for."""
    arms = line.MANY - 1
    known = {"arm": range(LEADERS), "pulls": [10**6] * LEADERS, "mean": [0.9] * LEADERS}
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(), arms, seed=1, prior=(0.3, 100.0), statistics=known)
    bandit.remove_arm(0)
    bandit.add_arms(range(arms, arms + 2 * LEADERS))
    for arm in range(1, LEADERS):
        bandit.remove_arm(arm)
    before = state(bandit).evaluations[0]
    bandit.select()
    assert state(bandit).evaluations[0] - before < 5000


def test_there_is_room_for_some_more_and_memory_grows_when_it_is_used_up() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), ARMS, horizon=10**6, seed=1, prior=(0.5, 1.0))
    for _ in range(50):
        bandit.update(bandit.select(), 1.0)
    before, block = bandit.statistics(), bandit._player.core.memory.block  # type: ignore[union-attr]
    assert roomy(ARMS) == 65_536 > ARMS >= MANY
    bandit.add_arms(range(ARMS, 65_536))
    assert bandit._player.core.memory.block is block  # type: ignore[union-attr]
    assert (state(bandit).index > -np.inf).all()
    bandit.add_arm("one too many")
    assert bandit._player.core.memory.block is not block  # type: ignore[union-attr]
    after = bandit.statistics()
    for name in ("pulls", "mean", "draws", "pending"):
        np.testing.assert_array_equal(after[name][:ARMS], before[name])
    bandit.update(bandit.select(), 1.0)


def test_many_arms_that_come_at_once_sleep_at_their_own_rates() -> None:
    """The level moves while they come. All of them are alike, so there is one rate for each of two levels."""
    policy = thrifty.ThompsonSampling(law="beta")
    bandit = thrifty.Bandit(policy, 100, seed=1, prior=(0.5, 2.0), engine="sleepers")
    bandit.select()
    bandit.add_arms(range(100, 3100))
    for slept in (state(bandit).line, state(bandit).reserve_line):
        rates = np.unique(slept[:3100, 0])
        assert rates.size <= 2
        assert rates[0] > 0.0
