"""A log of decisions: arm, reward and propensity, the probability with which the logging policy chose that
arm, and which arms were there to be chosen.

A row that cannot be used is not guessed at: it is left out, and reported by its line.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.errors import FileError, InvalidType, InvalidValue
from thrifty.online.ids import Ids
from thrifty.replays import sources
from thrifty.replays.sources import Bad, Table, number

FLAGS = {"false": 0.0, "true": 1.0}  # texts of rewards, in small letters or others
UNKNOWN = "unknown arm"
LEAST = 1.0 / checks.LARGEST  # a propensity whose inverse has a square
SHOWN = 5  # bad rows that a report names, of each kind
EVERYWHERE = -1  # the number of a row's set of arms, where nothing is said of it

Spans = Mapping[Any, tuple[Any, Any]]  # the first and the last time of an arm, both None if open


class Reading(TypedDict, total=False):
    """How a log is read: the keywords of ``read_log``, which ``replay`` and ``evaluate`` take too."""

    arms: int | Iterable[Any] | None
    arm_column: str
    reward_column: str
    propensity_column: str
    time_column: str | None
    available_column: str | None
    target_column: str | None
    spans: Spans | None
    separator: str
    strict: bool


@dataclass(frozen=True, eq=False)
class Log:
    """The rows that can be used, in the order of time, and what is wrong with the others."""

    arms: tuple[Any, ...]  # ids
    stated: bool  # whether the caller gave them, and so their order
    line: Integers  # of each row: in a CSV file its last one, otherwise its number from 1 on
    row: Integers  # its number in the source, from 0 on
    arm: Integers  # the number of its arm
    reward: Floats
    propensity: Floats
    target: Floats | None  # the probability of its arm under the policy to be evaluated
    which: Integers  # the number of the set of arms that were there
    sets: NDArray[np.bool_]  # sets of arms: a row for each, a column for each arm
    others: Integers  # rows of unknown arms, whole otherwise: how many good rows come before each
    total: int  # rows of the source, good and bad
    bad: tuple[Bad, ...]

    def __len__(self) -> int:
        return self.arm.size

    @property
    def elsewhere(self) -> int:
        """How many of the bad rows are of unknown arms, and whole otherwise."""
        return self.others.size

    @property
    def choices(self) -> Integers:
        """How many arms there were to choose from in each row."""
        counts: Integers = self.sets.sum(axis=1)[self.which]
        return counts

    @property
    def changing(self) -> bool:
        """Whether some arm is not there in every row."""
        return not self.sets[np.unique(self.which)].all()

    def part(self, first: int, last: int) -> "Log":
        """The rows from the first on, before the last one."""
        at = np.arange(len(self))
        here = self.others[(self.others >= first) & ((self.others < last) | (last == len(self)))] - first
        return replace(self.rows((at >= first) & (at < last)), others=here)

    def rows(self, some: NDArray[np.bool_]) -> "Log":
        """Some of the rows; others are left as they are."""
        columns = ("line", "row", "arm", "reward", "propensity", "which")
        return replace(
            self,
            target=None if self.target is None else self.target[some],
            **{name: getattr(self, name)[some] for name in columns},
        )

    def __repr__(self) -> str:
        return f"<Log: {len(self):,} rows, {len(self.arms):,} arms, {len(self.bad):,} bad rows>"

    def report(self) -> str:
        """What was left out: how many rows of each kind, and the first lines."""
        found: dict[str, list[str]] = {}
        for line, reason in self.bad:
            found.setdefault(reason, []).append(str(line))
        return "\n".join(
            f"{len(lines):,} {'row' if len(lines) == 1 else 'rows'} left out: {reason} (line {_some(lines)})"
            for reason, lines in found.items()
        )


def _some(lines: list[str]) -> str:
    return ", ".join(lines if len(lines) <= SHOWN else [*lines[:SHOWN], "..."])


def read(
    source: Any,
    arms: int | Iterable[Any] | None = None,
    *,
    arm_column: str = "arm",
    reward_column: str = "reward",
    propensity_column: str = "propensity",
    time_column: str | None = None,
    available_column: str | None = None,
    target_column: str | None = None,
    spans: Spans | None = None,
    separator: str = ",",
    strict: bool = False,
) -> Log:
    """A log from a CSV or Parquet file, or from a table: a mapping of columns, or a DataFrame.

    Parameters:
        source: the file, or the table.
        arms: the ids that there are, or their number; if not given, those in the log. A text in a file that
            writes a whole number among ``arms`` is that number; in a CSV file all other ids are texts.
        arm_column: its name; and so with
        reward_column: numbers, or True and False,
        propensity_column: the probability with which the logging policy chose the arm of the row,
        time_column: by which rows are put in order; "time", if there is one, unless given,
        available_column: the arms that were there to be chosen in this row, a list of ids, or a text with
            ``|`` between them; "available", if there is one, unless given. Without one every arm is there in
            every row.
        target_column: the probability of the row's arm under a policy that is to be evaluated.
        spans: instead of that column, when arms were there: ``{id: (first, last)}``, in the time of the
            log, or in lines if it has none; None for its beginning or end. Arms that are not named are there
            in every row.
        separator: between the fields of a CSV file.
        strict: whether bad rows are an error.

    >>> log = read({"item": ["a", "b"], "reward": [1, 0], "propensity": [0.5, 0.5]}, arm_column="item")
    >>> len(log), log.arms
    (2, ('a', 'b'))
    """
    if not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n':
        raise InvalidValue(f"separator must be a single character such as ';', got {checks.shown(separator)}")
    strict = checks.flag("strict", strict)
    given = {
        "arm": arm_column, "reward": reward_column, "propensity": propensity_column,
        "time": time_column, "available": available_column,
    }  # fmt: skip
    if target_column is not None:
        given["target"] = target_column
    for role, name in given.items():
        if not (isinstance(name, str) and name) and (name is not None or role in sources.NEEDED):
            raise InvalidType(f"{role}_column must be the name of a column, got {checks.shown(name)}")
    numbers: dict[Any, int] = {}
    if arms is not None:
        numbers = {name: i for i, name in enumerate(Ids(arms).names())}
    table = sources.table(source, given, separator, numbers)
    log = _log(table, numbers, arms is not None, spans)
    if log.bad and strict:
        raise FileError(f"{table.place} must have no bad rows, got\n{log.report()}")
    if not len(log):
        raise FileError(f"{table.place} must have rows that can be used, got none\n{log.report()}".rstrip())
    return log


@dataclass
class _Row:
    time: Any
    line: int
    row: int
    arm: int  # -1 if it is unknown
    reward: float
    propensity: float
    target: float
    which: int = EVERYWHERE


def _log(table: Table, numbers: dict[Any, int], stated: bool, spans: Spans | None) -> Log:
    columns, bad = table.columns, table.broken
    nothing: Sequence[Any] = [0] * len(table.lines)
    sets = _Sets(numbers, stated)
    rows: list[_Row] = []
    for line, row, name, reward, propensity, time, target, available in zip(
        table.lines,
        table.rows,
        *(columns[name] for name in sources.NEEDED),
        *(columns.get(name, nothing) for name in ("time", "target", "available")),
        strict=True,
    ):
        x, p, q = _reward(reward), number(propensity), number(target)
        reason = _fault(name, x, p, time, q)
        which = EVERYWHERE
        if not reason and "available" in columns:
            which, reason = sets.number(name, available)
        if not reason and stated and name not in numbers:
            reason = UNKNOWN
        if reason:
            bad.append((line, reason))
        if not reason or reason == UNKNOWN:
            arm = -1 if reason else numbers.setdefault(name, len(numbers))
            rows.append(_Row(time, line, row, arm, x, p, q, which))
    try:
        rows.sort(key=lambda row: row.time)
    except TypeError:
        raise FileError(f"{table.place} must have times that can be compared with each other") from None
    if spans is not None:
        if "available" in columns:
            raise InvalidValue("spans must not be given for a log with a column of available arms")
        _place(rows, sets, spans, "time" in columns, bad)
    good = [row for row in rows if row.arm >= 0]
    return Log(
        tuple(numbers),
        stated,
        np.array([row.line for row in good], np.int64),
        np.array([row.row for row in good], np.int64),
        np.array([row.arm for row in good], np.int64),
        np.array([row.reward for row in good], float),
        np.array([row.propensity for row in good], float),
        np.array([row.target for row in good], float) if "target" in columns else None,
        np.array([max(row.which, 0) for row in good], np.int64),
        sets.matrix(),
        np.cumsum([row.arm >= 0 for row in rows], dtype=np.int64)[[row.arm < 0 for row in rows]],
        table.total,
        tuple(sorted(bad)),
    )


class _Sets:
    """The sets of arms that rows have, each kept once."""

    def __init__(self, numbers: dict[Any, int], stated: bool) -> None:
        self._numbers, self._stated = numbers, stated
        self._found: dict[tuple[Hashable, ...], tuple[int, frozenset[Any]]] = {}
        self._kept: dict[frozenset[int], int] = {}

    def number(self, name: Any, available: Any) -> tuple[int, str]:
        """The number of a row's set, and what is wrong with it."""
        try:
            key = tuple(available)
            found = self._found.get(key)
        except TypeError:
            return EVERYWHERE, "available is not a list of ids"
        if found is None:
            known = (one for one in key if one in self._numbers or not self._stated)
            ids = frozenset(self._numbers.setdefault(one, len(self._numbers)) for one in known)
            self._found[key] = found = self.add(ids), frozenset(key)
        which, there = found
        if name not in there:
            return EVERYWHERE, "its arm is not among those available" if key else "no arm is available"
        return which, "" if which >= 0 else "none of the arms is available"

    def add(self, arms: frozenset[int]) -> int:
        """The number of this set; that of none is not one."""
        return self._kept.setdefault(arms, len(self._kept)) if arms else EVERYWHERE

    def matrix(self) -> NDArray[np.bool_]:
        arms = len(self._numbers)
        if not self._kept:
            return np.ones((1, arms), np.bool_)
        there = np.zeros((len(self._kept), arms), np.bool_)
        for ids, which in self._kept.items():
            there[which, list(ids)] = True
        return there


