"""IMED: the value to minimise, with its zeros and infinities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

from thrifty.numerics import families
from thrifty.numerics.families import BERNOULLI, EXPONENTIAL, GAUSSIAN, POISSON
from thrifty.numerics.k_inf import k_inf
from thrifty.policies.imed import bounded, index

ALL = sorted(families.CODES.values())


def test_index() -> None:
    """kl(0.8, 0.9) = 0.0444030076."""
    assert index(BERNOULLI, 100.0, 0.8, 0.9) == pytest.approx(4.44030076 + math.log(100), abs=1e-8)
    assert index(GAUSSIAN, 8.0, 0.0, 0.5) == pytest.approx(1.0 + math.log(8), rel=1e-15)
    assert index(POISSON, 2.0, 1.0, 2.0) == pytest.approx(2 * 0.3068528194 + math.log(2), abs=1e-9)
    assert index(EXPONENTIAL, 2.0, 1.0, 2.0) == pytest.approx(2 * 0.1931471806 + math.log(2), abs=1e-9)


@given(family=st.sampled_from(ALL), mean=st.floats(0.0, 1.0), n=st.integers(1, 10**12))
def test_the_best_arm_has_the_logarithm_of_its_pulls(family: int, mean: float, n: int) -> None:
    assert index(family, float(n), mean, mean) == math.log(n)


@given(mean=st.floats(0.0, 1.0), best=st.floats(0.0, 1.0), n=st.integers(1, 10**9))
def test_bernoulli_against_scipy(mean: float, best: float, n: int) -> None:
    mean, best = min(mean, best), max(mean, best)
    divergence = float(rel_entr(mean, best) + rel_entr(1 - mean, 1 - best)) if mean < best else 0.0
    expected = n * divergence + math.log(n)
    assert index(BERNOULLI, float(n), mean, best) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(
    family=st.sampled_from(ALL),
    mean=st.floats(0.0, 1.0),
    n=st.integers(1, 10**9),
    first=st.floats(0.0, 1.0),
    second=st.floats(0.0, 1.0),
)
def test_it_never_falls_while_the_largest_mean_grows(
    family: int, mean: float, n: int, first: float, second: float
) -> None:
    low, high = sorted((mean + (1 - mean) * first, mean + (1 - mean) * second))
    assert index(family, float(n), mean, low) <= index(family, float(n), mean, high) * (1 + 1e-14) + 1e-300


def test_infinities_and_means_at_the_ends() -> None:
    """An arm that failed once cannot be as good as one that never did; one that never paid can be better."""
    assert index(BERNOULLI, 3.0, 0.5, 1.0) == math.inf
    assert index(BERNOULLI, 3.0, 1.0, 1.0) == math.log(3)
    assert index(BERNOULLI, 3.0, 0.0, 0.5) == pytest.approx(3 * math.log(2) + math.log(3), rel=1e-15)
    assert index(BERNOULLI, 1.0, 0.0, 0.0) == index(EXPONENTIAL, 1.0, 0.0, 0.0) == 0.0
    assert index(EXPONENTIAL, 3.0, 0.0, 0.5) == math.inf
    assert index(POISSON, 3.0, 0.0, 0.5) == pytest.approx(1.5 + math.log(3), rel=1e-15)


def test_bounded_rewards() -> None:
    """With K_inf of the arm's rewards; for rewards in {0, 1} that is the Bernoulli index."""
    divergence, _ = k_inf(np.array([0.0, 1.0]), np.array([2.0, 8.0]), 0.9, 0.0)
    assert bounded(10.0, divergence) == pytest.approx(index(BERNOULLI, 10.0, 0.8, 0.9), rel=1e-12)
    divergence, _ = k_inf(np.array([0.2, 0.5, 0.8]), np.ones(3), 0.6, 0.0)
    assert bounded(3.0, divergence) == pytest.approx(3 * 0.0872080240 + math.log(3), abs=1e-9)
    assert bounded(5.0, 0.0) == math.log(5)
    assert bounded(5.0, math.inf) == math.inf
