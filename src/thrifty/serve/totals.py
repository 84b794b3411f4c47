"""Totals by the period, so that nothing that shows a curve has to read the log: of each experiment, by policy
and by control, and of the arms that led in that period. A period is a minute, unless the store was made with
another.

They follow from the log. A period is added when it is over, together with the place that was read, so that
each row counts once. The process that does this starts often: it imports little.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from thrifty.serve import reading
from thrifty.serve.clock import SECOND, Clock
from thrifty.serve.events import DECISION, OUTCOMES, PAID, Row, read_closed, read_decided
from thrifty.serve.reading import Query

PERIOD = 60  # seconds, unless a store is made with another
ROWS = 200_000  # that are read at a time
LEADING = 10  # arms of a period
NAME = "totals"  # of the note how far the log was read
READ = "insert into meta values (?, ?) on conflict (name) do update set value = excluded.value"
ADD = (
    "insert into totals values (?, ?, ?, ?, ?, ?, ?) on conflict do update set "
    "decided = decided + excluded.decided, pulls = pulls + excluded.pulls, sum = sum + excluded.sum, "
    "squares = squares + excluded.squares"
)
ADD_ARM = (
    "insert into arm_totals values (?, ?, ?, ?, ?, ?) on conflict do update set "
    "decided = decided + excluded.decided, pulls = pulls + excluded.pulls, sum = sum + excluded.sum"
)
ADD_DRAWS = (
    "insert into draw_totals values (?, ?, ?, ?) "
    "on conflict do update set draws = draws + excluded.draws, dense = dense + excluded.dense"
)

Key = tuple[int, int]  # experiment, period
Note = Sequence[tuple[str, Sequence[Any]]]  # statements with their values


class Period:
    """What happened in a period of an experiment."""

    def __init__(self) -> None:
        self.decided: Counter[bool] = Counter()  # by control or not
        self.pulls: Counter[bool] = Counter()
        self.sums: dict[bool, float] = {False: 0.0, True: 0.0}
        self.squares: dict[bool, float] = {False: 0.0, True: 0.0}  # of rewards
        self.arms: dict[int, list[float]] = defaultdict(lambda: [0, 0, 0.0])  # decided, pulls, sum

    def sides(self) -> Iterator[tuple[bool, tuple[float, ...]]]:
        """Those that have something: whether it is control, and the numbers that are kept."""
        for control in (False, True):
            if self.decided[control] or self.pulls[control]:
                counts = self.decided[control], self.pulls[control]
                yield control, (*counts, self.sums[control], self.squares[control])

    def leading(self) -> list[int]:
        """The arms that were decided on most."""
        return sorted(self.arms, key=lambda arm: (-self.arms[arm][0], -self.arms[arm][1], arm))[:LEADING]


def folded(rows: Iterable[Row], length: int) -> dict[Key, Period]:
    """The periods, of so many microseconds, that rows of the log belong to."""
    periods: dict[Key, Period] = defaultdict(Period)
    for row in rows:
        if row.kind == DECISION:
            period, made = periods[row.experiment, row.time // length], read_decided(row.body)
            by_control = set(made.control)
            period.decided[True] += len(by_control)
            period.decided[False] += len(made.arms) - len(by_control)
            for arm in made.arms:
                period.arms[arm][0] += 1
        elif row.kind in OUTCOMES and row.kind in PAID:
            period, body = periods[row.experiment, row.time // length], read_closed(row.body)
            reward = body.reward or 0.0
            period.pulls[body.control] += 1
            period.sums[body.control] += reward
            period.squares[body.control] += reward * reward
            period.arms[body.arm][1] += 1
            period.arms[body.arm][2] += reward
    return periods


def drawn(draws: dict[int, tuple[int, int]], period: int) -> Note:
    """Add posterior draws of experiments in a period, and what one for each arm in each decision would have
    been. They are not in the log: who made them says how many, and those of a period in which a server is
    killed are not counted."""
    return [(ADD_DRAWS, (number, period, *counts)) for number, counts in draws.items() if any(counts)]


def length(query: Query) -> int:
    """Microseconds of a period."""
    return int(reading.note(query, "period") or PERIOD) * SECOND


def _read(query: Query) -> dict[int, int]:
    """How far each stream was read."""
    return _places(reading.note(query, NAME))


def _places(text: str | None) -> dict[int, int]:
    return msgspec.json.decode(text, type=dict[int, int]) if text else {}


def notes(query: Query, now: int | None = None) -> Iterator[Note]:
    """Add the periods that are over."""
    read, period = _read(query), length(query)
    until = (Clock().now() if now is None else now) // period * period
    found = (row for row in reading.log(query, read.copy()) if row.time < until)
    while rows := list(islice(found, ROWS)):
        for row in rows:
            read[row.stream] = max(row.seq, read.get(row.stream, 0))
        yield [*_added(folded(rows, period)), (READ, (NAME, msgspec.json.encode(read).decode()))]


def _added(periods: dict[Key, Period]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for key, found in periods.items():
        for control, values in found.sides():
            yield ADD, (*key, control, *values)
        for arm in found.leading():
            yield ADD_ARM, (*key, arm, *found.arms[arm])


def difference(query: Query) -> list[str]:
    """A sentence for each period that is not what the log says."""
    noted = f"(select value from meta where name = '{NAME}')"
    found = query(f"select {noted}, totals.* from (select 1) left join totals")  # at once: a server may run
    read = _places(found[0][0])
    kept = {tuple(row[1:4]): tuple(row[4:]) for row in found if row[1] is not None}
    rows = (row for row in reading.log(query) if row.seq <= read.get(row.stream, 0))
    wanted = {
        (*key, int(control)): values
        for key, period in folded(rows, length(query)).items()
        for control, values in period.sides()
    }
    return [
        f"the totals of experiment {key[0]} in period {key[1]} are {kept.get(key)}, and not {wanted.get(key)}"
        for key in sorted({*wanted, *kept})
        if key not in wanted or key not in kept or not _alike(wanted[key], kept[key])
    ]


def _alike(one: Sequence[float], two: Sequence[float]) -> bool:
    return one[:2] == two[:2] and all(
        abs(a - b) <= 1e-9 * max(1.0, abs(a)) for a, b in zip(one[2:], two[2:], strict=True)
    )


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.msgpack.encode(list(notes(reading.plain(sys.argv[1])))))
