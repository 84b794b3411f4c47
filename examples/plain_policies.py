"""Policies in plain Python, beside thrifty's own: epsilon-greedy with decay, EXP3, and a sliding window.

    uv run python examples/plain_policies.py [figure.svg]

A policy is any object with ``begin(arms, horizon)``, ``select(t, rng)`` and ``update(arm, reward)``. Every
run works on a fresh copy of it.
"""

import math
import sys
from collections import deque
from dataclasses import dataclass

import numpy as np

import thrifty


@dataclass
class DecayingGreedy:
    """With probability min(1, c K/t) an arm at random, otherwise the one with the largest mean so far."""

    c: float = 5.0

    def begin(self, arms: int, horizon: int) -> None:
        self.pulls, self.sums = np.zeros(arms), np.zeros(arms)

    def select(self, t: int, rng: np.random.Generator) -> int:
        untried = np.flatnonzero(self.pulls == 0)
        if untried.size:
            return int(untried[0])
        if rng.random() < self.c * self.pulls.size / t:
            return int(rng.integers(self.pulls.size))
        return int(np.argmax(self.sums / self.pulls))

    def update(self, arm: int, reward: float) -> None:
        self.pulls[arm] += 1
        self.sums[arm] += reward


class EXP3:
    """EXP3 (Auer, Cesa-Bianchi, Freund and Schapire 2002): exponential weights on rewards in [0, 1], each
    divided by the probability of its arm, so that no law of the rewards is assumed."""

    def begin(self, arms: int, horizon: int) -> None:
        self.rate = math.sqrt(2.0 * math.log(arms) / (horizon * arms))
        self.scores = np.zeros(arms)

    def select(self, t: int, rng: np.random.Generator) -> int:
        weights = np.exp(self.rate * (self.scores - self.scores.max()))
        self.chances = weights / weights.sum()
        return int(rng.choice(self.chances.size, p=self.chances))

    def update(self, arm: int, reward: float) -> None:
        # 1 - (1 - reward)/p for the arm that was pulled, 1 for the others: the ones cancel
        self.scores[arm] -= (1.0 - reward) / self.chances[arm]


@dataclass
class SlidingWindow:
    """UCB1 on the last ``window`` rounds alone, for means that change (Garivier and Moulines 2011)."""

    window: int = 1000

    def begin(self, arms: int, horizon: int) -> None:
        self.pulls, self.sums = np.zeros(arms), np.zeros(arms)
        self.recent: deque[tuple[int, float]] = deque()

    def select(self, t: int, rng: np.random.Generator) -> int:
        untried = np.flatnonzero(self.pulls == 0)
        if untried.size:
            return int(untried[0])
        bonus = np.sqrt(2.0 * math.log(min(t, self.window)) / self.pulls)
        return int(np.argmax(self.sums / self.pulls + bonus))

    def update(self, arm: int, reward: float) -> None:
        self.recent.append((arm, reward))
        self.pulls[arm] += 1
        self.sums[arm] += reward
        if len(self.recent) > self.window:
            old, past = self.recent.popleft()
            self.pulls[old] -= 1
            self.sums[old] -= past


PLAIN = (DecayingGreedy(), EXP3(), SlidingWindow(1000))
PROBLEM = thrifty.Changing(
    {1: thrifty.Bernoulli([0.7, 0.5, 0.3]), 4001: thrifty.Bernoulli([0.3, 0.5, 0.7])}  # the best one changes
)

if __name__ == "__main__":
    result = thrifty.simulate([*PLAIN, thrifty.TSMA(), thrifty.KLUCB()], PROBLEM, horizon=8000, runs=10)
    print(result.summary())
    if len(sys.argv) > 1:
        result.plot(sys.argv[1])
