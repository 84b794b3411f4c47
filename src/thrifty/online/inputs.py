"""Sequences as callers give them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.errors import InvalidType


def sequence(name: str, values: Any) -> list[Any] | NDArray[Any]:
    """A sequence of anything, as a list or an array: of the caller's own, which a thread of his may change
    meanwhile, a copy. A text is none, nor is what has no order."""
    try:
        iter(values)
    except TypeError:
        iterable = False
    else:
        iterable = not isinstance(values, str | bytes | set | frozenset | Mapping)
    if not iterable:
        raise InvalidType(f"{name} must be a sequence, got {checks.shown(values)}")
    return values.copy() if isinstance(values, np.ndarray) else list(values)


def columns(table: Any) -> list[Any] | None:
    """The names of the columns of a mapping or a DataFrame, whosever it is; None if it is no table."""
    names = table.keys() if isinstance(table, Mapping) else getattr(table, "columns", None)
    return None if names is None else list(names)


def lacking(needed: Sequence[str], there: Sequence[Any]) -> str:
    """What is wrong with a table that has these columns: nothing, if all that are needed are there."""
    missing = [name for name in needed if name not in there]
    if not missing:
        return ""
    found = ", ".join(map(str, there)) or "no columns"
    return f"must have the columns {', '.join(needed)}, and lacks {', '.join(missing)}: it has {found}"


def as_numbers(values: list[Any] | NDArray[Any]) -> NDArray[Any] | None:
    """The same as a flat array of numbers, if it is plain that all of them are; else None."""
    if isinstance(values, np.ndarray):
        return values if values.dtype.kind in "iuf" and values.ndim == 1 else None
    if set(map(type, values)) <= {int, float}:
        array = np.array(values)
        return array if array.dtype.kind in "iuf" else None  # there are integers beyond 64 bits
    return None
