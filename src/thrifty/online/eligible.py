"""Who may be chosen in a decision: those ``among`` these ids, but not those to ``exclude`` or paused."""

from array import array
from collections.abc import Mapping
from typing import Any, NoReturn, TypeAlias

import numpy as np

from thrifty import checks
from thrifty.arrays import Integers
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online.ids import Ids, Numbers
from thrifty.policies import Policy

NOBODY: Numbers = array("Q")


# The ids as callers give them: those among, and those to exclude. None for all, and for none.
Some: TypeAlias = tuple[list[Any] | None, list[Any] | None]
# The same as the core takes them: numbers in any order, each as often as one likes. ``pick`` also takes lists
# of ids that may be their own numbers. If they are not, it does nothing and says that they are ``Unread``.
Eligible: TypeAlias = tuple[Numbers | list[Any] | None, Numbers | list[Any] | None]
ALL = None, None


class Unread(Exception):
    """Lists of ids were taken for numbers of arms, and one of them is none."""


def size(who: Eligible, core: Any, arms: int) -> int:
    """How many of so many arms may be chosen."""
    if who == ALL:
        return int(arms - core.resting)
    among, exclude = who[0], np.unique(integers(who[1] or NOBODY))
    if among is not None:
        there = np.setdiff1d(integers(among), exclude)
        return int(np.count_nonzero(~core.is_paused(there)))
    return int(arms - core.resting - np.count_nonzero(~core.is_paused(exclude)))


def has(who: Eligible, core: Any, arm: int) -> bool:
    """Whether this arm may be chosen."""
    among, exclude = who
    if exclude is not None and arm in exclude:
        return False
    return (among is None or arm in among) and not core.is_paused(arm)


def integers(numbers: Numbers | list[Any]) -> Integers:
    """The same numbers, for NumPy."""
    if isinstance(numbers, list):
        raise Unread
    return np.frombuffer(numbers, np.int64)


def some(among: Any, exclude: Any) -> Some:
    """Read what a caller gives; that may take its time, and call anything."""
    if among is None and type(exclude) is list:  # most callers
        return (None, exclude) if exclude else ALL
    there, gone = _listed("among", among), _listed("exclude", exclude)
    return ALL if there is None and not gone else (there, gone)


def _listed(name: str, arms: Any) -> list[Any] | None:
    if arms is None:
        return None
    if type(arms) is list:
        return arms.copy()
    try:
        if isinstance(arms, str | bytes | Mapping):
            raise TypeError
        return arms.tolist() if isinstance(arms, np.ndarray) else list(arms)
    except TypeError:
        raise InvalidType(f"{name} must be a collection of ids, got {checks.shown(arms)}") from None


def read(ids: Ids, given: Some) -> Eligible:
    """The arms with these ids."""
    among, exclude = given
    there = None if among is None else ids.array(among, "among")  # who is called meanwhile may change a list
    return there, None if exclude is None else ids.array(exclude.copy(), "exclude")


def check_size(who: Eligible, core: Any, arms: int, count: int) -> None:
    """Whether ``count`` of so many arms may be chosen."""
    if (left := size(who, core, arms)) < count:
        raise too_few(count, left, arms, core.resting)


def too_few(count: int, left: int, arms: int, paused: int) -> InvalidValue:
    """Fewer than ``count`` arms may be chosen."""
    if count == 1:
        wanted = f"at least one arm of {arms} must be left to choose from, got none"
    else:
        wanted = f"rank must be at most {left} of {arms} arms, as many as may be chosen, got {count}"
    reasons = ["among and exclude leave no more"] if left + paused < arms else []
    reasons += [f"{paused} are paused"] if paused else []
    return InvalidValue(f"{wanted}: {' and '.join(reasons)}" if reasons else wanted)


def refuse(policy: Policy) -> NoReturn:
    """It cannot choose among some of its arms."""
    raise InvalidValue(f"{policy!r} has no index to choose by: all of its arms must be eligible")
