"""Thompson sampling from an arm's own rewards, without a family; and rewards that are rounded at random."""

from dataclasses import dataclass
from typing import ClassVar

from thrifty import checks, indices
from thrifty.engines.state import HISTORIC, Rule
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies.base import Policy


@dataclass(frozen=True)
class NPTS(Policy):
    """Non-Parametric TS: every arm's rewards and the bound, with random weights, in every round."""

    bound: float = 1.0

    laws: ClassVar[tuple[str, ...]] = ("resampled rewards",)
    schedule: ClassVar[str] = "fresh"
    guarantees: ClassVar[tuple[str, ...]] = ("asymptotic",)
    citation: ClassVar[str] = "Riou & Honda 2020"

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

    levels: int

    laws: ClassVar[tuple[str, ...]] = ("dirichlet",)
    schedule: ClassVar[str] = "fresh"
    guarantees: ClassVar[tuple[str, ...]] = ("asymptotic",)
    citation: ClassVar[str] = "Riou & Honda 2020"

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


@dataclass(frozen=True)
class Binarised(Policy):
    """A policy for rewards of 0 and 1, on rewards in [0, 1]: it sees a coin that shows 1 with that
    probability.

    The means stay and so does the regret's guarantee, for the Bernoulli arms of the same means; what the
    rewards tell beyond that is lost.
    """

    policy: Policy

    schedule: ClassVar[str] = "as the policy's"
    citation: ClassVar[str] = "Agrawal & Goyal 2012"

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy):
            raise InvalidType(
                f"policy must be a policy such as ThompsonSampling('beta'), got {self.policy!r}"
            )
        if self.policy.rewards not in ("binary", "unit") or self.policy.resolve(2, 2).grid:
            raise InvalidValue(f"policy must be one for rewards of 0 and 1 or in [0, 1], got {self.policy!r}")

    @property
    def label(self) -> str:
        return f"{self.policy.label}, binarised"

    @property
    def rewards(self) -> str:
        return "unit"

    @property
    def runs_on(self) -> tuple[str, ...]:
        return self.policy.runs_on

    def fastest_from(self, engine: str) -> float:
        return self.policy.fastest_from(engine)

    @property
    def needs_horizon(self) -> bool:
        return self.policy.needs_horizon

    def resolve(self, arms: int, horizon: int) -> Rule:
        return self.policy.resolve(arms, horizon)._replace(grid=1)

    def stages(self, arms: int, horizon: int) -> list[tuple[int, Rule]]:
        return [(start, rule._replace(grid=1)) for start, rule in self.policy.stages(arms, horizon)]
