"""Thompson sampling: every arm's index is a new draw from its law in every round."""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty.policies.base import Guarantee
from thrifty.policies.law_policy import LawPolicy
from thrifty.schedules import fresh


@dataclass(frozen=True)
class ThompsonSampling(LawPolicy):
    """Every arm draws from its posterior in every round. With the Gaussian law: the paper's Vanilla TS.

    ``law`` is "gaussian" for rewards in [0, 1] or of variance at most 1, "beta" for rewards of 0 and 1,
    "gamma" for Poisson ones, and for exponential ones "inverse-gamma", InvGamma(n, S), or
    "inverse-gamma-flat", InvGamma(n - 1, S). Or a ``Law`` of your own, or for ``Bandit`` a ``Posterior``.
    """

    formula: ClassVar[str] = "a draw of its law"
    texts: ClassVar[tuple[Any, ...]] = (fresh,)
    schedule: ClassVar[str] = "fresh"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (
        Guarantee("gaussian", "Gaussian, σ² = 1", "× √ln K", "yes", "Korda et al. 2013; Hu et al. 2024"),
        Guarantee("beta", "Bernoulli", "× √ln T", "", "Agrawal & Goyal 2017"),
        Guarantee("gamma", "Poisson", "× √ln K", "", "Jin, Yang, Xiao & Xu 2023"),
        Guarantee("inverse-gamma", "exponential", "", "", "Korda, Kaufmann & Munos 2013"),
        Guarantee("inverse-gamma-flat", "exponential", "× √ln K", "", "Jin, Yang, Xiao & Xu 2023"),
    )
    citation: ClassVar[str] = "Thompson 1933; Agrawal & Goyal 2017"
    confirmed: ClassVar[str] = (
        "the Gaussian law in the UAI 2024 paper, the others in public code; the guarantees in that paper and "
        "in abstracts. Those of Jin et al. are for ε-TS, taken at ε = 1"
    )

    @property
    def label(self) -> str:
        return f"TS ({self.law_name})"
