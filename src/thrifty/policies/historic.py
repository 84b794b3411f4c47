"""Thompson sampling from an arm's own rewards, without a family."""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks, indices
from thrifty.engines.state import HISTORIC, Rule
from thrifty.policies.base import Guarantee, Policy


@dataclass(frozen=True)
class NPTS(Policy):
    """Non-Parametric TS: every arm's rewards and the bound, with random weights, in every round.

    ``bound`` is on the scale of [0, 1] on which policies see rewards: 1.0 is the upper end of their range,
    and a larger one is looser.
    """

    bound: float = 1.0

    formula: ClassVar[str] = "Σ w·(rewards, bound), w ~ Dirichlet"
    texts: ClassVar[tuple[Any, ...]] = (indices.dirichlet,)
    schedule: ClassVar[str] = "fresh"
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="[0, 1]"),)
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

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(HISTORIC, arms, horizon, formula=indices.NON_PARAMETRIC, first=self.bound, history=True)


@dataclass(frozen=True)
class MultinomialTS(Policy):
    """Multinomial TS: a Dirichlet posterior over the rewards 0, 1/levels, 2/levels, ..., 1.

    A reward in between goes to one of the two next to it, at random, so that its mean stays.
    """

    levels: int = 10

    formula: ClassVar[str] = "Σ w·(0, 1/M, ..., 1), w ~ Dirichlet"
    texts: ClassVar[tuple[Any, ...]] = (indices.dirichlet,)
    schedule: ClassVar[str] = "fresh"
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="0, 1/M, ..., 1"),)
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

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(HISTORIC, arms, horizon, formula=indices.MULTINOMIAL, history=True, grid=self.levels)
