"""Decisions that have an id, from the moment they are made until their reward comes, or is given up."""

import copy
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from thrifty import checks
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online.ids import MOST


@dataclass(frozen=True, slots=True)
class Decision:
    """Pull ``arm``. Its reward is told by ``Bandit.reward(decision, r)``, or by the id alone.

    Attributes:
        id: a text that no other decision has, in this process or another.
        arm: the id of the arm.
        time: when it was made, in seconds since 1970 unless the caller counts otherwise.
        control: whether it belongs to the share that is decided at random.
        probability: how likely this arm was, if that was asked for; of a slate, for its first place alone.
    """

    id: str
    arm: Any
    time: float
    control: bool
    probability: float | None = None


class Arm:
    """What open decisions of one arm share, so that all of them know at once when it goes."""

    __slots__ = ("__weakref__", "gone", "name")

    def __init__(self, name: Hashable) -> None:
        self.name = name
        self.gone = False


class Slate:
    """What decisions of one slate share: how many rewards there were, and their sum."""

    __slots__ = ("seen",)

    def __init__(self, count: int = 0, total: float = 0.0) -> None:
        self.seen = count, total


class Open(NamedTuple):
    """What is known of a decision without its reward."""

    arm: Arm
    time: float
    control: bool
    share: float  # of control when it was made; 0 if it is not to be compared with control
    slate: Slate | None


class Decisions:
    """The open ones by id, in the order of their times. Closed ones leave nothing behind.

    An id is a random text and a number. The text is made anew whenever there is another table that may go on
    from the same number: after a fork, in a copy, after a load.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[str, Open] = OrderedDict()
        self._arms: WeakValueDictionary[Hashable, Arm] = WeakValueDictionary()  # of open decisions
        self._latest = -float("inf")  # time
        self._in_order = True
        self._made = 0
        self.renew()

    def renew(self) -> None:
        """Other ids from now on. Those of open decisions stay."""
        self._start = secrets.token_hex(10)

    def __len__(self) -> int:
        return len(self._open)

    def get(self, key: str) -> Open | None:
        return self._open.get(key)

    def items(self) -> Iterable[tuple[str, Open]]:
        return self._open.items()

    def add(
        self,
        name: Hashable,
        now: float,
        control: bool,
        share: float,
        slate: Slate | None,
        made: list[Decision],
    ) -> None:
        """A new decision. It is one of those ``made`` before it is open: an interruption may come between."""
        self._made += 1
        decision = Decision(f"{self._start}-{self._made}", name, now, control)
        made.append(decision)
        self.put(decision.id, Open(self.arm(name), now, control, share, slate))

    def put(self, key: str, found: Open) -> None:
        """One that is open, or was so until a moment ago."""
        if found.time < self._latest:
            self._in_order = False
        self._latest = found.time
        self._open[key] = found

    def arm(self, name: Hashable) -> Arm:
        """What open decisions of this arm share."""
        arm = self._arms.get(name)
        if arm is None:
            arm = self._arms[name] = Arm(name)
        return arm

    def close(self, key: str) -> None:
        self._open.pop(key, None)

    def leave(self, name: Hashable) -> None:
        """The arm goes; if its id comes back, it is another one."""
        arm = self._arms.pop(name, None)
        if arm is not None:
            arm.gone = True

    def due(self, before: float) -> list[str]:
        """Those that were made before this time, in order. Their number is what it costs, unless times did
        not come in order since the last time: then all are sorted."""
        if not self._in_order:
            self._open = OrderedDict(sorted(self._open.items(), key=lambda item: item[1].time))
            self._latest = next(reversed(self._open.values())).time if self._open else -float("inf")
            self._in_order = True
        keys = []
        for key, found in self._open.items():
            if found.time >= before:
                break
            keys.append(key)
        return keys

    def __getstate__(self) -> list[tuple[str, Open]]:
        return list(self._open.items())

    def __setstate__(self, items: Iterable[tuple[str, Open]]) -> None:
        Decisions.__init__(self)
        for key, found in items:
            if not found.arm.gone:
                self._arms[found.arm.name] = found.arm
            self.put(key, found)

    def __deepcopy__(self, memo: object) -> "Decisions":
        """With arms and slates of its own, and the same names."""
        twins: dict[int, Any] = {id(None): None}

        def twin(part: Any) -> Any:
            if id(part) not in twins:
                twins[id(part)] = copy.copy(part)
            return twins[id(part)]

        other = Decisions.__new__(Decisions)
        other.__setstate__(
            (key, found._replace(arm=twin(found.arm), slate=twin(found.slate)))
            for key, found in self._open.items()
        )
        return other


def key_of(decision: object) -> str:
    """The id of a decision, as a caller gives it."""
    if isinstance(decision, Decision):
        return decision.id
    if not isinstance(decision, str):
        raise InvalidType(f"decision must be a Decision or its id, a text, got {checks.shown(decision)}")
    return decision


def read_time(name: str, now: object) -> float:
    """When a decision is made: now, unless the caller has a clock of his own."""
    return time.time() if now is None else checks.number(name, now)


def read_before(before: object) -> float:
    """Until when decisions are due."""
    if isinstance(before, float) and not -math.inf < before < math.inf:
        if before == math.inf:
            return before
        raise InvalidValue(f"before must be a time, or infinite for all decisions, got {before!r}")
    return checks.number("before", before)


def read_sizes(count: object, rank: object) -> tuple[int, int]:
    """How many decisions, and for how many arms each."""
    if count is not None and rank is not None:
        raise InvalidValue(f"count and rank must not both be given, got {count!r} and {rank!r}")
    if rank is not None:
        return 1, checks.integer("rank", rank, at_least=1, at_most=MOST)
    return 1 if count is None else checks.integer("count", count, at_least=0, at_most=MOST), 1
