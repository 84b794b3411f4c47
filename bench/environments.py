"""What a simulated round costs, by where the problem and the policy are from.

    uv run python bench/environments.py

Microseconds of processor time a round, the fastest of three; ten arms, UCB1 or its like in plain Python.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import thrifty
from thrifty.numerics import random
from thrifty.table import aligned

ARMS, REPEATS = 10, 3
MEANS = np.linspace(0.1, 0.8, ARMS).tolist()


@dataclass(frozen=True)
class Coins(thrifty.Problem):
    """Bernoulli rewards, compiled."""

    means: Any

    rewards = "binary"

    @property
    def expectations(self) -> Any:
        return np.array(self.means)

    def reward(self, arm, rng):  # type: ignore[no-untyped-def]
        return 1.0 if random.uniform(rng) < self.means[arm] else 0.0


@dataclass(frozen=True)
class PlainCoins(Coins):
    """The same in plain Python."""

    compiled = False

    def reward(self, arm: int, rng: np.random.Generator) -> float:
        return float(rng.random() < self.means[arm])


class PlainUCB1:
    """UCB1 in plain Python."""

    def begin(self, arms: int, horizon: int) -> None:
        self.pulls, self.sums = [0] * arms, [0.0] * arms

    def select(self, t: int, rng: np.random.Generator) -> int:
        if 0 in self.pulls:
            return self.pulls.index(0)
        width = 2.0 * math.log(t - 1)
        indices = [s / n + math.sqrt(width / n) for n, s in zip(self.pulls, self.sums, strict=True)]
        return indices.index(max(indices))

    def update(self, arm: int, reward: float) -> None:
        self.pulls[arm] += 1
        self.sums[arm] += reward


def cost(policy: Any, problem: thrifty.Problem, rounds: int) -> str:
    """The microseconds of a round."""
    plays = [thrifty.simulate(policy, problem, rounds, runs=2, workers=1) for _ in range(REPEATS)]
    return f"{min(play.provenance['seconds'][0] for play in plays) / (2 * rounds) * 1e6:.3g}"


def main() -> None:
    still = thrifty.Bernoulli(MEANS)
    turned = thrifty.Bernoulli(MEANS[::-1])
    jumps = thrifty.Changing({1: still, **dict.fromkeys(range(1001, 10**5, 1000), turned)})
    moves = thrifty.Changing.along(still, turned, 10**5)
    rows = [
        ("thrifty's own", "Bernoulli", cost(thrifty.UCB1(), still, 10**5)),
        ("thrifty's own", "own, compiled", cost(thrifty.UCB1(), Coins(MEANS), 10**5)),
        ("thrifty's own", "own, plain Python", cost(thrifty.UCB1(), PlainCoins(MEANS), 10**4)),
        ("thrifty's own", "Changing, every 1,000 rounds", cost(thrifty.UCB1(), jumps, 10**5)),
        ("thrifty's own", "Changing.along, in every round", cost(thrifty.UCB1(), moves, 10**5)),
        ("plain Python", "Bernoulli", cost(PlainUCB1(), still, 10**4)),
        ("plain Python", "own, plain Python", cost(PlainUCB1(), PlainCoins(MEANS), 10**4)),
    ]
    print(aligned(("policy", "problem", "µs a round"), rows, left=2))


if __name__ == "__main__":
    main()
