"""Checks of arguments, shared by every public constructor: they return the clean value or raise."""

import inspect
import math
import random
import reprlib
from collections.abc import Iterable, Mapping, Sequence, Set
from keyword import iskeyword
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from thrifty.errors import InvalidType, InvalidValue

T = TypeVar("T")
COUNT = 2**53  # the largest number of rounds, runs or draws: up to here a float holds every integer exactly
LARGEST = 1e100  # of a number's size: sums and squares of so many of them are still finite


class _Short(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        """Python refuses to write integers of thousands of digits, or not, depending on its version."""
        return "a huge int" if x.bit_length() > 2000 else super().repr_int(x, level)


shown = _Short().repr  # a value as an error shows it: shortened, and never an error of its own


def integer(name: str, value: object, at_least: int, at_most: int | None = None) -> int:
    """An integer not below ``at_least``. A float that is whole is one.

    >>> integer("horizon", 1e5, at_least=1)
    100000
    """
    whole = value if type(value) is int else _whole(name, value)
    if whole < at_least:
        raise InvalidValue(f"{name} must be at least {at_least}, got {shown(value)}")
    if at_most is not None and whole > at_most:
        raise InvalidValue(f"{name} must be at most {at_most}, got {shown(value)}")
    return whole


def _whole(name: str, value: object) -> int:
    clean = int(value) if isinstance(value, float | np.floating) and value.is_integer() else value
    if isinstance(clean, bool | np.timedelta64) or not isinstance(clean, Integral):
        raise InvalidType(f"{name} must be an integer, got {shown(value)}")
    return int(clean)


def is_ours(kind: Any) -> bool:
    """Whether a class or a function is thrifty's own."""
    return str(kind.__module__).partition(".")[0] == "thrifty"


def number(name: str, value: object) -> float:
    """A finite real number."""
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, Real):
        raise InvalidType(f"{name} must be a number, got {shown(value)}")
    try:
        clean = float(value)
    except OverflowError:  # an integer beyond what a float can hold
        clean = math.inf
    if not math.isfinite(clean):
        raise InvalidValue(f"{name} must be finite, got {shown(value)}")
    return clean + 0.0  # -0.0 becomes 0.0


def unit(name: str, value: object, *, open_at_zero: bool = False) -> float:
    """A number in [0, 1], or in (0, 1] when ``open_at_zero``."""
    clean = number(name, value)
    if not (0.0 < clean <= 1.0 if open_at_zero else 0.0 <= clean <= 1.0):
        interval = "(0, 1]" if open_at_zero else "[0, 1]"
        raise InvalidValue(f"{name} must be in {interval}, got {shown(value)}")
    return clean


def sized(name: str, value: object) -> float:
    """A number of a size that kernels can add up."""
    clean = number(name, value)
    if abs(clean) > LARGEST:
        raise InvalidValue(f"{name} must be at most {LARGEST:g} in size, got {shown(value)}")
    return clean


def at_least(name: str, value: object, bound: float, at_most: float = math.inf) -> float:
    """A finite number not below ``bound``."""
    clean = number(name, value)
    if clean < bound:
        raise InvalidValue(f"{name} must be at least {bound:g}, got {shown(value)}")
    if clean > at_most:
        raise InvalidValue(f"{name} must be at most {at_most:g}, got {shown(value)}")
    return clean


def positive(name: str, value: object) -> float:
    """A number above zero, of a size that kernels can add up."""
    clean = sized(name, value)
    if clean <= 0.0:
        raise InvalidValue(f"{name} must be above 0, got {shown(value)}")
    return clean


def level(value: object) -> float:
    """How often an interval is to hold: a number in (0, 1)."""
    clean = number("level", value)
    if not 0.0 < clean < 1.0:
        raise InvalidValue(f"level must be in (0, 1), got {shown(value)}")
    return clean


def prior(value: object) -> tuple[float, float]:
    """The mean and the weight of pseudo-observations."""
    mean, weight = pair(value)
    return sized("prior mean", mean), positive("prior weight", weight)


