"""Policies as one would write them with NumPy: something for every arm at once, the largest wins.

Arrays are made at the start and filled again; an update touches one arm. ``gaussian fastest`` draws with the
quickest of NumPy's generators and in single precision, with its 24 bits.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from contest import Session, serve

PRIOR = (0.5, 1.0)
STEPS = 12  # of Newton's method, for KL-UCB


class Gaussian:
    """Arm i draws from N(S_i/n_i, 1/n_i)."""

    def __init__(self, arms: int, seed: int, fastest: bool = False) -> None:
        dtype = np.float32 if fastest else np.float64
        bits = np.random.SFC64(seed) if fastest else np.random.PCG64(seed)
        mean, weight = PRIOR
        self.rng = np.random.Generator(bits)
        self.pulls, self.sums = np.full(arms, weight), np.full(arms, mean * weight)
        self.means, self.deviations = np.full(arms, mean, dtype), np.full(arms, weight**-0.5, dtype)
        self.draws = np.empty(arms, dtype)

    def select(self) -> int:
        draws: Any = self.draws
        self.rng.standard_normal(out=draws, dtype=draws.dtype)
        np.multiply(draws, self.deviations, out=draws)
        np.add(draws, self.means, out=draws)
        return int(draws.argmax())

    def update(self, arm: int, reward: float) -> None:
        pulls, total = self.pulls.item(arm) + 1.0, self.sums.item(arm) + reward
        self.pulls[arm], self.sums[arm] = pulls, total
        self.means[arm], self.deviations[arm] = total / pulls, pulls**-0.5


class Beta:
    """Arm i draws from Beta(1 + successes, 1 + failures)."""

    def __init__(self, arms: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.first, self.second = np.ones(arms), np.ones(arms)

    def select(self) -> int:
        return int(self.rng.beta(self.first, self.second).argmax())

    def update(self, arm: int, reward: float) -> None:
        self.first[arm] += reward
        self.second[arm] += 1.0 - reward


class Index(ABC):
    """What indices share: ties go to one of the largest, at random."""

    def __init__(self, arms: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.pulls, self.means, self.t = np.zeros(arms), np.zeros(arms), 0
        self.index = np.empty(arms)

    def select(self) -> int:
        self.compute()
        best = np.flatnonzero(self.index == self.index.max())
        return int(best[0] if best.size == 1 else self.rng.choice(best))

    @abstractmethod
    def compute(self) -> None:
        """Bring every index up to date."""

    def update(self, arm: int, reward: float) -> None:
        pulls = self.pulls.item(arm) + 1.0
        self.pulls[arm], self.t = pulls, self.t + 1
        self.means[arm] += (reward - self.means.item(arm)) / pulls


class UCB1(Index):
    """S/n + sqrt(2 ln t / n)."""

    def compute(self) -> None:
        index = self.index
        np.divide(2.0 * math.log(self.t), self.pulls, out=index)
        np.sqrt(index, out=index)
        np.add(index, self.means, out=index)


class KLUCB(Index):
    """The largest q with n kl(S/n, q) <= ln t, by Newton's method from above for all arms at once.

    kl is convex in q and rises there, so that no step passes the root. Pinsker's inequality gives the start.
    """

    def compute(self) -> None:
        level = math.log(self.t) / self.pulls
        p = self.means
        q = np.minimum(p + np.sqrt(0.5 * level), 1.0 - 1e-12)
        entropy = np.where(p > 0.0, p * np.log(np.maximum(p, 1e-300)), 0.0)
        entropy += np.where(p < 1.0, (1.0 - p) * np.log(np.maximum(1.0 - p, 1e-300)), 0.0)
        for _ in range(STEPS):
            excess = entropy - p * np.log(q) - (1.0 - p) * np.log1p(-q) - level
            slope = (q - p) / (q * (1.0 - q))
            q = np.where(excess > 0.0, np.maximum(q - excess / np.maximum(slope, 1e-300), p), q)
        self.index = q


POLICIES: dict[str, Callable[[int, int], Gaussian | Beta | Index]] = {
    "gaussian": Gaussian,
    "gaussian fastest": lambda arms, seed: Gaussian(arms, seed, fastest=True),
    "beta": Beta,
    "ucb1": UCB1,
    "kl-ucb": KLUCB,
}


class NumPy(Session):
    packages = ("numpy",)

    def _new(self, policy: str, arms: int, seed: int) -> Gaussian | Beta | Index:
        return POLICIES[policy](arms, seed)


serve(NumPy())
