"""Checks of arguments, shared by every public constructor: they return the clean value or raise."""

import math
import reprlib
from collections.abc import Iterable, Sequence
from numbers import Integral, Real

import numpy as np

from thrifty.errors import InvalidType, InvalidValue

HORIZON = 2**53  # the longest: up to here a float holds every round exactly


def integer(name: str, value: object, at_least: int, at_most: int | None = None) -> int:
    """An integer not below ``at_least``. Floats are refused, even whole ones: 1e5 is 100000.

    >>> integer("runs", 20, at_least=1)
    20
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidType(f"{name} must be an integer, got {value!r}")
    whole = int(value)
    if whole < at_least:
        raise InvalidValue(f"{name} must be at least {at_least}, got {value!r}")
    if at_most is not None and whole > at_most:
        raise InvalidValue(f"{name} must be at most {at_most}, got {value!r}")
    return whole


def number(name: str, value: object) -> float:
    """A finite real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidType(f"{name} must be a number, got {value!r}")
    try:
        clean = float(value)
    except OverflowError:  # an integer beyond what a float can hold
        clean = math.inf
    if not math.isfinite(clean):
        raise InvalidValue(f"{name} must be finite, got {value!r}")
    return clean


def unit(name: str, value: object, *, open_at_zero: bool = False) -> float:
    """A number in [0, 1], or in (0, 1] when ``open_at_zero``."""
    clean = number(name, value)
    if not (0.0 < clean <= 1.0 if open_at_zero else 0.0 <= clean <= 1.0):
        interval = "(0, 1]" if open_at_zero else "[0, 1]"
        raise InvalidValue(f"{name} must be in {interval}, got {value!r}")
    return clean


def at_least(name: str, value: object, bound: float) -> float:
    """A finite number not below ``bound``."""
    clean = number(name, value)
    if clean < bound:
        raise InvalidValue(f"{name} must be at least {bound:g}, got {value!r}")
    return clean


def positive(name: str, value: object) -> float:
    """A finite number above zero."""
    clean = number(name, value)
    if clean <= 0.0:
        raise InvalidValue(f"{name} must be above 0, got {value!r}")
    return clean


def choice(name: str, value: object, allowed: Sequence[str]) -> str:
    """One of the allowed words."""
    if not isinstance(value, str):
        raise InvalidType(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    if value not in allowed:
        raise InvalidValue(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    return value


def numbers(name: str, values: object) -> tuple[float, ...]:
    """A sequence of at least one finite number, as a tuple; a million entries take a tenth of a second."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidType(f"{name} must be a sequence of numbers, got {reprlib.repr(values)}")
    try:
        array = np.asarray(values if isinstance(values, Sequence | np.ndarray) else list(values))
    except ValueError:  # a ragged sequence
        raise InvalidType(f"{name} must be a flat sequence of numbers, got {reprlib.repr(values)}") from None
    if array.ndim != 1:
        raise InvalidType(f"{name} must be a flat sequence of numbers, got {reprlib.repr(values)}")
    if not array.size:
        raise InvalidValue(f"{name} must have at least one entry, got none")
    if array.dtype.kind not in "iuf":
        raise InvalidType(f"{name} must be numbers, got {reprlib.repr(values)}")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InvalidValue(f"{name}[{bad[0]}] must be finite, got {array[bad[0]]}")
    return tuple(array.astype(float).tolist())
