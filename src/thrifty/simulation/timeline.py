"""Which problem is in force when: a run's rounds, cut into stretches in which nothing comes, goes or jumps.

A problem that stays is one stretch. One that moves in every round is computed for many rounds at a time, once
for all runs.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from thrifty.arrays import Floats
from thrifty.problems import Along, Arms, Problem

LONGEST = 1000  # rounds of a stretch in which the problem moves
NUMBERS = 300_000  # and the numbers that it may have, roughly
KEPT = 8_000_000  # numbers that are kept for the next run


class Stretch(NamedTuple):
    """Rounds ``start`` to ``stop`` - 1, from 0 on."""

    start: int
    stop: int
    problem: Problem  # in force at the start
    arms: Arms
    params: Floats | None = None  # (round, arm, 2) of a problem that moves
    gaps: Floats | None = None  # (round, arm)


class Timeline:
    """The stretches of a run of so many rounds."""

    def __init__(self, problem: Problem, horizon: int) -> None:
        self.problem, self.horizon = problem, horizon
        self._kept: dict[int, Stretch] = {}
        self._room = KEPT

    def __iter__(self) -> Iterator[Stretch]:
        start = 0
        while start < self.horizon:
            stretch = self._kept.get(start) or self._keep(self._stretch(start))
            yield stretch
            start = stretch.stop

    @property
    def _longest(self) -> int:
        return max(1, min(LONGEST, NUMBERS // self.problem.size))

    def _keep(self, stretch: Stretch) -> Stretch:
        size = 3 * stretch.gaps.size if stretch.gaps is not None else 3 * stretch.arms.gaps.size
        if size <= self._room:
            self._room -= size
            self._kept[stretch.start] = stretch
        return stretch

    def _stretch(self, start: int) -> Stretch:
        problem, until = self.problem.at(start + 1)
        arms, t = problem.ready(), start + 1
        if until > t + 1:  # it stays for a while
            return Stretch(start, int(min(until - 1, self.horizon)), problem, arms)
        if isinstance(self.problem, Along) and arms.pull is not None:
            stop = min(start + self._longest, self.horizon, self.problem.rounds - 1)
            ahead = self.problem.track(start + 1, stop + 1)
            if ahead is not None:
                return Stretch(start, stop, problem, arms, *ahead)
        track = [arms]
        while len(track) < self._longest and t < self.horizon:
            t += 1
            later, until = self.problem.at(t)
            there = later.ready() if later.compiled == problem.compiled else None
            if there is None or until > t + 1 or not _goes_on(arms, there) or there.pull is None:
                t -= 1
                break
            track.append(there)
        if len(track) == 1:
            return Stretch(start, start + 1, problem, arms)
        params, gaps = np.array([one.params for one in track]), np.array([one.gaps for one in track])
        return Stretch(start, start + len(track), problem, arms, params, gaps)


def _goes_on(first: Arms, later: Arms) -> bool:
    """Whether the same arms are there, with rewards of the same kind: only their numbers and gaps differ."""
    return (
        first.pull is later.pull
        and np.array_equal(first.values, later.values)
        and np.array_equal(np.isnan(first.gaps), np.isnan(later.gaps))
    )
