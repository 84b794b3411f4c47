"""Thompson sampling as people write it: in each decision a draw for each arm. A second implementation, in
NumPy, that shares nothing with the engines."""

import numpy as np

from thrifty.arrays import Floats, Integers


class Dense:
    """An arm with n rewards of sum S has the law Beta(S + m w + 1, n − S + (1 − m) w + 1), where ``prior`` is
    (m, w). After ``half_life`` seconds a reward counts half. ``draws`` are those that were spent."""

    def __init__(
        self,
        arms: int,
        rng: np.random.Generator,
        prior: tuple[float, float] = (0.0, 0.0),
        half_life: float | None = None,
    ) -> None:
        mean, weight = prior
        self._ones, self._zeros = mean * weight + 1.0, (1.0 - mean) * weight + 1.0
        self._rng, self._half_life, self._faded = rng, half_life, 0.0
        self.weights, self.sums = np.zeros(arms), np.zeros(arms)
        self.draws = 0

    def choose(self, now: float, slate: int = 1) -> Integers:
        """The arms with the largest draws, so many seconds after the start."""
        self._fade(now)
        drawn = self._rng.beta(self.sums + self._ones, self.weights - self.sums + self._zeros)
        self.draws += drawn.size
        return np.argpartition(drawn, -slate)[-slate:]

    def learn(self, arm: int, reward: float, now: float) -> None:
        self._fade(now)
        self.weights[arm] += 1.0
        self.sums[arm] += reward

    def replace(self, arms: list[int]) -> None:
        """Others are there now, of which nothing is known."""
        self.weights[arms] = self.sums[arms] = 0.0

    def _fade(self, now: float) -> None:
        if self._half_life is not None:
            keep = 0.5 ** ((now - self._faded) / self._half_life)
            self.weights *= keep
            self.sums *= keep
            self._faded = now


def losses(means: Floats, slate: int = 1) -> tuple[float, float]:
    """What the best slate gives on average, and what a uniform choice loses against it: Σ of the largest
    means, and that minus slate · (mean of all)."""
    best = float(np.partition(means, -slate)[-slate:].sum())
    return best, best - slate * float(means.mean())
