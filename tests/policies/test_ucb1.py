"""UCB1 where its value is plain, and at the edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrifty.policies.ucb1 import index


def test_index() -> None:
    """ln(e) = 1, and 2/8 is a square."""
    assert index(8.0, 0.25, math.e) == pytest.approx(0.75, rel=1e-15)
    assert index(100.0, 0.8, 10**4) == pytest.approx(0.8 + 0.4291932053, abs=5.1e-11)


@pytest.mark.parametrize("mean", [0.0, 0.5, 1.0])
def test_before_the_second_pull_it_is_the_mean(mean: float) -> None:
    assert index(1.0, mean, 1) == index(1.0, mean, 0) == mean


@given(mean=st.floats(0.0, 1.0), n=st.integers(1, 10**12), t=st.integers(1, 10**12))
def test_it_grows_with_time_and_falls_with_pulls(mean: float, n: int, t: int) -> None:
    value = index(float(n), mean, t)
    assert mean <= value < math.inf
    assert index(float(n), mean, 2 * t) >= value >= index(n + 1.0, mean, t)
