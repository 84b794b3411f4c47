"""The asymptotic lower bound: closed forms, known values, and the order between families."""

import math

import pytest

from thrifty.errors import InvalidValue
from thrifty.theory import lower_bound, lower_bound_bounded


@pytest.mark.parametrize(
    ("means", "family", "constant"),
    [
        ([0.9, 0.8], "bernoulli", 2.25210),
        ([0.3, 0.2], "bernoulli", 3.88620),
        ([0.3, 0.0], "gaussian", 6.66667),
        ([1.0, 0.7], "poisson", 5.96095),
        ([1.0, 0.8], "exponential", 8.64172),
    ],
)
def test_known_constants(means, family, constant):
    assert lower_bound(means, family) == pytest.approx(constant, abs=6e-6)


def test_the_papers_problem():
    means = [0.9] + [0.8] * 19
    assert lower_bound(means) == pytest.approx(42.7899, abs=6e-5)
    assert lower_bound(means) * math.log(1e5) == pytest.approx(492.64, abs=6e-3)
    assert lower_bound(means) * math.log(1e4) == pytest.approx(394.11, abs=6e-3)


def test_the_divergence_goes_from_the_bad_arm_to_the_best_mean():
    """Poisson(0.7 -> 1) and (1 -> 0.7) differ by 12 %: a swapped divergence would be caught."""
    divergence = 0.7 * math.log(0.7) + 1.0 - 0.7
    assert lower_bound([0.7, 1.0], "poisson") == pytest.approx(0.3 / divergence, rel=1e-12)
    swapped = math.log(1.0 / 0.7) + 0.7 - 1.0
    assert abs(0.3 / swapped / lower_bound([0.7, 1.0], "poisson") - 1.0) > 0.1


def test_gaussian_scales_with_the_variance():
    assert lower_bound([0.3, 0.0], "gaussian", variance=0.25) == pytest.approx(2 * 0.25 / 0.3, rel=1e-12)


def test_optimal_arms_and_certain_rewards_cost_nothing():
    assert lower_bound([0.5, 0.5, 0.5]) == 0.0
    assert lower_bound([1.0, 0.4]) == 0.0  # one reward below 1 settles it: the divergence is infinite
    assert lower_bound([0.3]) == 0.0


def test_bounded_rewards_agree_with_bernoulli_on_coins():
    coins = [([0.0, 1.0], [1 - mean, mean]) for mean in (0.9, 0.8, 0.3)]
    assert lower_bound_bounded(coins) == pytest.approx(lower_bound([0.9, 0.8, 0.3]), rel=1e-9)


def test_bounded_rewards_use_the_known_values_of_k_inf():
    """K_inf({.2,.5,.8}, .6) = .0872080240 and K_inf({.1,.2,.3}, .6) = .6878977282 (multiplier 1)."""
    best = ([0.6], [1.0])
    thirds = [1 / 3] * 3
    assert lower_bound_bounded([best, ([0.2, 0.5, 0.8], thirds)]) == pytest.approx(
        0.1 / 0.0872080240, rel=1e-8
    )
    assert lower_bound_bounded([best, ([0.1, 0.2, 0.3], thirds)]) == pytest.approx(
        0.4 / 0.6878977282, rel=1e-8
    )


def test_coins_are_the_hardest_bounded_rewards():
    best = ([0.0, 1.0], [0.3, 0.7])
    coin, middle = ([0.0, 1.0], [0.5, 0.5]), ([0.25, 0.75], [0.5, 0.5])
    assert lower_bound_bounded([best, middle]) < lower_bound_bounded([best, coin])


@pytest.mark.parametrize(
    ("means", "family", "message"),
    [
        ([0.5, 1.2], "bernoulli", r"means\[1\] of bernoulli rewards must be in \[0, 1\], got 1.2"),
        ([-0.5, 1.2], "poisson", r"means\[0\] of poisson rewards must be at least 0, got -0.5"),
        ([1.0, 0.0], "exponential", r"means\[1\] of exponential rewards must be above 0, got 0.0"),
        ([], "bernoulli", "at least one entry"),
        ([math.nan], "gaussian", r"means\[0\] must be finite"),
        ([0.5], "cauchy", "family must be one of bernoulli, gaussian, poisson, exponential"),
    ],
)
def test_impossible_means(means, family, message):
    with pytest.raises(InvalidValue, match=message):
        lower_bound(means, family)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (([0.5, 1.5], [0.5, 0.5]), r"values must be in \[0, 1\]"),
        (([0.5, 1.0], [0.5, 0.6]), "sum to 1"),
        (([0.5, 1.0], [1.5, -0.5]), "at least 0"),
        (([0.5, 1.0], [1.0]), "of one length"),
    ],
)
def test_impossible_distributions(law, message):
    with pytest.raises(InvalidValue, match=message):
        lower_bound_bounded([law])
    with pytest.raises(InvalidValue, match="at least one entry"):
        lower_bound_bounded([])
