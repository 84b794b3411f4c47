"""Rounds for a kernel, cut into slices of a tenth of a second: it hears nothing while it runs, so Ctrl-C is
heeded, and progress shown, between them.

Work is counted in arms looked at. The next slice is as much as should take GOAL seconds by what the last one
took, and at most twice as much. Rounds may get dear at once, when late rewards come or a history grows, so no
slice is more than MOST: at 0.4 µs, the dearest index that there is (Bayes-UCB), 0.8 s.
"""

import time
from collections.abc import Callable, Iterator

from thrifty.engines.memory import Rule

GOAL = 0.1  # seconds
FIRST, MOST = 100_000, 2_000_000  # arms looked at in a slice
CHEAP = 20  # what a round costs that does not look at all arms
REWARDS = 16  # that are kept cost as much as an arm
GROWING = 4000  # rounds of a slice in which a history grows


def cost(rule: Rule, *, looks_at_all: bool) -> int:
    """The cost of a round, roughly, in arms looked at: all of them, as on scan, or a few."""
    faded = rule.arms // rule.cycle if rule.cycle else 0
    return (rule.arms if looks_at_all else CHEAP) + (int(rule.phi) if rule.batch else 0) + faded


def slices(
    start: int,
    stop: int,
    cost: int,
    kept: Callable[[], int] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[tuple[int, int]]:
    """Yields where each slice of the rounds from ``start`` to ``stop`` begins and ends. It is played before
    the next one is asked for. ``kept`` tells how many rewards the policy keeps now, if it keeps all."""
    work = float(FIRST)
    while start < stop:
        each = cost + (kept() / REWARDS if kept else 0.0)
        rounds = max(1, int(work / each))
        end = min(start + (min(rounds, GROWING) if kept else rounds), stop)
        began = clock()
        yield start, end
        took, work = clock() - began, (end - start) * each
        work = min(2.0 * work, work * GOAL / max(took, 1e-9), MOST)
        start = end
