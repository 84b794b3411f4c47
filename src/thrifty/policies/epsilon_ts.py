"""epsilon-TS: an arm's index is a new draw with probability epsilon, by its own coin, and else its mean."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.engines import SLEEPERS_EPSILON
from thrifty.engines.memory import Rule
from thrifty.policies.base import Guarantee
from thrifty.policies.law_policy import NAMES, LawPolicy
from thrifty.schedules import epsilon as coins


@dataclass(frozen=True)
class EpsilonTS(LawPolicy):
    """Each arm draws from its posterior by its own coin; else its mean is used.

    ``law`` is that of ``ThompsonSampling``. ``epsilon`` is the probability of a draw; None means 1/K.
    """

    epsilon: float | None = None

    formula: ClassVar[str] = "a draw of its law, or m"
    texts: ClassVar[tuple[Any, ...]] = (coins,)
    schedule: ClassVar[str] = "epsilon"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    variants: ClassVar[tuple[dict[str, Any], ...]] = (
        *({"law": law, "epsilon": 0.5} for law in NAMES),
        {"epsilon": 1e-9},
        {"epsilon": 1.0},
    )
    guarantees: ClassVar[tuple[Guarantee, ...]] = (
        Guarantee("gaussian", "Gaussian, σ² = 1", "Gaussian, ε = 1/K", "Gaussian, fixed ε"),
        Guarantee("beta", "Bernoulli", "ε = 1/K"),
        Guarantee("gamma", "Poisson", "ε = 1/K"),
        Guarantee("inverse-gamma-flat", "exponential", "ε = 1/K"),
    )
    citation: ClassVar[str] = "Jin, Yang, Xiao & Xu 2023"
    confirmed: ClassVar[str] = (
        "the laws in its authors' code, the guarantees in the abstract and in the UAI 2024 paper; with "
        "another ε the worst case has the factor √ln(e K ε)"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon is not None:
            epsilon = checks.unit("epsilon", self.epsilon, open_at_zero=True)
            object.__setattr__(self, "epsilon", epsilon)

    def fastest_from(self, engine: str) -> float:
        few = self.epsilon is None or self.epsilon <= SLEEPERS_EPSILON
        return super().fastest_from(engine) if few else math.inf

    @property
    def label(self) -> str:
        epsilon = "1/K" if self.epsilon is None else f"{self.epsilon:.4g}"
        return f"ε-TS ({self.law_name}, ε={epsilon})"

    def resolve(self, arms: int, horizon: int) -> Rule:
        epsilon = 1.0 / arms if self.epsilon is None else float(self.epsilon)
        return super().resolve(arms, horizon)._replace(epsilon=epsilon)
