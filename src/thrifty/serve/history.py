"""The totals of an experiment in memory, joined to points that a chart can show: a start reads all of them,
in one statement, and then what is new."""

import threading
from collections import defaultdict, deque
from typing import Any, NamedTuple

from thrifty.serve.intervals import Sums
from thrifty.serve.reading import Query

POINTS = 300  # at most: with more periods, each point is one of 2, 4, 8 ... of them
ARMS = 24  # of a point, those that were decided on most
TOTALS = (
    "select period / {0}, control, sum(decided), sum(pulls), sum(sum), sum(squares) from totals "
    "where experiment = ? and period >= ? group by 1, 2"
)
LED = (
    "select point, arm, decided from (select period / {0} as point, arm, sum(decided) as decided, "
    "row_number() over (partition by period / {0} order by sum(decided) desc, arm) as place from arm_totals "
    "where experiment = ? and period >= ? group by 1, 2) where place <= {1}"
)
DRAWS = (
    "select period / {0}, sum(draws), sum(dense) from draw_totals "
    "where experiment = ? and period >= ? group by 1"
)
LOSS = "select period / {0}, avg(loss) from outlooks where experiment = ? and period >= ? group by 1"


class Side(NamedTuple):
    """What the policy, or control, did in the time of a point."""

    decided: int
    rewards: Sums


class Points(NamedTuple):
    """Until the last in which something happened; others in which nothing did are not there either."""

    width: int  # periods that each of them has
    first: int  # of them, and the one behind the last
    end: int
    sides: dict[tuple[int, bool], Side]  # by point, and whether it is control

    def sums(self, control: bool, begin: int = 0) -> Sums:
        """All rewards of a side from a point on."""
        total = Sums()
        for (point, of_control), side in self.sides.items():
            if of_control == control and point >= begin:
                total = total.plus(*side.rewards)
        return total


class Details(NamedTuple):
    """What a chart shows besides."""

    arms: dict[int, dict[int, int]]  # decisions by arm, of each point
    draws: dict[int, tuple[int, int]]  # that were spent, and one for each arm in each decision
    loss: dict[int, float]


class History:
    """The points of one experiment. Periods are added in the thread of the event loop, and read in others."""

    def __init__(self, experiment: int) -> None:
        self._experiment = experiment
        self._lock = threading.Lock()
        self._added: deque[int] = deque([0])  # periods that were, since they were read
        self._behind = 0  # details from this period on are not those of the store
        self._detailed = 0  # the width of the points that they are of
        self._details = Details({}, {}, {})
        self.points = Points(1, 0, 0, {})
        self.shown: Any = None  # what was made of them: curves
        self.summary: Any = None  # and a row

    def add(self, period: int) -> None:
        """Something was added to the totals of a period."""
        self._added.append(period)

    @property
    def is_behind(self) -> bool:
        return bool(self._added)

    def read(self, query: Query, until: int) -> Points:
        """The points, until a period that is not over yet."""
        with self._lock:
            begin = until
            while self._added:
                begin = min(begin, self._added.popleft())
            try:
                self.points = self._read(query, begin, until)
            except BaseException:
                self._added.append(begin)
                raise
            self._behind = min(self._behind, begin)
            return self.points

    def _read(self, query: Query, begin: int, until: int) -> Points:
        width, first, _, sides = self.points
        if not sides or begin <= first * width:  # there may be earlier ones
            found = query("select min(period) from totals where experiment = ?", (self._experiment,))
            first = (found[0][0] if found[0][0] is not None else until) // width
        found = query("select max(period) from totals where experiment = ?", (self._experiment,))
        until = max(until, (found[0][0] or 0) + 1)  # the clock was ahead
        begun, last = first * width, -(-until // width) * width
        while last // width - begun // width > POINTS:
            width, begin = 2 * width, 0
        start = begin // width
        kept = {key: side for key, side in sides.items() if key[0] < start}
        for row in query(TOTALS.format(width), (self._experiment, start * width)):
            kept[row[0], bool(row[1])] = Side(row[2], Sums(*row[3:]))
        end = max((point for point, _ in kept), default=begun // width - 1) + 1
        return Points(width, begun // width, end, kept)

    def details(self, query: Query) -> Details:
        """Of the points as they are now. What is noted while a period lasts is read again in the next."""
        with self._lock:
            width = self.points.width
            begin = 0 if width != self._detailed else self._behind // width
            arms, draws, loss = (
                {point: value for point, value in part.items() if point < begin} for part in self._details
            )
            asked = (self._experiment, begin * width)
            led: dict[int, dict[int, int]] = defaultdict(dict)
            for point, arm, decided in query(LED.format(width, ARMS), asked):
                led[point][arm] = decided
            spent = {row[0]: (row[1], row[2]) for row in query(DRAWS.format(width), asked)}
            lost = {row[0]: row[1] for row in query(LOSS.format(width), asked)}
            self._details = Details({**arms, **led}, {**draws, **spent}, {**loss, **lost})  # type: ignore[dict-item]
            self._detailed, self._behind = width, self.points.end * width - 2 * width
            return self._details
