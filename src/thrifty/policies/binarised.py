"""Policies for rewards of 0 and 1, on rewards in [0, 1]."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from thrifty.engines.memory import Rule
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies.base import Guarantee, Policy
from thrifty.policies.bayes_ucb import BayesUCB
from thrifty.policies.kl_ucb import KLUCB
from thrifty.policies.kl_ucb_plus_plus import KLUCBPlusPlus
from thrifty.policies.npts import NPTS
from thrifty.policies.thompson_sampling import ThompsonSampling
from thrifty.policies.ts_ma import TSMA


@dataclass(frozen=True)
class Binarised(Policy):
    """``policy``, one for rewards of 0 and 1, on rewards in [0, 1]: it sees a coin that shows 1 with that
    probability.

    The means stay, and so does what is proven for Bernoulli arms of these means; what the rewards tell beyond
    that is lost.
    """

    policy: Policy = field(default_factory=lambda: ThompsonSampling("beta"))

    formula: ClassVar[str] = "that of a policy for 0 and 1"
    variants: ClassVar[tuple[dict[str, Any], ...]] = tuple(
        {"policy": policy}
        for policy in (KLUCB(), KLUCBPlusPlus(), NPTS(), BayesUCB(), TSMA(law="beta", anytime=True))
    )
    changes: ClassVar[str] = "as the policy's"
    clock: ClassVar[str] = "as the policy's"
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(None, "as inside", "as inside", "as inside"),)
    group: ClassVar[str] = "Around another policy"
    citation: ClassVar[str] = "Agrawal & Goyal 2012"
    confirmed: ClassVar[str] = "in public code; the guarantees are those for Bernoulli arms of the same means"

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy):
            raise InvalidType(
                f"policy must be a policy such as ThompsonSampling('beta'), got {self.policy!r}"
            )
        if self.policy.rewards not in ("binary", "unit") or self.policy.resolve(2, 2).grid:
            raise InvalidValue(f"policy must be one for rewards of 0 and 1 or in [0, 1], got {self.policy!r}")
        if self.policy.played is not self.policy:
            raise InvalidValue(f"policy must not be around another one, got {self.policy!r}")

    @property
    def label(self) -> str:
        return f"{self.policy.label}, binarised"

    @property
    def rewards(self) -> str:
        return "unit"

    @property
    def played(self) -> Policy:
        return self.policy

    @property
    def keeps_rewards(self) -> bool:
        return self.policy.keeps_rewards

    @property
    def runs_on(self) -> tuple[str, ...]:
        return self.policy.runs_on

    def fastest_from(self, engine: str) -> float:
        return self.policy.fastest_from(engine)

    @property
    def anytime(self) -> bool:
        return bool(getattr(self.policy, "anytime", False))

    @property
    def needs_horizon(self) -> bool:
        return self.policy.needs_horizon

    def resolve(self, arms: int, horizon: int) -> Rule:
        return self.policy.resolve(arms, horizon)._replace(grid=1)

    def stages(self, arms: int, horizon: int) -> list[tuple[int, Rule]]:
        return [(start, rule._replace(grid=1)) for start, rule in self.policy.stages(arms, horizon)]
