"""A log of decisions: arm, reward and propensity, the probability with which the logging policy chose that
arm.

A row that cannot be used is not guessed at: it is left out, and reported by its line.
"""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from thrifty.engines.state import Floats, Integers
from thrifty.errors import FileError, InvalidType, InvalidValue
from thrifty.simulation import frame

COLUMNS = ("arm", "reward", "propensity")
SHOWN = 5  # bad rows that a report names, of each kind


@dataclass(frozen=True, eq=False)
class Log:
    """The rows that can be used, in the order of time, and what is wrong with the others."""

    arms: tuple[Any, ...]  # ids
    arm: Integers  # for each row the number of its arm
    reward: Floats
    propensity: Floats
    bad: tuple[tuple[int, str], ...]  # lines, and what is wrong there

    def __len__(self) -> int:
        return self.arm.size

    def report(self) -> str:
        """What was left out: how many rows of each kind, and the first lines."""
        found: dict[str, list[str]] = {}
        for line, reason in self.bad:
            found.setdefault(reason, []).append(str(line))
        return "\n".join(
            f"{len(lines):,} rows left out: {reason} (line {_some(lines)})" for reason, lines in found.items()
        )


def _some(lines: list[str]) -> str:
    return ", ".join(lines if len(lines) <= SHOWN else [*lines[:SHOWN], "..."])


def read(source: Any, arms: Iterable[Any] | None = None, *, strict: bool = False) -> Log:
    """A log from a CSV or Parquet file, or from a table: a mapping of columns, or a DataFrame.

    ``arms`` are the ids that there are; if not given, those in the log. With ``strict``, bad rows are an
    error.
    """
    columns, first, place = _columns(source)
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise FileError(f"{place} must have the columns {', '.join(COLUMNS)}, and lacks {', '.join(missing)}")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidValue(f"{place} must have columns of one length, got {lengths}")
    known = None if arms is None else tuple(arms)
    numbers: dict[Any, int] = {} if known is None else {name: i for i, name in enumerate(known)}
    rows: list[tuple[Any, int, float, float]] = []
    bad = []
    times = columns.get("time", [0] * lengths["arm"])
    for line, (name, reward, propensity, time) in enumerate(
        zip(*(columns[name] for name in COLUMNS), times, strict=True), first
    ):
        reason, x, p = _check(name, reward, propensity)
        if not reason and known is not None and name not in numbers:
            reason = "unknown arm"
        if reason:
            bad.append((line, reason))
        else:
            rows.append((time, numbers.setdefault(name, len(numbers)), x, p))
    log = _log(tuple(numbers), rows, tuple(bad), place)
    if bad and strict:
        raise FileError(f"{place} must have no bad rows, got\n{log.report()}")
    if not rows:
        raise FileError(
            f"{place} must have rows that can be used, got none of {lengths['arm']:,}\n{log.report()}"
        )
    return log


def _log(arms: tuple[Any, ...], rows: list[tuple[Any, int, float, float]], bad: Any, place: str) -> Log:
    try:
        rows.sort(key=lambda row: row[0])
    except TypeError:
        raise FileError(f"{place} must have times that can be compared with each other") from None
    return Log(
        arms,
        np.array([row[1] for row in rows], np.int64),
        np.array([row[2] for row in rows], float),
        np.array([row[3] for row in rows], float),
        bad,
    )


def _check(name: Any, reward: Any, propensity: Any) -> tuple[str, float, float]:
    """What is wrong with a row, if anything, and its two numbers."""
    if name is None or name == "" or name != name:
        return "no arm", 0.0, 0.0
    x, p = _number(reward), _number(propensity)
    if not math.isfinite(x):
        return "reward is not a number", 0.0, 0.0
    if not 0.0 < p <= 1.0:
        return "propensity is not in (0, 1]", 0.0, 0.0
    return "", x, p


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _columns(source: Any) -> tuple[Mapping[str, Sequence[Any]], int, str]:
    """The columns of a source, the line of its first row, and what to call it."""
    if isinstance(source, str | Path):
        path = Path(source)
        if path.suffix == ".csv":
            return _from_csv(path), 2, str(path)
        if path.suffix == ".parquet":
            with path.open("rb"):
                table = frame.library().read_parquet(path)
            return _from_table(table), 1, str(path)
        raise FileError(f"a log must be a .csv or a .parquet file, got {path.name!r}")
    if isinstance(source, Mapping) or hasattr(source, "columns"):
        return _from_table(source), 1, "the log"
    raise InvalidType(f"log must be a file or a table with columns, got {type(source).__name__}")


def _from_csv(path: Path) -> Mapping[str, Sequence[Any]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        heading = next(rows, [])
        try:
            table = [row + [""] * (len(heading) - len(row)) for row in rows if row]
        except (csv.Error, UnicodeDecodeError) as error:
            raise FileError(f"{path} must be a CSV file: {error}") from None
    columns: dict[str, Sequence[Any]] = {name: [row[j] for row in table] for j, name in enumerate(heading)}
    if "time" in columns:
        times = [_number(value) for value in columns["time"]]
        if not any(math.isnan(value) for value in times):
            columns["time"] = times
    return columns


def _from_table(table: Any) -> Mapping[str, Sequence[Any]]:
    names = table.keys() if isinstance(table, Mapping) else table.columns
    wanted = [name for name in names if name in (*COLUMNS, "time")]
    return {name: np.asarray(table[name]).tolist() for name in wanted}
