"""What happened a moment ago, and who changed what: a little of it, in memory, for whoever looks."""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from thrifty import checks
from thrifty.serve import events
from thrifty.serve.clock import SECOND
from thrifty.serve.events import Change

KEPT = 50  # decisions, and outcomes
MINUTE, PACE = 60, 5  # seconds: over which rates are, and between counts
WORDS = {
    events.DECISION: "decision",
    events.REWARD: "reward",
    events.DEFAULT: "default reward",
    events.EXPIRED: "expired",
    events.CANCELLED: "cancelled",
}


class Happened(NamedTuple):
    """A decision, or its outcome."""

    time: int  # microseconds since 1970
    kind: str
    arm: int  # its serial
    reward: float | None
    control: bool


class Latest:
    """The last decisions and outcomes of an experiment, cheap to note: they are taken apart when somebody
    looks."""

    def __init__(self) -> None:
        self._decided: deque[tuple[int, list[int], list[int]]] = deque(maxlen=KEPT)
        self._closed: deque[tuple[int, str, int, float | None, bool]] = deque(maxlen=KEPT)

    def decided(self, time: int, arms: list[int], control: list[int]) -> None:
        """Decisions that were made together, and which of them control made."""
        if len(arms) > KEPT:
            cut = len(arms) - KEPT
            arms, control = arms[cut:], [i - cut for i in control if i >= cut]
        self._decided.append((time, arms, control))

    def closed(self, time: int, kind: str, arm: int, reward: float | None, control: bool) -> None:
        self._closed.append((time, kind, arm, reward, control))

    def newest(self, limit: int) -> list[Happened]:
        """So many, newest first; of each kind half, as far as there are so many."""
        closed = list(self._closed)[::-1]
        few = max(limit - limit // 2, limit - len(closed))
        made: list[Happened] = []
        for time, arms, control in reversed(self._decided):
            for i in range(len(arms) - 1, max(len(arms) - few + len(made), 0) - 1, -1):
                made.append(Happened(time, events.DECISION, arms[i], None, i in control))
        ended = [Happened(*one) for one in closed[: limit - len(made)]]
        return sorted(made + ended, key=lambda one: -one.time)


class Pace:
    """How many decisions and rewards come in a minute: of counts that are noted every few seconds."""

    def __init__(self) -> None:
        self._noted: deque[tuple[int, int, int]] = deque(maxlen=MINUTE // PACE + 1)

    def note(self, time: int, decisions: int, rewards: int) -> None:
        if not self._noted or time - self._noted[-1][0] >= PACE * SECOND:
            self._noted.append((time, decisions, rewards))

    def rates(self, time: int, decisions: int, rewards: int) -> tuple[float, float]:
        """In the last minute, or since the start."""
        if not self._noted or time - self._noted[0][0] < SECOND:
            return 0.0, 0.0
        since, before, paid = self._noted[0]
        minutes = (time - since) / (MINUTE * SECOND)
        return (decisions - before) / minutes, (rewards - paid) / minutes


class Changed(msgspec.Struct):
    """A change in words."""

    time: int  # microseconds since 1970
    author: str
    what: str
    removed: int = 0  # arms


def note(changes: deque[Changed], change: Change, time: int, name: Callable[[int], str]) -> None:
    """Add a change. Arms that went one after the other are one line."""
    new = Changed(time, change.author, said(change, name), int(change.what == "remove"))
    if new.removed and changes and changes[-1].removed and changes[-1].author == new.author:
        new.removed += changes.pop().removed
        new.what = f"removed {_arms(new.removed)}, {checks.shown(name(change.value))} last"
    changes.append(new)


def said(change: Change, name: Callable[[int], str]) -> str:
    """What a change did, as who made it would say; never long."""
    value = change.value
    if change.what == "create":
        definition = value["definition"]
        arms = definition["arms"]
        count = arms if isinstance(arms, int) else len(arms)
        return f"created it: {definition['policy']['name']}, {_arms(count)}"
    if change.what == "add":
        return f"added {_arms(len(value)) if len(value) > 1 else checks.shown(value[0])}"
    if change.what == "patch":
        return ", ".join(_patched(field, new) for field, new in value.items()) or "changed nothing"
    verb = {"pause": "paused", "resume": "resumed", "remove": "removed"}[change.what]
    return f"{verb} {checks.shown(name(value))}"


def _arms(count: int) -> str:
    return "1 arm" if count == 1 else f"{count:,} arms"


def _policy(table: dict[str, Any]) -> str:
    """Its name and the parameters that it has.

    >>> _policy({"name": "TSMA", "alpha": 0.5, "phi": None})
    'TSMA (alpha 0.5)'
    """
    rest = {key: value for key, value in table.items() if key != "name" and value is not None}
    values = (_policy(one) if isinstance(one, dict) else one for one in rest.values())
    said = ", ".join(f"{key} {value}" for key, value in zip(rest, values, strict=True))
    return f"{table['name']} ({said})" if said else str(table["name"])


def _patched(field: str, new: Any) -> str:
    if field == "paused":
        return "paused it" if new else "resumed it"
    if field == "archived":
        return "archived it" if new else "took it out of the archive"
    shown = _policy(new) if field == "policy" else "none" if new is None else f"{new:g}"
    return f"set {field.replace('_', ' ')} to {shown}"
