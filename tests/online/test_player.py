"""A policy at work on numbered arms, as a service has it: what a bandit does not ask of it."""

from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty.policies import Policy


def played(policy: Policy, **options: Any) -> thrifty.Bandit:
    bandit = thrifty.Bandit(policy, 5, seed=3, **options)
    bandit.update_many([0, 1, 2, 3, 4, 0, 1, 0], [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    return bandit


@pytest.mark.parametrize("engine", ["scan", "kinetic"])
def test_revised_arms_are_those_of_a_bandit_that_was_told_so(engine: str) -> None:
    """Also after others have learnt, and number for number."""
    bandit = played(thrifty.UCB1(), engine=engine)
    weight, sums = np.array([0.5, 0.75]), np.array([0.4, 0.15])
    bandit._player.revise(np.array([0, 3]), weight, sums, sums)
    table = bandit.statistics()
    assert table["weight"].tolist() == [0.5, 2.0, 1.0, 0.75, 1.0]
    np.testing.assert_allclose(table["mean"], [0.8, 0.5, 1.0, 0.2, 0.0], rtol=1e-15)
    assert table["pulls"].tolist() == [3, 2, 1, 1, 1]
    other = thrifty.Bandit(thrifty.UCB1(), 5, seed=3, statistics=table, engine=engine)
    for step in range(200):
        arm = bandit.select()
        assert arm == other.select(), step
        for each in (bandit, other):
            each.update(arm, float(step % 3 == arm % 3))


def test_the_law_is_that_of_what_is_left() -> None:
    bandit = played(thrifty.ThompsonSampling("beta"), engine="sleepers")
    bandit._player.revise(np.arange(5), np.full(5, 0.25), np.full(5, 0.125), np.full(5, 0.125))
    np.testing.assert_allclose(bandit._player.core.memory.field("params"), 1.125)  # type: ignore[union-attr]


def test_who_cannot_forget_is_not_revised() -> None:
    with pytest.raises(thrifty.InvalidValue, match="cannot forget: it plans for a horizon"):
        played(thrifty.TSTD(phi=3))._player.revise(np.array([0]), *(np.array([0.5]) for _ in range(3)))


@pytest.mark.parametrize("policy", [thrifty.UCB1Tuned(), thrifty.UCBV()])
def test_what_was_kept_elsewhere_is_taken_over(policy: Policy) -> None:
    """Squares and pending pulls too: it decides as the one that learnt them does."""
    bandit, other = played(policy), thrifty.Bandit(policy, 5, seed=3)
    bandit.update_many([2, 2, 3], [0.25, 0.5, 0.75])
    for _ in range(4):
        bandit.select()
    core, player = bandit._player.core, other._player
    pulls, pending = core.pulls.copy(), core.pending.copy()
    squares = core.memory.field("squares").copy()  # type: ignore[union-attr]
    assert pending.sum() == 4
    assert squares.sum() < core.sums.sum()
    player.take_over(pulls, pulls.astype(float), core.sums.copy(), squares, pending)
    assert player.t == bandit._player.t
    for step in range(100):
        arm = bandit.select()
        assert arm == other.select(), step
        for each in (bandit, other):
            each.update(arm, float(step % 3 == arm % 3))
