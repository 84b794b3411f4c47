"""What is done beside serving: rewards fade, experiments are looked at, checkpoints and totals are made."""

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from thrifty.serve import apart, checkpoints, looks, totals
from thrifty.serve.clock import SECOND
from thrifty.serve.experiments import Experiment
from thrifty.serve.log import Away, Full

if TYPE_CHECKING:
    from thrifty.serve.service import Service

LOGGER = logging.getLogger("thrifty.serve")
TOGETHER = 5  # seconds of short periods that are added at a time


class Upkeep:
    """Of a service that has started."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self.over = service.now() // (service.period * SECOND)
        """Periods before this one are over, and but for the last ones in the totals."""

    async def fade(self) -> None:
        """Where rewards fade, the policy is told so: often for a half-life, some arms at a time."""
        while True:
            await asyncio.sleep(1.0)
            for experiment in list(self._service.experiments.values()):
                for step in experiment.fade(self._service.now()):
                    step()
                    await asyncio.sleep(0)

    async def look(self) -> None:
        """Now and then, what is known of each experiment, for those who look at it and for the store."""
        while True:
            await asyncio.sleep(1.0)
            open_ones = [one for one in self._service.experiments.values() if not one.archived]
            for experiment in open_ones:
                try:
                    await self.look_at(experiment, len(open_ones))
                except Exception:  # the next one may go better
                    LOGGER.exception("%r could not be looked at", experiment.name)
                    experiment.watch.failed()

    async def look_at(self, experiment: Experiment, others: int = 1) -> None:
        """If something changed and it is time, look again at what is known. So many want that too."""
        now, watch, played = self._service.now(), experiment.watch, experiment.arms
        fades = now if experiment.now.half_life is not None else 0
        state = experiment.pulls, experiment.version, fades
        if played is None or not experiment.pulls or not watch.is_due(state):
            return
        policy, definition = experiment.policy, experiment.now
        numbers = await looks.copied(experiment, now)
        found, took = await looks.beside(lambda: looks.look(policy, definition, played.engine, numbers, now))
        watch.saw(found, state, took, others, self._service.period)
        if now // (self._service.period * SECOND) > watch.noted and (
            note := looks.note(experiment.id, now, self._service.period, found)
        ):
            with suppress(Away, Full):
                await self._service.log.note(note)
                watch.noted = now // (self._service.period * SECOND)

    async def keep(self) -> None:
        """A checkpoint now and then, and totals when a period is over: other processes make them."""
        made, added, period, last, length = -self._service.behind, -1, 0, 0, self._service.period * SECOND
        while True:
            await asyncio.sleep(1.0)
            time = self._service.now()
            now = time // length
            for one in self._service.experiments.values():
                one.pace.note(time, one.decisions, one.pulls)
            if self._service.log.away:
                continue
            if self._service.log.seq - made >= checkpoints.EVERY:
                made = self._service.log.seq
                await self._apart(checkpoints.__name__)
            if now > period:
                over, period = period, now
                if over:
                    await self.note_draws(over)
            if (now - last) * self._service.period >= TOGETHER:
                last = now
                if self._service.log.seq > added:
                    added = self._service.log.seq  # what comes in this period is added in the next
                    await self._apart(totals.__name__)
                self.over = now
                await self.read_totals()

    async def note_draws(self, period: int) -> None:
        playing = ((one.id, one.arms) for one in self._service.experiments.values())
        found = {number: arms.drawn() for number, arms in playing if arms is not None}
        if note := totals.drawn(found, period):
            with suppress(Away, Full):
                await self._service.log.note(note)

    async def _apart(self, module: str) -> None:
        try:
            for note in await apart.notes(module, self._service.store):
                await self._service.log.note(note)
                for statement, values in note:
                    if statement == totals.ADD and values[0] in self._service.by_id:
                        self._service.by_id[values[0]].history.add(values[1])
        except Exception:  # the next one may go better
            LOGGER.exception("%s failed", module)

    async def read_totals(self) -> None:
        """What was added to them, for those who look at all experiments."""
        behind = [one.history for one in self._service.experiments.values() if one.history.is_behind]
        try:
            for history in behind:
                await asyncio.to_thread(history.read, self._service.store.query, self.over)
        except Exception:  # they are read the next time
            LOGGER.exception("totals could not be read")