def pair(value: object) -> tuple[Any, Any]:
    """The mean and the weight of a prior, each as it was given."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise InvalidType(f"prior must be a pair (mean, weight), got {shown(value)}")
    return value[0], value[1]


def same(one: object, other: object) -> bool:
    """Whether two values are equal; where that cannot be said, as of objects with arrays, whether they are
    one."""
    try:
        return one is other or bool(one == other)
    except Exception:  # objects raise anything
        return False


def distinct(name: str, values: Sequence[T]) -> Sequence[T]:
    """Values of which no two are the same."""
    for i, value in enumerate(values):
        first = next(j for j, other in enumerate(values) if same(value, other))
        if first < i:
            raise InvalidValue(f"{name}[{i}] is the same as {name}[{first}], {value!r}")
    return values


def flag(name: str, value: object) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise InvalidType(f"{name} must be True or False, got {shown(value)}")
    return value


def choice(name: str, value: object, allowed: Sequence[str]) -> str:
    """One of the allowed words."""
    if not isinstance(value, str):
        raise InvalidType(f"{name} must be one of {', '.join(allowed)}, got {shown(value)}")
    if value not in allowed:
        raise InvalidValue(f"{name} must be one of {', '.join(allowed)}, got {shown(value)}")
    return value


def method(kind: type, name: str) -> None:
    """What is compiled of a class of the user's own: a plain function, if there is one."""
    found = inspect.getattr_static(kind, name, None)
    plain = found.__func__ if isinstance(found, staticmethod) else getattr(found, "py_func", found)
    if found is not None and not inspect.isfunction(plain):
        raise InvalidType(f"{name} of {kind.__name__} must be a method, got {shown(found)}")
    if not kind.__name__.isidentifier() or iskeyword(kind.__name__):
        raise InvalidType(f"a class must have a name that Python allows, got {kind.__name__!r}")


def draws_from_rng(what: str, function: Any) -> None:
    """A function of the user's own that is compiled must not draw from NumPy's or Python's own generators,
    which no seed of ours reaches."""
    names = function.__code__.co_names
    used = [function.__globals__.get(name) for name in names]
    if any(part in (np.random, random) or (part is np and "random" in names) for part in used):
        raise InvalidValue(
            f"the {what} must draw from rng, by thrifty.numerics.random: other generators ignore the seed"
        )


def again(kind: type, value: object) -> None:
    """The checks that a dataclass of this kind makes of its fields: they may have been changed by force."""
    check = getattr(kind, "__post_init__", None)
    if check is not None:
        check(value)


def numbers(name: str, values: object, *, absent: bool = False) -> tuple[Any, ...]:
    """A sequence of at least one finite number, as a tuple. With ``absent``, entries may be None."""
    if isinstance(values, str | bytes | Set | Mapping) or not isinstance(values, Iterable):
        raise InvalidType(f"{name} must be a sequence of numbers, got {shown(values)}")
    listed = values if isinstance(values, np.ndarray) else list(values)
    try:
        array = np.asarray(listed)
    except ValueError:  # a ragged sequence
        raise InvalidType(f"{name} must be a flat sequence of numbers, got {shown(values)}") from None
    if array.ndim != 1:
        raise InvalidType(f"{name} must be a flat sequence of numbers, got {shown(values)}")
    if not array.size:
        raise InvalidValue(f"{name} must have at least one entry, got none")
    if absent and array.dtype == object:
        return tuple(
            None if value is None else sized(f"{name}[{i}]", value) for i, value in enumerate(listed)
        )
    clean = array.astype(float) if array.dtype.kind in "iuf" else np.array([np.nan])
    if not (np.abs(clean) <= LARGEST).all() or bool in set(map(type, listed)):
        clean = np.array([sized(f"{name}[{i}]", value) for i, value in enumerate(listed)])  # names the entry
    return tuple((clean + 0.0).tolist())
