"""State is a function of the *set* of events: the same rows in any order give the same.

Per arm, by its serial: how often it was decided on, how many of these decisions are closed, how many of them
have a reward, the sum of those and of their squares; where rewards fade, also what is left of them. What is
pending is decided minus closed, below 0 for a moment if an outcome is read before its decision. Changes are
kept by their version, and applied in that order.
"""

from collections.abc import Iterable

import numpy as np

from thrifty.arrays import Floats, Integers
from thrifty.serve.clock import SECOND
from thrifty.serve.events import (
    CHANGE,
    DECISION,
    OUTCOMES,
    PAID,
    Change,
    Row,
    read_change,
    read_closed,
    read_decided,
)

COLUMNS = ("decided", "closed", "pulls", "sums", "squares")
FADING = ("weight", "faded", "faded_squares", "last")  # where rewards fade


class Tally:
    """What is known of each arm of an experiment, by its serial."""

    def __init__(self, half_life: float | None = None) -> None:
        self.half_life = half_life  # seconds
        self.columns = COLUMNS if half_life is None else (*COLUMNS, *FADING)
        self.decided: Integers = np.zeros(0, np.int64)
        self.closed: Integers = np.zeros(0, np.int64)
        self.pulls: Integers = np.zeros(0, np.int64)
        self.sums: Floats = np.zeros(0)
        self.squares: Floats = np.zeros(0)  # sums of squared rewards
        self.weight: Floats = np.zeros(0)  # what is left of the pulls
        self.faded: Floats = np.zeros(0)  # and of the sums
        self.faded_squares: Floats = np.zeros(0)
        self.last: Integers = np.zeros(0, np.int64)  # at this time, that of the latest reward

    def reach(self, arms: int) -> None:
        """There is room for so many."""
        size = self.decided.size
        if arms > size:
            more = max(arms, 2 * size) - size
            for name in self.columns:
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.zeros(more, column.dtype)]))

    def copy(self) -> "Tally":
        other = Tally(self.half_life)
        for name in self.columns:
            setattr(other, name, getattr(self, name).copy())
        return other

    def decide(self, arm: int) -> None:
        self.decided[arm] += 1

    def close(self, arm: int, reward: float | None, time: int) -> None:
        self.closed[arm] += 1
        if reward is not None:
            self.pulls[arm] += 1
            self.sums[arm] += reward
            self.squares[arm] += reward * reward
            if self.half_life is not None:
                self._fade(arm, reward, time, self.half_life)

    def _fade(self, arm: int, reward: float, time: int, half_life: float) -> None:
        """A reward of this time counts in full now, or less if there are later ones."""
        later = time - int(self.last[arm])
        share = 2.0 ** (-abs(later) / SECOND / half_life)
        if later >= 0:
            self.weight[arm] = self.weight[arm] * share + 1.0
            self.faded[arm] = self.faded[arm] * share + reward
            self.faded_squares[arm] = self.faded_squares[arm] * share + reward * reward
            self.last[arm] = time
        else:
            self.weight[arm] += share
            self.faded[arm] += share * reward
            self.faded_squares[arm] += share * reward * reward

    def left(self, arms: Integers, now: int) -> tuple[Floats, Floats, Floats]:
        """What is left of the pulls of these arms, and of the sums of their rewards and squared rewards."""
        if self.half_life is None:
            return self.pulls[arms].astype(float), self.sums[arms], self.squares[arms]
        age = np.maximum(now - self.last[arms], 0) / SECOND
        share = np.exp2(-np.minimum(age / self.half_life, 1000.0))
        return self.weight[arms] * share, self.faded[arms] * share, self.faded_squares[arms] * share


class Fold:
    """The state that rows of the log amount to."""

    def __init__(self, changes: Iterable[Row] = ()) -> None:
        """``changes`` must be there first, as they say whether rewards fade; other rows are passed over."""
        self.tallies: dict[int, Tally] = {}
        self.changes: dict[int, dict[int, tuple[Change, int]]] = {}  # by version, with their times
        self.read: dict[int, int] = {}  # how far, by stream
        for row in changes:
            if row.kind == CHANGE:
                self.change(row)

    def add(self, rows: Iterable[Row]) -> "Fold":
        for row in rows:
            if row.seq > self.read.get(row.stream, 0):
                self.read[row.stream] = row.seq
            if row.kind == DECISION:
                tally = self.tally(row.experiment)
                for arm in read_decided(row.body).arms:
                    tally.reach(arm + 1)
                    tally.decide(arm)
            elif row.kind in OUTCOMES:
                body = read_closed(row.body)
                tally = self.tally(row.experiment)
                tally.reach(body.arm + 1)
                tally.close(body.arm, body.reward if row.kind in PAID else None, row.time)
            elif row.kind == CHANGE:
                self.change(row)
        return self

    def change(self, row: Row) -> None:
        """A change, which may be added as often as one likes."""
        change = read_change(row.body)
        self.changes.setdefault(row.experiment, {})[change.version] = change, row.time

    def difference(self, other: "Fold") -> list[str]:
        """A sentence for each arm of which the two do not say the same: counts exactly, sums to rounding."""
        found: list[str] = []
        for number in sorted({*self.tallies, *other.tallies}):
            mine, its = self.tally(number), other.tally(number)
            size = max(mine.decided.size, its.decided.size)
            mine.reach(size)
            its.reach(size)
            for name in mine.columns:
                one, two = getattr(mine, name)[:size], getattr(its, name)[:size]
                same = np.isclose(one, two, rtol=1e-9, atol=1e-9) if one.dtype == float else one == two
                found += [
                    f"experiment {number}, arm {arm}: {name} is {one[arm]}, and not {two[arm]}"
                    for arm in np.flatnonzero(~same).tolist()
                ]
        return found

    def tally(self, experiment: int) -> Tally:
        if experiment not in self.tallies:
            first = self.changes.get(experiment, {}).get(1)
            half_life = None if first is None else first[0].value["definition"]["half_life"]
            self.tallies[experiment] = Tally(half_life)
        return self.tallies[experiment]

    def history(self, experiment: int) -> list[tuple[Change, int]]:
        """The changes of an experiment in their order, and when they were made."""
        changes = self.changes.get(experiment, {})
        return [changes[version] for version in sorted(changes)]
