"""ε-decreasing, or ε_t-greedy: ε-greedy with ε_t = min(1, c K / (d² t)) in round t = 1, 2, ...

Its authors prove a regret of order ln T for rewards in [0, 1], c > 5 and 0 < d <= the smallest gap above 0; a
d beyond that explores too little. Only c/d² matters. Every arm is pulled once first, which is not in
their paper: there ε_t is 1 for so long that it hardly matters.
Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", 2002.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.jit import hot
from thrifty.policies import epsilon_greedy, greedy
from thrifty.policies.base import WITH_OTHERS, Policy


@hot
def epsilon(t, arms, c, d):
    """In the round after t pulls.

    >>> epsilon(0, 10, 0.2, 0.5), epsilon(31, 10, 0.2, 0.5)
    (1.0, 0.25)
    """
    return min(1.0, c * arms / (d * d * (t + 1.0)))


@dataclass(frozen=True)
class EpsilonDecreasing(Policy):
    """ε-greedy that explores less and less: ε_t = min(1, c K / (d² t)).

    ``d`` should be at most the smallest gap between the best mean and another one; ``c`` is how much to
    explore, above 5 for what is proven, and far less for a small regret.
    """

    c: float = 0.15
    d: float = 0.1

    formula: ClassVar[str] = "m, or any arm with P = c K/(d² t)"
    changes: ClassVar[str] = WITH_OTHERS
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"c": 6.0, "d": 0.5},)
    group: ClassVar[str] = "Baselines"
    citation: ClassVar[str] = "Auer, Cesa-Bianchi & Fischer 2002"
    confirmed: ClassVar[str] = "ε_t in public code; the condition of the theorem was not"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checks.positive("c", self.c))
        object.__setattr__(self, "d", checks.positive("d", self.d))

    @property
    def label(self) -> str:
        return f"ε-decreasing (c={self.c:g}, d={self.d:g})"

    def choose(self, state, t):
        return epsilon_greedy.choose(state, epsilon(t, self.arms, self.c, self.d))

    def order(self, state, t):
        greedy.order(state, epsilon(t, self.arms, self.c, self.d))
