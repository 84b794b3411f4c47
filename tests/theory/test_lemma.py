"""The lemma's expectation: exact sums, the bound h, and the integral that the refined bounds rest on."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import binom, norm

from thrifty.errors import InvalidValue
from thrifty.theory import H_INTEGRAL, excess, excess_grid, excess_limit, h, h_integral
from thrifty.theory.lemma import waiting


def test_excess_is_the_naive_sum_where_that_is_safe():
    for mean, s, gap in itertools.product((0.1, 0.5, 0.9), (1, 2, 7, 30), (0.0, 0.1, 0.6)):
        k = np.arange(s + 1)
        good = norm.sf((mean - gap / 2 - k / s) * math.sqrt(s))
        naive = np.sum(binom.pmf(k, s, mean) / good) - 1.0
        assert excess(mean, s, gap) == pytest.approx(naive, rel=1e-9)


def test_excess_agrees_with_sampling():
    """10^6 empirical means; 1/Q has finite variance here, and the tolerance is 5 standard errors."""
    rng = np.random.default_rng(1)
    mean, s, gap, variance = 0.7, 20, 0.2, 2.0
    z = math.sqrt(s / variance) * (mean - gap / 2 - rng.binomial(s, mean, 10**6) / s)
    ratio = 1.0 / norm.sf(z) - 1.0
    assert excess(mean, s, gap, variance) == pytest.approx(ratio.mean(), abs=5 * ratio.std() / 1000)


def test_excess_is_finite_where_one_over_q_overflows():
    assert math.exp(-1.0) < excess(0.5, 10**6, 0.0) < excess_limit(0.5)  # 1/Q up to e^125000
    assert excess(1.0, 5, 0.0) == pytest.approx(1.0)  # certain rewards: Phi(0)/Q(0)
    assert excess(0.0, 5, 0.0) == pytest.approx(1.0)
    assert excess(1.0, 10**6, 1.0) == 0.0  # Phi(-500)/Q(-500)


def test_the_largest_exact_value_up_to_400_pulls():
    """1.414, far below the paper's 29 and below h(0) = 3.41. It grows with s towards the Gaussian limit."""
    means = np.linspace(0.01, 0.99, 99)
    pulls = [*range(1, 31), 50, 100, 200, 300, 400]
    grid = excess_grid(means.tolist(), pulls, [0.0])[:, :, 0]
    assert grid.max() == pytest.approx(1.414, abs=5e-4)
    assert np.unravel_index(grid.argmax(), grid.shape) == (50, len(pulls) - 1)  # mean 0.51, s = 400
    assert np.all(np.diff(grid.max(axis=0)) > 0)
    assert grid.max() < excess_limit(0.5)


def test_the_gaussian_limit():
    assert excess_limit(0.5) == pytest.approx(1.41390, abs=5e-6)
    assert excess(0.5, 10**6, 0.0) == pytest.approx(excess_limit(0.5), abs=1e-4)
    assert excess(0.8, 10**6, 0.0) == pytest.approx(excess_limit(0.4), abs=1e-2)


def test_excess_decreases_with_the_gap():
    grid = excess_grid([0.2, 0.5, 0.9], [1, 10, 100], [0.0, 0.05, 0.2, 0.5])
    assert grid.shape == (3, 3, 4)
    assert np.all(np.diff(grid, axis=2) < 0)


def test_h_bounds_every_exact_value():
    for mean, s, gap in itertools.product((0.05, 0.3, 0.5, 0.8, 0.99), (1, 3, 10, 100, 400), (0.0, 0.1, 0.5)):
        for variance in (1.0, 3.0):
            assert excess(mean, s, gap, variance) <= h(math.sqrt(s / variance) * gap / 2)


@pytest.mark.parametrize(
    ("a", "value"), [(0, 3.4056), (0.5, 1.4472), (1, 0.63927), (2, 0.112609), (3, 0.0128406)]
)
def test_known_values_of_h(a, value):
    digits = len(str(value).lstrip("0.").replace(".", ""))
    assert h(a) == pytest.approx(value, rel=0.6 * 10.0 ** (1 - digits))


def _increments_and_weights(weight, low, high, step):
    """1/Q at the knots as increments, and a decreasing weight at both ends of each cell."""
    v = np.arange(low, high + step / 2, step)
    increments = np.diff(np.exp(-log_ndtr(-v)))
    return increments, weight(v[:-1]), weight(v[1:])


