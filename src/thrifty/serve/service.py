"""What the service does, without HTTP. All of it runs in the thread of one event loop."""

import asyncio
import logging
import math
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar
from zlib import crc32

import msgspec
import sqlalchemy as sa

from thrifty import checks
from thrifty.errors import InvalidValue, ThriftyError
from thrifty.serve import (
    checkpoints,
    events,
    experiments,
    kernels,
    keys,
    lines,
    looks,
    messages,
    singles,
)
from thrifty.serve.arms import needs_singles, read_policy, rehearse, table_of
from thrifty.serve.clock import SECOND, Clock, moment
from thrifty.serve.due import Due
from thrifty.serve.events import Change, Decided
from thrifty.serve.experiments import Experiment
from thrifty.serve.history import History
from thrifty.serve.keys import Door
from thrifty.serve.log import Away, Full, Log, Outcome, Written
from thrifty.serve.messages import Ask, Definition, Made, Patch, Result, Reward
from thrifty.serve.recent import Recent
from thrifty.serve.store import START_BITS, Store
from thrifty.serve.store import experiments as experiment_table
from thrifty.serve.tokens import Signer, Token
from thrifty.serve.totals import PERIOD
from thrifty.serve.upkeep import Upkeep

LOGGER = logging.getLogger("thrifty.serve")
MOST_EXPERIMENTS = 1000
PATIENCE = 2.0  # seconds to write what was accepted, if that does not go at once
LAST = 0.5  # seconds, before that, to note how far windows are closed
KEYS = 2.0  # seconds between looks at the keys
SOME = 200  # of what a policy missed: a few milliseconds
ARCHIVED = "archived"
LOCAL = "local"  # the author of changes without a key
T = TypeVar("T")

STATUS = {
    events.REWARD: "counted",
    events.CANCELLED: "cancelled",
    events.REPEATED: "repeated",
    events.CONFLICT: "conflict",
    events.LATE: "late",
}
DETAIL = {
    "counted": "",
    "cancelled": "",
    "repeated": "the same was said before",
    "conflict": "something else was said before, and stays",
    "late": "its window closed first",
}


class Missing(ThriftyError):
    """There is no such experiment or arm."""


class Unready(ThriftyError):
    """State and kernels are not there yet."""


class Conflict(ThriftyError):
    """Not now, as the experiment is."""


