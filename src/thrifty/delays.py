"""Delays: how many more decisions are made before the reward of one arrives.

With a delay of 0 a reward is there before the next decision. Delays have a random stream of their own, so
that the same rewards and the same delays meet every policy.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from thrifty import checks
from thrifty.engines.late import GEOMETRIC, PROMPT, UNIFORM, Delays
from thrifty.errors import InvalidType, InvalidValue

LONGEST = 10**7
CUT = 40  # a geometric delay is cut off where e^-40 of them would be longer


@dataclass(frozen=True)
class Delay(ABC):
    """What all delays have."""

    kind: ClassVar[str]

    @abstractmethod
    def late(self) -> Delays:
        """The delays as the kernels see them."""


@dataclass(frozen=True)
class ConstantDelay(Delay):
    """Every reward is ``rounds`` decisions late."""

    rounds: int

    kind: ClassVar[str] = "constant"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", checks.integer("rounds", self.rounds, at_least=0, at_most=LONGEST))

    def late(self) -> Delays:
        kind = UNIFORM if self.rounds else PROMPT
        return Delays(kind, self.rounds, self.rounds)


@dataclass(frozen=True)
class UniformDelay(Delay):
    """``low`` to ``high`` decisions late, each equally likely."""

    low: int
    high: int

    kind: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            rounds = checks.integer(name, getattr(self, name), at_least=0, at_most=LONGEST)
            object.__setattr__(self, name, rounds)
        if self.low > self.high:
            raise InvalidValue(f"low must be at most high, {self.high}, got {self.low}")

    def late(self) -> Delays:
        return Delays(UNIFORM, self.low, self.high)


@dataclass(frozen=True)
class GeometricDelay(Delay):
    """0, 1, 2, ... decisions late, ``mean`` on average: each time the reward is as likely to arrive."""

    mean: float

    kind: ClassVar[str] = "geometric"

    def __post_init__(self) -> None:
        mean = checks.at_least("mean", self.mean, 0.0, at_most=LONGEST / CUT)
        object.__setattr__(self, "mean", mean)

    def late(self) -> Delays:
        # P(delay >= d) = (mean / (mean + 1))^d = exp(-d / scale)
        scale = 1.0 / math.log1p(1.0 / self.mean) if self.mean else 0.0
        return Delays(GEOMETRIC, 0, math.ceil(CUT * scale), scale)


DELAYS: dict[str, type[Delay]] = {
    delay.kind: delay for delay in (ConstantDelay, UniformDelay, GeometricDelay)
}


NO_DELAY = ConstantDelay(0)


def clean(delay: object) -> Delay:
    """A delay as ``simulate`` takes it: a number of decisions, or one of the classes above."""
    if isinstance(delay, Delay) and type(delay) in DELAYS.values():
        checks.again(type(delay), delay)
        return delay
    try:
        return ConstantDelay(checks.integer("delay", delay, at_least=0, at_most=LONGEST))
    except InvalidType:
        raise InvalidType(
            "delay must be a number of decisions or a delay such as GeometricDelay(100), got "
            + checks.shown(delay)
        ) from None
