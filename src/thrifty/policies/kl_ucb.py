"""KL-UCB: index = max { q : n KL(m, q) <= ln(t) + c ln ln(t) }, with ln ln(t) read as ln max(1, ln t).

t counts the pulls made so far. Anytime. The proof takes c = 3, the authors recommend c = 0. KL is that of the
rewards' family; Bernoulli's is valid for every law on [0, 1]. At a Bernoulli mean of 1 the index is 1, at an
exponential mean of 0 it is 0. It never falls while the arm is left alone: its budget grows with t (c >= 0).
Garivier and Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.engines import KINETIC_FROM_COSTLY
from thrifty.jit import kernel
from thrifty.numerics import families, kl
from thrifty.policies import times
from thrifty.policies.base import FAMILY_ASSUMED, FAMILY_REWARDS, WITH_TIME, Assumed, Guarantee, Policy, noted

END = 2.0**-60  # what an index is below 1, when it is 1 in digits and remains so
ITERATIONS = 3  # of a bound that is valid after the first


@kernel
def exploration(t, c):
    """ln(t) + c ln ln(t)."""
    return explored(math.log(max(t, 1.0)), c)


@kernel
def explored(log_t, c):
    return log_t if c == 0.0 else log_t + c * math.log(max(log_t, 1.0))


@kernel
def index(family, n, mean, t, c):
    """
    >>> round(index(families.BERNOULLI, 100.0, 0.8, 10_000, 0.0), 10)
    0.9312832129
    """
    return families.upper(family, mean, exploration(t, c) / n)


@kernel
def reach(family, n, mean, level, c):
    """The t with ln(t) + c ln ln(t) = n KL(m, level), or a little less: no earlier time has that index."""
    level = times.lowered(level, mean)
    if level <= mean:
        return 0.0
    if family == families.BERNOULLI and level > 1.0:
        return math.inf
    return times.time(_logarithm(n * families.divergence(family, mean, level), c))


@kernel
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


@kernel
def settled(family, n, mean, budget):
    """Whether the index has come to its end and stays there: 1, or infinity as far as numbers go. With a
    small n most arms may have come there."""
    if family == families.BERNOULLI:
        return kl.bernoulli_upper(mean, budget / n)[1] < END
    return families.upper(family, mean, (1.0 - times.ROUNDING) * budget / n) == math.inf


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

    def settled(self, n, mean, log_t):
        return settled(self.family, n, mean, explored(log_t, self.c))
