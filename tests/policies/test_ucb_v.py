"""UCB-V where its value is plain, and at the edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrifty.policies.ucb_v import index


def test_index() -> None:
    """ln(e) = 1: sqrt(2 * 0.25 * 1/2) = 0.5 and 3/2; then zeta = 4 and c = 2."""
    assert index(2.0, 0.25, 0.25, math.e, 1.0, 1.0) == pytest.approx(2.25, rel=1e-15)
    assert index(2.0, 0.25, 0.25, math.e, 4.0, 2.0) == pytest.approx(0.25 + 1.0 + 12.0, rel=1e-15)


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_a_variance_of_0_leaves_the_linear_term(mean: float) -> None:
    assert index(1.0, mean, 0.0, 1, 1.0, 1.0) == mean
    assert index(10.0, mean, 0.0, 100, 1.0, 1.0) == pytest.approx(mean + 0.3 * math.log(100), rel=1e-15)
    assert index(10.0, mean, 0.0, 100, 1.0, 0.0) == mean


@given(
    mean=st.floats(0.0, 1.0),
    variance=st.floats(0.0, 0.25),
    n=st.integers(1, 10**12),
    t=st.integers(1, 10**12),
)
def test_it_grows_with_time_and_variance(mean: float, variance: float, n: int, t: int) -> None:
    value = index(float(n), mean, variance, t, 1.2, 1.0)
    assert mean <= value < math.inf
    assert index(float(n), mean, variance, 2 * t, 1.2, 1.0) >= value
    assert index(float(n), mean, variance / 2, t, 1.2, 1.0) <= value
    assert index(n + 1.0, mean, variance, t, 1.2, 1.0) <= value
