"""UCB1-tuned where its value is plain, and at the edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrifty.policies import ucb1
from thrifty.policies.ucb1_tuned import index


def test_a_small_variance_counts() -> None:
    """ln(e)/800 = 1/800, sqrt(2/800) = 0.05, and 0.01 + 0.05 = 0.06 < 1/4."""
    assert index(800.0, 0.5, 0.01, math.e) == pytest.approx(0.5 + math.sqrt(0.06 / 800), rel=1e-15)


def test_no_variance_is_taken_to_exceed_a_quarter() -> None:
    """Without the minimum, 1/4 would be 0.75 here. With it the bonus is that of UCB1, divided by sqrt(8)."""
    assert index(8.0, 0.5, 0.25, math.e) == pytest.approx(0.5 + math.sqrt(0.25 / 8), rel=1e-15)
    assert index(50.0, 0.5, 0.25, 999) - 0.5 == pytest.approx(
        (ucb1.index(50.0, 0.5, 999) - 0.5) / math.sqrt(8), rel=1e-14
    )


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_a_variance_of_0_still_explores(mean: float) -> None:
    assert index(1.0, mean, 0.0, 1) == mean
    assert index(10**6, mean, 0.0, 10**6) > mean


@given(
    mean=st.floats(0.0, 1.0),
    variance=st.floats(0.0, 0.25),
    n=st.integers(1, 10**12),
    t=st.integers(1, 10**12),
)
def test_it_grows_with_time_and_variance(mean: float, variance: float, n: int, t: int) -> None:
    value = index(float(n), mean, variance, t)
    assert mean <= value < math.inf
    assert index(float(n), mean, variance, 2 * t) >= value >= index(n + 1.0, mean, variance, t)
    assert index(float(n), mean, variance / 2, t) <= value
