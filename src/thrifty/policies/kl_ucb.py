"""KL-UCB: index = max { q : n KL(m, q) <= ln(t) + c ln ln(t) }, with ln ln(t) read as ln max(1, ln t).

t counts the pulls made so far. Anytime. The proof takes c = 3, the authors recommend c = 0. KL is that of the
rewards' family; Bernoulli's is valid for every law on [0, 1]. At a Bernoulli mean of 1 the index is 1, at an
exponential mean of 0 it is 0. It never falls while the arm is left alone: its budget grows with t (c >= 0).
Garivier and Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thrifty import checks
from thrifty.engines import KINETIC_FROM_COSTLY
from thrifty.jit import hot
from thrifty.numerics import families
from thrifty.policies import times
from thrifty.policies.base import FAMILY_ASSUMED, FAMILY_REWARDS, WITH_TIME, Assumed, Guarantee, Policy, noted

DIGIT = 2.0**-53  # between 1 and the number before it
NEAR, FAR = 1.0 - 32.0 * DIGIT, 0.9  # levels above the first are close to 1, means below the second are not
SLACK = 1e-4  # more than what kl.LAST_STEP leaves, in ln(1 - index), before the last digits
ITERATIONS = 3  # of a bound that is valid after the first


@hot
def exploration(t, c):
    """ln(t) + c ln ln(t)."""
    return explored(math.log(max(t, 1.0)), c)


@hot
def explored(log_t, c):
    return log_t if c == 0.0 else log_t + c * math.log(max(log_t, 1.0))


@hot
def index(family, n, mean, t, c):
    """
    >>> round(index(families.BERNOULLI, 100.0, 0.8, 10_000, 0.0), 10)
    0.9312832129
    """
    return families.upper(family, mean, exploration(t, c) / n)


@hot
def reach(family, n, mean, level, c):
    """The t with ln(t) + c ln ln(t) = n KL(m, level), or a little less: no earlier time has that index."""
    if family == families.BERNOULLI and level > NEAR and (level > 1.0 or mean < FAR):
        return times.time(_logarithm(n * _budget_below(mean, level), c))
    level = times.lowered(level, mean)
    if level <= mean:
        return 0.0
    return times.time(_logarithm(n * families.divergence(family, mean, level), c))


@hot
def _logarithm(budget, c):
    """At most the y with y + c ln max(1, y) = budget.

    Beyond y = 1 the left side is concave, so that no step of Newton's method ends above the root.
    """
    if c == 0.0 or budget <= 1.0 or budget > times.LONGEST * (1.0 + c):
        return budget  # the last: y itself is beyond LONGEST, because c ln y <= c y
    y = budget
    for _ in range(ITERATIONS):
        y = max(y - (y + c * math.log(y) - budget) / (1.0 + c / y), 1.0)
    return y


@hot
def _budget_below(mean, level):
    """A c, close to the largest, with which the Bernoulli index is below a level that is close to 1.

    There it has few digits, and with a small n many arms have it. With b = 1 - m it is computed as m + b v,
    v = 1 - e^-s, of c = b s + m ln m: digit by digit the largest v is found with which it is below the level.
    """
    if level > 1.0:
        return math.inf
    b, k = 1.0 - mean, 1
    while mean + b * (1.0 - k * DIGIT) >= level:
        k += 1
    s = -math.log((k - 0.5) * DIGIT) - SLACK
    offset = mean * math.log(mean) if mean > 0.0 else 0.0
    if families.upper(families.BERNOULLI, mean, b * s + offset) < level:
        return b * s + offset
    return b * (s - 0.1) + offset


@hot
def settled(family, n, mean, level, c):
    """A time before which the index, which is the level now, does not rise."""
    return reach(family, n, mean, np.nextafter(level, math.inf), c)


@dataclass(frozen=True)
class KLUCB(Policy):
    """KL-UCB: the largest mean that the rewards leave plausible.

    ``c`` is that of the exploration, ln t + c ln ln t. ``family`` is that of the rewards: "bernoulli", which
    is valid on all of [0, 1], "gaussian" (of variance 1), "poisson" or "exponential".
    """

    c: float = 0.0
    family: str = "bernoulli"

    formula: ClassVar[str] = "max q: n KL(m, q) ≤ ln t + c ln ln t"
    variants: ClassVar[tuple[dict[str, Any], ...]] = tuple(
        {"c": 3.0, "family": family} for family in families.CODES
    )
    texts: ClassVar[tuple[Any, ...]] = (families,)
    changes: ClassVar[str] = WITH_TIME
    engines: ClassVar[tuple[str, ...]] = ("scan", "kinetic")
    choice: ClassVar[str] = "family"
    choices: ClassVar[tuple[Any, ...]] = tuple(families.CODES)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="its family, c = 3"),)
    citation: ClassVar[str] = "Garivier & Cappé 2011"
    confirmed: ClassVar[str] = "the index in public code, the guarantee in the abstract; not that c = 3"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checks.at_least("c", self.c, 0.0, at_most=checks.LARGEST))
        checks.choice("family", self.family, tuple(families.CODES))

    @property
    def label(self) -> str:
        notes = [f"c={self.c:g}"] if self.c else []
        notes += [self.family] if self.family != "bernoulli" else []
        return noted("KL-UCB", *notes)

    @property
    def rewards(self) -> str:
        return FAMILY_REWARDS[self.family]

    @property
    def assumes(self) -> Assumed:
        return FAMILY_ASSUMED[self.family]

    def fastest_from(self, engine: str) -> float:
        return KINETIC_FROM_COSTLY

    def index(self, n, mean, log_t):
        return families.upper(self.family, mean, explored(log_t, self.c) / n)

    def reach(self, n, mean, level):
        return reach(self.family, n, mean, level, self.c)

    def settled(self, n, mean, level):
        return settled(self.family, n, mean, level, self.c)