class Service:
    """One store: ``open`` takes it, ``start`` reads it, ``stop`` writes what was accepted."""

    def __init__(self, store: str, secret: bytes | None = None, period: int = PERIOD) -> None:
        """``secret`` signs ids, if it is given, and not the one in the store. Totals are by the ``period``,
        in seconds: a store stays with the one that it was made with."""
        self.store = Store(store)
        self.period = checks.integer("period", period, at_least=1, at_most=3600)
        self._secret = secret
        self._clock = Clock()
        self.log = Log(self.store, self._clock)
        self.experiments: dict[str, Experiment] = {}
        self._by_uid: dict[int, Experiment] = {}
        self.by_id: dict[int, Experiment] = {}
        self._locks: dict[str, asyncio.Lock] = {}  # of changes to an experiment
        self._reading: dict[str, asyncio.Lock] = {}  # of its log, for one
        self._number = 0  # decisions of this start
        self._recent = Recent()
        self.answered: Counter[str] = Counter()  # statuses of rewards
        self.door = Door([])
        self._stopping = threading.Event()
        self.ready = False
        self.due = Due(self.store, self.log, self.by_id.get, self._closing)
        self._tasks: list[asyncio.Task[None]] = []
        self._open = False
        self.created: Callable[[], None] = lambda: None  # called when an experiment was, with all it loaded
        self.behind = 0  # rows that a start had to read behind the last checkpoint
        self._signer: Signer
        self.upkeep: Upkeep

    def open(self) -> None:
        """Take the store, or say why not; nothing if it was taken."""
        if self._open:
            return
        self.store.lock()
        try:
            self.store.open(self._clock.now(), self.period)
            self._signer, self.door = self._keys(self._clock.now())
            self._open = True
        except BaseException:
            self.store.close()
            raise

    def _keys(self, now: int) -> tuple[Signer, Door]:
        """What is in the store of secrets and keys."""
        found = self.store.secrets(now)
        if self._secret is not None:
            found[0] = self._secret
        return Signer(found), Door(keys.listed(self.store))

    async def start(self) -> None:
        """Read what is there. Until that is done, nobody is served."""
        self.log.open(asyncio.get_running_loop())
        await asyncio.to_thread(self._load)
        threading.Thread(target=self._shorten, name="thrifty-wal", daemon=True).start()
        self.upkeep = upkeep = Upkeep(self)
        works = (self.due.run(), self._watch_keys(), upkeep.keep(), upkeep.fade(), upkeep.look())
        self._tasks = [asyncio.create_task(work) for work in works]
        self.ready = True
        LOGGER.info(
            "%s: ready, %d experiments, %d rows behind the last checkpoint",
            self.store.path,
            len(self.experiments),
            self.behind,
        )

    def _load(self) -> None:
        """All of it from the log. Nothing else is written to it meanwhile: nobody is served yet."""
        fold, self.behind = checkpoints.state(self.store)
        found = experiments.restored(self.store.experiments(), fold.tallies, fold.history)
        rewards = singles.read(self.store, {one.id for one in found.values() if needs_singles(one.policy)})
        for experiment in found.values():
            rehearse(experiment.policy)
            experiment.singles = rewards.get(experiment.id)
            experiment.work()
            experiment.forget()
            if experiment.arms is not None:
                looks.rehearse(experiment.policy, experiment.arms.engine)
        for experiment in found.values():
            self._add(experiment)

    async def stop(self) -> None:
        """What was accepted is written."""
        self.ready = False
        self._stopping.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._tasks:
            with suppress(Away, Full, TimeoutError):
                await asyncio.wait_for(self.due.save(), LAST)
        await asyncio.to_thread(self.log.close, PATIENCE)
        await asyncio.sleep(0)  # for those who wait for an answer
        self.store.close()
        LOGGER.info("%s: stopped", self.store.path)

    async def _watch_keys(self) -> None:
        """A key that is made or revoked holds, or does not, within a moment; and so do secrets."""
        while True:
            await asyncio.sleep(KEYS)
            try:
                self._signer, self.door = await asyncio.to_thread(self._keys, self._clock.now())
            except Exception:  # those that were known go on
                LOGGER.exception("the keys could not be read")

    def now(self) -> int:
        """Microseconds since 1970."""
        return self._clock.now()

    def _add(self, experiment: Experiment) -> None:
        self.experiments[experiment.name] = experiment
        experiment.pace.note(self.now(), experiment.decisions, experiment.pulls)
        self._by_uid[experiment.uid] = self.by_id[experiment.id] = experiment

    def _shorten(self) -> None:
        while not self._stopping.wait(1.0):
            with suppress(sa.exc.DBAPIError):  # the writer says what is wrong
                self.store.shorten()

    def find(self, name: str) -> Experiment:
        found = self.all().get(name)
        if found is None:
            raise Missing(f"there is no experiment {checks.shown(name)}")
        return found

    def all(self) -> dict[str, Experiment]:
        if not self.ready:
            raise Unready("state and kernels are not there yet")
        return self.experiments

    async def put(self, name: str, definition: Definition, author: str = LOCAL) -> tuple[Experiment, bool]:
        """An experiment, and whether it is new."""
        self.all()
        definition = await asyncio.to_thread(experiments.checked, definition)
        return await _to_the_end(self._put(name, definition, author))

    async def _put(self, name: str, definition: Definition, author: str) -> tuple[Experiment, bool]:
        async with self._locks.setdefault(name, asyncio.Lock()):
            if name in self.experiments:
                known = self.experiments[name]
                if messages.canonical(known.first) != messages.canonical(definition):
                    raise Conflict(f"the experiment {checks.shown(name)} was created with another definition")
                return known, False
            self._check_room()
            return await self._create(name, definition, author), True

    def _check_room(self) -> None:
        if len(self.experiments) >= MOST_EXPERIMENTS:
            raise InvalidValue(f"there must be at most {MOST_EXPERIMENTS} experiments, with those archived")

    async def _create(self, name: str, definition: Definition, author: str) -> Experiment:
        # Tried before it is written: what cannot be played is refused, and nothing is left of it.
        change = Change(
            1,
            author,
            "create",
            {"created": self._clock.now(), "definition": msgspec.to_builtins(definition)},
        )
        tried = Experiment(0, 0, name)
        await asyncio.to_thread(tried.apply, change, self._clock.now())
        size = len(tried.roster)
        await kernels.prepare(tried.policy, tried.policy.engine_for(size))
        await asyncio.to_thread(tried.work)
        tried.id, tried.uid = await asyncio.to_thread(self._register, name)
        tried.history = History(tried.id)

        def apply(time: int) -> None:
            tried.changed[-1].time = time  # as the log has it
            self._add(tried)

        await self.log.changed(tried.id, change, apply)
        self.created()
        LOGGER.info("%r: create by %s", name, author)
        return tried

    async def patch(self, name: str, patch: Patch, author: str = LOCAL) -> Experiment:
        """Change an experiment's settings."""
        experiment, value = self.find(name), msgspec.to_builtins(patch)
        if "policy" in value:
            policy = await asyncio.to_thread(read_policy, value["policy"])
            value["policy"] = table_of(policy)
            await kernels.prepare(policy, policy.engine_for(len(experiment.roster)))
            if needs_singles(policy):
                return await self._patch_singly(experiment, value, author)
        await self._change(experiment, author, lambda: ("patch", value))
        return experiment

    async def _patch_singly(self, experiment: Experiment, value: Any, author: str) -> Experiment:
        """The same for a policy that needs single rewards. What the log has was committed before the change
        is, and so it is applied before; what is applied meanwhile is noted."""
        async with self._reading.setdefault(experiment.name, asyncio.Lock()):
            experiment.collect()
            try:
                experiment.singles = await singles.fetched(self.store, experiment.id)
                await self._change(experiment, author, lambda: ("patch", value))
            finally:
                experiment.forget()
        return experiment

    async def add_arms(self, name: str, arms: list[str], author: str = LOCAL) -> Experiment:
        experiment = self.find(name)
        await self._change(experiment, author, lambda: ("add", arms))
        return experiment

    async def pause_arm(self, name: str, arm: str, paused: bool, author: str = LOCAL) -> messages.Arm:
        """Pause an arm, or let it be chosen again."""
        experiment = self.find(name)
        what = "pause" if paused else "resume"
        serial = await self._change(experiment, author, lambda: (what, self._arm(experiment, arm)))
        return experiment.row(serial)

    async def remove_arm(self, name: str, arm: str, author: str = LOCAL) -> None:
        experiment = self.find(name)
        await self._change(experiment, author, lambda: ("remove", self._arm(experiment, arm)))

    def _arm(self, experiment: Experiment, name: str) -> int:
        serial = experiment.roster.get(name)
        if serial is None:
            raise Missing(f"there is no arm {checks.shown(name)} in {checks.shown(experiment.name)}")
        return serial

    async def _change(self, experiment: Experiment, author: str, say: Callable[[], tuple[str, Any]]) -> Any:
        """Make a change when those before it are made. Returns what it was about."""
        return await _to_the_end(self._change_now(experiment, author, say))

    async def _change_now(
        self, experiment: Experiment, author: str, say: Callable[[], tuple[str, Any]]
    ) -> Any:
        async with self._locks.setdefault(experiment.name, asyncio.Lock()):
            what, value = say()
            if not (what in ("pause", "resume") and (value in experiment.roster.paused) == (what == "pause")):
                change = Change(experiment.version + 1, author, what, value)
                experiment.check(change)
                try:
                    if what == "patch" and "policy" in value:
                        await self._prepare(experiment, value)
                    await self.log.changed(experiment.id, change, lambda time: experiment.apply(change, time))
                finally:
                    experiment.dismiss()
                LOGGER.info("%r: %s by %s", experiment.name, what, author)
            return value

    async def _prepare(self, experiment: Experiment, patch: dict[str, Any]) -> None:
        """Another policy is put to work beside the one that works, so that nobody waits for it."""
        if not needs_singles(read_policy(patch["policy"])):
            await asyncio.to_thread(experiment.prepare(patch))
            while experiment.catch_up(SOME):
                await asyncio.sleep(0)

    def _register(self, name: str) -> tuple[int, int]:
        """The number of an experiment in this store, and that in its tokens, which nobody else ever had."""
        with self.store.writing() as connection:
            connection.exec_driver_sql(
                "insert into experiments (uid, name) values (?, ?) on conflict do nothing",
                (secrets.randbits(START_BITS), name),
            )
            query = sa.select(experiment_table.c.id, experiment_table.c.uid).where(
                experiment_table.c.name == name
            )
            number, uid = connection.execute(query).one()
        return int(number), int(uid)

    def describe(self, experiment: Experiment) -> messages.Experiment:
        now, decisions, pulls = experiment.now, experiment.decisions, experiment.pulls
        return messages.Experiment(
            name=experiment.name,
            policy=now.policy,
            arms=len(experiment.roster),
            reward_range=now.reward_range,
            prior=now.prior,
            horizon=now.horizon,
            half_life=now.half_life,
            control=now.control,
            control_arm=now.control_arm,
            floor=now.floor,
            burn_in=now.burn_in,
            reward_window=now.reward_window,
            default_reward=now.default_reward,
            paused=experiment.paused,
            archived=experiment.archived,
            created=moment(experiment.created),
            decisions=decisions,
            pending=max(0, decisions - experiment.closed),
            pulls=pulls,
            mean=experiment.gained / pulls if pulls else None,
        )

    async def events(self, name: str, after: str | None, limit: int) -> bytes:
        """Lines of what happened in an experiment, behind a position."""
        return await asyncio.to_thread(lines.lines, self.store, self.find(name), after, limit)

    def decide(self, name: str, ask: Ask) -> messages.Decisions:
        experiment = self.find(name)
        if experiment.paused or experiment.archived:
            raise Conflict(f"the experiment {checks.shown(name)} is {_state(experiment)}: no decisions")
        if ask.count is not None and ask.rank is not None:
            raise InvalidValue("rank must not be given together with count")
        if ask.key is not None:
            found = self._recent.get(experiment.id, ask.key, self._clock.now())
            if found is not None:
                return found
        self.log.check_room()
        among = experiment.roster.find_all(ask.among, "among")
        exclude = experiment.roster.find_all(ask.exclude, "exclude")
        assert experiment.arms is not None
        chosen = experiment.arms.decide(
            ask.count or 1, ask.rank or 1, among, exclude, probability=ask.probability
        )
        now = self._clock.now()
        due = now + math.ceil(experiment.now.reward_window * SECOND)
        first, write, start = self._number, self._signer.write, self.log.start
        uid, naming = experiment.uid, experiment.roster.name
        arms: list[int] = []
        by_control: list[int] = []
        chances: list[float | None] = []
        made: list[Made] = []
        for serials, control, chance in chosen:
            for arm in serials:
                if control:
                    by_control.append(len(arms))
                name, number = naming(arm), first + len(arms)
                token = Token(uid, arm, crc32(name.encode()), start, number, now, due, chance, control)
                made.append(Made(write(token), name, control, chance))
                experiment.decide(arm)
                arms.append(arm)
                chances.append(chance)
                chance = None  # the first place of a slate has one
        self._number += len(arms)
        body = Decided(arms, by_control, chances if ask.probability else None)
        experiment.latest.decided(now, arms, by_control)
        self.log.decided((experiment.id, now, first, due), body)
        answer = messages.Decisions(made, lines.position(start, self.log.seq), self.log.away)
        if ask.key is not None:
            self._recent.add(experiment.id, ask.key, now, answer)
        return answer

    async def reward(self, rewards: list[Reward]) -> list[Result]:
        self.all()
        results: list[Result | None] = []
        outcomes: list[Outcome] = []
        for reward in rewards:
            read = self._read(reward)
            results.append(read if isinstance(read, Result) else None)
            if isinstance(read, Outcome):
                outcomes.append(read)
        if all(result is not None and result.detail.endswith(ARCHIVED) for result in results):
            raise Conflict(f"all of these are of experiments that are {ARCHIVED}")
        written = await self.log.closed(outcomes, self._closing(outcomes)) if outcomes else []
        counted = iter([Result(status := STATUS[one.kind], DETAIL[status]) for one in written])
        answers = [next(counted) if result is None else result for result in results]
        self.answered.update(answer.status for answer in answers)
        return answers

    def _read(self, reward: Reward) -> Outcome | Result:
        """What is to be written, or why nothing is."""
        token = self._signer.read(reward.decision)
        experiment = None if token is None else self._by_uid.get(token.experiment)
        if token is None or experiment is None or not experiment.knows(token):
            return Result("unknown", "decision must be an id that this service gave out")
        if experiment.archived:
            return Result("refused", f"its experiment, {checks.shown(experiment.name)}, is {ARCHIVED}")
        if (reward.cancel is msgspec.UNSET) == (reward.reward is msgspec.UNSET):
            return Result("refused", "either reward or cancel must be given")
        if isinstance(reward.reward, msgspec.UnsetType):
            if not reward.cancel:
                return Result("refused", "cancel must be true")
            return Outcome(token, experiment.id, events.CANCELLED, None)
        try:
            value = experiment.range.check("reward", reward.reward)
        except ThriftyError as error:
            return Result("refused", str(error))
        return Outcome(token, experiment.id, events.REWARD, value)

    def _closing(self, outcomes: list[Outcome]) -> Callable[[list[Written]], list[Written]]:
        def apply(written: list[Written]) -> list[Written]:
            for outcome, one in zip(outcomes, written, strict=True):
                if one.kind == outcome.kind:
                    experiment, token = self._by_uid[outcome.token.experiment], outcome.token
                    decision = (token.start, token.number)
                    experiment.close(decision, token.arm, outcome.reward, one.time, added=one.added)
                    experiment.latest.closed(one.time, one.kind, token.arm, outcome.reward, token.control)
            return written

        return apply


def _state(experiment: Experiment) -> str:
    return "archived" if experiment.archived else "paused"


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Also if whoever asked does not wait: the next change is numbered when this one is made."""
    return await asyncio.shield(asyncio.ensure_future(work))
