"""Arms by name: ids as the caller gave them, numbers 0 to K - 1 as the engine counts them."""

import copy
from array import array
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.arrays import Integers
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online.inputs import as_numbers, sequence

MOST = 10**9
if TYPE_CHECKING:
    Numbers: TypeAlias = array[int]
else:
    Numbers = array  # of arms, as 64-bit words


class Ids:
    """A two-way table. Two ids are the same if they are equal, as in a dictionary.

    Texts and integers of other classes, NumPy's or members of an enumeration, are kept as what they equal.
    Where arms are given by how many they are, ids 0 to K - 1 are their own numbers and take no memory, but
    for those that arms who came or went have changed.
    """

    def __init__(self, arms: object) -> None:
        self.plain = 0  # how many ids are their own numbers, when all of them are; else 0
        self._own = 0  # ids below are their own numbers, but for those in ``_numbers`` and ``_changed``
        self._names: list[Hashable] = []  # from number ``_own`` on
        self._changed: dict[int, Hashable] = {}  # below it; a number is free from the number of arms on
        self._numbers: dict[Hashable, int] = {}  # -1: its own number once, and gone
        self._size = 0
        try:
            self.plain = self._own = self._size = checks.integer("arms", arms, at_least=1, at_most=MOST)
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
        if not self._size:
            raise InvalidValue("arms must have at least one id, got none")

    def __len__(self) -> int:
        return self._size

    def __deepcopy__(self, memo: object) -> "Ids":
        """A table of the same ids."""
        other = copy.copy(self)
        other._names, other._numbers = self._names.copy(), self._numbers.copy()
        other._changed = self._changed.copy()
        return other

    def __contains__(self, name: Any) -> bool:
        """Whether there is an arm with this id; what is not hashable is none, and an error."""
        return self._find(name) >= 0

    def name(self, number: int) -> Any:
        """The id of the arm with this number."""
        if number < self._own:
            return self._changed.get(number, number) if self._changed else number
        return self._names[number - self._own]

    def names(self, numbers: list[int] | None = None) -> list[Any]:
        """The ids of these arms, or of all, in the order of their numbers."""
        if numbers is None:
            names: list[Any] = [*range(min(self._own, self._size)), *self._names]
            for number, name in self._changed.items():
                names[number] = name
            return names
        if self.plain:
            return numbers
        name = self.name if self._own else self._names.__getitem__
        return [name(number) for number in numbers]

    def number(self, name: Any, what: str = "arm") -> int:
        """The number of the arm with this id."""
        if type(name) is int and 0 <= name < self.plain:
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
        numbers = as_numbers(listed) if self.plain else None
        if numbers is not None and numbers.dtype.kind in "iu":
            for i in np.flatnonzero((numbers < 0) | (numbers >= self.plain))[:1]:
                self.number(listed[i], f"{what}[{i}]")
            return numbers.astype(np.int64)
        return np.array([self.number(name, f"{what}[{i}]") for i, name in enumerate(listed)], np.int64)

    def array(self, names: list[Any], what: str) -> Numbers:
        """The same, at most one for each arm."""
        found = self._found(names) or array("Q", self.numbers(names, what).tolist())
        return found if len(found) <= self._size else array("Q", sorted({*found}))

    def _found(self, names: list[Any]) -> Numbers:
        """The same, the fast way; nothing if it is not plain that there are such arms."""
        try:
            if not (own := self._own):
                return array("Q", map(self._numbers.__getitem__, names))
            if self.plain:
                found = array("Q", names)
            else:  # -1 is none of these words
                get = self._numbers.get
                found = array("Q", [get(name, name if name < own else -1) for name in names])
            return found if max(found) < self._size else array("Q")
        except (TypeError, ValueError, LookupError, OverflowError):
            return array("Q")

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
        for name in names:
            self._set(self._size, name)
            self._size += 1

    def remove(self, number: int, moves: Iterable[tuple[int, int]]) -> None:
        """An arm goes, and others take over numbers, each (from, to), until the last number is free."""
        gone = self.name(number)
        self._numbers.pop(gone, None)
        if self._is_own(gone):
            self._numbers[hash(gone)] = -1
        for source, target in moves:
            if source != target:
                self._set(target, self.name(source))
        self._size -= 1
        if self._size < self._own:
            self._changed.pop(self._size, None)
        else:
            self._names.pop()
        self.plain = 0

    def _set(self, number: int, name: Hashable) -> None:
        """Arm ``number`` has this id from now on."""
        self.plain = 0
        self._numbers[name] = number
        if number < self._own:
            self._changed[number] = name
        elif number < self._own + len(self._names):
            self._names[number - self._own] = name
        else:
            self._names.append(name)

    def _is_own(self, name: Any) -> bool:
        """Whether it was its own number at the beginning: a whole number's hash is the number."""
        number = hash(name)
        return bool(0 <= number < self._own and number == name)

    def _find(self, name: Any) -> int:
        """The number of this id, or -1."""
        if self._numbers and (number := self._numbers.get(name)) is not None:
            return number
        return hash(name) if self._own and self._is_own(name) else -1


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
