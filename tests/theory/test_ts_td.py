"""TS-TD: the constants of the paper's proof, its gap G1 and the repair, and the sharper bound."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from thrifty.errors import InvalidValue
from thrifty.theory import (
    C0,
    H_INTEGRAL,
    nonvacuous_from,
    phase_two,
    phi,
    ts_td_as_written,
    ts_td_refined,
    ts_td_repaired,
    ts_td_sharp,
)

BOUNDS = [ts_td_as_written, ts_td_repaired, ts_td_refined, ts_td_sharp]
ALPHAS = (0.0, 0.3, 0.5, 0.8, 0.9, 1.0)


@pytest.mark.parametrize(
    ("alpha", "needed", "coefficient"),
    [(0.0, 53.298, 981.30), (0.8, 47.986, 975.99), (0.9, 47.309, 975.31), (1.0, 46.627, 974.63)],
)
def test_the_papers_constants(alpha, needed, coefficient):
    gap, horizon = 0.1, 1e6
    growth = math.log(horizon) ** (1 + alpha) / gap**2
    written, repaired = ts_td_as_written(gap, horizon, alpha), ts_td_repaired(gap, horizon, alpha)
    assert ts_td_refined(gap, horizon, alpha).coefficient == pytest.approx(needed, abs=6e-4)
    assert written.coefficient == repaired.coefficient == pytest.approx(coefficient, abs=5e-3)
    assert written.pulls - written.coefficient * growth == pytest.approx(13.27, abs=5e-3)
    assert repaired.pulls - repaired.coefficient * growth == pytest.approx(14.27, abs=5e-3)
    assert repaired.pulls - written.pulls == pytest.approx(1.0)


def test_the_refined_terms():
    """I_1 is 9.187 ln^alpha(T)/gap^2; the rest of the additive constant is 1/c0 + 5."""
    gap, horizon, alpha = 0.2, 1e5, 0.8
    bound = ts_td_refined(gap, horizon, alpha)
    assert bound.terms["I_1"] * gap**2 / math.log(horizon) ** alpha == pytest.approx(9.187, abs=5e-4)
    leading = bound.coefficient * math.log(horizon) ** (1 + alpha) / gap**2
    assert bound.pulls - leading - bound.terms["I_1"] == pytest.approx(1 / C0 + 5, rel=1e-9)


def test_the_papers_tail_of_i_1():
    """T (1/(1 - 0.5/T) - 1) = 0.5/(1 - 0.5/T) <= 1."""
    for horizon in (1.0, 3.0, 1e6):
        assert horizon * (1 / (1 - 0.5 / horizon) - 1) == pytest.approx(0.5 / (1 - 0.5 / horizon))
        assert 0.5 / (1 - 0.5 / horizon) <= 1.0


def test_the_repair_allows_a_smaller_l_1i():
    """mu - gap/2 <= mean - sqrt(2 g/s), g = ln^(1+alpha) T, needs gap/2 >= (1 + sqrt 2) sqrt(g/s)."""
    assert 4 * (1 + math.sqrt(2)) ** 2 == pytest.approx(23.3, abs=0.02)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_repair_closes_g1(alpha):
    """With width 1, as the proof uses it, the term is at most 1 at every horizon."""
    horizons = np.exp(np.linspace(math.log(3.0), 600.0, 2000))
    assert all(phase_two(horizon, alpha, width=1.0) <= 1.0 for horizon in horizons)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_g1_is_real_at_both_ends(alpha):
    """With width 2, as the event is defined, the term grows without bound."""
    defined = [phase_two(horizon, alpha, width=2.0) for horizon in (1e3, 1e6, 1e12, 1e24, 1e300)]
    assert 1.0 < defined[0] < defined[1] < defined[2] < defined[3] < defined[4]
    assert defined[3] > 1e15


@pytest.mark.parametrize(
    ("alpha", "until"), [(0.3, 4.959e10), (0.5, 1.075e4), (0.8, 7.10e3), (0.9, 4.62e5), (0.99, 2.244e37)]
)
def test_g1_between_the_ends_is_a_matter_of_the_horizon(alpha, until):
    """For 0 < alpha < 1 the term does vanish, but it exceeds 1 up to this horizon."""
    assert phase_two(until * 0.99, alpha, width=2.0) > 1.0 > phase_two(until * 1.01, alpha, width=2.0)
    assert all(phase_two(until * 1.01 * 10**k, alpha, width=2.0) < 1.0 for k in range(1, 30))
    assert phase_two(163.0, alpha, width=2.0) > 1.0


def test_the_rates_of_g1():
    """alpha = 1: (1 - Q(sqrt 2))^phi = T^-1.35, so the term is T^0.65; alpha = 0: the power tends to 1."""
    for horizon in (1e6, 1e30):
        power = phi(horizon, 1.0) * norm.logcdf(math.sqrt(2)) / math.log(horizon)
        assert power == pytest.approx(-1.35, abs=0.005)
        assert math.log(phase_two(horizon, 1.0, width=2.0)) / math.log(horizon) == pytest.approx(
            0.65, abs=0.005
        )
    unlikely = [phi(10.0**n, 0.0) * norm.sf(math.sqrt(2 * math.log(10.0**n))) for n in (6, 12, 30)]
    assert unlikely[0] > unlikely[1] > unlikely[2]
    assert unlikely[2] < 1e-10


@pytest.mark.parametrize("alpha", ALPHAS)
def test_sharp_is_its_closed_form_and_below_the_others(alpha):
    for gap, horizon in ((0.1, 1e5), (0.5, 1e4), (0.01, 1e9)):
        samples = min(phi(horizon, alpha) + 1, horizon)
        variance = math.log(horizon) ** alpha
        roots = math.cbrt(H_INTEGRAL * variance) + math.cbrt(2 * variance * (math.log(samples / 2) + 1))
        closed = (roots + math.cbrt(0.5)) ** 3 / gap**2 + 4
        assert ts_td_sharp(gap, horizon, alpha).pulls == pytest.approx(closed, rel=1e-12)
        pulls = [bound(gap, horizon, alpha).pulls for bound in (ts_td_sharp, ts_td_refined, ts_td_repaired)]
        assert pulls == sorted(pulls)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("alpha", [0.0, 0.8, 1.0])
def test_one_crossing_with_the_trivial_bound(bound, alpha):
    for gap in (0.01, 1.0):
        horizons = np.exp(np.linspace(math.log(3), math.log(1e30), 1500))
        pulls = np.array([bound(gap, horizon, alpha).pulls for horizon in horizons])
        assert np.sum(np.diff(pulls < horizons)) == 1
        start = nonvacuous_from(lambda t, gap=gap: bound(gap, t, alpha).regret, gap)
        assert bound(gap, start, alpha).pulls < start <= bound(gap, start - 1, alpha).pulls + 1


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_bounds_hold_in_a_small_simulation(alpha):
    """Two coins, gap 0.7, T = 2000, 200 runs: the mean of the bad pulls, 5 errors up, is below the bound."""
    rng = np.random.default_rng(5)
    horizon, runs = 2000, 200
    means = np.array([0.85, 0.15])
    samples, variance = math.ceil(phi(horizon, alpha)), math.log(horizon) ** alpha
    sums = (rng.random((runs, 2)) < means).astype(float)
    counts = np.ones((runs, 2))
    age, best = np.zeros((runs, 2)), np.full((runs, 2), -np.inf)
    rows = np.arange(runs)
    for _ in range(horizon - 2):
        fresh = age < samples
        theta = sums / counts + rng.standard_normal((runs, 2)) * np.sqrt(variance / counts)
        best = np.where(fresh, np.maximum(best, theta), best)
        arm = np.where(fresh, theta, best).argmax(axis=1)
        age += fresh
        sums[rows, arm] += rng.random(runs) < means[arm]
        counts[rows, arm] += 1
        age[rows, arm], best[rows, arm] = 0, -np.inf
    pulls = counts[:, 1]
    upper = pulls.mean() + 5 * pulls.std() / math.sqrt(runs)
    assert 5 < upper < ts_td_sharp(0.7, horizon, alpha).pulls < horizon


def test_impossible_values():
    for bound in BOUNDS:
        with pytest.raises(InvalidValue, match="horizon must be at least 3, got 2"):
            bound(0.1, 2, 0.5)
        with pytest.raises(InvalidValue, match=r"alpha must be in \[0, 1\], got -0.5"):
            bound(0.1, 100, -0.5)
    with pytest.raises(InvalidValue, match="width must be above 0"):
        phase_two(1e6, 0.5, width=0.0)
