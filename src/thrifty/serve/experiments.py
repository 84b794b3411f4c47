"""What is in memory of an experiment: settings, its arms, what is known of them, a policy at work."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any
from zlib import crc32

import msgspec
import numpy as np

from thrifty.arrays import Integers
from thrifty.errors import InvalidValue
from thrifty.policies import Policy
from thrifty.serve import messages
from thrifty.serve.arms import (
    Arms,
    Range,
    check_half_life,
    check_shares,
    needs_singles,
    read_policy,
    table_of,
)
from thrifty.serve.clock import SECOND, Clock
from thrifty.serve.events import Change
from thrifty.serve.fold import Tally
from thrifty.serve.history import History
from thrifty.serve.latest import Changed, Latest, Pace, note
from thrifty.serve.looks import Watch
from thrifty.serve.messages import Definition
from thrifty.serve.roster import Roster
from thrifty.serve.singles import Key, Singles, columns
from thrifty.serve.tokens import Token

STEPS = 64  # in a half-life, in which the policy is told what is left
TOGETHER = 10_000  # arms of which it is told at a time
CHANGES = 200  # that are remembered; the log has all of them


class Experiment:
    """An experiment in memory. ``apply`` takes its changes, the first of which creates it."""

    def __init__(self, number: int, uid: int, name: str, tally: Tally | None = None) -> None:
        self.id, self.uid, self.name = number, uid, name
        self.tally = tally or Tally()
        self.decisions = int(self.tally.decided.sum())
        self.closed = int(self.tally.closed.sum())
        self.pulls = int(self.tally.pulls.sum())
        self.gained = float(self.tally.sums.sum())  # all rewards
        self.latest, self.pace = Latest(), Pace()
        self.history, self.watch = History(number), Watch()
        self.changed: deque[Changed] = deque(maxlen=CHANGES)
        self.shared: int | None = None  # when the share of control was changed
        self.version = 0
        self.created = 0
        self._faded = 0  # when the policy was told
        self.paused = self.archived = False
        self.arms: Arms | None = None  # the policy at work, when it is
        self.singles: Singles | None = None  # from the log, for a policy that is about to need them
        self._closed: dict[Key, tuple[int, float]] | None = None  # rewards since they were asked for
        self._next: Arms | None = None  # another policy, when it is about to work
        self._missed: deque[Callable[[Arms], Any]] | None = None  # what it has to be told first
        self.first: Definition  # as it was created
        self.now: Definition
        self.roster: Roster

    def apply(self, change: Change, time: int) -> None:
        """``time`` is when the change was made."""
        if change.what == "patch" and change.value.get("control", self.now.control) != self.now.control:
            self.shared = time
        self.version = change.version
        getattr(self, f"_{change.what}")(change.value)
        note(self.changed, change, time, self.roster.name)

    def _create(self, value: Any) -> None:
        self.created = value["created"]
        self.first = self.now = msgspec.convert(value["definition"], Definition)
        self.roster = Roster(self.now.arms)
        if self.tally.half_life != self.now.half_life:
            self.tally = Tally(self.now.half_life)
        self.tally.reach(self.roster.size)

    @cached_property
    def policy(self) -> Policy:
        """Read when it is played: an export can do without, and may not know one of the operator's own."""
        return read_policy(self.now.policy)

    @cached_property
    def range(self) -> Range:
        return Range(self.policy, self.now.reward_range)

    def _patch(self, value: dict[str, Any]) -> None:
        for name in ("paused", "archived"):
            if name in value:
                setattr(self, name, value[name])
        self.now = replaced(self.now, value)
        if "policy" in value:
            vars(self).pop("policy", None)
            vars(self).pop("range", None)
            if self._next is not None:
                self.catch_up(len(self._missed or ()))
                self.arms = self._next
            elif self.arms is not None:
                self.work()
        elif self.arms is not None:
            self.arms.set_shares(self.now.control, self.now.floor)

    def _add(self, names: list[str]) -> None:
        self.tally.reach(self.roster.size + len(names))  # first: a page of arms is made in another thread
        serials = self.roster.add(names)
        if self.arms is not None:
            self.arms.add(serials)

    def _pause(self, arm: int) -> None:
        self.roster.paused.add(arm)
        if self.arms is not None:
            self.arms.pause(arm)

    def _resume(self, arm: int) -> None:
        self.roster.paused.discard(arm)
        if self.arms is not None:
            self.arms.resume(arm)

    def _remove(self, arm: int) -> None:
        self.roster.remove(arm)
        if self.arms is not None:
            self.arms.remove(arm)

    def collect(self) -> None:
        """From now on rewards are noted: the log is about to be read, and more may come meanwhile."""
        self._closed = {}

    def forget(self) -> None:
        """The single rewards that were read and noted are not needed any more."""
        self.singles = self._closed = None

    def work(self) -> None:
        """Put the policy to work on what is known."""
        singles = None
        if needs_singles(self.policy):
            singles = (self.singles or columns([])).joined(self._closed or {})
        self.arms = self._play(self.policy, self.now, self.tally, singles)

    def _play(self, policy: Policy, definition: Definition, tally: Tally, singles: Singles | None) -> Arms:
        control_arm = definition.control_arm
        return Arms(
            policy,
            definition,
            self.roster.serials(),
            None if control_arm is None else self.roster.find(control_arm, "control_arm"),
            self.roster.paused,
            tally,
            Clock().now(),
            singles,
        )

    def prepare(self, patch: dict[str, Any]) -> Callable[[], None]:
        """What puts another policy to work, to be called in another thread: with many arms it takes a while.
        From now on it is noted what that one misses. It needs no single rewards, and arms stay who they are
        until it is at work, or ``dismiss`` is called."""
        new, tally = replaced(self.now, patch), self.tally.copy()
        self._missed = deque()

        def build() -> None:
            self._next = self._play(read_policy(new.policy), new, tally, None)

        return build

    def catch_up(self, most: int) -> bool:
        """Tell the policy that is about to work some of what it missed; whether there is more."""
        assert self._next is not None
        assert self._missed is not None
        for _ in range(min(most, len(self._missed))):
            self._missed.popleft()(self._next)
        return bool(self._missed)

    def dismiss(self) -> None:
        """No other policy is about to work any more."""
        self._next = self._missed = None

    def _tell(self, say: Callable[[Arms], Any]) -> None:
        """The policy at work, and the one that is about to."""
        if self.arms is not None:
            say(self.arms)
        if self._missed is not None:
            self._missed.append(say)

    def check(self, change: Change) -> None:
        """Whether it can be made; nothing is changed."""
        getattr(self, f"_check_{change.what}")(change.value)

    def _check_patch(self, value: dict[str, Any]) -> None:
        new = replaced(self.now, value)
        policy = read_policy(new.policy)
        bounds = Range(policy, new.reward_range)
        if new.default_reward is not None:
            bounds.check("default_reward", new.default_reward)
        check_half_life(policy, new)
        check_shares(new.control, new.floor, len(self.roster))

    def _check_add(self, names: list[str]) -> None:
        self.roster.check_new(names)
        check_shares(self.now.control, self.now.floor, len(self.roster) + len(names))

    def _check_pause(self, arm: int) -> None:
        self.roster.check_left(arm)

    def _check_resume(self, arm: int) -> None:
        pass

    def _check_remove(self, arm: int) -> None:
        self.roster.check_left(arm)
        if self.now.control_arm == (name := self.roster.name(arm)):
            raise InvalidValue(f"arm must not be the control_arm, which stays, got {name!r}")

    def decide(self, arm: int) -> None:
        """An arm was decided on; the policy knows it."""
        self._count(arm)
        if self._missed is not None:
            self._missed.append(lambda arms: arms.expect(arm))

    def _count(self, arm: int) -> None:
        self.decisions += 1
        self.tally.decide(arm)

    def close(self, decision: Key, arm: int, reward: float | None, time: int, *, added: bool) -> None:
        """A decision on this arm gave a reward, or will give none. ``added``: it had been lost."""
        if added:
            self._count(arm)
        self.closed += 1
        if reward is not None:
            self.pulls += 1
            self.gained += reward
        self.tally.close(arm, reward, time)
        if self._closed is not None and reward is not None:
            self._closed[decision] = (arm, reward)
        if not self.roster.there[arm]:
            return
        if reward is not None:
            self._tell(lambda arms: (arms.observe if added else arms.learn)(arm, reward, decision))
            if self.tally.half_life is not None:
                self._tell(lambda arms: arms.revise(np.array([arm]), self.tally, time))
        elif not added:
            self._tell(lambda arms: arms.cancel(arm))

    def fade(self, now: int) -> Iterator[Callable[[], None]]:
        """Steps that tell the policy what is left of the rewards, if it is time for that."""
        half_life = self.tally.half_life
        if half_life is None or now - self._faded < max(1.0, half_life / STEPS) * SECOND:
            return
        self._faded = now
        pulled = np.flatnonzero(self.tally.pulls)
        for i in range(0, pulled.size, TOGETHER):
            some = pulled[i : i + TOGETHER]
            yield lambda some=some: self._revise(some, now)  # type: ignore[misc]

    def _revise(self, arms: Integers, now: int) -> None:
        if (there := arms[self.roster.there[arms]]).size:
            self._tell(lambda policy: policy.revise(there, self.tally, now))

    def knows(self, token: Token) -> bool:
        """Whether there is or was such an arm."""
        roster, arm = self.roster, token.arm
        return arm < roster.size and crc32(roster.name(arm).encode()) == token.named

    def page(
        self, sort: str, search: str, limit: int, after: str | None
    ) -> tuple[list[messages.Arm], str | None]:
        """Some of the arms: those whose name has ``search`` in it, by a column, behind a place. It may be
        called in another thread: NumPy leaves the interpreter to others while it works on a million."""
        there, lexicon = self.roster.there, self.roster.lexicon
        serials = np.flatnonzero(there)
        if search:
            serials = lexicon.having(search, there.size)
            serials = serials[there[serials]]
        by, begin = sort.removeprefix("-"), 0 if after is None else int(after)
        end = min(begin + limit, serials.size)
        places = slice(begin, end)
        if backward := sort.startswith("-"):
            places = slice(serials.size - end, max(serials.size - begin, 0))
        if by == "arm":
            among = np.zeros(there.size, np.bool_)
            among[serials] = True
            order = lexicon.order(there.size)
            shown = order[among[order]][places]
        else:
            shown = serials[_sorted(self._column(by, serials), places)]
        rows = [self.row(serial) for serial in (shown[::-1] if backward else shown).tolist()]
        return rows, str(begin + limit) if begin + limit < serials.size else None

    def _column(self, name: str, serials: Integers) -> Any:
        """Of these arms. Columns grow one after the other when arms come: they need not be of equal size."""
        tally = self.tally
        pulls = tally.pulls[serials]
        if name == "pulls":
            return pulls
        if name == "pending":
            return tally.decided[serials] - tally.closed[serials]
        with np.errstate(invalid="ignore"):
            return np.where(pulls > 0, tally.sums[serials] / np.maximum(pulls, 1), -np.inf)

    def row(self, serial: int) -> messages.Arm:
        tally, pulls = self.tally, int(self.tally.pulls[serial])
        return messages.Arm(
            self.roster.name(serial),
            pulls,
            float(tally.sums[serial]) / pulls if pulls else None,
            max(0, int(tally.decided[serial] - tally.closed[serial])),
            serial in self.roster.paused,
        )


