"""UCB-Improved: its phases by their formulas."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrifty.policies.ucb_improved import eliminated, phases, pulls, width


@pytest.mark.parametrize(
    ("horizon", "count"), [(1, 0), (2, 0), (3, 1), (10, 1), (11, 2), (10**4, 6), (10**6, 10)]
)
def test_phases(horizon: int, count: int) -> None:
    """The last is floor(log2(T/e) / 2): 4 e = 10.87 makes the difference between 10 and 11."""
    assert phases(horizon) == count


@pytest.mark.parametrize(("m", "count"), [(0, 19), (1, 63), (2, 207), (3, 647), (4, 1877), (5, 4668)])
def test_pulls(m: int, count: int) -> None:
    """T = 10^4, for instance 2 ln(10^4 / 64) * 64 = 646.5."""
    assert pulls(m, 10**4) == count


@given(horizon=st.integers(3, 10**12))
def test_every_phase_asks_for_more_pulls_and_is_surer(horizon: int) -> None:
    """ln(T D^2) >= 1, and 2 w <= D: an arm that is worse by 2 D cannot stay for ever."""
    last = 0
    for m in range(phases(horizon)):
        assert horizon * 4.0**-m >= math.e
        assert pulls(m, horizon) > last
        last = pulls(m, horizon)
        assert last >= 2.0 * 4.0**m
        assert 0.0 < width(m, horizon) <= 0.5 * 2.0**-m
    assert horizon * 4.0 ** -phases(horizon) < math.e


def test_width() -> None:
    assert width(3, 10**4) == pytest.approx(math.sqrt(math.log(156.25) / (2 * 647)), rel=1e-14)


def test_eliminated() -> None:
    assert eliminated(0.5, 0.8, 0.125)
    assert not eliminated(0.5, 0.75, 0.125)  # a tie stays
    assert not eliminated(0.75, 0.75, 0.0)  # the best arm stays
