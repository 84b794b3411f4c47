"""UCB1: index = m + sqrt(2 ln(t) / n), where t counts the pulls made so far.

For rewards in [0, 1]. Anytime. It never falls while the arm is left alone, because ln(t) does not.
Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", 2002.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from thrifty.jit import hot
from thrifty.policies import times
from thrifty.policies.base import WITH_TIME, Guarantee, Policy


@hot
def index(n, mean, t):
    """
    >>> round(index(100.0, 0.8, 10_000), 10)
    1.2291932053
    """
    return upper(n, mean, math.log(max(t, 1.0)))


@hot
def upper(n, mean, log_t):
    return mean + math.sqrt(2.0 * log_t / n)


@hot
def reach(n, mean, level):
    """exp(n (level - m)^2 / 2): no earlier time has an index of the level."""
    gap = times.lowered(level, mean) - mean
    return times.time(0.5 * n * gap * gap) if gap > 0.0 else 0.0


@dataclass(frozen=True)
class UCB1(Policy):
    """UCB1: the mean, and a bonus that is larger for arms that were pulled seldom."""

    formula: ClassVar[str] = "m + √(2 ln t/n)"
    changes: ClassVar[str] = WITH_TIME
    engines: ClassVar[tuple[str, ...]] = ("scan", "kinetic")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(sub_ucb="yes"),)
    citation: ClassVar[str] = "Auer, Cesa-Bianchi & Fischer 2002"
    confirmed: ClassVar[str] = "the index in public code, the guarantee in a copy of its proof"

    @property
    def label(self) -> str:
        return "UCB1"

    @property
    def rewards(self) -> str:
        return "unit"

    def index(self, n, mean, log_t):
        return upper(n, mean, log_t)

    def reach(self, n, mean, level):
        return reach(n, mean, level)
