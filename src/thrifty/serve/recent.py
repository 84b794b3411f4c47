"""Answers that were given a moment ago, by the keys that clients sent with their questions.

They are in memory: a question that is asked again after a restart gets another decision.
"""

from collections import OrderedDict
from typing import NamedTuple

from thrifty.serve.clock import SECOND
from thrifty.serve.messages import Decisions

KEPT = 600 * SECOND
MOST = 10**6  # decisions that are remembered


class _Given(NamedTuple):
    time: int
    answer: Decisions


class Recent:
    """By experiment and key, oldest first."""

    def __init__(self) -> None:
        self._given: OrderedDict[tuple[int, str], _Given] = OrderedDict()
        self._size = 0

    def get(self, experiment: int, key: str, now: int) -> Decisions | None:
        self._forget(now)
        found = self._given.get((experiment, key))
        return None if found is None else found.answer

    def add(self, experiment: int, key: str, now: int, answer: Decisions) -> None:
        self._given[experiment, key] = _Given(now, answer)
        self._size += len(answer.decisions)
        self._forget(now)

    def _forget(self, now: int) -> None:
        while self._given:
            first = next(iter(self._given.values()))
            if self._size <= MOST and now - first.time < KEPT:
                return
            self._size -= len(first.answer.decisions)
            self._given.popitem(last=False)
