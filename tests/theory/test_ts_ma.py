"""TS-MA: the constants of the paper's proof, its facts, and the sharper bound."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from thrifty.errors import InvalidValue
from thrifty.theory import C0, nonvacuous_from, phi, ts_ma, ts_ma_sharp
from thrifty.theory.ts_ma import overestimation

ALPHAS = (0.0, 0.3, 0.5, 0.8, 0.9, 1.0)
HORIZONS = (3.0, 5.0, 20.0, 1e3, 1e6, 1e12)


def test_c0():
    assert abs(C0 - 0.120985362) < 5e-10
    assert abs(1 / C0 - 8.265462708) < 5e-10


@pytest.mark.parametrize(
    ("horizon", "values"),
    [
        (1e3, (9490.79, 1041.04, 276.42, 177.66, 114.19)),
        (1e4, (46207.31, 2652.42, 477.53, 269.64, 152.26)),
        (1e5, (204209.39, 6234.18, 768.42, 382.42, 190.32)),
        (1e6, (848882.49, 13923.74, 1182.23, 519.62, 228.38)),
    ],
)
def test_the_batch_size(horizon, values):
    assert [phi(horizon, alpha) for alpha in (0.0, 0.5, 0.8, 0.9, 1.0)] == pytest.approx(values, abs=5e-3)


@pytest.mark.parametrize(
    ("alpha", "coefficient"), [(0.0, 8.66228), (0.8, 7.59828), (0.9, 7.46356), (1.0, 7.32843)]
)
def test_the_papers_constants(alpha, coefficient):
    bound = ts_ma(0.1, 1e6, alpha)
    assert bound.coefficient == pytest.approx(coefficient, abs=5e-6)
    additive = bound.pulls - bound.coefficient * math.log(1e6) ** (1 + alpha) / 0.01
    assert additive == pytest.approx(14.2655, abs=5e-5)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_steps_of_the_papers_proof(alpha):
    for horizon in HORIZONS:
        log = math.log(horizon)
        samples = math.ceil(phi(horizon, alpha))
        # omega_1: T ceil(phi) / (2 T^((5-alpha)/2)) <= 1/c0, also with phi rounded up
        assert samples * horizon * 0.5 * horizon ** (-(5 - alpha) / 2) <= 1 / C0
        # Fact 3, for every T >= e and in a stronger form
        assert log ** (1 - alpha) <= 1 + (1 - alpha) * (log - 1) + 1e-12
        # omega_2: anti-concentration and T^2 exp(-2 ln T) = 1
        chance = C0 / math.sqrt(log ** (1 - alpha) * horizon ** (1 - alpha))
        assert norm.sf(math.sqrt(log ** (1 - alpha))) >= chance
        assert chance * phi(horizon, alpha) == pytest.approx(2 * log, rel=1e-12)


def test_the_slack_in_the_exponent():
    """ln^1.5(T)/T <= 0.41; any exponent above 3 - alpha keeps omega_1 bounded: 5.95 at alpha = 0."""
    horizons = np.exp(np.linspace(1, 30, 10**5))
    assert np.max(np.log(horizons) ** 1.5 / horizons) == pytest.approx(0.41, abs=5e-4)
    assert (math.sqrt(0.5) + math.sqrt(3)) ** 2 == pytest.approx(5.95, abs=5e-3)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_overestimation_sum(alpha):
    """sum_s min(1, N/2 exp(-s gap^2/(2V))) <= 2V (ln(N/2) + 1)/gap^2, and the exact tail is smaller still."""
    gap, horizon = 0.3, 1e5
    samples = math.ceil(phi(horizon, alpha))
    variance = math.log(horizon) ** alpha
    s = np.arange(1, 40000)
    bound = np.minimum(1.0, samples / 2 * np.exp(-s * gap**2 / (2 * variance))).sum()
    exact = -np.expm1(samples * norm.logcdf(np.sqrt(s / variance) * gap))
    assert exact.sum() < bound < overestimation(horizon, alpha, samples) / gap**2


@pytest.mark.parametrize("alpha", ALPHAS)
def test_sharp_is_its_closed_form_and_below_the_papers(alpha):
    for gap, horizon in ((0.1, 1e5), (0.5, 1e3), (0.01, 1e9), (1.0, 20.0)):
        bound = ts_ma_sharp(gap, horizon, alpha)
        weight = 2 * math.log(horizon) ** alpha * (math.log((phi(horizon, alpha) + 1) / 2) + 1)
        closed = (math.cbrt(weight) + math.cbrt(0.5)) ** 3 / gap**2 + 4
        assert bound.pulls == pytest.approx(closed, rel=1e-12)
        if horizon >= 1e3:
            assert bound.pulls < ts_ma(gap, horizon, alpha).pulls


def test_the_order_of_the_sharp_bound():
    """Over ln T it tends to 1 at alpha = 0; over ln T ln ln T to 2 at alpha = 1. Both slowly, from above."""

    def scaled(alpha, power):
        return ts_ma_sharp(1.0, 10.0**power, alpha).pulls

    at_zero = [scaled(0.0, power) / math.log(10.0**power) for power in (6, 30, 300)]
    assert at_zero[0] > at_zero[1] > at_zero[2] > 1.0
    assert at_zero[2] < 1.5
    log = [math.log(10.0**power) for power in (6, 30, 300)]
    at_one = [scaled(1.0, power) / (x * math.log(x)) for power, x in zip((6, 30, 300), log, strict=True)]
    assert at_one[0] > at_one[1] > at_one[2] > 2.0
    assert [y * math.log(x) / x for y, x in zip(at_one, log, strict=True)][2] < 0.1  # o(ln^2 T)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_overestimation_is_concave_in_the_horizon(alpha):
    """V (ln(N/2) + 1) for N = phi + 1 and for N = T: its difference quotients decrease from T = 3 on."""
    horizons = np.exp(np.linspace(math.log(3), 60, 2000))
    for samples in (lambda t: phi(t, alpha) + 1, lambda t: t):
        values = np.array([overestimation(t, alpha, samples(t)) for t in horizons])
        assert np.all(np.diff(np.diff(values) / np.diff(horizons)) < 0)


@pytest.mark.parametrize("bound", [ts_ma, ts_ma_sharp])
@pytest.mark.parametrize("alpha", [0.0, 0.8, 1.0])
def test_one_crossing_with_the_trivial_bound(bound, alpha):
    for gap in (0.01, 0.3, 1.0):
        horizons = np.exp(np.linspace(math.log(3), math.log(1e30), 2000))
        pulls = np.array([bound(gap, horizon, alpha).pulls for horizon in horizons])
        assert np.sum(np.diff(pulls < horizons)) == 1
        start = nonvacuous_from(lambda t, gap=gap: bound(gap, t, alpha).regret, gap)
        assert bound(gap, start, alpha).pulls < start <= bound(gap, start - 1, alpha).pulls + 1


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_bounds_hold_in_a_small_simulation(alpha):
    """Two coins, gap 0.5, T = 2000, 400 runs: the mean of the bad pulls, 5 errors up, is below each bound."""
    rng = np.random.default_rng(3)
    horizon, runs = 2000, 400
    means = np.array([0.75, 0.25])
    samples, variance = phi(horizon, alpha), math.log(horizon) ** alpha
    sums = (rng.random((runs, 2)) < means).astype(float)
    counts = np.ones((runs, 2))
    rows = np.arange(runs)

    def index(mean, count):
        survival = -np.expm1(-rng.standard_exponential(mean.shape) / samples)
        return mean + np.sqrt(variance / count) * norm.isf(survival)

    theta = index(sums, counts)
    for _ in range(horizon - 2):
        arm = theta.argmax(axis=1)
        sums[rows, arm] += rng.random(runs) < means[arm]
        counts[rows, arm] += 1
        theta[rows, arm] = index(sums[rows, arm] / counts[rows, arm], counts[rows, arm])
    pulls = counts[:, 1]
    upper = pulls.mean() + 5 * pulls.std() / math.sqrt(runs)
    assert 20 < upper < ts_ma_sharp(0.5, horizon, alpha).pulls < ts_ma(0.5, horizon, alpha).pulls
    assert ts_ma_sharp(0.5, horizon, alpha).pulls < horizon


def test_impossible_values():
    with pytest.raises(InvalidValue, match="horizon must be at least 3, got 2"):
        ts_ma(0.1, 2, 0.5)
    for bound in (ts_ma, ts_ma_sharp):
        with pytest.raises(InvalidValue, match=r"alpha must be in \[0, 1\], got 1.5"):
            bound(0.1, 100, 1.5)
