"""Bounds as objects, their sums, and the horizon from which they say something."""

import math

import pytest

from thrifty.errors import InvalidValue
from thrifty.theory import Bound, nonvacuous_from, positive_gaps, refined, theorem1, total_regret


def test_a_bound_is_the_sum_of_its_terms():
    bound = Bound(0.5, 100.0, 3.0, {"one": 1.5, "two": 2.5})
    assert bound.pulls == 4.0
    assert bound.regret == 2.0


def test_gaps_leave_out_every_optimal_arm():
    assert positive_gaps([0.75, 0.5, 0.75, 0.25]) == [0.25, 0.5]
    assert positive_gaps([0.4, 0.4]) == []
    with pytest.raises(InvalidValue, match=r"means\[\d\] must be in \[0, 1\], got 1.5"):
        positive_gaps([1.5, 0.5])


def test_the_total_is_a_sum_over_arms():
    gaps = [0.1, 0.1, 0.3]
    expected = sum(theorem1(gap, 1e4).regret for gap in gaps)
    assert total_regret(theorem1, gaps, 1e4) == pytest.approx(expected, rel=1e-14)
    assert total_regret(theorem1, [], 1e4) == 0.0


@pytest.mark.parametrize("constant", [0.5, 5.0, 1234.25, 2.0**40])
def test_nonvacuous_from_is_exact_to_the_integer(constant):
    """regret = constant: below T * 1 from the first integer T > constant, and not before 3."""
    assert nonvacuous_from(lambda _: constant, 1.0) == max(3.0, math.floor(constant) + 1.0)


def test_nonvacuous_from_a_huge_horizon():
    answer = nonvacuous_from(lambda _: 1.7e42, 0.1)
    assert answer == pytest.approx(1.7e43, rel=1e-9)


def test_nonvacuous_from_may_be_never():
    assert nonvacuous_from(lambda horizon: horizon, 1.0) == math.inf
    assert nonvacuous_from(lambda _: math.inf, 1.0) == math.inf


def test_different_gaps_may_cross_more_than_once():
    """Theorem A for one gap of 1 and 80 of 0.001, whose logarithm sets in at T = 10^6."""
    gaps = [1.0] + [0.001] * 80

    def regret(horizon):
        return total_regret(refined, gaps, horizon)

    assert [regret(horizon) < horizon for horizon in (9e5, 1e6, 1.4e6, 2e6)] == [False, True, False, True]
    answer = nonvacuous_from(regret, 1.0)
    assert regret(answer) < answer
    assert regret(answer - 1) >= answer - 1


@pytest.mark.parametrize("gap", [1.5, 0.0, -0.1, math.nan, 1e-120])
def test_impossible_gaps(gap):
    with pytest.raises(InvalidValue, match="gap must be"):
        theorem1(gap, 1e4)


def test_impossible_horizons():
    with pytest.raises(InvalidValue, match="horizon must be at least 1, got 0"):
        theorem1(0.1, 0)
    with pytest.raises(InvalidValue, match=r"gap must be above 0, got 0\.0"):
        nonvacuous_from(lambda _: 1.0, 0.0)
