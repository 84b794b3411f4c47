"""Policies whose index is a function of the statistics. The formulas are in ``thrifty.indices``."""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks, indices
from thrifty.engines import KINETIC_FROM, KINETIC_FROM_COSTLY
from thrifty.engines.state import CLOCKED, COMMITTED, HISTORIC, SHARED, Rule
from thrifty.numerics import families, k_inf
from thrifty.policies.base import FAMILY_ASSUMED, FAMILY_REWARDS, Assumed, Guarantee, HorizonPolicy, Policy


@dataclass(frozen=True)
class KLUCBPlusPlus(HorizonPolicy):
    """KL-UCB++: a deterministic index that only changes when its arm is pulled. For rewards in [0, 1]."""

    anytime: bool = False

    formula: ClassVar[str] = "max q: n kl(m, q) ≤ g(T/(K n))"
    texts: ClassVar[tuple[Any, ...]] = (indices.kl_ucb_plus_plus,)
    schedule: ClassVar[str] = "committed"
    engines: ClassVar[tuple[str, ...]] = ("scan", "tournament")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Bernoulli", minimax="yes"),)
    citation: ClassVar[str] = "Ménard & Garivier 2017"
    confirmed: ClassVar[str] = "the index in public code, the guarantees in the abstract"

    @property
    def label(self) -> str:
        return "KL-UCB++ (anytime)" if self.anytime else "KL-UCB++"

    @property
    def rewards(self) -> str:
        return "unit"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(COMMITTED, arms, horizon, formula=indices.KL_UCB_PLUS_PLUS)


@dataclass(frozen=True)
class MOSS(HorizonPolicy):
    """MOSS with a known horizon, in the form for rewards in [0, 1]."""

    anytime: bool = False

    formula: ClassVar[str] = "m + √(ln⁺(T/(K n))/n)"
    texts: ClassVar[tuple[Any, ...]] = (indices.moss,)
    schedule: ClassVar[str] = "committed"
    engines: ClassVar[tuple[str, ...]] = ("scan", "tournament")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(minimax="yes"),)
    citation: ClassVar[str] = "Audibert & Bubeck 2009"
    confirmed: ClassVar[str] = "the index in public code, the guarantee as others quote it"

    @property
    def label(self) -> str:
        return "MOSS (anytime)" if self.anytime else "MOSS"

    @property
    def rewards(self) -> str:
        return "unit"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(COMMITTED, arms, horizon, formula=indices.MOSS)


class Clocked(Policy):
    """What indices that rise with the time have in common."""

    schedule: ClassVar[str] = "clocked"
    engines: ClassVar[tuple[str, ...]] = ("scan", "kinetic")
    kinetic_from: ClassVar[int] = KINETIC_FROM

    def fastest_from(self, engine: str) -> float:
        return self.kinetic_from

    @property
    def rewards(self) -> str:
        return "unit"


@dataclass(frozen=True)
class UCB1(Clocked):
    """UCB1: the mean, and a bonus that is larger for arms that were pulled seldom."""

    formula: ClassVar[str] = "m + √(2 ln t/n)"
    texts: ClassVar[tuple[Any, ...]] = (indices.ucb1,)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(sub_ucb="yes"),)
    citation: ClassVar[str] = "Auer, Cesa-Bianchi & Fischer 2002"
    confirmed: ClassVar[str] = "the index in public code, the guarantee in a copy of its proof"

    @property
    def label(self) -> str:
        return "UCB1"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(CLOCKED, arms, horizon, formula=indices.UCB1)


@dataclass(frozen=True)
class UCB1Tuned(Clocked):
    """UCB1-tuned: UCB1 with the variance that was seen, at most 1/4."""

    formula: ClassVar[str] = "m + √(min(¼, V + √(2 ln t/n)) ln t/n)"
    texts: ClassVar[tuple[Any, ...]] = (indices.ucb1_tuned,)
    citation: ClassVar[str] = "Auer, Cesa-Bianchi & Fischer 2002"
    confirmed: ClassVar[str] = "the index in public code; its authors prove nothing"

    @property
    def label(self) -> str:
        return "UCB1-tuned"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(CLOCKED, arms, horizon, formula=indices.UCB1_TUNED, squares=True)


