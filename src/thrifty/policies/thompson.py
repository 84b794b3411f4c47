"""Policies that draw from a posterior law: a law, a schedule, and their parameters."""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from thrifty import checks, laws
from thrifty.engines import SLEEPERS_EPSILON, SLEEPERS_FROM, SLEEPERS_FROM_COSTLY, SLEEPERS_FROM_SOLVED
from thrifty.engines.state import EPSILON, FRESH, SCHEDULES, Rule
from thrifty.errors import InvalidValue
from thrifty.numerics import families
from thrifty.policies.base import FAMILY_ASSUMED, FAMILY_REWARDS, Assumed, Guarantee, HorizonPolicy, Policy
from thrifty.policies.own import Posterior
from thrifty.schedules import aggregate, batch, duel, fresh
from thrifty.schedules import epsilon as coins

LAWS = ("gaussian", "beta", "gamma", "inverse-gamma", "inverse-gamma-flat")
TEMPERED_LAWS = LAWS[:3]  # the others need a count n above a bound

# The rewards that a law takes, 0 or 1, numbers from 0 up, or any, and what it assumes of them beyond that.
REWARDS = {"gaussian": "any", "beta": "binary"} | dict.fromkeys(LAWS[2:], "non-negative")
ASSUMED = {
    law: FAMILY_ASSUMED[family]
    for law, family in zip(
        LAWS, ("gaussian", "bernoulli", "poisson", "exponential", "exponential"), strict=True
    )
}


def check_law(law: object, allowed: tuple[str, ...] = LAWS) -> None:
    """One of the laws by name, or a posterior of the user's own."""
    if not isinstance(law, Posterior) or isinstance(law, type):
        checks.choice("law", law, allowed)


def law_rewards(law: "str | Posterior") -> str:
    return REWARDS[law] if isinstance(law, str) else "any"


def law_assumes(law: "str | Posterior") -> Assumed:
    return ASSUMED[law] if isinstance(law, str) else Assumed()


def sleepers_from(schedule: str, law: "str | Posterior") -> int:
    """From how many arms sleepers are faster than scan."""
    costly = law != "gaussian" and schedule != "epsilon"
    return SLEEPERS_FROM_COSTLY if costly else SLEEPERS_FROM[schedule]


def law_name(law: "str | Posterior") -> str:
    return law.title() if isinstance(law, str) else type(law).__name__


def law_code(law: "str | Posterior") -> int:
    return laws.CODES[law] if isinstance(law, str) else -1


def batch_size(horizon: int, alpha: float) -> int:
    """The paper's phi = (2/c0) T^((1-alpha)/2) (ln T)^((3-alpha)/2), rounded up: its proofs need phi or more.

    >>> [batch_size(10**5, alpha) for alpha in (0.0, 0.8, 1.0)]
    [204210, 769, 191]
    """
    horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.COUNT)
    return _batch_size(horizon, checks.unit("alpha", alpha))


@lru_cache(maxsize=256)
def _batch_size(horizon: int, alpha: float) -> int:
    return max(1, math.ceil(batch.phi(horizon, alpha)))


@dataclass(frozen=True)
class LawPolicy(Policy):
    """A policy whose law can be chosen: "gaussian" for rewards in [0, 1] or of variance at most 1, "beta" for
    Bernoulli ones, "gamma" for Poisson ones, and for exponential ones "inverse-gamma", InvGamma(n, S), or
    "inverse-gamma-flat", InvGamma(n - 1, S)."""

    law: str | Posterior = "gaussian"

    choice: ClassVar[str] = "law"
    choices: ClassVar[tuple[Any, ...]] = LAWS

    def __post_init__(self) -> None:
        check_law(self.law)

    @property
    def runs_on(self) -> tuple[str, ...]:
        """With a flat prior an arm's index is infinite after one pull, and such ties are only known to
        scan."""
        return ("scan",) if self.law == "inverse-gamma-flat" else self.engines

    @property
    def rewards(self) -> str:
        return law_rewards(self.law)

    @property
    def assumes(self) -> Assumed:
        return law_assumes(self.law)

    def fastest_from(self, engine: str) -> float:
        return sleepers_from(self.schedule, self.law)


