"""ExpTS+: ExpTS in which each arm draws with probability 1/K, and else uses its mean."""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty.engines.memory import Rule
from thrifty.laws import FAMILIES, Law, exponential_family
from thrifty.policies.base import Guarantee
from thrifty.policies.law_policy import Drawing
from thrifty.schedules import epsilon


@dataclass(frozen=True)
class ExpTSPlus(Drawing):
    """ExpTS in which each arm draws with probability 1/K and uses its mean otherwise."""

    formula: ClassVar[str] = "a draw of P(m, n), or m"
    texts: ClassVar[tuple[Any, ...]] = (epsilon, exponential_family)
    schedule: ClassVar[str] = "epsilon"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Bernoulli", minimax="yes"),)
    citation: ClassVar[str] = "Jin, Xu, Xiao & Anandkumar 2022"
    confirmed: ClassVar[str] = "the algorithm in the UAI 2024 paper, the guarantees in the abstract"

    @property
    def label(self) -> str:
        return "ExpTS+"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return super().resolve(arms, horizon)._replace(epsilon=1.0 / arms)

    @property
    def law(self) -> Law:
        """For Bernoulli rewards."""
        return FAMILIES["bernoulli"]
