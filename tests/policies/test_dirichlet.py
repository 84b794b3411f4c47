"""Resampled means: their exact law for rewards of 0 and 1, and NumPy's Dirichlet for all others."""

from collections.abc import Callable

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray
from scipy import stats

from tests.support.chance import assert_law, assert_mean, assert_same_law
from thrifty.numerics import random
from thrifty.policies import multinomial_ts, npts

Floats = NDArray[np.float64]

SIZE = 50_000


@njit
def fill_non_parametric(values, times, bound, rng, out):
    for k in range(out.size):
        out[k] = npts.index(values, times, bound, rng)


@njit
def fill_multinomial(values, times, levels, rng, out):
    for k in range(out.size):
        out[k] = multinomial_ts.index(values, times, levels, rng)


def drawn(fill: Callable[..., None], values: object, times: object, parameter: float, key: int = 0) -> Floats:
    """Indices of an arm whose different rewards came so often."""
    out = np.empty(SIZE)
    fill(np.array(values, float), np.array(times, float), parameter, random.generator(2025, key), out)
    return out


def weighted(values: object, weights: object, key: int = 0) -> Floats:
    """The second implementation: NumPy's Dirichlet weights, and their scalar product with the values."""
    shares = np.random.default_rng([2025, key]).dirichlet(np.array(weights, float), SIZE)
    means: Floats = shares @ np.array(values, float)
    return means


def assert_moments(indices: Floats, values: object, weights: object) -> None:
    """Of w.x with w ~ Dirichlet(a), a adding up to A: the mean is a.x/A, the variance v/(A + 1), where v is
    that of a value x_j taken with probability a_j/A."""
    x, a = np.array(values, float), np.array(weights, float)
    total = a.sum()
    mean = a @ x / total
    variance = a @ (x - mean) ** 2 / total / (total + 1.0)
    assert_mean(indices, mean, np.sqrt(variance))
    assert_mean((indices - mean) ** 2, variance)


@pytest.mark.parametrize(("n", "successes"), [(1, 0), (2, 1), (5, 4), (7, 0), (40, 13), (1000, 999)])
def test_non_parametric_for_rewards_of_0_and_1_is_a_beta(n: int, successes: int) -> None:
    """Beta(S + 1, n - S), not the Beta(S + 1, n - S + 1) of Thompson sampling."""
    seen = [(0.0, n - successes), (1.0, successes)]
    values, times = zip(*[pair for pair in seen if pair[1]], strict=True)
    indices = drawn(fill_non_parametric, values, times, 1.0)
    assert_law(indices, stats.beta(successes + 1, n - successes).sf)


@pytest.mark.parametrize("n", [1, 2, 30, 10**9])
def test_non_parametric_is_exactly_1_without_a_0(n: int) -> None:
    assert np.all(drawn(fill_non_parametric, [1.0], [n], 1.0) == 1.0)


@pytest.mark.parametrize("bound", [1.0, 3.5])
@pytest.mark.parametrize(
    "rewards",
    [[0.3], [0.2, 0.2, 0.2], [0.0, 0.25, 0.25, 0.25, 0.9], [0.1, 0.1, 0.6, 0.6, 0.6, 0.6, 1.0], [0.5] * 20],
    ids=str,
)
def test_equal_rewards_may_be_aggregated(rewards: list[float], bound: float) -> None:
    """Three times the same law: aggregated, one by one, and with NumPy's exponentials, one per reward."""
    values, times = np.unique(rewards, return_counts=True)
    aggregated = drawn(fill_non_parametric, values, times, bound)
    listed = drawn(fill_non_parametric, rewards, np.ones(len(rewards)), bound, key=1)
    exponentials = np.random.default_rng(2025).exponential(size=(SIZE, len(rewards) + 1))
    by_hand = exponentials @ np.array([*rewards, bound]) / exponentials.sum(axis=1)
    assert_same_law(aggregated, by_hand)
    assert_same_law(listed, by_hand)
    assert_moments(aggregated, [*rewards, bound], np.ones(len(rewards) + 1))


@pytest.mark.parametrize("weight", [0.01, 0.5, 2.5])
def test_the_weight_of_a_prior_need_not_be_whole(weight: float) -> None:
    indices = drawn(fill_non_parametric, [0.2, 0.7], [weight, 3.0], 1.0)
    assert_same_law(indices, weighted([0.2, 0.7, 1.0], [weight, 3.0, 1.0]))
    assert_moments(indices, [0.2, 0.7, 1.0], [weight, 3.0, 1.0])


@pytest.mark.parametrize(("n", "successes"), [(0, 0), (1, 0), (1, 1), (9, 4), (500, 498)])
def test_multinomial_with_one_level_is_beta_thompson_sampling(n: int, successes: int) -> None:
    seen = [(0.0, n - successes), (1.0, successes)]
    values, times = [x for x, count in seen if count], [count for _, count in seen if count]
    indices = drawn(fill_multinomial, values, times, 1)
    assert_law(indices, stats.beta(successes + 1, n - successes + 1).sf)


# Rewards as (level, how often), and what a prior between the levels adds, as {value: weight}.
@pytest.mark.parametrize(
    ("levels", "counts", "prior"),
    [
        (2, {}, {}),
        (3, {1: 4}, {}),
        (4, {0: 2, 1: 1, 3: 5}, {}),
        (10, {3: 2, 7: 40, 10: 1}, {}),
        (10, {0: 3, 10: 3}, {0.55: 2.5}),
        (3, {}, {0.2: 6.0}),
        (4, {4: 1}, {0.99: 0.3}),
        (5, {2: 3}, {0.39: 4.0, 0.41: 2.0}),
    ],
    ids=str,
)
def test_multinomial(levels: int, counts: dict[int, int], prior: dict[float, float]) -> None:
    """Every level has weight 1 and its count; what lies between the levels, its own weight."""
    seen = {level / levels: float(count) for level, count in counts.items()} | prior
    values = sorted(seen)
    indices = drawn(fill_multinomial, values, [seen[x] for x in values], levels)
    support = [*(level / levels for level in range(levels + 1)), *prior]
    weights = [*(1.0 + counts.get(level, 0) for level in range(levels + 1)), *prior.values()]
    assert_same_law(indices, weighted(support, weights))
    assert_moments(indices, support, weights)


def test_a_prior_on_a_level_adds_to_its_count() -> None:
    indices = drawn(fill_multinomial, [0.25, 0.5], [3.0, 2.5], 4)
    assert_same_law(indices, weighted([0.0, 0.25, 0.5, 0.75, 1.0], [1.0, 4.0, 3.5, 1.0, 1.0]))
    assert_moments(indices, [0.0, 0.25, 0.5, 0.75, 1.0], [1.0, 4.0, 3.5, 1.0, 1.0])
