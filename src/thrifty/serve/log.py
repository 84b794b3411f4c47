"""The one writer: a queue, a thread and a connection. What is handed in is written in order, in as few
commits as there can be: whatever came while one was under way goes into the next.

All is handed in, applied and answered in the thread of the event loop, after the commit where it matters. If
a write fails, the store is *away* until one succeeds: the same rows are tried again, those who wait are told
so, and a commit whose answer was lost is recognised by the place that the stream reached.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import sqlalchemy as sa

from thrifty.errors import ThriftyError
from thrifty.serve import events
from thrifty.serve.clock import Clock
from thrifty.serve.events import Closed, Decided, Row, pack
from thrifty.serve.store import Store
from thrifty.serve.tokens import Token
from thrifty.serve.totals import Note

TOGETHER = 0.01  # seconds that rows wait for others, if nobody waits for them
PACE = 0.002  # seconds between beginnings of commits: one of 8 rewards costs little more than one of 1
GROUP = 20_000  # rows of a commit
QUEUE = 10**6  # decisions that may wait
RETRY = 0.25  # seconds
LAST = 0.5  # seconds for a write that is given up
KEYS = 500  # in one query
STEP = 32  # rows of one statement: after each, the writer has to wait for the interpreter

LOGGER = logging.getLogger("thrifty.serve")

INSERT_ROWS = "insert into log values {}"
INSERT_OUTCOMES = "insert into outcomes values {} on conflict do nothing"


class Away(ThriftyError):
    """The store cannot be written to."""


class Full(ThriftyError):
    """The queue is full."""


class Outcome(NamedTuple):
    """An outcome that is to be written."""

    token: Token
    experiment: int
    kind: str
    reward: float | None
    remarked: bool = True  # whether it is logged that it came too late


class Written(NamedTuple):
    """What became of it: its kind, or what was remarked; when; and whether its decision had to be added."""

    kind: str
    time: int
    added: bool


class _Unit(NamedTuple):
    rows: list[Row]
    outcomes: Sequence[Outcome]
    first: int  # the place of the first outcome: each has two, one of them for its decision
    time: int
    last: int
    apply: Callable[[list[Written]], Any] | None  # to memory; what it returns is the answer
    answer: "asyncio.Future[Any] | None"
    note: Note = ()


class Log:
    """The writer of one process. ``open`` begins a stream, ``close`` writes all that was handed in."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._waiting: deque[_Unit] = deque()
        self._turn = threading.Condition()
        self._closing = False
        self._give_up = threading.Event()
        self._hurry = False  # whether somebody waits for an answer
        self._thread: threading.Thread | None = None
        self.away = False
        self.stream = self.start = self.seq = self.queued = 0
        self._connection: sa.Connection | None = None  # of the thread
        self._origins: dict[int, int] = {}
        self._reached_time = 0  # that of what was written last
        self._begun = 0.0  # when the last commit began

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.stream, self.start = self._store.open_stream(self._clock.now())
        self._origins = self._store.streams()
        self._thread = threading.Thread(target=self._run, name="thrifty-log", daemon=True)
        self._thread.start()

    def close(self, patience: float = 5.0) -> int:
        """Writes what was handed in. Returns how many rows could not be written in time. Blocks."""
        if self._thread is None:
            return 0
        with self._turn:
            self._closing = True
            self._turn.notify()
        self._thread.join(patience)
        self._give_up.set()
        self._thread.join(LAST)
        self._thread = None
        if self.queued:
            LOGGER.error("%d rows of the log could not be written", self.queued)
        return self.queued

    def settled_until(self) -> int | None:
        """All decisions that were made before this are written; None if all are."""
        return self._reached_time if self.queued else None

    def decided(self, row: tuple[int, int, int, int], body: Decided) -> None:
        """Decisions that were made: (experiment, time, number, due). Nobody waits for them."""
        experiment, time, number, due = row
        self.seq += 1
        whole = Row(
            self.stream, self.seq, events.DECISION, experiment, time, self.stream, number, due, pack(body)
        )
        self._hand_in(_Unit([whole], (), 0, time, self.seq, None, None))

    def changed(
        self, experiment: int, change: events.Change, apply: Callable[[int], Any]
    ) -> "asyncio.Future[Any]":
        """A change to an experiment, which is applied, with its time, when it is written."""
        self._check()
        self.seq += 1
        time, answer = self._clock.now(), self._loop.create_future()
        row = Row(self.stream, self.seq, events.CHANGE, experiment, time, None, None, None, pack(change))
        self._hand_in(_Unit([row], (), 0, time, self.seq, lambda _: apply(time), answer))
        return answer

    def closed(
        self, outcomes: Sequence[Outcome], apply: Callable[[list[Written]], Any]
    ) -> "asyncio.Future[Any]":
        """Outcomes of decisions, which are applied when they are written."""
        self._check()
        first = self.seq + 1
        self.seq += 2 * len(outcomes)
        answer = self._loop.create_future()
        self._hand_in(_Unit([], outcomes, first, self._clock.now(), self.seq, apply, answer))
        return answer

    def note(self, note: Note) -> "asyncio.Future[Any]":
        """Statements on what is kept beside the log, small enough that rewards may wait for them: two who
        wrote at once would wait for each other much longer."""
        self._check()
        self.seq += 1  # a place without a row: so it is known whether they were made
        answer = self._loop.create_future()
        self._hand_in(_Unit([], (), 0, self._clock.now(), self.seq, None, answer, note))
        return answer

    def check_room(self) -> None:
        """Before a decision is made."""
        if self.queued >= QUEUE:
            raise Full("the queue of what waits for the store is full")

    def _check(self) -> None:
        if self.away:
            raise Away("the store cannot be written to at the moment")
        self.check_room()

    def _hand_in(self, unit: _Unit) -> None:
        with self._turn:
            awaited = unit.answer is not None and not self._hurry
            if awaited or not self._waiting:  # the writer need not be told more than once
                self._turn.notify()
            self._hurry = self._hurry or awaited
            self._waiting.append(unit)
            self.queued += _size(unit)

    def _run(self) -> None:
        while (group := self._take()) and self._write(group) is not None:  # None: in spite of our patience
            with self._turn:
                self._reached_time = group[-1].time
                self.queued -= sum(map(_size, group))
        self._hang_up()

    def _take(self) -> list[_Unit]:
        """What is to be written together; nothing when all is done."""
        with self._turn:
            while not self._waiting and not self._closing:
                self._turn.wait()
            if not self._hurry and not self._closing:
                self._turn.wait_for(lambda: self._hurry or self._closing, TOGETHER)
        time.sleep(max(0.0, self._begun + PACE - time.monotonic()))
        self._begun = time.monotonic()
        with self._turn:
            group, size = [], 0
            while self._waiting and size < GROUP:
                group.append(self._waiting.popleft())
                size += _size(group[-1])
            self._hurry = any(unit.answer is not None for unit in self._waiting)
            return group

    def _write(self, group: list[_Unit]) -> list[list[Written]] | None:
        """Until it is written."""
        again = False
        while True:
            try:
                written = self._commit(group, again=again)
                break
            except Exception as error:  # whatever it is: nothing that was accepted is dropped
                if not self.away:
                    ours = None if isinstance(error, sa.exc.DBAPIError | OSError) else error
                    LOGGER.error(
                        "the store cannot be written to, it is tried again: %s", error, exc_info=ours
                    )
                    self.away = True
                    self._tell(self._refuse, group)
                again = True
                self._hang_up()
                if self._give_up.wait(RETRY):
                    return None
        if self.away:
            LOGGER.warning("the store can be written to again")
            self.away = False
        self._tell(_settle, group, written)
        return written

    def _refuse(self, group: list[_Unit]) -> None:
        """Those who sent rewards are told, also whose turn it is not yet: it may take long to come. A change
        waits, so that the next one finds it made. In the thread of the loop: nobody comes meanwhile."""
        with self._turn:
            units = [*group, *self._waiting]
        for unit in units:
            if unit.outcomes and unit.answer is not None and not unit.answer.done():
                unit.answer.set_exception(Away("the store cannot be written to at the moment"))

    def _hang_up(self) -> None:
        """The connection may be of no use any more: the next one is new."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.invalidate()
            with suppress(Exception):
                connection.close()

    def _tell(self, call: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(call, *arguments)

    def _commit(self, group: list[_Unit], *, again: bool) -> list[list[Written]]:
        last = group[-1].last
        if self._connection is None:
            self._connection = self._store.engine.connect().execution_options(immediate=True)
        connection = self._connection
        with connection.begin():
            if again and self._reached(connection) >= last:  # it was written, and we were not told
                return self._read_back(connection, group)
            rows = [row for unit in group for row in unit.rows]
            written = self._close(connection, group, rows)
            _insert(connection, INSERT_ROWS, rows)
            for statement, values in (one for unit in group for one in unit.note):
                connection.exec_driver_sql(statement, tuple(values))
            connection.exec_driver_sql("update streams set committed = ? where id = ?", (last, self.stream))
        return written

    def _reached(self, connection: sa.Connection) -> int:
        query = f"select committed from streams where id = {self.stream}"
        return int(connection.exec_driver_sql(query).scalar_one())

    def _read_back(self, connection: sa.Connection, group: list[_Unit]) -> list[list[Written]]:
        first = min((unit.first for unit in group if unit.outcomes), default=0)
        query = "select seq, kind from log where stream = ? and seq between ? and ?"
        found = connection.exec_driver_sql(query, (self.stream, first, group[-1].last))
        kinds: dict[int, str] = dict(found.all())
        return [
            [
                Written(kinds.get(seq + 1, events.LATE), unit.time, seq in kinds)
                for seq in range(unit.first, unit.first + 2 * len(unit.outcomes), 2)
            ]
            for unit in group
        ]

    def _close(self, connection: sa.Connection, group: list[_Unit], rows: list[Row]) -> list[list[Written]]:
        """Write the outcomes of a group, and add their rows to the log's."""
        asked = [
            (self._origin(connection, outcome.token.start), outcome.token.number, outcome, unit, seq)
            for unit in group
            for seq, outcome in enumerate(unit.outcomes)
        ]
        if not asked:
            return [[] for _ in group]
        keys = [
            (origin, number, outcome.kind, outcome.reward, self.stream, unit.first + 2 * i + 1)
            for origin, number, outcome, unit, i in asked
        ]
        ordered = sorted(keys, key=lambda key: (key[0], key[1], key[5]))
        found: dict[tuple[int, int], Any] = {(origin, number): rest for origin, number, *rest in keys}
        if _insert(connection, INSERT_OUTCOMES, ordered) < len(keys):  # some are not the first
            found = self._found(connection, keys)
        written: dict[int, list[Written]] = {id(unit): [] for unit in group}
        for (origin, number, outcome, unit, _), (*_, seq) in zip(asked, keys, strict=True):
            kind, reward, *place = found[origin, number]
            added = False
            if place == [self.stream, seq]:
                status = outcome.kind
                if origin != self.stream and not _is_logged(connection, origin, number):
                    added = True
                    rows.append(_decision(outcome, self.stream, seq - 1, origin, unit.time))
            else:
                status = _remark(outcome, kind, reward)
            if status == outcome.kind or outcome.remarked:
                body = pack(Closed(outcome.token.arm, outcome.reward, outcome.token.control))
                rows.append(
                    Row(self.stream, seq, status, outcome.experiment, unit.time, origin, number, None, body)
                )
            written[id(unit)].append(Written(status, unit.time, added))
        return list(written.values())

    def _origin(self, connection: sa.Connection, start: int) -> int:
        """The number of a start here. A store that was restored may not know one that signed for it."""
        if start not in self._origins:
            query = "insert into streams (start, opened, committed) values (?, 0, 0) on conflict do nothing"
            connection.exec_driver_sql(query, (start,))
            query = "select id from streams where start = ?"
            return int(connection.exec_driver_sql(query, (start,)).scalar_one())
        return self._origins[start]

    def _found(self, connection: sa.Connection, keys: list[Any]) -> dict[tuple[int, int], Any]:
        """The outcomes of these decisions."""
        found: dict[tuple[int, int], Any] = {}
        for origin in {key[0] for key in keys}:
            numbers = [str(key[1]) for key in keys if key[0] == origin]
            for i in range(0, len(numbers), KEYS):
                query = (
                    "select number, kind, reward, stream, seq from outcomes "
                    f"where origin = {origin} and number in ({','.join(numbers[i : i + KEYS])})"
                )
                for number, *rest in connection.exec_driver_sql(query):
                    found[origin, number] = rest
        return found


