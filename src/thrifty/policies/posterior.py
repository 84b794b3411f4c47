"""A posterior of the user's own, as an object: for ``Bandit`` alone."""

from typing import Any, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Posterior(Protocol):
    """A law of the user's own, for ``Bandit``: an object that is told the rewards and asked for draws."""

    def observe(self, arm: Any, reward: float) -> object:
        """A pull of the arm with this id gave a reward."""

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Any:
        """``size`` draws from the posterior of the arm with this id."""
