"""The policies: frozen dataclasses that name a law, a schedule and their parameters.

A policy is a value: equal to another with the same parameters, hashable, and its ``repr`` is the call that
makes it. It becomes a ``Rule`` for the kernels when the number of arms and the horizon are known.
"""

import math
from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from thrifty import checks, laws
from thrifty.engines import ENGINES, SLEEPERS_FROM, TOURNAMENT_FROM
from thrifty.engines.state import EPSILON, FRESH, KL_UCB_PLUS_PLUS, SCHEDULES, Rule
from thrifty.errors import InvalidType, InvalidValue
from thrifty.schedules import batch

LAWS = ("gaussian", "beta")


@runtime_checkable
class Posterior(Protocol):
    """A law of the user's own, for ``Bandit``: an object that is told the rewards and asked for draws."""

    def observe(self, arm: Any, reward: float) -> object:
        """A pull of the arm with this id gave a reward."""

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Any:
        """``size`` draws from the posterior of the arm with this id."""


def check_law(law: object) -> None:
    """One of the laws by name, or a posterior of the user's own."""
    if not isinstance(law, Posterior) or isinstance(law, type):
        checks.choice("law", law, LAWS)


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
    return max(1, math.ceil(batch.phi(horizon, alpha)))


@dataclass(frozen=True)
class Policy(ABC):
    """What every policy can say about itself; the class attributes are columns of ``thrifty policies``."""

    laws: ClassVar[tuple[str, ...]] = ()  # those it can be given, or the one it has
    schedule: ClassVar[str]
    engines: ClassVar[tuple[str, ...]] = ("scan",)
    citation: ClassVar[str]

    @property
    @abstractmethod
    def label(self) -> str:
        """A short name for tables and figures."""

    @property
    def rewards(self) -> str:
        """The widest kind of rewards it is made for, one of ``problems.REWARDS``."""
        return "any"

    @abstractmethod
    def rule(self, arms: int, horizon: int) -> Rule:
        """The policy for this many arms and this horizon, as the kernels see it."""

    def engine_for(self, arms: int, engine: str = "auto") -> str:
        """The engine that was asked for, or the fastest: a constant of the code, never of the machine."""
        checks.choice("engine", engine, ("auto", *ENGINES))
        if engine == "auto":
            if "tournament" in self.engines and arms >= TOURNAMENT_FROM:
                return "tournament"
            return "sleepers" if "sleepers" in self.engines and arms >= SLEEPERS_FROM else "scan"
        if engine not in self.engines:
            raise InvalidValue(
                f"engine must be one of {', '.join(self.engines)} for {self!r}, got {engine!r}"
            )
        return engine

    def stages(self, arms: int, horizon: int) -> list[tuple[int, Rule]]:
        """The rules that it follows, each with the round from which on: one, unless it is anytime."""
        return [(0, self.rule(arms, horizon))]


class HorizonPolicy(Policy):
    """A policy whose formulas contain the horizon T.

    ``anytime=True`` plays without knowing it: T is guessed, and doubled whenever it is reached. Nothing is
    forgotten then; parameters and indices are made anew. An engineering answer, without a theorem.
    """

    anytime: bool  # a field of each

    def __post_init__(self) -> None:
        if not isinstance(self.anytime, bool):
            raise InvalidType(f"anytime must be True or False, got {checks.shown(self.anytime)}")

    def stages(self, arms: int, horizon: int) -> list[tuple[int, Rule]]:
        if not self.anytime:
            return super().stages(arms, horizon)
        guesses = [first_guess(arms)]
        while guesses[-1] < horizon:
            guesses.append(2 * guesses[-1])
        return [(start, self.rule(arms, guess)) for start, guess in zip([0, *guesses], guesses, strict=False)]


def first_guess(arms: int) -> int:
    """Where a horizon that is not known starts.

    >>> first_guess(20), first_guess(10**6)
    (1024, 2000000)
    """
    return max(1024, 2 * arms)


