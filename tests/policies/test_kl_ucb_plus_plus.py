"""KL-UCB++ at published values and in its limits."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrifty.numerics import kl
from thrifty.policies.kl_ucb_plus_plus import exploration, index


@pytest.mark.parametrize(
    ("n", "g"),
    [(1, 12.8150577), (10, 9.8939763), (100, 6.7034288), (1000, 2.8876710), (5000, 0.0), (9000, 0.0)],
)
def test_exploration(n: int, g: float) -> None:
    """T = 10^5, K = 20, to the seven decimals given."""
    assert exploration(float(n), 20, 10**5) == pytest.approx(g, abs=5.1e-8)


def test_index() -> None:
    assert index(100.0, 0.8, 20, 10**5) == pytest.approx(0.9172178074, abs=5.1e-11)


@given(mean=st.floats(0.0, 1.0), n=st.floats(5000.0, 1e15))
def test_from_n_equal_to_its_share_of_the_horizon_on_it_is_the_mean(mean: float, n: float) -> None:
    assert index(n, mean, 20, 10**5) == mean


@given(mean=st.floats(0.0, 1.0), n=st.integers(1, 4999))
def test_it_is_the_largest_mean_within_the_budget(mean: float, n: int) -> None:
    """n kl(m, q) = g(n), unless q is rounded to 1; and more pulls never raise it."""
    q = index(float(n), mean, 20, 10**5)
    assert mean <= q <= 1.0
    if 0.0 < mean < 1.0 and q < 1.0 - 1e-9:
        assert n * kl.bernoulli(mean, q) == pytest.approx(exploration(float(n), 20, 10**5), rel=1e-6)
    assert index(n + 1.0, mean, 20, 10**5) <= q


def test_means_at_the_ends() -> None:
    g = exploration(10.0, 20, 10**5)
    assert index(10.0, 0.0, 20, 10**5) == pytest.approx(-math.expm1(-g / 10.0), rel=1e-14)
    assert index(10.0, 1.0, 20, 10**5) == 1.0


@pytest.mark.parametrize(("arms", "horizon"), [(1, 1), (10, 10), (10**6, 10**12)])
def test_it_is_a_number_in_every_setting(arms: int, horizon: int) -> None:
    for n in (0.01, 1.0, 1e6, 1e15):  # a prior may weigh less than one pull
        assert 0.5 <= index(n, 0.5, arms, horizon) <= 1.0
