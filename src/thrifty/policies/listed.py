"""Policies that make lists of arms to pull."""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks, indices
from thrifty.engines.state import LISTED, Rule
from thrifty.errors import InvalidValue
from thrifty.indices import dirichlet_sampling, dmed, ucb_improved
from thrifty.policies.base import Assumed, Guarantee, HorizonPolicy, Policy

DMED_RULES = {"original": indices.DMED, "log-t": indices.DMED_LOG_T}


@dataclass(frozen=True)
class DMED(Policy):
    """DMED with the Bernoulli divergence, which is valid on all of [0, 1]: lists of arms worth another pull.

    ``rule="log-t"`` is the test by ln t alone, which other authors call DMED; they call the original DMED+.
    """

    rule: str = "original"

    formula: ClassVar[str] = "all with n kl(m, m*) ≤ ln(t/n)"
    texts: ClassVar[tuple[Any, ...]] = (dmed,)
    schedule: ClassVar[str] = "listed"
    choice: ClassVar[str] = "rule"
    choices: ClassVar[tuple[Any, ...]] = tuple(DMED_RULES)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee("original", asymptotic="Bernoulli"),)
    citation: ClassVar[str] = "Honda & Takemura 2010"
    confirmed: ClassVar[str] = "the lists in public code, the guarantee in the abstract on IMED"

    def __post_init__(self) -> None:
        checks.choice("rule", self.rule, tuple(DMED_RULES))

    @property
    def label(self) -> str:
        return "DMED" if self.rule == "original" else f"DMED ({self.rule})"

    @property
    def rewards(self) -> str:
        return "unit"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(LISTED, arms, horizon, formula=DMED_RULES[self.rule])


@dataclass(frozen=True)
class UCBImproved(HorizonPolicy):
    """UCB-Improved: pulls all arms that are left equally often, in phases, and drops those that are clearly
    worse."""

    anytime: bool = False

    formula: ClassVar[str] = "drops m + w < max (m − w), in phases"
    texts: ClassVar[tuple[Any, ...]] = (ucb_improved,)
    schedule: ClassVar[str] = "listed"
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(sub_ucb="yes"),)
    citation: ClassVar[str] = "Auer & Ortner 2010"
    confirmed: ClassVar[str] = "the phases in public code, the guarantee in the abstract; not what comes last"

    @property
    def label(self) -> str:
        return "UCB-Improved (anytime)" if self.anytime else "UCB-Improved"

    @property
    def rewards(self) -> str:
        return "unit"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(LISTED, arms, horizon, formula=indices.UCB_IMPROVED)


@dataclass(frozen=True)
class DirichletSampling(Policy):
    """Dirichlet Sampling: every arm challenges the one that was pulled most with its resampled mean.

    "bounded" is for rewards up to a bound that is known, "unknown-bound" for bounded ones otherwise,
    "quantile" for rewards that are bounded on one side, "robust" for all. The formulas, and what of them is
    confirmed, are in ``indices/dirichlet_sampling.py``. ``bound`` is for "bounded" alone and on the scale of
    [0, 1] on which policies see rewards: 1.0 is the upper end of their range, and a larger one is looser.
    """

    variant: str = "bounded"
    bound: float = 1.0

    formula: ClassVar[str] = "all whose resampled mean ≥ the leader's"
    texts: ClassVar[tuple[Any, ...]] = (dirichlet_sampling,)
    schedule: ClassVar[str] = "listed"
    choice: ClassVar[str] = "variant"
    choices: ClassVar[tuple[Any, ...]] = tuple(dirichlet_sampling.VARIANTS)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee("bounded", asymptotic="[0, 1]"),)
    citation: ClassVar[str] = "Baudry, Saux & Maillard 2021"
    confirmed: ClassVar[str] = "bounded in public code, its guarantee in the abstract; not the other bonuses"

    def __post_init__(self) -> None:
        checks.choice("variant", self.variant, tuple(dirichlet_sampling.VARIANTS))
        object.__setattr__(self, "bound", checks.at_least("bound", self.bound, 1.0, at_most=checks.LARGEST))
        if self.variant != "bounded" and self.bound != 1.0:
            raise InvalidValue(
                f"bound must be 1 for the variant {self.variant}, which has none, got {self.bound!r}"
            )

    @property
    def label(self) -> str:
        notes = [f"B={self.bound:g}"] if self.bound != 1.0 else []
        return f"DS ({', '.join([self.variant, *notes])})"

    @property
    def rewards(self) -> str:
        return "unit" if self.variant == "bounded" else "any"

    @property
    def assumes(self) -> Assumed:
        return Assumed({"unknown-bound": "bounded", "quantile": "bounded below"}.get(self.variant, ""))

    def resolve(self, arms: int, horizon: int) -> Rule:
        code = dirichlet_sampling.VARIANTS[self.variant]
        return Rule(
            LISTED,
            arms,
            horizon,
            formula=indices.DIRICHLET_SAMPLING,
            family=code,
            first=self.bound,
            history=True,
        )
