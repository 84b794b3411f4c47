"""Non-Parametric TS: index = sum of w_j x_j, w ~ Dirichlet, of an arm's own rewards x, weight 1 each, and the
bound B, weight 1 (``numerics.dirichlet``).

For rewards in {0, 1} and B = 1 the index is Beta(S + 1, n - S), and 1 if there was no 0. Confirmed in two
public implementations. In the paper the first rewards come from the index, which is B without any: here each
arm is pulled once at first, which is the same but for the order, and ties of arms that gave nothing but B.
Riou and Honda, "Bandit algorithms based on Thompson sampling for bounded reward distributions", ALT 2020.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.jit import hot
from thrifty.numerics import dirichlet
from thrifty.numerics.dirichlet import add
from thrifty.policies.base import Guarantee, Policy


@hot
def index(values, times, bound, rng):
    """The mean with random weights."""
    top, total = add(1.0, bound, 0.0, 0.0, rng)
    for j in range(values.size):
        top, total = add(times[j], values[j], top, total, rng)
    return top / total


@dataclass(frozen=True)
class NPTS(Policy):
    """Non-Parametric TS: every arm's rewards and the bound, with random weights, in every round.

    ``bound`` is on the scale of [0, 1] on which policies see rewards: 1.0 is the upper end of their range,
    and a larger one is looser.
    """

    bound: float = 1.0

    formula: ClassVar[str] = "Σ w·(rewards, bound), w ~ Dirichlet"
    texts: ClassVar[tuple[Any, ...]] = (dirichlet,)
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"bound": 2.5}, {"bound": 1e6})
    draws_index: ClassVar[bool] = True
    counts_pending: ClassVar[bool] = False
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="[0, 1]"),)
    group: ClassVar[str] = "An index resampled from the arm's own rewards"
    citation: ClassVar[str] = "Riou & Honda 2020"
    confirmed: ClassVar[str] = "the index in public code, the guarantee in the abstract"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", checks.at_least("bound", self.bound, 1.0, at_most=checks.LARGEST))

    @property
    def label(self) -> str:
        return "NPTS" if self.bound == 1.0 else f"NPTS (B={self.bound:g})"

    @property
    def rewards(self) -> str:
        return "unit"

    @property
    def keeps_rewards(self) -> bool:
        return True

    def index(self, rewards, rng):
        return index(rewards[0], rewards[1], self.bound, rng)
