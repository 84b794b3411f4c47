"""Intervals: Wilson's where they should be his, the proven bound against all that may happen."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from thrifty.replays import intervals


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("hits", "n"), [(0, 1), (0, 125), (1, 125), (60, 125), (125, 125)])
def test_wilson(hits: int, n: int, level: float) -> None:
    theirs = stats.binomtest(hits, n).proportion_ci(level, method="wilson")
    v = hits / n
    assert intervals.score(v, n, level) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    found = intervals.within(*intervals.weighted(v, v, n, 1.0, level))
    assert found == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_a_larger_variance_is_as_fewer_rows() -> None:
    assert intervals.score(0.2, 100.0, 0.95, 4.0) == intervals.score(0.2, 25.0, 0.95)
    assert intervals.score(0.2, 0.0, 0.95) == intervals.score(0.2, 9.0, 0.95, math.inf) == (0.0, 1.0)


def test_what_is_outside_of_the_range_is_no_knowledge() -> None:
    assert intervals.within(-0.1, 0.5) == (0.0, 0.5)
    assert intervals.within(0.5, 1.5) == (0.5, 1.0)
    assert intervals.within(1.5, 3.0) == intervals.within(-2.0, -1.0) == (0.0, 1.0)


# Counts of a row: 0, or one of two others, with these probabilities; rows need not be alike.
LAWS = [
    [((0.0, 1.0, 1.0), (0.7, 0.2, 0.1))] * 7,
    [((0.0, 1.0, 8.0), (0.6, 0.35, 0.05))] * 7,
    [((0.0, 2.0, 3.0), (0.1, 0.5, 0.4)), ((0.0, 1.0, 100.0), (0.9, 0.095, 0.005))] * 3,
]


@pytest.mark.parametrize("law", LAWS, ids=["0 and 1", "weights", "unlike rows"])
@pytest.mark.parametrize("alpha", [0.3, 0.05])
def test_the_bound_fails_as_rarely_as_it_says(
    law: list[tuple[tuple[float, ...], tuple[float, ...]]], alpha: float
) -> None:
    """Exactly, over everything that may happen: no more than alpha. And it is a bound that says something."""
    mean = float(np.mean([np.dot(values, chances) for values, chances in law]))
    wrong, sharp = 0.0, 0.0
    lower = cache(lambda counts: intervals.lower(np.array(counts), alpha))  # in whatever order
    for which in itertools.product(range(3), repeat=len(law)):
        counts = sorted(law[row][0][i] for row, i in enumerate(which))
        chance = math.prod(law[row][1][i] for row, i in enumerate(which))
        bound = lower(tuple(counts))
        assert 0.0 <= bound <= np.mean(counts)
        wrong += chance * (bound > mean)
        sharp += chance * bound
    assert wrong <= alpha
    assert sharp > 0.0


def test_the_bound_solves_its_equation() -> None:
    rng = np.random.default_rng(1)
    counts = np.where(rng.random(500) < 0.2, rng.random(500) * 5.0, 0.0)
    for alpha in (0.2, 0.025, 1e-6):
        bound = intervals.lower(counts, alpha)
        assert intervals.excludes(counts, bound * (1.0 - 1e-9), alpha)
        assert not intervals.excludes(counts, bound * (1.0 + 2e-6), alpha)
    assert intervals.lower(np.zeros(9), 0.05) == 0.0
    assert intervals.excludes(np.array([0.0, 1.0]), 0.0, 0.05)
    assert not intervals.excludes(np.zeros(2), 0.0, 0.05)


def test_the_bound_approaches_the_mean() -> None:
    rng = np.random.default_rng(2)
    for n, reach in ((400, 0.13), (40_000, 0.013)):
        counts = (rng.random(n) < 0.3).astype(float)
        bound = intervals.lower(counts, 0.025)
        assert counts.mean() - reach < bound < counts.mean()


def test_clipping_is_in_the_interval() -> None:
    """Weights of 100 that are counted as 10: the upper end knows of what is missing, the lower one does not
    need to."""
    rng = np.random.default_rng(3)
    n = 20_000
    weights = np.where(rng.random(n) < 0.005, 100.0, 0.5 / 0.995)
    rewards = np.ones(n)  # so the value is 1
    low, high = intervals.clipped(weights, rewards, 10.0, 0.95)
    assert low < float(np.minimum(weights, 10.0).mean()) < 0.6
    assert high == 1.0