@dataclass(frozen=True)
class UCBV(Clocked):
    """UCB-V: a bonus by the variance that was seen."""

    zeta: float = 1.0
    c: float = 1.0

    formula: ClassVar[str] = "m + √(2 V ζ ln t/n) + 3 c ζ ln t/n"
    texts: ClassVar[tuple[Any, ...]] = (indices.ucb_v,)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(sub_ucb="ζ > 1, c = 1"),)
    citation: ClassVar[str] = "Audibert, Munos & Szepesvári 2009"
    confirmed: ClassVar[str] = "the index in public code; not the guarantee, nor its condition"

    def __post_init__(self) -> None:
        object.__setattr__(self, "zeta", checks.positive("zeta", self.zeta))
        object.__setattr__(self, "c", checks.at_least("c", self.c, 0.0, at_most=checks.LARGEST))

    @property
    def label(self) -> str:
        return "UCB-V" if (self.zeta, self.c) == (1.0, 1.0) else f"UCB-V (ζ={self.zeta:g}, c={self.c:g})"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(
            CLOCKED, arms, horizon, formula=indices.UCB_V, first=self.zeta, second=self.c, squares=True
        )


@dataclass(frozen=True)
class KLUCB(Clocked):
    """KL-UCB with the exploration ln t + c ln ln t, for a family of rewards; "bernoulli" is valid on all of
    [0, 1]."""

    c: float = 0.0
    family: str = "bernoulli"

    formula: ClassVar[str] = "max q: n KL(m, q) ≤ ln t + c ln ln t"
    texts: ClassVar[tuple[Any, ...]] = (indices.kl_ucb, families)
    choice: ClassVar[str] = "family"
    choices: ClassVar[tuple[Any, ...]] = tuple(families.CODES)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="its family, c = 3"),)
    kinetic_from: ClassVar[int] = KINETIC_FROM_COSTLY
    citation: ClassVar[str] = "Garivier & Cappé 2011"
    confirmed: ClassVar[str] = "the index in public code, the guarantee in the abstract; not that c = 3"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checks.at_least("c", self.c, 0.0, at_most=checks.LARGEST))
        checks.choice("family", self.family, tuple(families.CODES))

    @property
    def label(self) -> str:
        notes = [f"c={self.c:g}"] if self.c else []
        notes += [self.family] if self.family != "bernoulli" else []
        return _noted("KL-UCB", *notes)

    @property
    def rewards(self) -> str:
        return FAMILY_REWARDS[self.family]

    @property
    def assumes(self) -> Assumed:
        return FAMILY_ASSUMED[self.family]

    def resolve(self, arms: int, horizon: int) -> Rule:
        family = families.CODES[self.family]
        return Rule(CLOCKED, arms, horizon, formula=indices.KL_UCB, family=family, first=self.c)


@dataclass(frozen=True)
class BayesUCB(Clocked):
    """Bayes-UCB: the quantile of order 1 - 1/(t (ln T)^c) of a Beta posterior. With c = 0 it needs no
    horizon."""

    c: float = 0.0

    formula: ClassVar[str] = "quantile 1 − 1/(t (ln T)^c) of Beta"
    texts: ClassVar[tuple[Any, ...]] = (indices.bayes_ucb,)
    clock: ClassVar[str] = "known if c > 0"
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Bernoulli, c ≥ 5"),)
    kinetic_from: ClassVar[int] = KINETIC_FROM_COSTLY
    citation: ClassVar[str] = "Kaufmann, Cappé & Garivier 2012"
    confirmed: ClassVar[str] = "the index in public code, the guarantee in an abstract; not that c ≥ 5"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checks.at_least("c", self.c, 0.0, at_most=100.0))

    @property
    def label(self) -> str:
        return f"Bayes-UCB (c={self.c:g})" if self.c else "Bayes-UCB"

    @property
    def rewards(self) -> str:
        return "binary"

    @property
    def needs_horizon(self) -> bool:
        return self.c > 0.0

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(CLOCKED, arms, horizon, formula=indices.BAYES_UCB, first=self.c)


