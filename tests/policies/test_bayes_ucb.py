"""Bayes-UCB against SciPy's quantiles, and at the edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainccinv

from thrifty.policies.bayes_ucb import index


def test_index() -> None:
    assert index(80.0, 100.0, 10**4, 10**4, 0.0) == pytest.approx(0.9152241844, abs=5.1e-11)


@given(
    n=st.integers(1, 10**5),
    share=st.floats(0.0, 1.0),
    t=st.integers(2, 10**9),
    c=st.sampled_from([0.0, 1.0, 5.0]),
)
def test_it_is_the_quantile(n: int, share: float, t: int, c: float) -> None:
    s = math.floor(n * share)
    mass = 1.0 / (t * math.log(10**6) ** c)
    value = index(float(s), float(n), t, 10**6, c)
    assert value == pytest.approx(float(betainccinv(s + 1, n - s + 1, mass)), rel=1e-9)
    assert index(float(s), float(n), 2 * t, 10**6, c) > value or value > 1.0 - 1e-12


@pytest.mark.parametrize("t", [2, 100, 10**12])
def test_all_rewards_equal(t: int) -> None:
    """The posteriors Beta(1, n + 1) and Beta(n + 1, 1) have closed quantiles."""
    assert index(0.0, 10.0, t, 10, 0.0) == pytest.approx(-math.expm1(-math.log(t) / 11), rel=1e-14)
    assert index(10.0, 10.0, t, 10, 0.0) == pytest.approx(math.exp(math.log1p(-1 / t) / 11), rel=1e-14)


def test_at_the_first_time_the_order_is_0() -> None:
    for s in (0.0, 1.0):
        assert index(s, 1.0, 1, 1, 0.0) == index(s, 1.0, 0, 1, 0.0) == 0.0


def test_a_horizon_below_e_counts_as_e() -> None:
    assert index(1.0, 2.0, 5, 1, 5.0) == index(1.0, 2.0, 5, 1, 0.0) == pytest.approx(betainccinv(2, 2, 0.2))


def test_a_sum_a_hair_outside_its_range_is_taken_as_its_end() -> None:
    assert index(-1e-16, 3.0, 9, 9, 0.0) == index(0.0, 3.0, 9, 9, 0.0)
    assert index(3.0 + 4e-16, 3.0, 9, 9, 0.0) == index(3.0, 3.0, 9, 9, 0.0)
