"""The problems of the textbooks: rewards of a law that one or two numbers for each arm determine."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidType, InvalidValue
from thrifty.numerics import normal, random
from thrifty.problems.base import Arms, Numbers, Problem, array

# The reward of one pull of arm i. Its numbers are in state.arms.


def pull_bernoulli(state, i):
    return 1.0 if random.uniform(state.reward_rng) < state.arms[i, 0] else 0.0


def pull_gaussian(state, i):
    return state.arms[i, 0] + state.arms[i, 1] * random.normal(state.reward_rng)


def pull_clipped_gaussian(state, i):
    return min(1.0, max(0.0, state.arms[i, 0] + state.arms[i, 1] * random.normal(state.reward_rng)))


def pull_beta(state, i):
    return random.beta(state.reward_rng, state.arms[i, 0], state.arms[i, 1])


def pull_discrete(state, i):
    u, start, j = random.uniform(state.reward_rng), int(state.arms[i, 0]), 0
    while u >= state.values[start + j]:  # the last cumulative probability is 1, and u is below it
        j += 1
    return state.values[j]


def pull_poisson(state, i):
    return random.poisson(state.reward_rng, state.arms[i, 0])


def pull_exponential(state, i):
    return state.arms[i, 0] * random.exponential(state.reward_rng)


@dataclass(frozen=True)
class Bernoulli(Problem):
    """Rewards 0 or 1; ``means`` are the probabilities of a 1.

    >>> Bernoulli([0.9, 0.8]).gaps.round(3).tolist()
    [0.0, 0.1]
    """

    means: Numbers

    kind: ClassVar[str] = "bernoulli"
    rewards: ClassVar[str] = "binary"
    family: ClassVar[str] = "bernoulli"

    def __post_init__(self) -> None:
        means = self._clean("means")
        _check_unit("means", means, "of a Bernoulli problem ")

    @property
    def expectations(self) -> Floats:
        return array(self.means)

    def ready(self) -> Arms:
        return self._arms(pull_bernoulli, self.expectations[:, None])


@dataclass(frozen=True)
class Gaussian(Problem):
    """Normal rewards with these ``means`` and the standard deviation ``sd``, one for each arm or for all."""

    means: Numbers
    sd: float | Numbers = 1.0

    kind: ClassVar[str] = "gaussian"
    rewards: ClassVar[str] = "any"
    family: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        means = self._clean("means")
        if isinstance(self.sd, Sequence | np.ndarray) and not isinstance(self.sd, str):
            deviations = checks.numbers("sd", self.sd)
            for i, deviation in enumerate(deviations):
                checks.positive(f"sd[{i}]", deviation)
            if len(deviations) != means.size:
                raise InvalidValue(
                    f"sd must be a number, or have one for each of {means.size} arms, got {len(deviations)}"
                )
            object.__setattr__(self, "sd", deviations)
        else:
            object.__setattr__(self, "sd", checks.positive("sd", self.sd))

    @property
    def expectations(self) -> Floats:
        return array(self.means)

    @property
    def sub_gaussian(self) -> float:
        return float(np.max(np.asarray(self.sd))) ** 2

    def ready(self) -> Arms:
        return self._arms(pull_gaussian, _columns(self.means, self.sd))


@dataclass(frozen=True)
class ClippedGaussian(Problem):
    """Normal rewards, with these ``means`` and the standard deviation ``sd``, cut off at 0 and 1:
    min(1, max(0, N(mean, sd^2))). Their true means are not ``means``.

    >>> ClippedGaussian([0.0, 0.2], sd=0.3).expectations.round(6).tolist()
    [0.119649, 0.244981]
    """

    means: Numbers
    sd: float

    kind: ClassVar[str] = "clipped-gaussian"
    rewards: ClassVar[str] = "unit"
    family: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        self._clean("means")
        object.__setattr__(self, "sd", checks.positive("sd", self.sd))

    @property
    def expectations(self) -> Floats:
        # E = int_0^1 P(N > x) dx = sd (J(-m/sd) - J((1-m)/sd)),  J(z) = int_z^inf Q = density(z) - z Q(z)
        return np.array([self.sd * (_j(-m / self.sd) - _j((1.0 - m) / self.sd)) for m in array(self.means)])

    @property
    def sub_gaussian(self) -> float:
        return min(0.25, self.sd**2)

    def ready(self) -> Arms:
        return self._arms(pull_clipped_gaussian, _columns(self.means, self.sd))


@dataclass(frozen=True)
class Beta(Problem):
    """Beta(a, b) rewards. ``a`` and ``b`` have a shape for each arm."""

    a: Numbers
    b: Numbers

    kind: ClassVar[str] = "beta"
    rewards: ClassVar[str] = "unit"
    family: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            shapes = self._clean(name)
            for i in np.flatnonzero(shapes <= 0.0)[:1]:
                raise InvalidValue(f"{name}[{i}] must be above 0, got {shapes[i]}")
        if len(self.a) != len(self.b):
            raise InvalidValue(
                f"a and b must have one shape per arm each, got {len(self.a)} and {len(self.b)}"
            )

    @property
    def expectations(self) -> Floats:
        a, b = array(self.a), array(self.b)
        means: Floats = a / (a + b)
        return means

    def ready(self) -> Arms:
        return self._arms(pull_beta, np.column_stack([array(self.a), array(self.b)]))


@dataclass(frozen=True)
class Discrete(Problem):
    """Rewards of a few ``values`` in [0, 1]. ``probabilities`` has a row for each arm, with one per value.

    >>> Discrete([0.0, 0.5, 1.0], [[0.2, 0.3, 0.5], [0.5, 0.5, 0.0]]).expectations.tolist()
    [0.65, 0.25]
    """

    values: Numbers
    probabilities: Sequence[Numbers | None]

    kind: ClassVar[str] = "discrete"
    rewards: ClassVar[str] = "unit"
    family: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        _check_unit("values", self._clean("values"), "")
        rows = self.probabilities
        if isinstance(rows, str) or not hasattr(rows, "__iter__"):
            raise InvalidType(f"probabilities must be a row of numbers per arm, got {rows!r}")
        clean = tuple(
            None if row is None else checks.numbers(f"probabilities[{i}]", row) for i, row in enumerate(rows)
        )
        if not clean:
            raise InvalidValue("probabilities must have at least one row (one per arm), got none")
        for i, row in enumerate(clean):
            if row is None:
                continue
            if len(row) != len(self.values):
                raise InvalidValue(
                    f"probabilities[{i}] must have {len(self.values)} entries, one per value, got {len(row)}"
                )
            if min(row) < 0.0 or abs(math.fsum(row) - 1.0) > 1e-9:
                raise InvalidValue(f"probabilities[{i}] must not be negative and must sum to 1, got {row}")
        object.__setattr__(self, "probabilities", clean)

    @property
    def expectations(self) -> Floats:
        means: Floats = self._table @ np.array(self.values)
        return means

    @property
    def _table(self) -> Floats:
        """A row for each arm; NaN for one that is not there."""
        return np.array([(np.nan,) * len(self.values) if row is None else row for row in self.probabilities])

    def ready(self) -> Arms:
        cumulative: Floats = np.cumsum(self._table, axis=1)
        # Values behind the last possible one must never be drawn, whatever the sum was rounded to.
        possible = np.cumsum(self._table[:, ::-1], axis=1)[:, ::-1] > 0.0
        cumulative[:, :-1] = np.where(possible[:, 1:], cumulative[:, :-1], 1.0)
        cumulative[:, -1] = 1.0
        count = len(self.values)  # the values come first, then each arm's cumulative probabilities
        starts = count * np.arange(1.0, 1.0 + len(cumulative))
        return self._arms(pull_discrete, starts[:, None], np.append(self.values, cumulative))


@dataclass(frozen=True)
class Poisson(Problem):
    """Poisson counts, 0, 1, 2, ..., with these ``means``."""

    means: Numbers

    kind: ClassVar[str] = "poisson"
    rewards: ClassVar[str] = "non-negative"
    family: ClassVar[str] = "poisson"

    def __post_init__(self) -> None:
        means = self._clean("means")
        for i in np.flatnonzero(means < 0.0)[:1]:
            raise InvalidValue(f"means[{i}] of a Poisson problem must be at least 0, got {means[i]}")

    @property
    def expectations(self) -> Floats:
        return array(self.means)

    def ready(self) -> Arms:
        return self._arms(pull_poisson, self.expectations[:, None])


@dataclass(frozen=True)
class Exponential(Problem):
    """Exponential rewards with these ``means``, positive: P(reward > x) = exp(-x/mean)."""

    means: Numbers

    kind: ClassVar[str] = "exponential"
    rewards: ClassVar[str] = "non-negative"
    family: ClassVar[str] = "exponential"

    def __post_init__(self) -> None:
        means = self._clean("means")
        for i in np.flatnonzero(means <= 0.0)[:1]:
            raise InvalidValue(f"means[{i}] of an exponential problem must be above 0, got {means[i]}")

    @property
    def expectations(self) -> Floats:
        return array(self.means)

    def ready(self) -> Arms:
        return self._arms(pull_exponential, self.expectations[:, None])


def _columns(means: Numbers, sd: float | Numbers) -> Floats:
    return np.column_stack(np.broadcast_arrays(array(means), sd))


def _j(z: float) -> float:
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) - z * float(normal.sf(z))


def _check_unit(name: str, numbers: Floats, of: str) -> None:
    for i in np.flatnonzero((numbers < 0.0) | (numbers > 1.0))[:1]:
        raise InvalidValue(f"{name}[{i}] {of}must be in [0, 1], got {numbers[i]}")


STANDARD = (Bernoulli, Gaussian, Beta, ClippedGaussian, Discrete, Poisson, Exponential)
PULLS = (
    pull_bernoulli, pull_gaussian, pull_clipped_gaussian, pull_beta, pull_discrete, pull_poisson,
    pull_exponential,
)  # fmt: skip
