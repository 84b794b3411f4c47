"""A log of decisions: arm, reward and propensity, the probability with which the logging policy chose that
arm.

A row that cannot be used is not guessed at: it is left out, and reported by its line.
"""

import csv
import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.errors import FileError, InvalidType, InvalidValue
from thrifty.online import inputs
from thrifty.online.ids import Ids
from thrifty.simulation import frame

COLUMNS = ("arm", "reward", "propensity")
FLAGS = {"false": 0.0, "true": 1.0}  # texts of rewards, in small letters or others
UNKNOWN = "unknown arm"
SHOWN = 5  # bad rows that a report names, of each kind
WHOLE = re.compile(r"\s*-?[0-9]{1,18}\s*")  # a number that an id may be

Bad = tuple[int, str]  # a line, and what is wrong there


@dataclass(frozen=True, eq=False)
class Log:
    """The rows that can be used, in the order of time, and what is wrong with the others."""

    arms: tuple[Any, ...]  # ids
    line: Integers  # of each row: in a CSV file its last one, otherwise its number from 1 on
    arm: Integers  # the number of its arm
    reward: Floats
    propensity: Floats
    bad: tuple[Bad, ...]
    elsewhere: int  # how many of the bad ones are of unknown arms, and whole otherwise

    def __len__(self) -> int:
        return self.arm.size

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


class _Table(NamedTuple):
    """A source as it was read."""

    place: str  # what to call it
    columns: Mapping[str, Sequence[Any]]
    lines: Sequence[int]
    broken: list[Bad]  # lines that are no rows


def read(source: Any, arms: int | Iterable[Any] | None = None, *, strict: bool = False) -> Log:
    """A log from a CSV or Parquet file, or from a table: a mapping of columns, or a DataFrame.

    ``arms`` are the ids that there are, or their number; if not given, those in the log. A text in a file
    that writes a whole number among ``arms`` is that number; in a CSV file all ids are texts. With
    ``strict``, bad rows are an error.
    """
    numbers = {} if arms is None else {name: i for i, name in enumerate(Ids(arms).names())}
    table = _table(source, numbers)
    place, columns, lines, bad = table
    rows: list[tuple[Any, int, int, float, float]] = []
    times = columns.get("time", [0] * len(lines))
    for line, name, reward, propensity, time in zip(
        lines, *(columns[name] for name in COLUMNS), times, strict=True
    ):
        x, p = _reward(reward), _number(propensity)
        reason = _fault(name, x, p, time)
        if not reason and arms is not None and name not in numbers:
            reason = UNKNOWN
        if reason:
            bad.append((line, reason))
        else:
            rows.append((time, line, numbers.setdefault(name, len(numbers)), x, p))
    log = _log(table, tuple(numbers), rows)
    if bad and strict:
        raise FileError(f"{place} must have no bad rows, got\n{log.report()}")
    if not rows:
        raise FileError(f"{place} must have rows that can be used, got none\n{log.report()}".rstrip())
    return log


def _log(table: _Table, arms: tuple[Any, ...], rows: list[tuple[Any, int, int, float, float]]) -> Log:
    try:
        rows.sort(key=lambda row: row[0])
    except TypeError:
        raise FileError(f"{table.place} must have times that can be compared with each other") from None
    _, line, arm, reward, propensity = zip(*rows, strict=True) if rows else ((),) * 5
    return Log(
        arms,
        np.array(line, np.int64),
        np.array(arm, np.int64),
        np.array(reward, float),
        np.array(propensity, float),
        tuple(sorted(table.broken)),
        sum(reason == UNKNOWN for _, reason in table.broken),
    )


def _fault(name: Any, reward: float, propensity: float, time: Any) -> str:
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
    return _number(value) if flag is None else flag


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _table(source: Any, known: Container[Any]) -> _Table:
    if isinstance(source, str | Path):
        path = Path(source)
        if path.suffix.lower() == ".csv":
            return _from_csv(path, known)
        if path.suffix.lower() == ".parquet":
            table = _from_columns(frame.read(path), str(path))
            return table._replace(columns=_named(table.columns, known))
        raise FileError(f"a log must be a .csv or a .parquet file, got {path.name!r}")
    if inputs.columns(source) is not None:
        return _from_columns(source, "the log")
    raise InvalidType(f"log must be a file or a table with columns, got {type(source).__name__}")


def _check(names: Sequence[Any], place: str) -> None:
    if wrong := inputs.lacking(COLUMNS, names):
        raise FileError(f"{place} {wrong}")


def _from_csv(path: Path, known: Container[Any]) -> _Table:
    lines: list[int] = []
    rows: list[list[str]] = []
    broken: list[Bad] = []
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        try:
            heading = [name.strip() for name in next(reader, [])]
            for row in reader:
                if len(row) > len(heading):
                    broken.append((reader.line_num, "more fields than columns"))
                elif row:
                    lines.append(reader.line_num)
                    rows.append(row + [""] * (len(heading) - len(row)))
        except (csv.Error, UnicodeDecodeError) as error:
            raise FileError(f"{path} must be a CSV file: {error}") from None
    _check(heading, str(path))
    columns: dict[str, Sequence[Any]] = {name: [row[j] for row in rows] for j, name in enumerate(heading)}
    if "time" in columns:
        columns["time"] = _times(columns["time"])
    return _Table(str(path), _named(columns, known), lines, broken)


def _named(columns: Mapping[str, Sequence[Any]], known: Container[Any]) -> Mapping[str, Sequence[Any]]:
    """The columns of a file, with the arms that are known where texts write their numbers."""
    if "arm" not in columns:
        return columns
    return {
        **columns,
        "arm": [_id(name, known) if isinstance(name, str) else name for name in columns["arm"]],
    }


def _id(text: str, known: Container[Any]) -> str | int:
    """The text, unless only the number that it writes is known."""
    number = int(text) if text not in known and WHOLE.fullmatch(text) else None
    return text if number is None or number not in known else number


def _times(texts: Sequence[str]) -> Sequence[Any]:
    """Numbers, if the first one is: what is none is NaN then. Otherwise texts, in the order of letters."""
    first = next((text for text in texts if text.strip()), "")
    return [_number(text) for text in texts] if math.isfinite(_number(first)) else texts


def _from_columns(table: Any, place: str) -> _Table:
    names = inputs.columns(table) or []
    _check(names, place)
    columns = {name: _listed(name, table[name]) for name in names if name in (*COLUMNS, "time")}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidValue(f"{place} must have columns of one length, got {lengths}")
    return _Table(place, columns, range(1, max(lengths.values(), default=0) + 1), [])


def _listed(name: str, column: Any) -> list[Any]:
    """A column with the values that it has: an array of mixed ids would turn all of them into texts."""
    for method in ("to_list", "tolist"):  # of polars and pandas, and of NumPy
        if hasattr(column, method):
            return list(getattr(column, method)())
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise InvalidType(f"the column {name} must be a sequence, got {checks.shown(column)}")
    return list(column)
