"""The regret of every contestant on one problem: so that a fast wrong answer shows.

Ten Bernoulli arms, one with mean 0.5 and nine with 0.4: rewards are as noisy as they can be, which is where a
posterior that is too narrow fails. Each run has its own seed, and peers find their arms shuffled in each run,
because some favour the first one in a tie.
"""

from typing import NamedTuple

import numpy as np
from common import Row, progress
from contestants import OTHER, Entrant
from numpy.typing import NDArray
from rounds import OURS

import thrifty

MEANS = [0.5] + [0.4] * 9


class Extent(NamedTuple):
    """How much is played."""

    horizon: int
    runs: int
    seconds: float  # in which a contestant may begin a run


def summary(pulls: NDArray[np.int64]) -> Row:
    """Of pulls (run, arm): regret is the sum of gaps; a run is stuck if one bad arm got most of the pulls."""
    gaps = max(MEANS) - np.array(MEANS)
    regret = pulls @ gaps
    runs = regret.size
    stuck = 2 * np.where(gaps > 0.0, pulls, 0).max(axis=1) > pulls.sum(axis=1)
    return {
        "runs": runs,
        "mean": float(regret.mean()),
        "error": float(regret.std(ddof=1) / runs**0.5) if runs > 1 else None,
        "quantiles": np.quantile(regret, [0.05, 0.5, 0.95]).tolist(),
        "stuck": float(stuck.mean()),
    }


def ours(extent: Extent) -> list[Row]:
    policies = [policy for _, policy in OURS]
    progress("regret: thrifty")
    result = thrifty.simulate(
        policies, thrifty.Bernoulli(MEANS), horizon=extent.horizon, runs=extent.runs, seed=1, workers=1
    )
    return [
        {
            "contestant": "thrifty" if algorithm != OTHER else f"thrifty, {policy.label}",
            "algorithm": algorithm,
        }
        | summary(pulls)
        for (algorithm, policy), pulls in zip(OURS, result.pulls, strict=True)
    ]


def theirs(entrant: Entrant, extent: Extent) -> Row:
    """The same for a peer, with as many runs as it begins in time; its process stays open."""
    progress(f"regret: {entrant.label}, {entrant.algorithm}")
    row: Row = {"contestant": entrant.label, "algorithm": entrant.algorithm, "doubt": entrant.doubt}
    if not entrant.versions:  # it never answered
        return row | {"failed": entrant.failure}
    entrant.failure = ""
    pulls = entrant.ask(
        "runs",
        4.0 * extent.seconds,
        policy=entrant.policy,
        means=MEANS,
        horizon=extent.horizon,
        runs=extent.runs,
        seconds=extent.seconds,
    )
    return row | (summary(np.array(pulls)) if pulls else {"failed": entrant.failure or "no run in time"})
