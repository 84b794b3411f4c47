"""The bounds for Vanilla TS: published constants, the refined ones, and the steps of their proofs."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import binom, norm

from thrifty.errors import InvalidValue
from thrifty.theory import (
    H_INTEGRAL,
    agrawal_goyal,
    audit,
    best_split,
    nonvacuous_from,
    refined,
    sharp,
    theorem1,
)


def refined_best(gap, horizon):
    return refined(gap, horizon, best_split(gap, horizon))


BOUNDS = [agrawal_goyal, theorem1, refined, refined_best, sharp]


def test_agrawal_goyal():
    bound = agrawal_goyal(0.1, 1e6)
    assert 288 * math.exp(64) == pytest.approx(1.79572e30, rel=5e-6)
    assert bound.coefficient == pytest.approx(1.79572e30, rel=5e-6)
    assert bound.pulls == pytest.approx(bound.coefficient * math.log(1e4 + math.exp(32)) / 0.01, rel=1e-12)


def test_theorem_1():
    bound = theorem1(0.1, 1e6)
    expected = 1270 * math.log(1e4 + 100 ** (1 / 3)) / 0.1 + 182.5 / 0.1 + 0.1
    assert bound.regret == pytest.approx(expected, rel=1e-12)


def test_refined_at_one_half():
    """18 ln(T gap^2)/gap^2 + 1 + 11.69/gap^2."""
    gap, horizon = 0.1, 1e6
    bound = refined(gap, horizon)
    assert bound.coefficient == 18.0
    remainder = bound.pulls - 18.0 * math.log(horizon * gap**2) / gap**2 - 1.0
    assert remainder * gap**2 == pytest.approx(11.69, abs=5e-3)
    assert remainder * gap**2 < 11.69


@pytest.mark.parametrize("split", [0.2, 0.5, 0.9])
def test_refined_for_a_general_split(split):
    gap, horizon = 0.2, 1e5
    expected = (4.5 * math.log(horizon * gap**2) / split**2 + 2.2966823 / (1 - split) ** 2 + 2.5) / gap**2 + 1
    assert refined(gap, horizon, split).pulls == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("x", [1.5, 93.0, 1e4, 1e12])
def test_the_best_split_is_the_numerical_minimum(x):
    gap = 0.1
    horizon = x / gap**2
    found = minimize_scalar(
        lambda b: refined(gap, horizon, b).pulls, bounds=(1e-3, 1 - 1e-3), method="bounded"
    )
    best = refined(gap, horizon, best_split(gap, horizon)).pulls
    assert best == pytest.approx(found.fun, rel=1e-6)
    assert best <= refined(gap, horizon).pulls
    closed = (math.cbrt(4.5 * math.log(x)) + math.cbrt(H_INTEGRAL)) ** 3 + 2.5
    assert (best - 1) * gap**2 == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize("x", [1.5, 93.0, 1e4, 1e12])
def test_sharp_takes_the_best_shares(x):
    gap = 0.1
    horizon = x / gap**2
    bound = sharp(gap, horizon)

    def pulls(shares):
        p, q = shares
        r = 1 - p - q
        if min(p, q, r) <= 0:
            return math.inf
        return (2 * math.log(x) / p**2 + H_INTEGRAL / q**2 + 0.5 / r**2 + 0.5) / gap**2 + 1

    found = minimize(pulls, (0.3, 0.4), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-6})
    assert bound.pulls == pytest.approx(found.fun, rel=1e-6)
    closed = (math.cbrt(2 * math.log(x)) + math.cbrt(H_INTEGRAL) + math.cbrt(0.5)) ** 3 + 0.5
    assert (bound.pulls - 1) * gap**2 == pytest.approx(closed, rel=1e-9)


def test_the_sharp_coefficient_tends_to_two():
    coefficients = [sharp(1.0, 10.0**power).coefficient for power in (2, 6, 30, 300)]
    assert coefficients == sorted(coefficients, reverse=True)
    assert 2.0 < coefficients[-1] < 3.5
    # 2/p^2 = 2 (1 + c/(2 ln x)^(1/3))^2 with c = H^(1/3) + (1/2)^(1/3)
    c = math.cbrt(H_INTEGRAL) + math.cbrt(0.5)
    assert coefficients[-1] == pytest.approx(2 * (1 + c / math.cbrt(2 * math.log(1e300))) ** 2, rel=1e-12)


@pytest.mark.parametrize("bound", BOUNDS)
def test_trivial_where_the_gap_is_below_one_over_root_t(bound):
    """For T gap^2 <= 1 each bound exceeds T, so that nothing is claimed."""
    for gap, horizon in ((0.01, 10.0), (0.01, 1e4), (1.0, 1.0), (1e-6, 1e9)):
        assert bound(gap, horizon).pulls >= horizon


@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_grow_with_the_horizon_and_cross_the_trivial_one_once(bound):
    for gap in (0.01, 0.1, 1.0):
        horizons = np.exp(np.linspace(math.log(3), math.log(1e40), 2000))
        pulls = np.array([bound(gap, horizon).pulls for horizon in horizons])
        inside = horizons * gap**2 > 1
        assert np.all(np.diff(pulls[inside]) >= 0)
        assert np.sum(np.diff(pulls < horizons)) == 1


@pytest.mark.parametrize(
    ("bound", "x"), [(agrawal_goyal, 1.328e32), (theorem1, 12125), (refined, 93.3), (sharp, 72.4)]
)
def test_the_horizon_from_which_they_say_something(bound, x):
    """T gap^2 at least x; checked where the +1 pull does not matter."""
    gap = 0.001
    start = nonvacuous_from(lambda horizon: bound(gap, horizon).regret, gap)
    assert start * gap**2 == pytest.approx(x, rel=1e-3)


def test_theorem_1_is_vacuous_at_the_papers_own_horizon():
    start = nonvacuous_from(lambda horizon: theorem1(0.1, horizon).regret, 0.1)
    assert start == pytest.approx(1.21e6, rel=5e-3)
    assert theorem1(0.1, start).regret < start * 0.1
    assert theorem1(0.1, start - 1).regret >= (start - 1) * 0.1


@pytest.mark.parametrize("split", [0.0, 1.0, -0.5, math.nan])
def test_impossible_splits(split):
    with pytest.raises(InvalidValue, match=r"split must be in \(0, 1\)"):
        refined(0.1, 1e4, split)


# The steps of Theorem B, computed exactly for Bernoulli arms.


def test_high_means_are_rare():
    """Case (b): sum_s P(mean_s > mu + r gap) <= 1/(2 (r gap)^2), exactly for Bernoulli(0.4)."""
    for deviation in (0.1, 0.3):
        pulls = np.arange(1, 5000)
        exact = binom.sf(np.floor(pulls * (0.4 + deviation) + 1e-9), pulls, 0.4).sum()
        assert exact < 1 / (2 * deviation**2)


def test_high_samples_are_rare():
    """Case (c): Q(sqrt(n) p gap) <= 1/(2x) once n >= 2 ln x/(p gap)^2, and T of them make 1/(2 gap^2)."""
    for x in (1.1, 10.0, 1e6):
        for scaled_gap in (0.05, 0.5):
            needed = math.ceil(2 * math.log(x) / scaled_gap**2)
            assert norm.sf(math.sqrt(needed) * scaled_gap) <= 0.5 / x


def test_the_bounds_hold_in_a_small_simulation():
    """Two coins, gap 0.5, T = 2000, 400 runs: the mean of the bad pulls, 5 errors up, is below each bound."""
    pulls = _simulate(means=(0.75, 0.25), horizon=2000, runs=400)
    upper = pulls.mean() + 5 * pulls.std() / math.sqrt(pulls.size)
    assert 10 < upper < sharp(0.5, 2000).pulls < 2000
    assert upper < refined(0.5, 2000).pulls < 2000


def _simulate(means, horizon, runs):
    rng = np.random.default_rng(7)
    means = np.array(means)
    sums = (rng.random((runs, 2)) < means).astype(float)
    counts = np.ones((runs, 2))
    rows = np.arange(runs)
    for _ in range(horizon - 2):
        arm = (sums / counts + rng.standard_normal((runs, 2)) / np.sqrt(counts)).argmax(axis=1)
        sums[rows, arm] += rng.random(runs) < means[arm]
        counts[rows, arm] += 1
    return counts[:, 1]


def test_the_audit_of_theorem_1():
    """Every number of the proof, and the one step that is not true as written (its result is)."""
    steps = {step.name: step for step in audit()}
    computed = {
        "first case: int_12^100 exp(-kappa sqrt(r/pi)) dr": 10.43979,
        "first case: int_12^100 dr/r": 2.12026,
        "first case: int_100^inf exp(-sqrt(r/(3 pi))) dr": 3.08881,
        "first case: int_100^inf r^(-4/3) dr": 0.64633,
        "first case: the sum": 28.295,
        "second case: the sum, times T gap^2": 179.603,
        "L_i: 4 (sqrt(1/2) + sqrt(2))^2": 18.0,
        "29 L_1i: 116 (sqrt(2) + sqrt(3.5))^2": 1251.8143,
        "the leading coefficient": 1269.8143,
    }
    for name, value in computed.items():
        assert steps[name].computed == pytest.approx(value, rel=1e-5), name
    broken = [step.name for step in audit() if not step.holds]
    assert broken == ["second case: int_1^inf (2x)^-r dr <= 0.5/x at x = 1"]
    assert math.log(2 * math.e / 2) == pytest.approx(1.0)  # 1/(2x ln 2x) <= 1/(2x) from x = e/2 on
    kappa = math.log(13) / (math.log(13) + 2)
    assert kappa == pytest.approx(0.561879, abs=5e-7)


def test_the_first_case_by_its_sums():
    """12 + the sums themselves, not the integrals: 28.094."""
    kappa = math.log(13) / (math.log(13) + 2)
    r = np.arange(13, 101)
    total = 12 + np.sum(np.exp(-kappa * np.sqrt(r / math.pi)) + 1 / r)
    r = np.arange(101, 10**6, dtype=float)
    total += np.sum(np.exp(-np.sqrt(r / (3 * math.pi))) + r ** (-4 / 3)) + 3 * 1e6 ** (-1 / 3)
    assert total == pytest.approx(28.094, abs=1e-3)


def test_the_second_case_inside_the_papers_route():
    """With the true lower limits and pi^2/6: x times the bound stays below pi^2/6 + 1 + 3 = 5.65."""
    x = np.exp(np.linspace(0, 10, 2001))
    limit = np.floor((x + 100 ** (1 / 3)) ** 3)
    root = np.sqrt(limit / (3 * math.pi))
    tails = 6 * math.pi * (root + 1) * np.exp(-root) + 3 * limit ** (-1 / 3)
    total = math.pi**2 / 6 + x / (2 * x - 1) + x * tails
    assert np.all(total < 5.65)
    assert math.pi**2 / 6 + 4 == pytest.approx(5.645, abs=5e-4)
