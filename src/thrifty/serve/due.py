"""What is due: decisions whose window closes without a reward get the default, or are given up.

They are found by walking the decisions in the order of their due times, behind a cursor: no list in memory
grows with what is open. Whoever writes an outcome first has it: a walk that is repeated changes nothing.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec
import sqlalchemy as sa

from thrifty.serve import events
from thrifty.serve.events import DECISION, read_decided
from thrifty.serve.experiments import Experiment
from thrifty.serve.log import Away, Full, Log, Outcome, Written
from thrifty.serve.store import Store, meta
from thrifty.serve.tokens import Token

LOGGER = logging.getLogger("thrifty.serve")
# Seconds after a start with decisions that are open, or after the store was away: clients' queues come first.
PATIENCE = 60.0
PAUSE = 0.5  # seconds between walks
ROWS = 500  # of a walk
MOST = 5000  # outcomes of a walk, from where on it ends
JUMP = 3600.0  # seconds: the clock was changed
SAVE = 10.0  # seconds between notes of where the cursor is
NAME = "due"  # of the note


class Cursor(NamedTuple):
    """The last decision that was walked past."""

    due: int = 0
    stream: int = 0
    seq: int = 0


class Due:
    """Closes what is due, one walk after the other."""

    def __init__(
        self,
        store: Store,
        log: Log,
        find: Callable[[int], Experiment | None],
        apply: Callable[[list[Outcome]], Callable[[list[Written]], list[Written]]],
    ) -> None:
        self._store, self._log, self._find, self._apply = store, log, find, apply
        self._starts: dict[int, int] = {}  # of streams
        self._cursor = Cursor()
        self._saved = (Cursor(), 0.0)
        self.stopped = ""  # why it closes nothing any more

    async def run(self) -> None:
        self._cursor, waits = await asyncio.to_thread(self._read)
        begun, wall, steady = time.monotonic(), time.time(), time.monotonic()
        if not waits:
            begun -= PATIENCE
        while not self.stopped:
            await asyncio.sleep(PAUSE)
            jumped = (time.time() - wall) - (time.monotonic() - steady)
            wall, steady = time.time(), time.monotonic()
            if abs(jumped) > JUMP:
                self.stopped = f"the clock jumped by {jumped:.0f} s: nothing is closed until the next start"
                LOGGER.error(self.stopped)
            elif self._log.away:
                begun = time.monotonic()
            elif time.monotonic() - begun >= PATIENCE:
                try:
                    while await self.walk():
                        pass
                except (Away, Full):  # the log says what is wrong
                    begun = time.monotonic()
                except Exception:
                    LOGGER.exception("what is due could not be closed, it is tried again")
                    begun = time.monotonic()

    async def walk(self) -> bool:
        """Close some of what is due; whether there may be more."""
        wall = time.time_ns() // 1000  # and not the log's, which stands still when this one goes back
        settled = self._log.settled_until()
        until = wall if settled is None else min(settled, wall)
        rows = await asyncio.to_thread(self._due, until)
        outcomes: list[Outcome] = []
        for i, row in enumerate(rows):
            outcomes += self._outcomes(row)
            if len(outcomes) >= MOST:
                rows = rows[: i + 1]
                break
        if outcomes:
            await self._log.closed(outcomes, self._apply(outcomes))
        if rows:
            self._cursor = Cursor(rows[-1].due or 0, rows[-1].stream, rows[-1].seq)
        if self._cursor != self._saved[0] and time.monotonic() - self._saved[1] > SAVE:
            await self.save()
        return len(rows) == ROWS or len(outcomes) >= MOST

    def _due(self, until: int) -> list[events.Row]:
        query = (
            f"select * from log where kind = '{DECISION}' and due <= ? and (due, stream, seq) > (?, ?, ?) "
            f"order by due, stream, seq limit {ROWS}"
        )
        with self._store.engine.connect() as connection:
            rows = connection.exec_driver_sql(query, (until, *self._cursor)).all()
        if not {row.origin for row in rows} <= set(self._starts):
            self._starts = {number: start for start, number in self._store.streams().items()}
        return [events.Row._make(row) for row in rows]

    def _outcomes(self, row: events.Row) -> list[Outcome]:
        experiment = self._find(row.experiment)
        if experiment is None or row.origin is None or row.number is None or row.due is None:
            return []
        default = experiment.now.default_reward
        kind = events.EXPIRED if default is None else events.DEFAULT
        start, body = self._starts[row.origin], read_decided(row.body)
        return [
            Outcome(
                Token(
                    experiment.uid, arm, 0, start, row.number + i, row.time, row.due, None, i in body.control
                ),
                experiment.id,
                kind,
                default,
                remarked=False,
            )
            for i, arm in enumerate(body.arms)
        ]

    def _read(self) -> tuple[Cursor, bool]:
        """Where to go on, and whether there are decisions from before that clients may have rewards for."""
        left = f"select 1 from log where kind = '{DECISION}' and (due, stream, seq) > (?, ?, ?) limit 1"
        with self._store.engine.connect() as connection:
            text = connection.execute(sa.select(meta.c.value).where(meta.c.name == NAME)).scalar()
            noted = Cursor(*msgspec.json.decode(text)) if text else Cursor()
            waits = connection.exec_driver_sql(left, tuple(noted)).first() is not None
        now = time.time_ns() // 1000  # if the clock was ahead, what is decided now is due before the note
        return (noted if noted.due <= now else Cursor(now)), waits

    async def save(self) -> None:
        """Note where the cursor is. Without the note, or with an old one, some of the walk is repeated."""
        if self._cursor == self._saved[0]:
            return
        text = msgspec.json.encode(self._cursor).decode()
        query = "insert into meta values (?, ?) on conflict (name) do update set value = excluded.value"
        await self._log.note([(query, (NAME, text))])
        self._saved = (self._cursor, time.monotonic())