@dataclass(frozen=True)
class IMED(Policy):
    """IMED for a family of rewards. "bernoulli" is valid on all of [0, 1]; "bounded" knows no family there,
    compares by K_inf and keeps every reward."""

    family: str = "bernoulli"

    formula: ClassVar[str] = "smallest n KL(m, m*) + ln n"
    texts: ClassVar[tuple[Any, ...]] = (indices.imed, families, k_inf)
    schedule: ClassVar[str] = "shared"
    choice: ClassVar[str] = "family"
    choices: ClassVar[tuple[Any, ...]] = (*families.CODES, "bounded")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (
        Guarantee("bernoulli", asymptotic="Bernoulli"),
        Guarantee("bounded", asymptotic="[0, 1]"),
    )
    citation: ClassVar[str] = "Honda & Takemura 2015"
    confirmed: ClassVar[str] = (
        "the index in public code, a bound for finite time in the abstract; not that its constant is that of "
        "the lower bound"
    )

    def __post_init__(self) -> None:
        checks.choice("family", self.family, (*families.CODES, "bounded"))

    @property
    def label(self) -> str:
        return "IMED" if self.family == "bernoulli" else f"IMED ({self.family})"

    @property
    def rewards(self) -> str:
        return "unit" if self.family == "bounded" else FAMILY_REWARDS[self.family]

    @property
    def assumes(self) -> Assumed:
        return FAMILY_ASSUMED.get(self.family, Assumed())

    def resolve(self, arms: int, horizon: int) -> Rule:
        if self.family == "bounded":
            return Rule(HISTORIC, arms, horizon, formula=indices.IMED_BOUNDED, history=True)
        return Rule(SHARED, arms, horizon, formula=indices.IMED, family=families.CODES[self.family])


@dataclass(frozen=True)
class AdaUCB(HorizonPolicy):
    """AdaUCB, for rewards of this variance: 1/4 covers all in [0, 1]."""

    variance: float = 0.25
    anytime: bool = False

    formula: ClassVar[str] = "m + √(2 v l(T/H)/n)"
    texts: ClassVar[tuple[Any, ...]] = (indices.ada_ucb,)
    schedule: ClassVar[str] = "shared"
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(None, "Gaussian, σ² = v", "yes", "yes"),)
    citation: ClassVar[str] = "Lattimore 2018"
    confirmed: ClassVar[str] = "the index in two public codes, the guarantees in the abstract"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "variance", checks.positive("variance", self.variance))

    @property
    def label(self) -> str:
        return _noted("AdaUCB", *_varied(self.variance), *_timeless(self.anytime))

    @property
    def assumes(self) -> Assumed:
        return Assumed("sub-Gaussian, v", self.variance)

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(SHARED, arms, horizon, formula=indices.ADA_UCB, variance=self.variance)


@dataclass(frozen=True)
class MOTS(HorizonPolicy):
    """MOTS: Gaussian Thompson sampling whose draws are clipped from above."""

    rho: float = 0.9999
    clip: float = 4.0
    variance: float = 0.25
    anytime: bool = False

    formula: ClassVar[str] = "N(m, v/(ρ n)), clipped from above"
    texts: ClassVar[tuple[Any, ...]] = (indices.mots,)
    schedule: ClassVar[str] = "fresh"
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Gaussian, ρ → 1", minimax="yes"),)
    citation: ClassVar[str] = "Jin, Xu, Shi, Xiao & Gu 2021"
    confirmed: ClassVar[str] = "the guarantees in the abstract; not the clip, nor what ρ costs"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rho", checks.unit("rho", self.rho, open_at_zero=True))
        object.__setattr__(self, "clip", checks.positive("clip", self.clip))
        object.__setattr__(self, "variance", checks.positive("variance", self.variance))

    @property
    def label(self) -> str:
        notes = [f"ρ={self.rho:g}"] if self.rho != MOTS.rho else []
        notes += [f"clip={self.clip:g}"] if self.clip != MOTS.clip else []
        return _noted("MOTS", *notes, *_varied(self.variance), *_timeless(self.anytime))

    @property
    def assumes(self) -> Assumed:
        return Assumed("sub-Gaussian, v", self.variance)

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(
            SHARED,
            arms,
            horizon,
            formula=indices.MOTS,
            first=self.clip,
            second=self.rho,
            variance=self.variance,
        )