def _sorted(values: Any, places: slice) -> Integers:
    """Where those values are that have these places, once they are sorted; equal ones stay in their order."""
    first, last = places.start, places.stop - 1
    if first > last:
        return np.zeros(0, np.int64)
    low, high = np.partition(values, (first, last))[[first, last]]
    near = np.flatnonzero((values >= low) & (values <= high))
    near = near[np.argsort(values[near], kind="stable")]
    before = int(np.count_nonzero(values < low))
    return near[first - before : last + 1 - before]


def replaced(definition: Definition, patch: dict[str, Any]) -> Definition:
    """A definition with what a patch changes of it."""
    fields = {name: value for name, value in patch.items() if name not in ("paused", "archived")}
    return msgspec.structs.replace(definition, **fields)


COLUMNS = ("arm", "pulls", "mean", "pending")


def checked(definition: Definition) -> Definition:
    """A definition in one spelling, if it can be played."""
    policy = read_policy(definition.policy)
    check_half_life(policy, definition)
    if isinstance(definition.arms, list):
        Roster(0).check_new(definition.arms)
    roster = Roster(definition.arms)
    if definition.control_arm is not None:
        roster.find(definition.control_arm, "control_arm")
    if definition.default_reward is not None:
        Range(policy, definition.reward_range).check("default_reward", definition.default_reward)
    return msgspec.structs.replace(definition, policy=table_of(policy))


def restored(known: Iterable[Any], tallies: dict[int, Tally], history: Any) -> dict[str, Experiment]:
    """The experiments that were created, from rows (id, uid, name), tallies and changes."""
    found: dict[str, Experiment] = {}
    for number, uid, name in known:
        changes = history(number)
        if not changes:  # its creation was not finished
            continue
        experiment = Experiment(number, uid, name, tallies.get(number))
        for change, time in changes:
            experiment.apply(change, time)
        found[name] = experiment
    return found
