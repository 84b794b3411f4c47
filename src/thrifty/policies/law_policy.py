"""What policies have in common that draw from a law: the law, its schedule, and the engines that run it."""

import math
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, ClassVar

from thrifty import checks
from thrifty.engines import SLEEPERS_FROM
from thrifty.engines.memory import Rule
from thrifty.errors import InvalidType, InvalidValue
from thrifty.laws import LAWS, Law
from thrifty.policies.base import FAMILY_ASSUMED, Assumed, Guarantee, HorizonPolicy, Policy
from thrifty.policies.posterior import Posterior
from thrifty.schedules import batch

NAMES = tuple(LAWS)
TEMPERED = tuple(name for name, law in LAWS.items() if law.tempered)


class Drawing(Policy):
    """A policy whose index is drawn from a law. ``law`` is its field, or a property."""

    law: Any

    group: ClassVar[str] = "An index drawn from a law"

    @property
    def drawn_from(self) -> Law | None:
        law = LAWS[self.law] if isinstance(self.law, str) else self.law
        return law if isinstance(law, Law) else None

    @property
    def runs_on(self) -> tuple[str, ...]:
        """Where an index may be infinite, such ties are only known to scan."""
        law = self.drawn_from
        return self.engines if law is None or law.sleeps else ("scan",)

    @property
    def rewards(self) -> str:
        return self.drawn_from.rewards if self.drawn_from else "any"

    @property
    def assumes(self) -> Assumed:
        return FAMILY_ASSUMED.get(self.drawn_from.family, Assumed()) if self.drawn_from else Assumed()

    def fastest_from(self, engine: str) -> float:
        if engine != "sleepers":
            return super().fastest_from(engine)
        law = self.drawn_from or Law()
        return law.sleeps_from.get(self.schedule, SLEEPERS_FROM[self.schedule])

    @property
    def law_name(self) -> str:
        return self.law.title() if isinstance(self.law, str) else type(self.law).__name__

    def resolve(self, arms: int, horizon: int) -> Rule:
        law = self.drawn_from
        return Rule(arms, horizon, least=law.least if law else 0.0)


def check_law(law: object, allowed: tuple[str, ...] = NAMES) -> None:
    """One of the laws by name, a law of the user's own, or a posterior."""
    if isinstance(law, Law) and not checks.is_ours(type(law)):
        _check_own(law)
    if isinstance(law, type) or not isinstance(law, Law | Posterior):
        checks.choice("law", law, allowed)
    if isinstance(law, Law) and allowed == TEMPERED and not law.tempered:
        raise InvalidValue(f"law must be one that can be tempered, got {law!r}")


def _check_own(law: Law) -> None:
    """That it can be compiled is seen when it is."""
    kind = type(law)
    for method in ("parameters(self, n, s)", "sf(self, a, b, c)", "isf(self, a, b, p)"):
        if not callable(getattr(kind, method.partition("(")[0], None)):
            raise InvalidType(f"law must have a method {method}, got {kind.__name__}")
    if "__dataclass_params__" not in vars(kind):  # its fields would be ignored
        raise InvalidType(f"law must be decorated with @dataclass(frozen=True), got {kind.__name__}")
    for each in fields(law):
        if each.name.startswith("_") or each.name == "name":  # which is that of the class, in files
            raise InvalidType(f"law must not have a field {each.name}: choose another name")
        checks.number(f"{each.name} of {kind.__name__}", getattr(law, each.name))
    for hook in ("parameters", "sf", "isf", "draw", "column", "draw_spread", "sf_spread", "isf_spread"):
        checks.method(kind, hook)
    checks.at_least(f"least of {kind.__name__}", law.least, 0.0)
    for name in ("sleeps", "tempered"):
        checks.flag(f"{name} of {kind.__name__}", getattr(law, name))


@dataclass(frozen=True)
class LawPolicy(Drawing):
    """A policy whose law can be chosen."""

    law: str | Law | Posterior = "gaussian"

    choice: ClassVar[str] = "law"
    choices: ClassVar[tuple[Any, ...]] = NAMES

    def __post_init__(self) -> None:
        check_law(self.law)


def batch_size(horizon: int, alpha: float) -> int:
    """The paper's phi = (2/c0) T^((1-alpha)/2) (ln T)^((3-alpha)/2), rounded up: its proofs need phi or more.
    T is the ``horizon``, and ``alpha`` that of TS-MA or TS-TD.

    >>> [batch_size(10**5, alpha) for alpha in (0.0, 0.8, 1.0)]
    [204210, 769, 191]
    """
    horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.COUNT)
    return _batch_size(horizon, checks.unit("alpha", alpha))


@lru_cache(maxsize=256)
def _batch_size(horizon: int, alpha: float) -> int:
    return max(1, math.ceil(batch.phi(horizon, alpha)))


@dataclass(frozen=True)
class TemperedPolicy(Drawing, HorizonPolicy):
    """What TS-MA and TS-TD share: the law is tempered by V = ln^alpha T, and phi draws are aggregated."""

    alpha: float = 0.0
    law: str | Law | Posterior = "gaussian"
    phi: float | None = None
    anytime: bool = field(default=False, kw_only=True)

    choice: ClassVar[str] = "law"
    choices: ClassVar[tuple[Any, ...]] = TEMPERED
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee("gaussian", "", "× √ln^(1+α) T", "α = 0"),)
    citation: ClassVar[str] = "Hu, Huang, Zhang, Lécuyer & Hegde 2024"
    short: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", checks.unit("alpha", self.alpha))
        check_law(self.law, TEMPERED)
        if self.alpha > 0.0 and not self.drawn_from:
            raise InvalidValue(
                f"alpha must be 0 with a posterior of your own, got {self.alpha}: it is not tempered"
            )
        if self.phi is not None:
            object.__setattr__(self, "phi", checks.at_least("phi", self.phi, 1.0))

    @property
    def label(self) -> str:
        return f"{self.short}-{self.alpha:g}" + (f" ({', '.join(notes)})" if (notes := self._notes()) else "")

    def _notes(self) -> list[str]:
        notes = [self.law_name] if self.law != "gaussian" else []
        notes += [f"φ={self.phi:g}"] if self.phi is not None else []
        return notes + (["anytime"] if self.anytime else [])

    def resolve(self, arms: int, horizon: int) -> Rule:
        phi = batch_size(horizon, self.alpha) if self.phi is None else math.ceil(self.phi)
        temper = max(1.0, math.log(horizon) ** self.alpha)
        return super().resolve(arms, horizon)._replace(temper=temper, phi=float(phi))