@dataclass(frozen=True)
class MOTSJ(HorizonPolicy):
    """MOTS-J: the same with a two-sided Rayleigh law, which gives nothing away."""

    clip: float = 4.0
    variance: float = 0.25
    anytime: bool = False

    formula: ClassVar[str] = "m ± Rayleigh, clipped from above"
    texts: ClassVar[tuple[Any, ...]] = (indices.mots,)
    schedule: ClassVar[str] = "fresh"
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Gaussian, σ² = v", minimax="yes"),)
    citation: ClassVar[str] = "Jin, Xu, Shi, Xiao & Gu 2021"
    confirmed: ClassVar[str] = "the guarantees in the abstract; not the clip, nor the Rayleigh law"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "clip", checks.positive("clip", self.clip))
        object.__setattr__(self, "variance", checks.positive("variance", self.variance))

    @property
    def label(self) -> str:
        notes = [f"clip={self.clip:g}"] if self.clip != MOTSJ.clip else []
        return _noted("MOTS-J", *notes, *_varied(self.variance), *_timeless(self.anytime))

    @property
    def assumes(self) -> Assumed:
        return Assumed("sub-Gaussian, v", self.variance)

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(SHARED, arms, horizon, formula=indices.MOTS_J, first=self.clip, variance=self.variance)


@dataclass(frozen=True)
class MaillardSampling(Policy):
    """Maillard sampling, for rewards of this variance (1/4 covers all in [0, 1]); ``plus`` is MS+."""

    variance: float = 0.25
    plus: bool = False

    formula: ClassVar[str] = "P(arm) ∝ exp(−n (m* − m)²/(2 v))"
    texts: ClassVar[tuple[Any, ...]] = (indices.maillard,)
    schedule: ClassVar[str] = "shared"
    choice: ClassVar[str] = "plus"
    choices: ClassVar[tuple[Any, ...]] = (False, True)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (
        Guarantee(False, asymptotic="Gaussian, σ² = v", minimax="× √ln T"),
        Guarantee(True, "Gaussian, σ² = v", "× √ln K", source="Bian & Jun 2022, for their constants"),
    )
    citation: ClassVar[str] = "Maillard 2011; Bian & Jun 2022"
    confirmed: ClassVar[str] = (
        "MS in public code, the guarantees in the abstract; those of MS+ are for its authors' constants, and "
        "B, C and D were not confirmed"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", checks.positive("variance", self.variance))
        checks.flag("plus", self.plus)

    @property
    def label(self) -> str:
        return _noted("MS+" if self.plus else "MS", *_varied(self.variance))

    @property
    def assumes(self) -> Assumed:
        return Assumed("sub-Gaussian, v", self.variance)

    def resolve(self, arms: int, horizon: int) -> Rule:
        code = indices.MAILLARD_PLUS if self.plus else indices.MAILLARD
        return Rule(SHARED, arms, horizon, formula=code, variance=self.variance)


@dataclass(frozen=True)
class KLMS(Policy):
    """KL-MS: Maillard sampling with the Bernoulli divergence, for rewards in [0, 1]."""

    formula: ClassVar[str] = "P(arm) ∝ exp(−n kl(m, m*))"
    texts: ClassVar[tuple[Any, ...]] = (indices.maillard,)
    schedule: ClassVar[str] = "shared"
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Bernoulli", minimax="× √ln K"),)
    citation: ClassVar[str] = "Qin, Jun & Zhang 2023"
    confirmed: ClassVar[str] = "the weights in its authors' code, the guarantees in the abstract"

    @property
    def label(self) -> str:
        return "KL-MS"

    @property
    def rewards(self) -> str:
        return "unit"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(SHARED, arms, horizon, formula=indices.KL_MS)


def _noted(name: str, *notes: str) -> str:
    """A label that says what differs from the defaults."""
    return name + (f" ({', '.join(notes)})" if notes else "")


def _varied(variance: float) -> list[str]:
    return [f"σ²={variance:g}"] if variance != 0.25 else []


def _timeless(anytime: bool) -> list[str]:
    return ["anytime"] if anytime else []
