"""Bandit problems: what a pull of an arm pays. Regret is the sum of gaps of true means, never of rewards."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from thrifty import checks
from thrifty.errors import InvalidValue
from thrifty.numerics import random

BERNOULLI, GAUSSIAN = range(2)


class Arms(NamedTuple):
    """A problem as the kernels see it."""

    kind: int
    params: NDArray[np.float64]  # (K, 2): (mean, standard deviation)
    gaps: NDArray[np.float64]


@njit
def pull(arms, i, rng):
    """The reward of one pull of arm i."""
    if arms.kind == BERNOULLI:
        return 1.0 if random.uniform(rng) < arms.params[i, 0] else 0.0
    return arms.params[i, 0] + arms.params[i, 1] * random.normal(rng)


@dataclass(frozen=True)
class Problem:
    """What all problems have: the true mean of each arm."""

    means: tuple[float, ...]

    kind: ClassVar[str]
    bounded: ClassVar[bool]  # rewards lie in [0, 1]

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", checks.numbers("means", self.means))

    @property
    def gaps(self) -> NDArray[np.float64]:
        """How much a pull of each arm loses against the best one."""
        means = np.array(self.means)
        gaps: NDArray[np.float64] = means.max() - means
        return gaps


@dataclass(frozen=True)
class Bernoulli(Problem):
    """Rewards 0 or 1; ``means`` are the probabilities of a 1.

    >>> Bernoulli([0.9, 0.8]).gaps.round(3).tolist()
    [0.0, 0.1]
    """

    kind: ClassVar[str] = "bernoulli"
    bounded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for i, mean in enumerate(self.means):
            if not 0.0 <= mean <= 1.0:
                raise InvalidValue(f"means[{i}] of a Bernoulli problem must be in [0, 1], got {mean!r}")

    def kernel(self) -> Arms:
        means = np.array(self.means)
        return Arms(BERNOULLI, np.column_stack([means, np.sqrt(means * (1.0 - means))]), self.gaps)


@dataclass(frozen=True)
class Gaussian(Problem):
    """Normal rewards with a common standard deviation ``sd``."""

    sd: float = 1.0

    kind: ClassVar[str] = "gaussian"
    bounded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sd", checks.positive("sd", self.sd))

    def kernel(self) -> Arms:
        means = np.array(self.means)
        return Arms(GAUSSIAN, np.column_stack([means, np.full(means.size, self.sd)]), self.gaps)


PROBLEMS: dict[str, type[Bernoulli] | type[Gaussian]] = {"bernoulli": Bernoulli, "gaussian": Gaussian}
