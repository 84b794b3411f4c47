"""IMED pulls the arm with the *smallest* index  n KL(m, m*) + ln(n),  where m* is the largest mean.

KL is that of the rewards' family. For any rewards in [0, 1], K_inf(F, m*) takes its place, F being the law of
the arm's rewards. An arm whose mean is m* has KL = 0 by definition, also at m = m* = 1: its index is ln(n).
Where KL is infinite, so is the index: for a Bernoulli arm with m < m* = 1, and for an exponential one with
m = 0 < m*. The smallest index is always finite.

Anytime. Its clock is m*, not t: with n and m fixed the index never falls while m* grows, since KL(m, x)
increases in x >= m. So the index at some m* is a lower bound for as long as m* is no smaller.
Honda and Takemura, "Non-asymptotic analysis of a new bandit algorithm for semi-bounded rewards", JMLR 2015.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.jit import hot
from thrifty.numerics import families, k_inf
from thrifty.policies.base import FAMILY_ASSUMED, FAMILY_REWARDS, WITH_OTHERS, Assumed, Guarantee, Policy


@hot
def index(family, n, mean, best):
    """
    >>> round(index(families.BERNOULLI, 100.0, 0.8, 0.9), 6), index(families.BERNOULLI, 1.0, 1.0, 1.0)
    (9.045471, 0.0)
    """
    return bounded(n, families.divergence(family, mean, best) if mean < best else 0.0)


@hot
def bounded(n, divergence):
    """The index of an arm whose K_inf(F, m*), or whatever divergence, is known."""
    return n * divergence + math.log(n)


@dataclass(frozen=True)
class IMED(Policy):
    """IMED: pulls the arm against which there is the least evidence.

    ``family`` is that of the rewards: "bernoulli", which is valid on all of [0, 1], "gaussian" (of variance
    1), "poisson" or "exponential". "bounded" knows no family on [0, 1], compares by K_inf and keeps every
    reward.
    """

    family: str = "bernoulli"

    formula: ClassVar[str] = "smallest n KL(m, m*) + ln n"
    texts: ClassVar[tuple[Any, ...]] = (families, k_inf)
    changes: ClassVar[str] = WITH_OTHERS
    own_columns: ClassVar[int] = 1  # the multiplier of K_inf, from which the next search starts
    choice: ClassVar[str] = "family"
    choices: ClassVar[tuple[Any, ...]] = (*families.CODES, "bounded")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (
        Guarantee("bernoulli", asymptotic="Bernoulli"),
        Guarantee("bounded", asymptotic="[0, 1]"),
    )
    citation: ClassVar[str] = "Honda & Takemura 2015"
    confirmed: ClassVar[str] = (
        "the index in public code, a bound for finite time in the abstract; not that its constant is that of "
        "the lower bound"
    )

    def __post_init__(self) -> None:
        checks.choice("family", self.family, (*families.CODES, "bounded"))

    @property
    def label(self) -> str:
        return "IMED" if self.family == "bernoulli" else f"IMED ({self.family})"

    @property
    def rewards(self) -> str:
        return "unit" if self.family == "bounded" else FAMILY_REWARDS[self.family]

    @property
    def assumes(self) -> Assumed:
        return FAMILY_ASSUMED.get(self.family, Assumed())

    @property
    def keeps_rewards(self) -> bool:
        return self.family == "bounded"

    def functions(self) -> dict[str, Any]:
        return {"index": IMED.bounded if self.family == "bounded" else IMED.index}

    def index(self, n, mean, best):
        return -index(self.family, n, mean, best)

    def bounded(self, rewards, own, n, mean, best):
        if mean >= best:
            return -bounded(n, 0.0)
        divergence, own[0] = k_inf.k_inf(rewards[0], rewards[1], best, own[0])
        return -bounded(n, divergence)
