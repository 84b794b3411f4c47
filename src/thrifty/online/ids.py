"""Arms by name: ids as the caller gave them, numbers 0 to K - 1 as the engine counts them."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from thrifty import checks
from thrifty.engines.state import Integers
from thrifty.errors import InvalidType, InvalidValue

MOST = 10**9


class Ids:
    """A two-way table. Ids 0 to K - 1 that nobody has touched are their own numbers, and take no memory."""

    def __init__(self, arms: object) -> None:
        self._plain = 0  # how many ids are their own numbers, when all of them are
        self._names: list[Hashable] = []
        self._numbers: dict[Hashable, int] = {}
        if isinstance(arms, Iterable) and not isinstance(arms, str | bytes):
            for name in arms:
                self.add(name)
            if not self._names:
                raise InvalidValue("arms must have at least one id, got none")
        else:
            try:
                self._plain = checks.integer("arms", arms, at_least=1, at_most=MOST)
            except InvalidType:
                raise InvalidType(
                    f"arms must be a number of arms or their ids, got {checks.shown(arms)}"
                ) from None

    def __len__(self) -> int:
        return self._plain or len(self._names)

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

    def number(self, name: object) -> int:
        """The number of the arm with this id."""
        if self._plain:
            if type(name) is int and 0 <= name < self._plain:
                return name
            if isinstance(name, np.integer) and 0 <= name < self._plain:
                return int(name)
        else:
            try:
                return self._numbers[name]  # type: ignore[index]
            except (KeyError, TypeError):
                pass
        raise InvalidValue(f"arm must be one of the {len(self)} arms, got {checks.shown(name)}")

    def numbers(self, names: Iterable[object]) -> Integers:
        """The numbers of the arms with these ids."""
        if self._plain and isinstance(names, np.ndarray) and names.dtype.kind in "iu" and names.ndim == 1:
            for i in np.flatnonzero((names < 0) | (names >= self._plain))[:1]:
                self.number(names[i])
            return names.astype(np.int64)
        return np.array([self.number(name) for name in names], np.int64)

    def check_new(self, name: object) -> None:
        """Whether an id may be added."""
        try:
            known = name in self._numbers if not self._plain else self._is_plain(name)
        except TypeError:
            raise InvalidType(f"an arm's id must be hashable, got {checks.shown(name)}") from None
        if known:
            raise InvalidValue(f"an arm's id must be a new one, got {checks.shown(name)} again")
        if name != name:  # noqa: PLR0124
            raise InvalidValue(f"an arm's id must equal itself, got {checks.shown(name)}")

    def add(self, name: Hashable) -> None:
        """A new arm, with the next number."""
        self.check_new(name)
        self._unfold()
        self._numbers[name] = len(self._names)
        self._names.append(name)

    def remove(self, name: object, moves: Iterable[tuple[int, int]]) -> None:
        """An arm goes, and others take over numbers, each (from, to), until the last number is free."""
        self._unfold()
        del self._numbers[name]  # type: ignore[arg-type]
        for source, target in moves:
            if source != target:
                self._names[target] = self._names[source]
                self._numbers[self._names[target]] = target
        self._names.pop()

    def _is_plain(self, name: object) -> bool:
        hash(name)
        return isinstance(name, int | float | np.number) and name in range(self._plain)

    def _unfold(self) -> None:
        if self._plain:
            self._names = list(range(self._plain))
            self._numbers = {name: number for number, name in enumerate(self._names)}
            self._plain = 0
