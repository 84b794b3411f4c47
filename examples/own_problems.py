"""Problems of one's own: rewards of a mixture, of a clipped Student-t, and from plain Python.

    uv run python examples/own_problems.py

A problem is a frozen dataclass. Its fields are what it is made of; ``expectations`` are the true means,
against which regret is counted; ``reward`` draws a reward of an arm. It is compiled, unless ``compiled`` is
False.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import integrate, stats

import thrifty
from thrifty.numerics import random


@dataclass(frozen=True)
class Mixture(thrifty.Problem):
    """Normal rewards with one of several means: ``means`` and ``weights`` have a row for each arm, ``sd`` is
    the standard deviation of all."""

    means: Sequence[Sequence[float]]
    weights: Sequence[Sequence[float]]
    sd: float = 0.1

    @property
    def expectations(self) -> Any:
        return (np.array(self.means) * np.array(self.weights)).sum(axis=1)

    @property
    def sub_gaussian(self) -> float:
        """A bounded part of this width, and a normal one."""
        width = np.ptp(np.array(self.means), axis=1).max()
        return float(width**2 / 4.0 + self.sd**2)

    def reward(self, arm, rng):  # type: ignore[no-untyped-def]
        left, part = random.uniform(rng), 0
        while part < self.weights.shape[1] - 1 and left >= self.weights[arm, part]:
            left -= self.weights[arm, part]
            part += 1
        return self.means[arm, part] + self.sd * random.normal(rng)


@dataclass(frozen=True)
class ClippedStudent(thrifty.Problem):
    """Rewards ``centre`` + ``scale`` X, cut off at 0 and 1, where X is Student-t with ``freedom`` degrees of
    freedom: heavy tails that a bound tames."""

    centre: Sequence[float]
    scale: float = 0.1
    freedom: float = 2.0

    rewards = "unit"

    @property
    def expectations(self) -> Any:
        # E = int_0^1 P(reward > x) dx
        law = stats.t(self.freedom)
        return np.array(
            [integrate.quad(lambda x, c=c: law.sf((x - c) / self.scale), 0.0, 1.0)[0] for c in self.centre]
        )

    def reward(self, arm, rng):  # type: ignore[no-untyped-def]
        # X = normal / sqrt(chi-squared / freedom), and half of a chi-squared is a Gamma(freedom / 2)
        chi = 2.0 * random.gamma(rng, 0.5 * self.freedom)
        x = random.normal(rng) / math.sqrt(chi / self.freedom)
        return min(1.0, max(0.0, self.centre[arm] + self.scale * x))


@dataclass(frozen=True)
class Visitors(thrifty.Problem):
    """Clicks of visitors in plain Python: ``rates`` are those of new visitors, and one in five has been here
    before and clicks twice as often."""

    rates: Sequence[float]

    rewards = "binary"
    compiled = False

    @property
    def expectations(self) -> Any:
        return 1.2 * np.array(self.rates)

    def reward(self, arm: int, rng: np.random.Generator) -> float:
        returning = rng.random() < 0.2
        return float(rng.random() < self.rates[arm] * (2.0 if returning else 1.0))


EXAMPLES = (
    Mixture(means=[[0.0, 1.0], [0.4, 0.6], [0.2, 0.9]], weights=[[0.3, 0.7], [0.5, 0.5], [0.5, 0.5]]),
    ClippedStudent(centre=[0.6, 0.5, 0.45, 0.3]),
    Visitors(rates=[0.3, 0.2, 0.1]),
)

if __name__ == "__main__":
    for problem in EXAMPLES:
        policies = [thrifty.ThompsonSampling(), thrifty.TSMA()]
        if problem.rewards != "any":  # UCB1 needs rewards in [0, 1]
            policies.append(thrifty.UCB1())
        result = thrifty.simulate(policies, problem, horizon=3000, runs=10)
        print(f"{type(problem).__name__}, true means {problem.expectations.round(3).tolist()}\n")
        print(f"{result.summary()}\n")
