"""UCB1-tuned: index = m + sqrt( ln(t)/n min(1/4, V + sqrt(2 ln(t)/n)) ), V the variance of the arm's rewards.

V is the mean of (x - m)^2, which is m (1 - m) for rewards in {0, 1}. 1/4 is the largest variance on [0, 1]:
without that minimum it is another algorithm. t counts the pulls made so far. Anytime; its authors
prove no bound. It never falls while the arm is left alone: it is increasing in ln(t)/n, twice.
Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", 2002.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from thrifty.jit import hot
from thrifty.policies import times
from thrifty.policies.base import WITH_TIME, Policy

ITERATIONS = 20  # of Newton's method, from at most 1.42 times the root: 5 are enough


@hot
def index(n, mean, variance, t):
    """
    >>> round(index(100.0, 0.8, 0.16, 10_000), 10)
    0.9517427129
    """
    return upper(n, mean, variance, math.log(max(t, 1.0)))


@hot
def upper(n, mean, variance, log_t):
    rate = log_t / n
    return mean + math.sqrt(rate * min(0.25, variance + math.sqrt(2.0 * rate)))


@hot
def reach(n, mean, variance, level):
    """exp(n u^2) for the u with u^2 min(1/4, V + sqrt(2) u) = (level - m)^2.

    No earlier time has an index of the level.
    """
    gap = times.lowered(level, mean) - mean
    if gap <= 0.0:
        return 0.0
    if gap == math.inf:
        return gap
    slope = math.sqrt(2.0)
    square = gap * gap
    u = 2.0 * gap
    if variance + slope * u < 0.25 and square > 0.0:
        # sqrt(2) u^3 + V u^2 = gap^2 is convex in u: from a start above the root Newton's method comes down
        # to it. Either term alone gives such a start; at the smaller of the two the sum is at most 2 gap^2.
        u = (square / slope) ** (1.0 / 3.0)
        if variance * u * u > square:
            u = gap / math.sqrt(variance)
        for _ in range(ITERATIONS):
            step = (slope * u * u * u + variance * u * u - square) / (u * (3.0 * slope * u + 2.0 * variance))
            u -= step
            if step <= 1e-9 * u:
                break
    return times.time(n * u * u)


@dataclass(frozen=True)
class UCB1Tuned(Policy):
    """UCB1-tuned: UCB1 with the variance that was seen, at most 1/4."""

    formula: ClassVar[str] = "m + √(min(¼, V + √(2 ln t/n)) ln t/n)"
    changes: ClassVar[str] = WITH_TIME
    engines: ClassVar[tuple[str, ...]] = ("scan", "kinetic")
    citation: ClassVar[str] = "Auer, Cesa-Bianchi & Fischer 2002"
    confirmed: ClassVar[str] = "the index in public code; its authors prove nothing"

    @property
    def label(self) -> str:
        return "UCB1-tuned"

    @property
    def rewards(self) -> str:
        return "unit"

    def index(self, n, mean, variance, log_t):
        return upper(n, mean, variance, log_t)

    def reach(self, n, mean, variance, level):
        return reach(n, mean, variance, level)