def _size(unit: _Unit) -> int:
    return len(unit.rows) + len(unit.outcomes) + len(unit.note)


def _insert(connection: sa.Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> int:
    """Returns how many were inserted."""
    count = 0
    for i in range(0, len(rows), STEP):
        some = rows[i : i + STEP]
        places = ", ".join([f"({', '.join('?' * len(some[0]))})"] * len(some))
        values = tuple(chain.from_iterable(some))
        count += connection.exec_driver_sql(statement.format(places), values).rowcount
    return count


def _is_logged(connection: sa.Connection, origin: int, number: int) -> bool:
    query = (
        f"select number, body from log where kind = '{events.DECISION}' and origin = ? and number <= ? "
        "order by number desc limit 1"
    )
    found = connection.exec_driver_sql(query, (origin, number)).first()
    return found is not None and number < found[0] + len(events.read_decided(found[1]).arms)


def _decision(outcome: Outcome, stream: int, seq: int, origin: int, time: int) -> Row:
    """A decision that was lost in a crash right after the answer, from its token."""
    token = outcome.token
    chances: list[float | None] | None = None if token.probability is None else [token.probability]
    body = pack(Decided([token.arm], [0] if token.control else [], chances, token.decided))
    return Row(stream, seq, events.DECISION, outcome.experiment, time, origin, token.number, token.due, body)


def _remark(outcome: Outcome, kind: str, reward: float | None) -> str:
    if kind in (events.DEFAULT, events.EXPIRED):
        return events.LATE
    same = kind == outcome.kind and reward == outcome.reward
    return events.REPEATED if same else events.CONFLICT


def _settle(group: list[_Unit], written: list[list[Written]]) -> None:
    for unit, results in zip(group, written, strict=True):
        try:
            answer = unit.apply(results) if unit.apply is not None else None
        except Exception as error:  # a fault of ours: it is written, and memory lacks it until the next start
            LOGGER.exception("what was written could not be applied")
            if unit.answer is not None and not unit.answer.done():
                unit.answer.set_exception(error)
            continue
        if unit.answer is not None and not unit.answer.done():
            unit.answer.set_result(answer)