def _place(rows: list[_Row], sets: _Sets, spans: object, timed: bool, bad: list[Bad]) -> None:
    """Which arms are there in each row, from the first and last time of each."""
    numbers = sets._numbers
    if not isinstance(spans, Mapping):
        raise InvalidType(f"spans must map ids to (first, last), got {checks.shown(spans)}")
    read: list[tuple[int, Any, Any]] = []
    for name, span in spans.items():
        if name not in numbers:
            raise InvalidValue(f"spans must name arms of the log, got {checks.shown(name)}")
        if isinstance(span, str) or not isinstance(span, Sequence) or len(span) != 2:
            raise InvalidType(f"spans must map ids to (first, last), got {checks.shown(span)} for {name!r}")
        read.append((numbers[name], *span))
    always = frozenset(numbers.values()) - {arm for arm, _, _ in read}
    found: dict[tuple[int, int], frozenset[int]] = {}  # by where a time is among all of these
    kept: list[_Row] = []
    try:
        edges = sorted(edge for _, *span in read for edge in span if edge is not None)
        for row in rows:
            at = row.time if timed else row.line
            between = bisect_left(edges, at), bisect_right(edges, at)
            if between not in found:
                found[between] = always | {
                    arm
                    for arm, first, last in read
                    if (first is None or at >= first) and (last is None or at <= last)
                }
            here = found[between]
            row.which = sets.add(here)
            reason = "its arm is not in its span" if row.arm >= 0 and row.arm not in here else ""
            if not here:
                reason = "none of the arms is available"
            if reason:
                bad[:] = [*(entry for entry in bad if entry[0] != row.line), (row.line, reason)]
            else:
                kept.append(row)
    except TypeError:
        what = "time" if timed else "lines"
        raise InvalidType(f"spans must be in the {what} of the log, got {checks.shown(spans)}") from None
    rows[:] = kept


def _fault(name: Any, reward: float, propensity: float, time: Any, target: float) -> str:
    """What is wrong with a row, if anything."""
    if _absent(name):
        return "no arm"
    try:
        hash(name)
    except TypeError:
        return "arm is not an id"
    if not math.isfinite(reward):
        return "reward is not a number"
    if not 0.0 < propensity <= 1.0:
        return "propensity is not in (0, 1]"
    if propensity < LEAST:
        return f"propensity is below {LEAST:g}"
    if not 0.0 <= target <= 1.0:
        return "target is not in [0, 1]"
    return "no time" if _absent(time) else ""


def _absent(value: Any) -> bool:
    """Whether there is nothing: an empty field, a null, a NaN."""
    if isinstance(value, str):
        return not value.strip()
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # it cannot be said whether it is what it is
        return True


def _reward(value: Any) -> float:
    flag = FLAGS.get(value.strip().lower()) if isinstance(value, str) else None
    return number(value) if flag is None else flag
