"""The names of arms, to be searched and sorted a million at a time: as one text of bytes.

NumPy works on it without holding the interpreter, so decisions go on meanwhile. UTF-8 sorts as its
characters do, and no name has the byte that stands between them.
"""

import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from thrifty.arrays import Integers

END = 0xFF  # the byte behind each name
WORD, BITS = 7, 9  # bytes that are compared at a time, and the room for each: it is 0 where a name is over
LAST = np.uint64(2**BITS)
BLOCK = 2**15  # names of which words are made at a time
TOGETHER = 20_000  # names that are read at a time


class Names:
    """Names by serial: the first ``plain`` are "0", "1", "2" ..., and others come behind them. ``read`` gives
    those from one serial to another."""

    def __init__(self, plain: int, read: Callable[[int, int], list[str]]) -> None:
        self._read = read
        self._text, self._begins = _counted(plain)  # each ends with END
        self._order = np.zeros(0, np.int64)
        self._lock = threading.Lock()

    def _reach(self, size: int) -> None:
        """Names are there until this serial."""
        known = self._begins.size
        texts, begins, end = [self._text], [self._begins], self._text.size
        for start in range(known, size, TOGETHER):
            names = self._read(start, min(start + TOGETHER, size))
            text = "\n".join([*names, ""])
            sizes = map(len, names) if text.isascii() else (len(name.encode()) for name in names)
            ends = np.cumsum(np.fromiter(sizes, np.int64, len(names)) + 1)  # where the next begins
            letters = np.frombuffer(text.encode(), np.uint8).copy()
            letters[ends - 1] = END
            texts.append(letters)
            begins.append(end + np.append(0, ends[:-1]))
            end += letters.size
        if len(texts) > 1:
            self._text, self._begins = np.concatenate(texts), np.concatenate(begins)

    def having(self, part: str, size: int) -> Integers:
        """The serials below ``size`` of the names that have this in them, in rising order."""
        with self._lock:
            self._reach(size)
            text, begins = self._text, self._begins
        wanted = np.frombuffer(part.encode("utf-8", "surrogatepass"), np.uint8)
        found = np.flatnonzero(text[: text.size - wanted.size + 1] == wanted[0])
        for i in range(1, wanted.size):
            found = found[text[found + i] == wanted[i]]
        serials = np.searchsorted(begins[:size], found, side="right") - 1
        new = np.append(True, serials[1:] != serials[:-1])[: serials.size]
        return serials[new & (found < (begins[size] if size < begins.size else text.size))]

    def order(self, size: int) -> Integers:
        """The serials below ``size``, sorted by their names; of those that are alike, the lower first."""
        with self._lock:
            if self._order.size != size:
                self._reach(size)
                self._order = self._sorted(size)
            return self._order

    def _sorted(self, size: int) -> Integers:
        """By the first bytes; those that are alike so far, by the next."""
        begins = self._begins[:size]
        order, alike = np.arange(size), np.zeros(size, np.int64)  # and which are, as groups in rising order
        where, depth = np.arange(size), 0  # of those that are not settled
        while where.size:
            some, group = order[where], alike[where]
            words = self._words(begins[some] + depth)
            if (words != words[0]).any():
                first = np.argsort(words, kind="stable")
                if group[0] != group[-1]:
                    first = first[np.argsort(group[first], kind="stable")]
                some, group, words = some[first], group[first], words[first]
                order[where] = some
            depth += WORD
            group = np.cumsum(np.append(False, (words[1:] != words[:-1]) | (group[1:] != group[:-1])))
            alike[where] = group
            longer = np.zeros(group[-1] + 1, np.bool_)
            longer[group[words % LAST > 0]] = True  # somebody's word is full
            where = where[longer[group] & (np.bincount(group)[group] > 1)]
        return order

    def _words(self, begins: Integers) -> NDArray[np.uint64]:
        """The next bytes of names as numbers that sort as they do; nothing comes before everything."""
        text, words = np.append(self._text, np.full(WORD, END, np.uint8)), np.zeros(begins.size, np.uint64)
        for start in range(0, begins.size, BLOCK):
            places, some = begins[start : start + BLOCK], words[start : start + BLOCK]
            going = np.ones(places.size, np.bool_)
            for i in range(WORD):
                letter = text[places + i]
                going &= letter != END
                some <<= np.uint64(BITS)
                some |= (letter.astype(np.uint64) + np.uint64(1)) * going
        return words


def _counted(count: int) -> tuple[NDArray[np.uint8], Integers]:
    """The numbers from 0 as a text, and where each begins."""
    texts, begins, end = [np.zeros(0, np.uint8)], [np.zeros(0, np.int64)], 0
    first, digits = 0, 1
    while first < count:
        numbers = np.arange(first, min(count, 10**digits))
        letters = np.full((numbers.size, digits + 1), END, np.uint8)
        for place in range(digits):
            letters[:, digits - 1 - place] = ord("0") + numbers // 10**place % 10
        texts.append(letters.ravel())
        begins.append(end + np.arange(numbers.size) * (digits + 1))
        end += letters.size
        first, digits = 10**digits, digits + 1
    return np.concatenate(texts), np.concatenate(begins)
