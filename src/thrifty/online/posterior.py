"""The core of a bandit whose posterior is an object of the user's, told of rewards and asked for draws.

Such draws are expensive, that is the point, so nothing here is compiled: the schedule decides when to ask, and the
arm with the largest index is looked for among all.
"""

import math
from typing import Any

import numpy as np

from thrifty import checks
from thrifty.engines.state import AGGREGATE, DUEL, EPSILON, FRESH, Floats, Integers, Rule
from thrifty.errors import InvalidValue
from thrifty.online.ids import Ids
from thrifty.policies import Posterior

Moves = list[tuple[int, int]]


class PosteriorCore:
    """The same interface as ``Core``. Entry i of each array belongs to arm i; new arms come last."""

    engine = "scan"

    def __init__(self, posterior: Posterior, rule: Rule, seed: int, ids: Ids) -> None:
        self._posterior = posterior
        self._rule = rule
        self._ids = ids
        self._rng = np.random.default_rng([seed, 0])
        self._handed = 0
        k = rule.arms
        self.pulls: Integers = np.zeros(k, np.int64)
        self.sums: Floats = np.zeros(k)
        self.draws: Integers = np.zeros(k, np.int64)
        self.pending: Integers = np.zeros(k, np.int64)
        self._index: Floats = np.full(k, -np.inf)
        self._best: Floats = np.full(k, -np.inf)
        self._age: Integers = np.zeros(k, np.int64)
        self._spent = np.zeros(k, bool)

    def select(self, t: int, out: Integers) -> None:
        for j in range(out.size):
            out[j] = arm = self._next()
            self.pending[arm] += 1
            self._spent[arm] = self._is_committed(arm)

    def _next(self) -> int:
        if self._handed < self.pulls.size:
            self._handed += 1
            return self._handed - 1
        for arm in np.flatnonzero(self.pulls):
            self._refresh(int(arm))
        arm = self._best_arm()
        while self._spent[arm]:
            self._spent[arm] = False
            self._index[arm] = self._best[arm] = self._draw(arm, int(self._rule.phi))
            arm = self._best_arm()
        return arm

    def _best_arm(self) -> int:
        """Ties uniformly at random: arms without a reward yet are all tied at -inf."""
        return int(self._rng.choice(np.flatnonzero(self._index == self._index.max())))

    def _refresh(self, arm: int) -> None:
        """Bring the arm's index up to date for the next decision."""
        schedule = self._rule.schedule
        if schedule == FRESH:
            self._index[arm] = self._draw(arm, 1)
        elif schedule == EPSILON:
            drawn = self._rng.random() < self._rule.epsilon
            self._index[arm] = self._draw(arm, 1) if drawn else self.sums[arm] / self.pulls[arm]
        elif schedule == DUEL:
            self._age[arm] += 1
            if self._age[arm] <= self._rule.phi:
                self._index[arm] = x = self._draw(arm, 1)
                self._best[arm] = max(self._best[arm], x)
            else:
                self._index[arm] = self._best[arm]

    def _is_committed(self, arm: int) -> bool:
        if self._rule.schedule == DUEL:
            return bool(self._age[arm] > self._rule.phi)
        return self._rule.schedule == AGGREGATE and bool(self._index[arm] > -math.inf)

    def _draw(self, arm: int, size: int) -> float:
        """The best of so many draws."""
        name = self._ids.name(arm)
        try:
            values = np.asarray(self._posterior.draw(name, size, self._rng), float)
        except (TypeError, ValueError) as error:
            raise InvalidValue(f"draw must return {size} numbers for the arm {name!r}: {error}") from error
        if values.shape != (size,) or not np.isfinite(values).all():
            raise InvalidValue(
                f"draw must return {size} finite numbers for the arm {name!r}, got {checks.shown(values)}"
            )
        self.draws[arm] += size
        return float(values.max())

    def update(self, arms: Integers, rewards: Floats) -> None:
        for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
            self._posterior.observe(self._ids.name(arm), reward)
            self.pending[arm] = max(0, self.pending[arm] - 1)
            self.pulls[arm] += 1
            self.sums[arm] += reward
            self._renew(arm)

    def _renew(self, arm: int) -> None:
        self._spent[arm] = False
        self._age[arm] = 0
        self._best[arm] = -math.inf
        if self._rule.schedule == AGGREGATE:
            self._index[arm] = self._draw(arm, int(self._rule.phi))

    def begin(self) -> None:
        for arm in np.flatnonzero(self.pulls):
            self._renew(int(arm))

    def follow(self, rule: Rule) -> None:
        self._rule = rule

    def add(self, prior: tuple[float, float] | None) -> None:
        for name, blank in self._blank().items():
            setattr(self, name, np.append(getattr(self, name), blank))

    def remove(self, arm: int) -> Moves:
        last, hole = self.pulls.size - 1, arm
        if arm < self._handed:
            self._handed -= 1
            hole = self._handed
        moves = [(hole, arm), (last, hole)]
        for name in self._blank():
            column = getattr(self, name)
            for source, target in moves:
                column[target] = column[source]
            setattr(self, name, column[:-1].copy())
        return moves

    @staticmethod
    def _blank() -> dict[str, Any]:
        """The columns, and what they hold for an arm of which nothing is known."""
        return {
            "pulls": np.int64(0), "sums": 0.0, "draws": np.int64(0), "pending": np.int64(0),
            "_index": -np.inf, "_best": -np.inf, "_age": np.int64(0), "_spent": np.False_,
        }  # fmt: skip
