"""Problems as tables, for files: ``kind`` and the fields. Numbers may be kept apart, as arrays.

A class or a function of the user's own is named ``module:name``. A file never makes us import one: whoever
reads it has to know it already.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.errors import InvalidValue
from thrifty.problems.base import Problem
from thrifty.problems.changing import Along, Changing, Of
from thrifty.problems.empirical import Empirical
from thrifty.problems.standard import STANDARD

PROBLEMS: dict[str, type[Problem]] = {
    problem.kind: problem for problem in (*STANDARD, Empirical, Changing, Along, Of)
}
Arrays = dict[str, NDArray[Any]]
Own = Callable[..., Any]  # a class of problems, or a function of the round


def name_of(own: Any) -> str:
    """What a class or a function of the user's own is called in files."""
    return f"{own.__module__}:{own.__qualname__}"


def own(problem: Problem) -> list[Own]:
    """The classes and functions of the user's own that it is made of."""
    parts = [getattr(problem, field.name) for field in fields(problem)]  # type: ignore[arg-type]
    if isinstance(problem, Changing):
        parts = list(problem.known)
    found: list[Own] = [part for part in parts if callable(part)]
    for part in parts:
        if isinstance(part, Problem):
            found += own(part)
    return found if checks.is_ours(type(problem)) else [*found, type(problem)]


def described(problem: Problem, arrays: Arrays | None = None, path: str = "problem") -> dict[str, Any]:
    """A problem as a table. Sequences of numbers go into ``arrays``, if given.

    >>> from thrifty import Bernoulli
    >>> described(Bernoulli([0.9, 0.8]))
    {'kind': 'bernoulli', 'means': (0.9, 0.8)}
    """
    values = {field.name: getattr(problem, field.name) for field in fields(problem)}  # type: ignore[arg-type]
    table = {name: _written(value, arrays, f"{path}.{name}") for name, value in values.items()}
    return {"kind": problem.kind} | table


def _written(value: Any, arrays: Arrays | None, path: str) -> Any:
    if isinstance(value, Problem):
        return described(value, arrays, path)
    if isinstance(value, tuple):
        if arrays is not None and value and all(_is_number(entry) for entry in value):
            arrays[path] = np.array(value, float)
            return {"array": path}
        if arrays is not None and value and all(entry is None or _is_row(entry) for entry in value):
            rows = [() if row is None else row for row in value]
            arrays[path] = np.concatenate([np.array(row, float) for row in rows])
            return {"array": path, "rows": [None if row is None else len(row) for row in value]}
        return tuple(_written(entry, arrays, f"{path}.{i}") for i, entry in enumerate(value))
    return name_of(value) if callable(value) else value


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _is_row(value: object) -> bool:
    return isinstance(value, tuple) and all(_is_number(entry) for entry in value)


def restored(
    table: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], own: Iterable[Own] = ()
) -> Problem:
    """The problem that a table describes, of thrifty's own or of ``own`` classes and functions. Nothing is
    imported."""
    known = PROBLEMS | {name_of(one): one for one in own}
    values = {name: _read(value, arrays, known) for name, value in table.items() if name != "kind"}
    made = _known(table["kind"], known)
    if made is Of:
        values["function"] = _known(values["function"], known)
    problem: Problem = made(**values)
    return problem


def _known(name: Any, known: Mapping[str, Any]) -> Any:
    if not isinstance(name, str) or name not in known:
        raise InvalidValue(
            f"{name!r:.200} is a problem that this program does not know: import it and hand it over, "
            "problems=[...] or --problem, or register it"
        )
    return known[name]


def _read(value: Any, arrays: Mapping[str, NDArray[Any]], known: Mapping[str, Any]) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_read(entry, arrays, known) for entry in value)
    if not isinstance(value, dict):
        return value
    if "kind" in value:
        return restored(value, arrays, [one for one in known.values() if one not in PROBLEMS.values()])
    numbers = tuple(None if np.isnan(number) else number for number in arrays[value["array"]].tolist())
    if "rows" not in value:
        return numbers
    ends = np.cumsum([length or 0 for length in value["rows"]])
    return tuple(
        None if length is None else numbers[end - length : end]
        for length, end in zip(value["rows"], ends, strict=True)
    )
