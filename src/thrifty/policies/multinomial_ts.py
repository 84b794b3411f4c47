"""Multinomial TS: index = sum of w_j x_j, w ~ Dirichlet, of x = 0, 1/M, ..., 1 with the weights 1 + how often
each came (``numerics.dirichlet``). Confirmed in the abstract.

Riou and Honda, "Bandit algorithms based on Thompson sampling for bounded reward distributions", ALT 2020.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.engines.memory import Rule
from thrifty.jit import hot
from thrifty.numerics import dirichlet
from thrifty.numerics.dirichlet import add
from thrifty.policies.base import Guarantee, Policy


@hot
def index(values, times, levels, rng):
    """The mean with random weights, for rewards that are multiples of 1/levels."""
    top, total, j = 0.0, 0.0, 0
    for level in range(levels + 1):
        x = level / levels
        while j < values.size and values[j] < x:  # a prior's, between the levels
            top, total = add(times[j], values[j], top, total, rng)
            j += 1
        weight = 1.0
        if j < values.size and values[j] == x:
            weight += times[j]
            j += 1
        top, total = add(weight, x, top, total, rng)
    return top / total


@dataclass(frozen=True)
class MultinomialTS(Policy):
    """Multinomial TS: a Dirichlet posterior over the rewards 0, 1/M, 2/M, ..., 1, where ``levels`` is M.

    A reward in between goes to one of the two next to it, at random, so that its mean stays.
    """

    levels: int = 10

    formula: ClassVar[str] = "Σ w·(0, 1/M, ..., 1), w ~ Dirichlet"
    texts: ClassVar[tuple[Any, ...]] = (dirichlet,)
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"levels": 1}, {"levels": 3}, {"levels": 100})
    draws_index: ClassVar[bool] = True
    counts_pending: ClassVar[bool] = False
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="0, 1/M, ..., 1"),)
    group: ClassVar[str] = "An index resampled from the arm's own rewards"
    citation: ClassVar[str] = "Riou & Honda 2020"
    confirmed: ClassVar[str] = "both in the abstract; the guarantee is for rewards that are on the levels"

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", checks.integer("levels", self.levels, at_least=1, at_most=10**6))

    @property
    def label(self) -> str:
        return f"Multinomial TS ({self.levels})"

    @property
    def rewards(self) -> str:
        return "unit"

    @property
    def keeps_rewards(self) -> bool:
        return True

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(arms, horizon, grid=self.levels)

    def index(self, rewards, rng):
        return index(rewards[0], rewards[1], self.levels, rng)
