"""MOSS: index = m + sqrt( ln+(T/(K n)) / n ), ln+(x) = max(0, ln x), T the horizon.

For rewards in [0, 1]: it is the 1-subgaussian form, sqrt(4/n ln+(T/(K n))), at a deviation of 1/2.
It depends on the arm's own statistics alone, so only the pulled arm is recomputed. From n = T/K on it is the
mean. With t in place of T it is another algorithm, an anytime one.
Audibert and Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT 2009.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty.jit import hot
from thrifty.policies.base import WHEN_PULLED, Guarantee, HorizonPolicy


@hot
def index(n, mean, arms, horizon):
    """
    >>> round(index(100.0, 0.8, 20, 100_000), 10)
    0.9977883466
    """
    return mean + math.sqrt(math.log(max(horizon / (arms * n), 1.0)) / n)


@dataclass(frozen=True)
class MOSS(HorizonPolicy):
    """MOSS with a known horizon, in the form for rewards in [0, 1].

    ``anytime`` plays without knowing the horizon.
    """

    anytime: bool = False

    formula: ClassVar[str] = "m + √(ln⁺(T/(K n))/n)"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"anytime": True},)
    changes: ClassVar[str] = WHEN_PULLED
    engines: ClassVar[tuple[str, ...]] = ("scan", "tournament")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(minimax="yes"),)
    citation: ClassVar[str] = "Audibert & Bubeck 2009"
    confirmed: ClassVar[str] = "the index in public code, the guarantee as others quote it"

    @property
    def label(self) -> str:
        return "MOSS (anytime)" if self.anytime else "MOSS"

    @property
    def rewards(self) -> str:
        return "unit"

    def index(self, n, mean):
        return index(n, mean, self.arms, self.horizon)
