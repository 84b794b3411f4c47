"""AdaUCB: index = m + sqrt( 2 v/n l(T/H) ),  l(x) = ln( (x + e) sqrt(ln(x + e)) ),

    H_i = sum over j of min(n_i, sqrt(n_i n_j)) = sqrt(n_i) sum over j of sqrt(min(n_i, n_j)),

T the horizon and v the variance of the rewards: 1 in the paper, 1/4 for rewards in [0, 1].

No H ever falls, so that the index of an arm that is left alone never rises: an old index is an upper bound.
Lattimore, "Refining the confidence level for optimistic bandit strategies", JMLR 2018.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.jit import hot
from thrifty.policies.base import WITH_OTHERS, Assumed, Guarantee, HorizonPolicy, noted, timeless, varied
from thrifty.state import ranks


@hot
def confidence(x):
    """l(x).

    >>> round(confidence(1.0), 2), round(confidence(1e6), 1)
    (1.45, 15.1)
    """
    return math.log((x + math.e) * math.sqrt(math.log(x + math.e)))


@hot
def index(n, mean, h, horizon, variance):
    """
    >>> round(index(100.0, 0.0, 230.0, 10_000, 1.0), 8)
    0.30015717
    """
    return mean + math.sqrt(2.0 * variance / n * confidence(horizon / h))


@dataclass(frozen=True)
class AdaUCB(HorizonPolicy):
    """AdaUCB: the mean, and a bonus that shrinks when other arms are pulled too.

    ``variance`` is that of the rewards, or more: 1/4 covers all in [0, 1].
    ``anytime`` plays without knowing the horizon.
    """

    variance: float = 0.25
    anytime: bool = False

    formula: ClassVar[str] = "m + √(2 v l(T/H)/n)"
    texts: ClassVar[tuple[Any, ...]] = (ranks,)
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"variance": 1e-6}, {"anytime": True})
    changes: ClassVar[str] = WITH_OTHERS
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(None, "Gaussian, σ² = v", "yes", "yes"),)
    citation: ClassVar[str] = "Lattimore 2018"
    confirmed: ClassVar[str] = "the index in two public codes, the guarantees in the abstract"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "variance", checks.positive("variance", self.variance))

    @property
    def label(self) -> str:
        return noted("AdaUCB", *varied(self.variance), *timeless(self.anytime))

    @property
    def assumes(self) -> Assumed:
        return Assumed("sub-Gaussian, v", self.variance)

    def index(self, n, mean, h):
        return index(n, mean, h, self.horizon, self.variance)