@dataclass(frozen=True)
class LawPolicy(Policy):
    """A policy whose law can be chosen: "gaussian" for any rewards, "beta" for Bernoulli ones."""

    law: str | Posterior = "gaussian"

    laws: ClassVar[tuple[str, ...]] = LAWS

    def __post_init__(self) -> None:
        check_law(self.law)

    @property
    def rewards(self) -> str:
        return "binary" if self.law == "beta" else "any"


@dataclass(frozen=True)
class ThompsonSampling(LawPolicy):
    """Every arm draws from its posterior in every round. With the Gaussian law: the paper's Vanilla TS."""

    schedule: ClassVar[str] = "fresh"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    citation: ClassVar[str] = "Thompson 1933; Agrawal & Goyal 2017"

    @property
    def label(self) -> str:
        return f"TS ({law_name(self.law)})"

    def rule(self, arms: int, horizon: int) -> Rule:
        return Rule(FRESH, arms, horizon, law=law_code(self.law))


@dataclass(frozen=True)
class EpsilonTS(LawPolicy):
    """Each arm draws from its posterior with probability epsilon, by its own coin; else its mean is used.

    ``epsilon=None`` means 1/K.
    """

    epsilon: float | None = None

    schedule: ClassVar[str] = "epsilon"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    citation: ClassVar[str] = "Jin, Yang, Xiao & Xu 2023"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon is not None:
            epsilon = checks.unit("epsilon", self.epsilon, open_at_zero=True)
            object.__setattr__(self, "epsilon", epsilon)

    @property
    def label(self) -> str:
        epsilon = "1/K" if self.epsilon is None else f"{self.epsilon:.4g}"
        return f"ε-TS ({law_name(self.law)}, ε={epsilon})"

    def rule(self, arms: int, horizon: int) -> Rule:
        epsilon = 1.0 / arms if self.epsilon is None else float(self.epsilon)
        return Rule(EPSILON, arms, horizon, law=law_code(self.law), epsilon=epsilon)


@dataclass(frozen=True)
class ExpTS(Policy):
    """Thompson sampling with the exponential-family law P(m, n), for Bernoulli rewards."""

    laws: ClassVar[tuple[str, ...]] = ("exponential-family",)
    schedule: ClassVar[str] = "fresh"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    citation: ClassVar[str] = "Jin, Xu, Xiao & Anandkumar 2022"

    @property
    def label(self) -> str:
        return "ExpTS"

    @property
    def rewards(self) -> str:
        return "binary"

    def rule(self, arms: int, horizon: int) -> Rule:
        return Rule(FRESH, arms, horizon, law=laws.EXPONENTIAL_FAMILY)


@dataclass(frozen=True)
class ExpTSPlus(Policy):
    """ExpTS in which each arm draws with probability 1/K and uses its mean otherwise."""

    laws: ClassVar[tuple[str, ...]] = ("exponential-family",)
    schedule: ClassVar[str] = "epsilon"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    citation: ClassVar[str] = "Jin, Xu, Xiao & Anandkumar 2022"

    @property
    def label(self) -> str:
        return "ExpTS+"

    @property
    def rewards(self) -> str:
        return "binary"

    def rule(self, arms: int, horizon: int) -> Rule:
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

    laws: ClassVar[tuple[str, ...]] = LAWS
    short: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", checks.unit("alpha", self.alpha))
        check_law(self.law)
        if self.alpha > 0.0 and not isinstance(self.law, str):
            raise InvalidValue(
                f"alpha must be 0 with a posterior of your own, got {self.alpha}: it is not tempered"
            )
        if self.phi is not None:
            object.__setattr__(self, "phi", checks.at_least("phi", self.phi, 1.0))

    @property
    def rewards(self) -> str:
        return "binary" if self.law == "beta" else "any"

    @property
    def label(self) -> str:
        return f"{self.short}-{self.alpha:g}" + (f" ({', '.join(notes)})" if (notes := self._notes()) else "")

    def _notes(self) -> list[str]:
        notes = [law_name(self.law)] if self.law != "gaussian" else []
        notes += [f"φ={self.phi:g}"] if self.phi is not None else []
        return notes + (["anytime"] if self.anytime else [])

    def rule(self, arms: int, horizon: int) -> Rule:
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

    schedule: ClassVar[str] = "aggregate"
    engines: ClassVar[tuple[str, ...]] = ("scan", "tournament")
    citation: ClassVar[str] = "Hu, Huang, Zhang, Lécuyer & Hegde 2024"
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

    def rule(self, arms: int, horizon: int) -> Rule:
        return super().rule(arms, horizon)._replace(batch=self.sampling == "batch")


