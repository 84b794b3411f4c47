"""How costs grow with K and with T: those of a simulated round and of a decision from Python, and memory."""

import math
import random
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from common import PRIOR, Row, Run, equal, progress, steady
from engines import memory
from peers.contest import CHANCES
from rounds import a_round, far

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
BATCH = 10**5  # decisions whose rewards are made up before they are timed
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
        "decisions": list(decisions(extent)),
        "decided": list(decided(extent)),
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


class Asked:
    """A bandit that is asked and told from Python, one decision at a time."""

    def __init__(self, policy: Policy, arms: int, horizon: int, prior: tuple[float, float] | None) -> None:
        self.bandit = thrifty.Bandit(policy, arms, horizon, seed=0, prior=prior)
        self._random = random.Random(1)

    def play(self, decisions: int) -> float:
        """The nanoseconds of processor time of a decision and its reward, on average."""
        select, update = self.bandit.select, self.bandit.update
        spent = 0
        for start in range(0, decisions, BATCH):
            uniforms = [self._random.random() for _ in range(min(BATCH, decisions - start))]
            began = time.thread_time_ns()
            for uniform in uniforms:
                arm = select()
                update(arm, 1.0 if uniform < CHANCES[arm & 1023] else 0.0)
            spent += time.thread_time_ns() - began
        return spent / decisions


def decisions(extent: Extent) -> Iterable[Row]:
    """A decision of each policy, and its reward, for growing K; the policies by turns."""
    for arms in extent.sizes:
        progress(f"decisions against K: K = {arms:,}")
        asked = [Asked(policy, arms, far(arms), PRIOR) for policy in POLICIES]
        for one in asked:
            one.play(1)  # compiled, and in memory
        costs = steady([one.play for one in asked], extent.seconds, extent.repeats)
        for policy, one, ns in zip(POLICIES, asked, costs, strict=True):
            yield {"policy": policy.label, "engine": one.bandit.engine, "arms": arms, "ns": ns}


def decided(extent: Extent) -> Iterable[Row]:
    """All decisions of each policy up to T, for growing T."""
    for policy in POLICIES:
        Asked(policy, LONG, extent.horizons[0], None).play(1)  # compiled
        for horizon in extent.horizons:
            progress(f"decisions against T, {policy.label}: T = {horizon:,}")
            asked = Asked(policy, LONG, horizon, None)
            ns = asked.play(horizon)
            yield {"policy": policy.label, "engine": asked.bandit.engine, "horizon": horizon, "ns": ns}


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
