"""Where a log comes from: a CSV or Parquet file or a table, as columns by what they are for."""

import csv
import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from thrifty import checks
from thrifty.errors import FileError, InvalidType, InvalidValue
from thrifty.online import inputs
from thrifty.simulation import frame

NEEDED = ("arm", "reward", "propensity")
IF_THERE = ("time", "available")  # used if there is a column of that name, needed if a name was given
WHOLE = re.compile(r"\s*-?[0-9]{1,18}\s*")  # a number that an id may be
BETWEEN = "|"  # ids in a text of available arms

Bad = tuple[int, str]  # a line, and what is wrong there


class Table(NamedTuple):
    """A source as it was read."""

    place: str  # what to call it
    columns: dict[str, Sequence[Any]]  # by what they are for: arm, reward, ...
    lines: Sequence[int]
    rows: Sequence[int]  # their numbers in the source, from 0 on
    total: int  # how many rows the source has
    broken: list[Bad]  # lines that are no rows


def table(source: Any, given: Mapping[str, str | None], separator: str, known: Container[Any]) -> Table:
    """The columns of ``source``; ``given`` are their names, by what they are for. Arms that are ``known``
    stand for texts that write their numbers, in a file."""
    names = {role: name or role for role, name in given.items()}
    for name in names.values():
        same = [f"{role}_column" for role in names if names[role] == name]
        if len(same) > 1:
            raise InvalidValue(f"{' and '.join(same)} must be different columns, got {name!r} for both")
    needed = [names[role] for role in given if role in NEEDED or given[role]]
    if isinstance(source, str | Path):
        path = Path(source)
        if path.suffix.lower() == ".csv":
            found = _from_csv(path, names, needed, separator)
        elif path.suffix.lower() == ".parquet":
            found = _from_columns(frame.read(path), str(path), names, needed)
        else:
            raise FileError(f"a log must be a .csv or a .parquet file, got {path.name!r}")
        columns = found.columns
        columns["arm"] = [_id(name, known) if isinstance(name, str) else name for name in columns["arm"]]
    elif inputs.columns(source) is not None:
        found = _from_columns(source, "the log", names, needed)
        columns = found.columns
    else:
        raise InvalidType(f"log must be a file or a table with columns, got {type(source).__name__}")
    if "available" in columns:
        columns["available"] = [_ids(entry, known) for entry in columns["available"]]
    return found


def number(value: Any) -> float:
    """The number that this is or writes; NaN if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _check(there: Sequence[Any], needed: Sequence[str], names: Mapping[str, str], place: str) -> None:
    if wrong := inputs.lacking(needed, there):
        raise FileError(f"{place} {wrong}")
    for name in names.values():
        if there.count(name) > 1:
            raise FileError(f"{place} must have one column {name}, got {there.count(name)} of that name")


def _from_csv(path: Path, names: Mapping[str, str], needed: Sequence[str], separator: str) -> Table:
    lines: list[int] = []
    numbers: list[int] = []
    rows: list[list[str]] = []
    broken: list[Bad] = []
    total = 0
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, delimiter=separator)
        try:
            heading = [name.strip() for name in next(reader, [])]
            for row in reader:
                if len(row) > len(heading):
                    broken.append((reader.line_num, "more fields than columns"))
                elif row:
                    lines.append(reader.line_num)
                    numbers.append(total)
                    rows.append(row + [""] * (len(heading) - len(row)))
                total += bool(row)
        except (csv.Error, UnicodeDecodeError) as error:
            raise FileError(f"{path} must be a CSV file: {error}") from None
    if len(heading) == 1 and (other := next((mark for mark in ";\t|" if mark in heading[0]), "")):
        raise FileError(
            f"{path} must have its columns separated by {separator!r}, got {other!r}: say so (separator)"
        )
    _check(heading, needed, names, str(path))
    columns: dict[str, Sequence[Any]] = {}
    for role, name in names.items():
        if name in heading:
            j = heading.index(name)
            columns[role] = [row[j] for row in rows]
    if "time" in columns:
        columns["time"] = _times(columns["time"])
    return Table(str(path), columns, lines, numbers, total, broken)


def _id(text: str, known: Container[Any]) -> str | int:
    """The text, unless only the number that it writes is known."""
    whole = int(text) if text not in known and WHOLE.fullmatch(text) else None
    return text if whole is None or whole not in known else whole


def _ids(entry: Any, known: Container[Any]) -> Any:
    """The ids in a text, or the entry as it is."""
    if not isinstance(entry, str):
        return entry
    return tuple(_id(text.strip(), known) for text in entry.split(BETWEEN)) if entry.strip() else ()


def _times(texts: Sequence[str]) -> Sequence[Any]:
    """Numbers, if the first one is: what is none is NaN then. Otherwise texts, in the order of letters."""
    first = next((text for text in texts if text.strip()), "")
    return [number(text) for text in texts] if math.isfinite(number(first)) else texts


def _from_columns(source: Any, place: str, names: Mapping[str, str], needed: Sequence[str]) -> Table:
    there = inputs.columns(source) or []
    _check(there, needed, names, place)
    columns: dict[str, Sequence[Any]] = {
        role: _listed(name, source[name]) for role, name in names.items() if name in there
    }
    lengths = {names[role]: len(column) for role, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidValue(f"{place} must have columns of one length, got {lengths}")
    total = max(lengths.values(), default=0)
    return Table(place, columns, range(1, total + 1), range(total), total, [])


def _listed(name: str, column: Any) -> list[Any]:
    """A column with the values that it has: an array of mixed ids would turn all of them into texts."""
    for method in ("to_list", "tolist"):  # of polars and pandas, and of NumPy
        if hasattr(column, method):
            return list(getattr(column, method)())
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise InvalidType(f"the column {name} must be a sequence, got {checks.shown(column)}")
    return list(column)