@dataclass(frozen=True)
class TSTD(TemperedPolicy):
    """TS-TD-alpha: draw afresh for phi rounds after a pull, then commit to the best of those draws."""

    schedule: ClassVar[str] = "duel"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    citation: ClassVar[str] = "Hu, Huang, Zhang, Lécuyer & Hegde 2024"
    short: ClassVar[str] = "TS-TD"


@dataclass(frozen=True)
class KLUCBPlusPlus(HorizonPolicy):
    """KL-UCB++: a deterministic index that only changes when its arm is pulled. For rewards in [0, 1]."""

    anytime: bool = False

    schedule: ClassVar[str] = "index"
    engines: ClassVar[tuple[str, ...]] = ("scan", "tournament")
    citation: ClassVar[str] = "Ménard & Garivier 2017"

    @property
    def label(self) -> str:
        return "KL-UCB++ (anytime)" if self.anytime else "KL-UCB++"

    @property
    def rewards(self) -> str:
        return "unit"

    def rule(self, arms: int, horizon: int) -> Rule:
        return Rule(KL_UCB_PLUS_PLUS, arms, horizon)


@dataclass(frozen=True)
class IndexPolicy(Policy):
    """A policy of your own: a frozen dataclass whose fields are its parameters, with one more method,

        def index(self, n, mean, t, rng): ...

    of one arm's pulls and mean reward, and of the number t of pulls made so far. Inside it, ``self`` has
    the fields, ``self.arms`` and ``self.horizon``, and ``rng`` is for ``thrifty.numerics.random``. It is
    compiled, so it may only compute. The arm with the largest index is pulled.
    """

    index: ClassVar[Callable[..., float]]
    arms: ClassVar[int]  # known inside index alone
    horizon: ClassVar[int]
    schedule: ClassVar[str] = "index"
    citation: ClassVar[str] = "your own"

    def __post_init__(self) -> None:
        if not hasattr(type(self), "index"):
            raise InvalidType(f"{type(self).__name__} must have a method index(self, n, mean, t, rng)")
        if "__dataclass_params__" not in vars(type(self)):  # its fields would be ignored
            raise InvalidType(f"{type(self).__name__} must be decorated with @dataclass(frozen=True)")
        for name in _parameters(type(self)):
            if name in ("arms", "horizon"):
                raise InvalidType(f"{type(self).__name__} must not have a field {name}: index is given it")
            object.__setattr__(self, name, checks.number(name, getattr(self, name)))

    @property
    def label(self) -> str:
        return repr(self)

    def rule(self, arms: int, horizon: int) -> Rule:
        values = (getattr(self, name) for name in _parameters(type(self)))
        return Rule(FRESH, arms, horizon, own=_inside(type(self))(*values, arms, horizon))


@cache
def _inside(policy: type[IndexPolicy]) -> Callable[..., tuple[float, ...]]:
    """What ``self`` is inside a compiled index: a named tuple of the fields and the setting."""
    return namedtuple(policy.__name__, [*_parameters(policy), "arms", "horizon"])


def _parameters(policy: type[IndexPolicy]) -> list[str]:
    return [one.name for one in fields(policy)]


POLICIES: dict[str, type[Policy]] = {
    policy.__name__: policy
    for policy in (ThompsonSampling, EpsilonTS, ExpTS, ExpTSPlus, TSMA, TSTD, KLUCBPlusPlus)
}
