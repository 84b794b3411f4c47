"""How costs grow: that of a simulated round with K and with T, and that of memory with both."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from common import Row, Run, equal, progress
from engines import memory
from rounds import a_round

import thrifty
from thrifty.policies import Policy
from thrifty.problems import Problem

POLICIES: tuple[Policy, ...] = (
    thrifty.ThompsonSampling(),
    thrifty.ThompsonSampling("beta"),
    thrifty.EpsilonTS(),
    thrifty.TSTD(),
    thrifty.TSMA(),
    thrifty.KLUCBPlusPlus(),
    thrifty.UCB1(),
    thrifty.KLUCB(),
)
LONG = 100  # arms, where T grows
FROM = 1000  # arms, from which on slopes are fitted: below it small things dominate


class Extent(NamedTuple):
    """How much is measured."""

    sizes: tuple[int, ...]
    horizons: tuple[int, ...]
    repeats: int
    seconds: float  # of a slice
    limit: float  # seconds for one run
    large: tuple[int, ...]  # arms, of the simulations whose memory is measured
    long: tuple[int, ...]  # and horizons


def growth(extent: Extent) -> Row:
    return {
        "rounds": list(rounds(extent)),
        "horizons": list(horizons(extent)),
        "memory": list(memories(extent)),
    }


def rounds(extent: Extent) -> Iterable[Row]:
    """A round of each policy for growing K."""
    for policy in POLICIES:
        for arms in extent.sizes:
            progress(f"growth with K, {policy.label}: K = {arms:,}")
            yield {"policy": policy.label} | a_round(policy, arms, extent.seconds, extent.repeats)


def horizons(extent: Extent) -> Iterable[Row]:
    """Whole runs of each policy for growing T; of NPTS too, which keeps every single reward."""
    cases: list[tuple[Policy, Problem]] = [(policy, equal(LONG)) for policy in POLICIES]
    cases.append((thrifty.NPTS(), thrifty.Beta([9.0] + [8.0] * (LONG - 1), [1.0] + [2.0] * (LONG - 1))))
    for policy, problem in cases:
        seconds = 0.0
        for horizon in extent.horizons:
            if 100.0 * seconds > extent.limit:  # should its rounds grow with T, as those of NPTS do
                break
            progress(f"growth with T, {policy.label}: T = {horizon:,}")
            run = Run(policy, problem, "auto", horizon=horizon, prior=None)
            ns = run.play(horizon)
            seconds = ns * horizon / 1e9
            yield {"policy": policy.label, "engine": run.engine, "horizon": horizon, "ns": ns}


def memories(extent: Extent) -> Iterable[Row]:
    """Of simulations, for growing K and for growing T."""
    for arms in extent.large:
        progress(f"memory of a simulation: K = {arms:,}")
        yield {"grows": "arms"} | memory(arms, 10**4)
    for horizon in extent.long:
        progress(f"memory of a simulation: T = {horizon:,}")
        yield {"grows": "horizon"} | memory(20, horizon)


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """Of log y against log x, by least squares.

    >>> slope([(10, 5.0), (100, 50.0), (1000, 500.0)])
    1.0
    """
    if len(points) < 2:
        return None
    x, y = (np.array([math.log(point[axis]) for point in points]) for axis in (0, 1))
    x -= x.mean()
    return round(float(x @ (y - y.mean()) / (x @ x)), 3)
