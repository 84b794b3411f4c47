"""MOSS where its value is plain, and in its limits."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrifty.policies.moss import index


def test_index() -> None:
    """T/(K n) = e gives a bonus of sqrt(1/n)."""
    assert index(25.0, 0.5, 4, 100.0 * math.e) == pytest.approx(0.7, rel=1e-15)


def test_it_is_the_subgaussian_form_at_half_the_deviation() -> None:
    n, arms, horizon, deviation = 7.0, 10, 10**4, 0.5
    bonus = deviation * math.sqrt(4.0 / n * math.log(horizon / (arms * n)))
    assert index(n, 0.3, arms, horizon) == pytest.approx(0.3 + bonus, rel=1e-15)


@given(mean=st.floats(0.0, 1.0), n=st.floats(5000.0, 1e15))
def test_from_n_equal_to_its_share_of_the_horizon_on_it_is_the_mean(mean: float, n: float) -> None:
    assert index(n, mean, 20, 10**5) == mean


@given(mean=st.floats(0.0, 1.0), n=st.integers(1, 4999))
def test_more_pulls_never_raise_it(mean: float, n: int) -> None:
    assert mean <= index(n + 1.0, mean, 20, 10**5) <= index(float(n), mean, 20, 10**5) < math.inf


@pytest.mark.parametrize(("arms", "horizon"), [(1, 1), (10, 10), (10**6, 10**12)])
def test_it_is_a_number_in_every_setting(arms: int, horizon: int) -> None:
    for n in (0.01, 1.0, 1e6, 1e15):  # a prior may weigh less than one pull
        assert 0.5 <= index(n, 0.5, arms, horizon) < math.inf
