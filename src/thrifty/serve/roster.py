"""Who an experiment's arms are: names, serials, and which of them are paused."""

from functools import cached_property

import numpy as np

from thrifty import checks
from thrifty.arrays import Integers
from thrifty.errors import InvalidValue
from thrifty.serve.messages import MOST_ARMS
from thrifty.serve.names import Names


class Roster:
    """Arms by their names and serials. A serial is never reused: an arm that comes back is another one.

    Arms "0" to "K - 1" that nobody named take no memory for their names.
    """

    def __init__(self, arms: list[str] | int) -> None:
        self._plain = arms if isinstance(arms, int) else 0
        self._names: list[str] = []  # of those behind the plain ones
        self._serials: dict[str, int] = {}
        self.there = np.ones(self._plain, np.bool_)
        self.paused: set[int] = set()
        if not isinstance(arms, int):
            self.add(arms)

    @cached_property
    def lexicon(self) -> Names:
        """Their names, to search and to sort."""
        plain = self._plain
        return Names(plain, lambda first, end: self._names[first - plain : end - plain])

    @property
    def size(self) -> int:
        """How many serials were given out."""
        return self._plain + len(self._names)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.there))

    def serials(self) -> Integers:
        """Of the arms that are there."""
        return np.flatnonzero(self.there)

    def name(self, serial: int) -> str:
        return str(serial) if serial < self._plain else self._names[serial - self._plain]

    def get(self, name: str) -> int | None:
        """The serial of the arm that has this name now."""
        serial = self._serials.get(name)
        if serial is None and self._plain and name.isascii() and name.isdigit() and len(name) < 12:
            plain = int(name)
            if plain < self._plain and str(plain) == name and self.there[plain]:
                return plain
        return serial

    def find(self, name: str, what: str) -> int:
        serial = self.get(name)
        if serial is None:
            raise InvalidValue(f"{what} must be one of the {len(self)} arms, got {checks.shown(name)}")
        return serial

    def find_all(self, names: list[str] | None, what: str) -> list[int] | None:
        if names is None:
            return None
        return [self.find(name, f"{what}[{i}]") for i, name in enumerate(names)]

    def check_new(self, names: list[str]) -> None:
        """Whether these may be added."""
        if self.size + len(names) > MOST_ARMS:
            raise InvalidValue(f"arms must be at most {MOST_ARMS} in all, with those that went, got more")
        seen: set[str] = set()
        for i, name in enumerate(names):
            if name in seen or self.get(name) is not None:
                raise InvalidValue(f"arms[{i}] must be a new arm, got {checks.shown(name)} again")
            seen.add(name)

    def add(self, names: list[str]) -> list[int]:
        first = self.size
        serials = list(range(first, first + len(names)))
        self._names += names
        self._serials.update(zip(names, serials, strict=True))
        self.there = np.concatenate([self.there, np.ones(len(names), np.bool_)])
        return serials

    def remove(self, serial: int) -> None:
        self._serials.pop(self.name(serial), None)
        self.there[serial] = False
        self.paused.discard(serial)

    def check_left(self, serial: int) -> None:
        """Whether this arm may be paused or go: another one must be left to choose."""
        if serial not in self.paused and len(self) - len(self.paused) == 1:
            raise InvalidValue(
                f"at least one arm must be left that is not paused, got the last one, {self.name(serial)!r}"
            )
