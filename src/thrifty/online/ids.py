"""Arms by name: ids as the caller gave them, numbers 0 to K - 1 as the engine counts them."""

import copy
from array import array
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.arrays import Integers
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online.inputs import as_numbers, sequence

MOST = 10**9


class Ids:
    """A two-way table. Two ids are the same if they are equal, as in a dictionary.

    Texts and integers of other classes, NumPy's or members of an enumeration, are kept as what they equal.
    Ids 0 to K - 1 that nobody has touched are their own numbers, and take no memory.
    """

    def __init__(self, arms: object) -> None:
        self._plain = 0  # how many ids are their own numbers, when all of them are
        self._names: list[Hashable] = []
        self._numbers: dict[Hashable, int] = {}
        try:
            self._plain = checks.integer("arms", arms, at_least=1, at_most=MOST)
        except InvalidType:
            self._add_all(arms)

    def _add_all(self, arms: object) -> None:
        try:
            names = sequence("arms", arms)
        except InvalidType:
            raise InvalidType(
                f"arms must be a number of arms or a sequence of their ids, got {checks.shown(arms)}"
            ) from None
        self.add(self.new(names))
        if not self._names:
            raise InvalidValue("arms must have at least one id, got none")

    def __len__(self) -> int:
        return self._plain or len(self._names)

    def __deepcopy__(self, memo: object) -> "Ids":
        """A table of the same ids."""
        other = copy.copy(self)
        other._names, other._numbers = self._names.copy(), self._numbers.copy()
        return other

    def __contains__(self, name: Any) -> bool:
        """Whether there is an arm with this id; what is not hashable is none, and an error."""
        return self._find(name) >= 0

    @property
    def plain(self) -> int:
        """How many there are, if they are their own numbers; else 0."""
        return self._plain

    def name(self, number: int) -> Any:
        """The id of the arm with this number."""
        return number if self._plain else self._names[number]

    def names(self, numbers: Integers | None = None) -> list[Any]:
        """The ids of these arms, or of all, in the order of their numbers."""
        if numbers is None:
            return list(range(self._plain)) if self._plain else list(self._names)
        listed: list[int] = numbers.tolist()
        return listed if self._plain else [self._names[number] for number in listed]

    def number(self, name: Any, what: str = "arm") -> int:
        """The number of the arm with this id."""
        if type(name) is int and 0 <= name < self._plain:
            return name
        try:
            number = self._find(name)
        except TypeError:  # not hashable, so not an id
            number = -1
        if number < 0:
            raise InvalidValue(f"{what} must be one of the {len(self)} arms, got {checks.shown(name)}")
        return number

    def numbers(self, names: Any, what: str = "arms") -> Integers:
        """The numbers of the arms with these ids."""
        if type(names) is list and (found := self._found(names)):
            return np.frombuffer(found, np.int64)
        listed = sequence(what, names)
        numbers = as_numbers(listed) if self._plain else None
        if numbers is not None and numbers.dtype.kind in "iu":
            for i in np.flatnonzero((numbers < 0) | (numbers >= self._plain))[:1]:
                self.number(listed[i], f"{what}[{i}]")
            return numbers.astype(np.int64)
        return np.array([self.number(name, f"{what}[{i}]") for i, name in enumerate(listed)], np.int64)

    def _found(self, names: list[Any]) -> "array[int]":
        """The same, the fast way; nothing if it is not plain that there are such arms."""
        try:
            found = array("q", names if self._plain else map(self._numbers.__getitem__, names))
        except (TypeError, LookupError, OverflowError):
            return array("q")
        if self._plain and found and not 0 <= min(found) <= max(found) < self._plain:
            return array("q")
        return found

    def new(self, names: list[Any] | NDArray[Any]) -> dict[Hashable, None]:
        """These ids as they are kept, if each of them may be added."""
        fresh: dict[Hashable, None] = {}
        for given in names.tolist() if isinstance(names, np.ndarray) else names:
            try:
                name = _plain(given)
                known = name in self or name in fresh
            except TypeError:
                raise InvalidType(f"an arm's id must be hashable, got {checks.shown(given)}") from None
            if known:
                raise InvalidValue(f"an arm's id must be a new one, got {checks.shown(given)} again")
            if name != name:
                raise InvalidValue(f"an arm's id must equal itself, got {checks.shown(given)}")
            fresh[name] = None
        return fresh

    def add(self, names: Iterable[Hashable]) -> None:
        """New arms, with the next numbers; ``new`` has said that they may be added."""
        self._unfold()
        for name in names:
            self._numbers[name] = len(self._names)
            self._names.append(name)

    def remove(self, number: int, moves: Iterable[tuple[int, int]]) -> None:
        """An arm goes, and others take over numbers, each (from, to), until the last number is free."""
        self._unfold()
        del self._numbers[self._names[number]]
        for source, target in moves:
            if source != target:
                self._names[target] = self._names[source]
                self._numbers[self._names[target]] = target
        self._names.pop()

    def _find(self, name: Any) -> int:
        """The number of this id, or -1."""
        if self._plain:
            number = hash(name)  # a whole number's is the number, and equal ids have equal ones
            return number if 0 <= number < self._plain and number == name else -1
        return self._numbers.get(name, -1)

    def _unfold(self) -> None:
        if self._plain:
            self._names = list(range(self._plain))
            self._numbers = {name: number for number, name in enumerate(self._names)}
            self._plain = 0


def _plain(name: Any) -> Any:
    """An id as it is kept."""
    if type(name) in (str, int, bool):
        return name
    if isinstance(name, str):
        plain: Any = str.__str__(name)
    elif isinstance(name, int | np.integer) and not isinstance(name, np.timedelta64):
        plain = int(name)
    else:
        return name
    return plain if plain == name and hash(plain) == hash(name) else name
