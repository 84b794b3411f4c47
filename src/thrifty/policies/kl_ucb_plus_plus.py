"""KL-UCB++: index = max { q : n kl(m, q) <= g(n) },

    g(n) = ln+( T/(K n) (ln+(T/(K n))^2 + 1) ),        ln+(x) = max(0, ln x).

It depends on the arm's own statistics alone, so only the pulled arm is recomputed. From n = T/K on it is
the mean.
Ménard and Garivier, "A minimax and asymptotically optimal algorithm for stochastic bandits", ALT 2017.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty.jit import hot
from thrifty.numerics import kl
from thrifty.policies.base import WHEN_PULLED, Guarantee, HorizonPolicy


@hot
def exploration(n, arms, horizon):
    """g(n)."""
    share = horizon / (arms * n)
    if share <= 1.0:  # then ln+ is 0 inside, and outside too
        return 0.0
    return math.log(share * (math.log(share) ** 2 + 1.0))


@hot
def index(n, mean, arms, horizon):
    x, _ = kl.bernoulli_upper(mean, exploration(n, arms, horizon) / n)
    return x


@dataclass(frozen=True)
class KLUCBPlusPlus(HorizonPolicy):
    """KL-UCB++: a deterministic index that only changes when its arm is pulled. For rewards in [0, 1].

    ``anytime`` plays without knowing the horizon.
    """

    anytime: bool = False

    formula: ClassVar[str] = "max q: n kl(m, q) ≤ g(T/(K n))"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"anytime": True},)
    changes: ClassVar[str] = WHEN_PULLED
    engines: ClassVar[tuple[str, ...]] = ("scan", "tournament")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Bernoulli", minimax="yes"),)
    citation: ClassVar[str] = "Ménard & Garivier 2017"
    confirmed: ClassVar[str] = "the index in public code, the guarantees in the abstract"

    @property
    def label(self) -> str:
        return "KL-UCB++ (anytime)" if self.anytime else "KL-UCB++"

    @property
    def rewards(self) -> str:
        return "unit"

    def index(self, n, mean):
        return index(n, mean, self.arms, self.horizon)
