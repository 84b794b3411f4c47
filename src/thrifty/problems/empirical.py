"""Rewards that are drawn from data: each is one of the arm's samples, all with the same probability."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidType, InvalidValue
from thrifty.numerics import random
from thrifty.problems.base import Arms, Numbers, Problem


def pull_empirical(state, i):
    """Which of the samples, that lie among the values one arm after the other."""
    return state.values[int(state.arms[i, 0]) + random.below(state.reward_rng, int(state.arms[i, 1]))]


@dataclass(frozen=True)
class Empirical(Problem):
    """Rewards drawn with replacement from data: ``samples`` has a row of observed rewards for each arm, and
    rows may differ in length. True means are those of the rows.

    >>> Empirical([[0, 1, 1, 0], [0.2, 0.4]]).expectations.round(3).tolist()
    [0.5, 0.3]
    """

    samples: Sequence[Numbers | None]

    kind: ClassVar[str] = "empirical"
    family: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        rows = self.samples
        if isinstance(rows, str) or not hasattr(rows, "__iter__"):
            raise InvalidType(f"samples must be a row of rewards per arm, got {checks.shown(rows)}")
        clean = tuple(
            None if row is None else checks.numbers(f"samples[{i}]", row) for i, row in enumerate(rows)
        )
        if not clean:
            raise InvalidValue("samples must have at least one row (one per arm), got none")
        object.__setattr__(self, "samples", clean)

    @property
    def rewards(self) -> str:  # type: ignore[override]
        """The narrowest kind that has all of them."""
        seen = np.concatenate([row for row in self.samples if row is not None] or [np.zeros(1)])
        if ((seen == 0.0) | (seen == 1.0)).all():
            return "binary"
        if seen.min() < 0.0:
            return "any"
        return "unit" if seen.max() <= 1.0 else "non-negative"

    @property
    def expectations(self) -> Floats:
        return np.array([np.nan if row is None else np.mean(row) for row in self.samples])

    @property
    def size(self) -> int:
        return len(self.samples)

    def ready(self) -> Arms:
        rows = [() if row is None else row for row in self.samples]
        counts = np.array([len(row) for row in rows])
        values = np.concatenate([np.array(row, float) for row in rows])
        return self._arms(pull_empirical, np.column_stack([np.cumsum(counts) - counts, counts]), values)
