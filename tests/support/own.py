"""Policies and a posterior of a user's own, for the tests that need one."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import thrifty
from thrifty.numerics import random


@dataclass(frozen=True)
class Sampler(thrifty.IndexPolicy):
    """Vanilla TS as a user would write it: N(mean, width^2 n^(-2 power)), and not a number any more once
    ``until`` pulls were made."""

    width: float = 1.0
    power: float = 0.5
    until: float = 1e9

    def index(self, n: float, mean: float, t: int, rng: Any) -> float:
        return float(mean + self.width * random.normal(rng) / n**self.power) if t < self.until else math.nan


@dataclass(frozen=True)
class Spiked(thrifty.IndexPolicy):
    """Every index is infinite in one of the rounds, which is allowed."""

    when: float = 20

    def index(self, n: float, mean: float, t: int, rng: Any) -> float:
        return mean + 1.0 / (t - self.when) + 1.0 / n


@dataclass(frozen=True)
class Fading(thrifty.IndexPolicy):
    """A bonus for arms that nobody has pulled for long."""

    speed: float = 0.01

    def index(self, mean: float, t: int, last: int) -> float:
        return mean + self.speed * (t - last)


@dataclass(frozen=True)
class Steady(thrifty.IndexPolicy):
    """It prefers arms whose rewards vary little."""

    def index(self, mean: float, variance: float, n: float) -> float:
        return mean - math.sqrt(variance) + 1.0 / n


@dataclass(frozen=True)
class Latest(thrifty.IndexPolicy):
    """The arm whose last reward was the largest."""

    own_columns = 1

    def index(self, own: Any) -> float:
        return float(own[0])

    def observed(self, own: Any, reward: float) -> None:
        own[0] = reward


class Bell:
    """A posterior, N(mean, 1/n)."""

    def __init__(self) -> None:
        self.known: dict[Any, tuple[int, float]] = {}  # rewards of each arm, and their sum

    def observe(self, arm: Any, reward: float) -> None:
        n, total = self.known.get(arm, (0, 0.0))
        self.known[arm] = n + 1, total + reward

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Any:
        n, total = self.known[arm]
        return rng.normal(total / n, n**-0.5, size)
