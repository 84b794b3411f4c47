"""UCB-V: index = m + sqrt(2 V E/n) + 3 c E/n, with E = zeta ln(t) and V the variance of the arm's rewards.

V is the mean of (x - m)^2. For rewards in [0, 1]; t counts the pulls made so far. Anytime. The authors prove
logarithmic regret for c = 1 and zeta > 1; public code uses zeta = c = 1.
It never falls while the arm is left alone: E grows with t, and nothing else moves (zeta, c >= 0).
Audibert, Munos and Szepesvári, "Exploration-exploitation tradeoff using variance estimates in multi-armed
bandits", Theoretical Computer Science 2009.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.jit import hot
from thrifty.policies import times
from thrifty.policies.base import WITH_TIME, Guarantee, Policy


@hot
def index(n, mean, variance, t, zeta, c):
    """
    >>> round(index(100.0, 0.8, 0.16, 10_000, 1.0, 1.0), 10)
    1.2479874933
    """
    return upper(n, mean, variance, math.log(max(t, 1.0)), zeta, c)


@hot
def upper(n, mean, variance, log_t, zeta, c):
    rate = zeta * log_t / n
    return mean + math.sqrt(2.0 * variance * rate) + 3.0 * c * rate


@hot
def reach(n, mean, variance, level, zeta, c):
    """exp(n z^2 / zeta) for the z with sqrt(2 V) z + 3 c z^2 = level - m.

    No earlier time has an index of the level.
    """
    gap = times.lowered(level, mean) - mean
    if gap <= 0.0:
        return 0.0
    slope = math.sqrt(2.0 * variance)
    below = slope + math.sqrt(2.0 * variance + 12.0 * c * gap)
    if gap == math.inf or below == 0.0 or zeta == 0.0:  # nothing raises it above its mean
        return math.inf
    z = 2.0 * gap / below  # the positive root, written so that nothing cancels
    return times.time(n * z * z / zeta)


@dataclass(frozen=True)
class UCBV(Policy):
    """UCB-V: a bonus by the variance that was seen.

    ``zeta`` scales the exploration, zeta ln t; ``c`` scales the part of the bonus that does not depend on the
    variance.
    """

    zeta: float = 1.0
    c: float = 1.0

    formula: ClassVar[str] = "m + √(2 V ζ ln t/n) + 3 c ζ ln t/n"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"c": 0.0}, {"zeta": 10.0}, {"zeta": 10.0, "c": 0.0})
    changes: ClassVar[str] = WITH_TIME
    engines: ClassVar[tuple[str, ...]] = ("scan", "kinetic")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(sub_ucb="ζ > 1, c = 1"),)
    citation: ClassVar[str] = "Audibert, Munos & Szepesvári 2009"
    confirmed: ClassVar[str] = "the index in public code; not the guarantee, nor its condition"

    def __post_init__(self) -> None:
        object.__setattr__(self, "zeta", checks.positive("zeta", self.zeta))
        object.__setattr__(self, "c", checks.at_least("c", self.c, 0.0, at_most=checks.LARGEST))

    @property
    def label(self) -> str:
        return "UCB-V" if (self.zeta, self.c) == (1.0, 1.0) else f"UCB-V (ζ={self.zeta:g}, c={self.c:g})"

    @property
    def rewards(self) -> str:
        return "unit"

    def index(self, n, mean, variance, log_t):
        return upper(n, mean, variance, log_t, self.zeta, self.c)

    def reach(self, n, mean, variance, level):
        return reach(n, mean, variance, level, self.zeta, self.c)