@pytest.mark.parametrize("a", [0.0, 0.5, 1.0, 2.0, 3.0])
def test_h_lies_between_its_darboux_sums(a):
    """h(a) = int min(1, exp(-2 (v+a)_+^2)) d(1/Q): a decreasing weight against an increasing function.

    So its values at the left ends give an upper sum, at the right ends a lower one, whatever the quadrature
    does. Outside [-10 - a, 10]: left of it 1/Q - 1 < 1e-22, and the weight is 1; right of it is less than
    1e-60, by Q >= phi v/(1+v^2).
    """
    increments, upper, lower = _increments_and_weights(
        lambda v: np.exp(-2 * np.maximum(v + a, 0.0) ** 2), -10.0 - a, 10.0, 1e-4
    )
    assert increments @ lower < h(a) < increments @ upper + 1e-20
    assert increments @ upper - increments @ lower < 2e-3 * h(a)


def test_the_integral_lies_between_its_darboux_sums():
    """H = int G d(1/Q) with G decreasing; the same argument. The upper sum proves the 11.69 of Theorem A.

    Rounding moves these sums by less than 1e-8: 250,000 differences of 1/Q, each to 1e-16 of it, times G.
    """
    increments, upper, lower = _increments_and_weights(np.vectorize(waiting), -15.0, 10.0, 1e-4)
    low, high = increments @ lower, increments @ upper + 1e-20
    assert 2.2964 < low < h_integral() < H_INTEGRAL < high < 2.2969
    assert 4 * high + 2.5 < 11.69


def test_the_integral():
    assert h_integral() == pytest.approx(2.29668, abs=5e-6)
    assert 4 * h_integral() == pytest.approx(9.187, abs=5e-4)
    assert 0.0 < H_INTEGRAL - h_integral() < 1e-7
    u = np.linspace(0.0, 60.0, 2401)
    midpoints = (u[1:] + u[:-1]) / 2
    direct = sum(h(math.sqrt(x)) for x in midpoints) * (u[1] - u[0])
    assert direct == pytest.approx(h_integral(), abs=2e-3)  # h(sqrt(u)) has a root-like cusp at 0


def test_waiting_is_its_integral():
    a = np.linspace(0.0, 12.0, 200001)
    for v in (-3.0, -0.4, 0.0, 0.3, 1.5):
        weight = np.exp(-2 * np.maximum(v + a, 0.0) ** 2)
        assert waiting(v) == pytest.approx(np.trapezoid(2 * a * weight, a), rel=1e-6, abs=1e-9)


def test_h_decreases_and_decays():
    values = [h(a) for a in np.linspace(0.0, 30.0, 301)]
    assert all(later < earlier for earlier, later in itertools.pairwise(values))
    rate = [math.log(h(a)) / a**2 for a in (20.0, 35.0)]
    assert rate[1] == pytest.approx(-0.4, abs=0.005)  # max of -v^2/2 - 2 (v+a)^2 is -0.4 a^2
    assert h(200.0) == 0.0


def test_sums_over_pulls_stay_below_the_integral():
    """sum_s E[1/P] - 1 <= H/c^2, c = gap/2: exactly for Bernoulli, and for the bound h itself."""
    for mean, gap in ((0.5, 0.5), (0.9, 0.3), (0.6, 1.0)):
        exact = sum(excess(mean, s, gap) for s in range(1, 800))
        bound = sum(h(math.sqrt(s) * gap / 2) for s in range(1, 800))
        assert exact < bound < H_INTEGRAL / (gap / 2) ** 2


def test_the_second_case_is_far_from_180():
    """sup over x = T gap^2 >= 1 of x h(a) at s = L_1i: 2.7e-4, near x = 1.4."""
    x = np.linspace(1.0, 40.0, 3901)
    values = [t * h((math.sqrt(2) + math.sqrt(3.5)) * math.sqrt(math.log(t + 100 ** (1 / 3)))) for t in x]
    assert max(values) == pytest.approx(2.7e-4, abs=5e-6)
    assert x[int(np.argmax(values))] == pytest.approx(1.4, abs=0.02)


def test_the_papers_own_route_with_exact_tails():
    """min over z of Phi(z)^r + exp(-2 z^2), summed over r >= 1: 11.40 instead of 29."""
    z = np.linspace(0.01, 8.0, 3000)
    fail = np.exp(-2 * z**2)
    total = sum(min(1.0, float(np.min(ndtr(z) ** r + fail))) for r in range(1, 4000))
    assert total == pytest.approx(11.40, abs=0.01)  # beyond r = 4000 it adds less than 0.003


def test_bad_values():
    with pytest.raises(InvalidValue, match=r"sd must be in \(0, 1\), got 1.0"):
        excess_limit(1.0)
    with pytest.raises(InvalidValue, match=r"mean must be in \[0, 1\], got 1.5"):
        excess(1.5, 3, 0.1)
    with pytest.raises(InvalidValue, match="pulls must be at least 1, got 0"):
        excess(0.5, 0, 0.1)
    with pytest.raises(InvalidValue, match=r"a must be at least 0, got -1\.0"):
        h(-1.0)