@dataclass(frozen=True)
class ThompsonSampling(LawPolicy):
    """Every arm draws from its posterior in every round. With the Gaussian law: the paper's Vanilla TS."""

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
        return f"TS ({law_name(self.law)})"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(FRESH, arms, horizon, law=law_code(self.law))


@dataclass(frozen=True)
class EpsilonTS(LawPolicy):
    """Each arm draws from its posterior with probability epsilon, by its own coin; else its mean is used.

    ``epsilon=None`` means 1/K.
    """

    epsilon: float | None = None

    formula: ClassVar[str] = "a draw of its law, or m"
    texts: ClassVar[tuple[Any, ...]] = (coins,)
    schedule: ClassVar[str] = "epsilon"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
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
        return f"ε-TS ({law_name(self.law)}, ε={epsilon})"

    def resolve(self, arms: int, horizon: int) -> Rule:
        epsilon = 1.0 / arms if self.epsilon is None else float(self.epsilon)
        return Rule(EPSILON, arms, horizon, law=law_code(self.law), epsilon=epsilon)


@dataclass(frozen=True)
class ExpTS(Policy):
    """Thompson sampling with the exponential-family law P(m, n) of the rewards' family."""

    family: str = "bernoulli"

    formula: ClassVar[str] = "a draw of P(m, n), by the family's KL"
    texts: ClassVar[tuple[Any, ...]] = (laws.exponential_family, laws.exponential_families, families)
    schedule: ClassVar[str] = "fresh"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    choice: ClassVar[str] = "family"
    choices: ClassVar[tuple[Any, ...]] = tuple(families.CODES)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(None, "its family", "× √ln K", "yes"),)
    citation: ClassVar[str] = "Jin, Xu, Xiao & Anandkumar 2022"
    confirmed: ClassVar[str] = "the law in the UAI 2024 paper, the guarantees in the abstract"

    def __post_init__(self) -> None:
        checks.choice("family", self.family, tuple(families.CODES))

    @property
    def label(self) -> str:
        return "ExpTS" if self.family == "bernoulli" else f"ExpTS ({self.family})"

    @property
    def runs_on(self) -> tuple[str, ...]:
        """After one pull the index of the other families may be infinite, and such ties are only known to
        scan."""
        return self.engines if self.family == "bernoulli" else ("scan",)

    @property
    def rewards(self) -> str:
        return "binary" if self.family == "bernoulli" else FAMILY_REWARDS[self.family]

    @property
    def assumes(self) -> Assumed:
        return FAMILY_ASSUMED[self.family]

    def fastest_from(self, engine: str) -> float:
        return SLEEPERS_FROM_SOLVED

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(FRESH, arms, horizon, law=laws.EXPONENTIAL_FAMILIES[self.family])


@dataclass(frozen=True)
class ExpTSPlus(Policy):
    """ExpTS in which each arm draws with probability 1/K and uses its mean otherwise."""

    formula: ClassVar[str] = "a draw of P(m, n), or m"
    texts: ClassVar[tuple[Any, ...]] = (coins, laws.exponential_family)
    schedule: ClassVar[str] = "epsilon"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Bernoulli", minimax="yes"),)
    citation: ClassVar[str] = "Jin, Xu, Xiao & Anandkumar 2022"
    confirmed: ClassVar[str] = "the algorithm in the UAI 2024 paper, the guarantees in the abstract"

    @property
    def label(self) -> str:
        return "ExpTS+"

    @property
    def rewards(self) -> str:
        return "binary"

    def fastest_from(self, engine: str) -> float:
        return sleepers_from(self.schedule, "exponential-family")

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(EPSILON, arms, horizon, law=laws.EXPONENTIAL_FAMILY, epsilon=1.0 / arms)


