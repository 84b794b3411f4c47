"""TS-TD on sleepers where phase I of many arms ends in one round: some of them go to the tree in each round,
and the others have a bound there. Here that is so with a dozen arms."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.support.chance import UNLUCKY
from thrifty.engines.sleepers.duel import LAST, MOST

ARMS, PHI = 12, 3
KNOWN = {
    "arm": range(ARMS),
    "pulls": [1, 2, 3, 5, 8, 2, 3, 4, 1, 6, 2, 3],
    "mean": np.linspace(0.3, 0.7, ARMS),
}


def new(
    engine: str, seed: int = 1, law: str = "gaussian", most: int = 1, known: Any = KNOWN
) -> thrifty.Bandit:
    bandit = thrifty.Bandit(
        thrifty.TSTD(law=law, phi=PHI), known["arm"], 10**6, seed, statistics=known, engine=engine
    )
    if engine == "sleepers":
        state(bandit).bounded[MOST] = most
    return bandit


def state(bandit: thrifty.Bandit) -> Any:
    return bandit._player.core.memory.state  # type: ignore[union-attr]


def waiting(bandit: thrifty.Bandit) -> int:
    """How many arms have made all their draws and are on the line."""
    now = state(bandit)
    return int(((now.place >= 0) & (now.count[2] - now.start > PHI)).sum())


def live(bandit: thrifty.Bandit, steps: int) -> list[Any]:
    """Decisions, most with their reward, and arms that are paused, go and come while others wait."""
    chosen = []
    for step in range(steps):
        chosen.append(bandit.select())
        if step % 3:
            bandit.update(chosen[-1], step % 2)
        if step == PHI:
            bandit.update(7, 1.0)  # nobody asked for it
            bandit.pause(9)
            bandit.remove_arm(6)
            bandit.add_arm("new")
        if step == PHI + 2:
            bandit.resume(9)
            chosen += bandit.rank(2)
    return chosen


def test_some_go_in_each_round_and_all_have_made_their_draws() -> None:
    bandit = new("sleepers", most=2)
    waited = []
    for _ in range(PHI + 8):
        bandit.select()
        waited.append(waiting(bandit))
    assert waited[:PHI] == [0] * PHI
    assert waited[PHI] in range(5, 11)  # two went, and those whose bound would have won
    assert sorted(waited[PHI:], reverse=True) == waited[PHI:]
    assert waited[-1] == 0
    assert state(bandit).bounded[LAST] == -1
    assert (bandit.statistics()["draws"] % PHI == 0).all()  # those who were replaced have more
    assert (state(bandit).index > -np.inf).all()


def test_draws_are_counted_while_arms_wait() -> None:
    bandit = new("sleepers")
    for _ in range(PHI + 2):
        bandit.update(bandit.select(), 0.0)
    assert waiting(bandit) > 0
    quiet = state(bandit).pulls == KNOWN["pulls"]
    assert (bandit.statistics()["draws"][quiet] == PHI).all()


@pytest.mark.parametrize(
    ("law", "runs"),
    [("gaussian", 600), *(pytest.param(law, 6000, marks=pytest.mark.slow) for law in ("gaussian", "beta"))],
)
def test_decisions_have_the_law_of_scan(law: str, runs: int) -> None:
    """Rewards are so low that those who were seen above the level are soon used up, while others still wait:
    then bounds win. Who is chosen, and whether for the first time."""
    arms, rounds = 60, 40
    known = {"arm": range(arms), "pulls": [3] * arms, "mean": np.linspace(0.4, 0.6, arms)}
    chosen = np.empty((2, runs, rounds), np.int64)
    for row, engine in enumerate(("scan", "sleepers")):
        for run in range(runs):
            bandit = new(engine, 2 * run + row, law, known=known)
            for t in range(rounds):
                chosen[row, run, t] = bandit.select()
                bandit.update(int(chosen[row, run, t]), 0.0)
    again = (chosen[:, :, :, None] == chosen[:, :, None, :]) & np.tri(rounds, k=-1, dtype=bool)
    first = ~again.any(axis=3)
    for t in range(PHI - 1, rounds, 4):
        for what, most in ((chosen, arms), (first, 2)):
            table = np.array([np.bincount(what[row, :, t], minlength=most) for row in range(2)])
            assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > UNLUCKY


@pytest.mark.parametrize("after", range(1, 9))
def test_a_snapshot_and_a_larger_memory_change_nothing(after: int, tmp_path: Path) -> None:
    """Bounds follow from the rest."""
    bandit = new("sleepers")
    for _ in range(after):
        bandit.select()
    bandit.save(tmp_path / "bandit.npz")
    loaded, core = thrifty.Bandit.load(tmp_path / "bandit.npz"), bandit._player.core
    state(loaded).bounded[MOST] = 1
    core.memory = core.memory.grown(2 * ARMS)  # type: ignore[union-attr]
    assert live(bandit, 12) == live(loaded, 12)
    bandit.save(tmp_path / "later.npz")
    thrifty.Bandit.load(tmp_path / "later.npz")
