"""Thompson sampling with the Gaussian law, written with NumPy: a draw for every arm, the largest wins.

``fastest`` as argument: the quickest of NumPy's generators and single precision, with its 24 bits.
"""

import sys

import numpy as np
from contest import Session, serve

FASTEST = "fastest" in sys.argv
PRIOR = (0.5, 1.0)


class Dense:
    """Arm i draws from N(S_i/n_i, 1/n_i). Nothing is allocated after the start; an update touches one arm."""

    def __init__(self, arms: int) -> None:
        dtype = np.float32 if FASTEST else np.float64
        bits = np.random.SFC64(1) if FASTEST else np.random.PCG64(1)
        mean, weight = PRIOR
        self.rng = np.random.Generator(bits)
        self.pulls, self.sums = np.full(arms, weight), np.full(arms, mean * weight)
        self.means, self.deviations = np.full(arms, mean, dtype), np.full(arms, weight**-0.5, dtype)
        self.draws = np.empty(arms, dtype)

    def select(self) -> int:
        draws = self.draws
        self.rng.standard_normal(out=draws, dtype=draws.dtype)
        np.multiply(draws, self.deviations, out=draws)
        np.add(draws, self.means, out=draws)
        return int(draws.argmax())

    def update(self, arm: int, reward: float) -> None:
        pulls, total = self.pulls.item(arm) + 1.0, self.sums.item(arm) + reward
        self.pulls[arm], self.sums[arm] = pulls, total
        self.means[arm], self.deviations[arm] = total / pulls, pulls**-0.5


class NumPy(Session):
    packages = ("numpy",)

    def _new(self, arms: int) -> Dense:
        return Dense(arms)


serve(NumPy())