@dataclass(frozen=True)
class TemperedPolicy(HorizonPolicy):
    """What TS-MA and TS-TD share: the law is tempered by V = ln^alpha T, and phi draws are aggregated.

    ``phi=None`` means the paper's ``batch_size(horizon, alpha)``.
    """

    alpha: float = 0.0
    law: str | Posterior = "gaussian"
    phi: float | None = None
    anytime: bool = field(default=False, kw_only=True)

    choice: ClassVar[str] = "law"
    choices: ClassVar[tuple[Any, ...]] = TEMPERED_LAWS
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee("gaussian", "", "× √ln^(1+α) T", "α = 0"),)
    citation: ClassVar[str] = "Hu, Huang, Zhang, Lécuyer & Hegde 2024"
    short: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", checks.unit("alpha", self.alpha))
        check_law(self.law, TEMPERED_LAWS)
        if self.alpha > 0.0 and not isinstance(self.law, str):
            raise InvalidValue(
                f"alpha must be 0 with a posterior of your own, got {self.alpha}: it is not tempered"
            )
        if self.phi is not None:
            object.__setattr__(self, "phi", checks.at_least("phi", self.phi, 1.0))

    @property
    def rewards(self) -> str:
        return law_rewards(self.law)

    @property
    def assumes(self) -> Assumed:
        return law_assumes(self.law)

    @property
    def label(self) -> str:
        return f"{self.short}-{self.alpha:g}" + (f" ({', '.join(notes)})" if (notes := self._notes()) else "")

    def _notes(self) -> list[str]:
        notes = [law_name(self.law)] if self.law != "gaussian" else []
        notes += [f"φ={self.phi:g}"] if self.phi is not None else []
        return notes + (["anytime"] if self.anytime else [])

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(
            SCHEDULES[self.schedule],
            arms,
            horizon,
            law=law_code(self.law),
            temper=max(1.0, math.log(horizon) ** self.alpha),
            phi=float(batch_size(horizon, self.alpha) if self.phi is None else math.ceil(self.phi)),
        )


@dataclass(frozen=True)
class TSMA(TemperedPolicy):
    """TS-MA-alpha: commit to the best of phi draws until the arm is pulled. One draw a round.

    ``sampling="maximum"`` draws that best value directly, ``"batch"`` draws all phi: the same law, phi times
    the work.
    """

    sampling: str = "maximum"

    formula: ClassVar[str] = "the best of φ draws, kept until pulled"
    texts: ClassVar[tuple[Any, ...]] = (aggregate, batch.phi)
    schedule: ClassVar[str] = "aggregate"
    engines: ClassVar[tuple[str, ...]] = ("scan", "tournament")
    confirmed: ClassVar[str] = (
        "the algorithm and its guarantee in the paper; with another law it is ours, and only measured"
    )
    short: ClassVar[str] = "TS-MA"

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.choice("sampling", self.sampling, ("maximum", "batch"))
        if self.sampling != "batch" and not isinstance(self.law, str):
            raise InvalidValue(f"sampling must be batch with a posterior of your own, got {self.sampling!r}")
        if self.sampling == "batch" and self.phi is not None:
            checks.at_least("phi", self.phi, 1.0, at_most=checks.COUNT)

    def _notes(self) -> list[str]:
        return super()._notes() + (["batch"] if self.sampling == "batch" else [])

    def resolve(self, arms: int, horizon: int) -> Rule:
        return super().resolve(arms, horizon)._replace(batch=self.sampling == "batch")


@dataclass(frozen=True)
class TSTD(TemperedPolicy):
    """TS-TD-alpha: draw afresh for phi rounds after a pull, then commit to the best of those draws."""

    formula: ClassVar[str] = "a draw; after φ of them, their best"
    texts: ClassVar[tuple[Any, ...]] = (duel, batch.phi)
    schedule: ClassVar[str] = "duel"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    confirmed: ClassVar[str] = (
        "the algorithm and its guarantee in the paper, whose proof has a gap that docs/theory.md repairs; "
        "with another law it is ours, and only measured"
    )
    short: ClassVar[str] = "TS-TD"

    def fastest_from(self, engine: str) -> float:
        return sleepers_from(self.schedule, self.law)
