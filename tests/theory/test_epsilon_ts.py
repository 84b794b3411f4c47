"""Theorem I: epsilon-TS with Gaussian samples. Its lemma exactly, and a simulation."""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import thrifty
from thrifty.errors import InvalidValue
from thrifty.theory import H_INTEGRAL, epsilon_ts_sharp, epsilon_wait, sharp


def test_one_is_theorem_b():
    for gap, horizon in ((0.1, 1e5), (0.5, 10.0), (1.0, 1.0), (0.01, 1e12)):
        assert epsilon_ts_sharp(gap, horizon, 1.0).pulls == pytest.approx(sharp(gap, horizon).pulls, rel=1e-6)
    assert epsilon_wait(1.0) == pytest.approx(H_INTEGRAL, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.3, 0.7, 1.0])
def test_the_wait_exactly(epsilon):
    """sum_s E[1/P(index > mu - c)] - 1 for Bernoulli rewards, a binomial sum, is below H_e/c^2, and within
    a factor of 20."""
    for mean in (0.3, 0.5, 0.9):
        for c in (0.1, 0.25):
            total = 0.0
            for s in range(1, int(12 / c**2)):
                k = np.arange(s + 1)
                z = np.sqrt(s) * (mean - c - k / s)
                chance = epsilon * ndtr(-z) + (1 - epsilon) * (k / s > mean - c)
                total += np.sum(binom.pmf(k, s, mean) * (1 / chance - 1))
            assert 0.05 * epsilon_wait(epsilon) / c**2 < total < epsilon_wait(epsilon) / c**2


def test_the_cases_of_the_proof():
    """1/P - 1 is at most the three integrals, for every W - a."""
    for epsilon in (0.01, 0.2, 0.9, 1.0):
        for w in np.linspace(-6, 6, 241):
            q = ndtr(-w)
            chance = epsilon * q + (1 - epsilon) * (w < 0)
            below = min(1 / q - 1, 1.0)
            above = max(1 / q - 2, 0.0)
            bound = epsilon * below + above / epsilon + (2 / epsilon - 1 - epsilon) * (w >= 0)
            assert 1 / chance - 1 <= bound * (1 + 1e-9) + 1e-14


def test_it_holds_trivially_where_the_logarithm_is_zero():
    for epsilon in (0.01, 0.3, 1.0):
        horizon = 1 / (epsilon * 0.1**2)
        assert epsilon_ts_sharp(0.1, horizon, epsilon).pulls > horizon


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_the_bound_holds_in_a_small_simulation(epsilon):
    result = thrifty.simulate(
        [thrifty.EpsilonTS("gaussian", epsilon)],
        thrifty.Bernoulli([0.75, 0.25]),
        20_000,
        100,
        seed=9,
        checkpoints=[20_000],
    )
    pulls = result.regret[0, :, -1] / 0.5
    upper = pulls.mean() + 5 * pulls.std(ddof=1) / 10
    assert 10 < upper < epsilon_ts_sharp(0.5, 20_000, epsilon).pulls < 20_000 / 5


def test_the_leading_constant_tends_to_two():
    ratios = [epsilon_ts_sharp(1.0, t, 0.5).pulls / math.log(t) for t in (1e6, 1e30, 1e300)]
    assert ratios == sorted(ratios, reverse=True)
    assert 2.0 < ratios[-1] < 3.5


def test_impossible_values():
    with pytest.raises(InvalidValue, match="epsilon must be"):
        epsilon_ts_sharp(0.1, 1e5, 0.0)
