"""Who may be chosen in a decision: those ``among`` these ids, but not those to ``exclude`` or paused."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from thrifty import checks
from thrifty.arrays import Integers
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online.ids import Ids
from thrifty.policies import Policy

NONE = np.empty(0, np.int64)


class Some(NamedTuple):
    """The ids of arms as callers give them; None for all, and for none."""

    among: list[Any] | None
    exclude: list[Any] | None

    @property
    def restricts(self) -> bool:
        return self.among is not None or self.exclude is not None


class Eligible(NamedTuple):
    """The same as the core takes them: numbers, those among which to choose in order."""

    among: Integers | None
    exclude: Integers | None

    def size(self, core: Any, arms: int) -> int:
        """How many arms may be chosen."""
        if self.among is not None:
            exclude = NONE if self.exclude is None else self.exclude
            return int(np.count_nonzero(~core.is_paused(np.setdiff1d(self.among, exclude))))
        out = 0 if self.exclude is None else np.count_nonzero(~core.is_paused(np.unique(self.exclude)))
        return int(arms - core.resting - out)

    def has(self, core: Any, arm: int) -> bool:
        """Whether this arm may be chosen."""
        if self.exclude is not None and arm in self.exclude:
            return False
        return (self.among is None or arm in self.among) and not core.is_paused(arm)

    @property
    def restricts(self) -> bool:
        return self.among is not None or self.exclude is not None


def some(among: Any, exclude: Any) -> Some:
    """Read what a caller gives; that may take its time, and call anything."""
    return Some(_listed("among", among), _listed("exclude", exclude))


def _listed(name: str, arms: Any) -> list[Any] | None:
    """Ids in any order, each as often as one likes."""
    if arms is None or type(arms) is list:
        return arms and arms.copy()
    try:
        if isinstance(arms, str | bytes | Mapping):
            raise TypeError
        return arms.tolist() if isinstance(arms, np.ndarray) else list(arms)
    except TypeError:
        raise InvalidType(f"{name} must be a collection of ids, got {checks.shown(arms)}") from None


def read(ids: Ids, given: Some) -> Eligible:
    """The arms with these ids."""
    among = None if given.among is None else ids.numbers(given.among, "among")
    if among is not None and among.size > 1:
        among = np.unique(among)
    return Eligible(among, None if given.exclude is None else ids.numbers(given.exclude, "exclude"))


def check_size(who: Eligible, core: Any, arms: int, count: int) -> None:
    """Whether ``count`` of so many arms may be chosen."""
    if (size := who.size(core, arms)) < count:
        raise too_few(count, size, arms, core.resting)


def too_few(count: int, size: int, arms: int, paused: int) -> InvalidValue:
    """Fewer than ``count`` arms may be chosen."""
    wanted = "one arm" if count == 1 else f"{count} arms"
    return InvalidValue(
        f"at least {wanted} of {arms} must be left to choose from, got {size or 'none'}: "
        f"among and exclude leave no more, and {paused} are paused"
    )


def check(policy: Policy) -> None:
    """Whether a policy can choose among some of its arms."""
    if not policy.ranks:
        raise InvalidValue(f"{policy!r} has no index to choose by: all of its arms must be eligible")
