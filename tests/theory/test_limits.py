"""Theorems E, F and G: what pulls tend to, steps of the proofs, and simulations on the way there."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

import thrifty
from thrifty.errors import InvalidValue
from thrifty.theory import C0, excess, first_order, lower_bound, phi, ts_ma_sharp, ts_td_sharp, vanilla_limit


def test_the_papers_problem():
    assert vanilla_limit([0.9] + [0.8] * 19) == pytest.approx(380.0)
    assert vanilla_limit([0.5, 0.5]) == 0.0
    assert vanilla_limit([0.5, 0.25], variance=0.25) == pytest.approx(2.0)
    with pytest.raises(InvalidValue, match="variance must be"):
        vanilla_limit([0.5, 0.25], variance=0.0)


def test_more_than_four_times_the_optimum_on_every_problem():
    """Pinsker, strictly; and with the variance 1/4 still more than once."""
    for best in np.linspace(0.02, 1.0, 50):
        for mean in np.linspace(0.0, best, 20)[:-1]:
            optimum = lower_bound([best, mean])
            assert vanilla_limit([best, mean]) > 4.0 * optimum
            assert vanilla_limit([best, mean], variance=0.25) > optimum
    near_one = [1 - 1e-12, 0.5]  # no fixed variance is optimal on all problems
    assert vanilla_limit(near_one, variance=0.01) > lower_bound(near_one)


def test_the_chances_of_a_good_state():
    """Step 3: all means within d and n_i <= s make arm i win with probability 2^(1-K) Q(sqrt(s) (gap + 2d)),
    exactly integrated over its sample."""
    rng = np.random.default_rng(5)
    gap, d, best = 0.3, 0.05, 0.7
    for _ in range(20):
        arms = int(rng.integers(2, 6))
        means = np.full(arms, best) + rng.uniform(-d, d, arms)
        counts = rng.integers(1, 1000, arms)
        means[0], counts[0] = best - gap + rng.uniform(-d, d), rng.integers(1, 60)
        z = np.linspace(-9, 9, 4001)
        sample = means[0] + z / math.sqrt(counts[0])
        beats = np.prod(
            [ndtr((sample - m) * math.sqrt(n)) for m, n in zip(means[1:], counts[1:], strict=True)], 0
        )
        chance = np.trapezoid(norm.pdf(z) * beats, z)
        assert chance >= 0.5 ** (arms - 1) * norm.sf(math.sqrt(counts[0]) * (gap + 2 * d))


@pytest.mark.parametrize("variance", [0.25, 0.5])
def test_the_wait_with_a_smaller_variance(variance):
    """h_v, which makes 2v/gap^2 the limit for 1/4 <= v < 1: above the exact binomial sums, and summable."""

    def h(a):
        def integrand(u):
            return math.exp(-0.5 * u * u - 2 * log_ndtr(-u) - 2 * variance * max(u + a, 0) ** 2)

        ends = (-a - 12, -a, 0, 60 / a)
        found = sum(quad(integrand, *pair, limit=200)[0] for pair in pairwise(ends))
        return found / math.sqrt(2 * math.pi)

    for mean in (0.3, 0.5, 0.9):
        for pulls in (1, 5, 30, 200):
            for gap in (0.1, 0.4):
                wait = excess(mean, pulls, gap, variance)
                assert wait < h(math.sqrt(pulls / variance) * gap / 2)
    scaled = [h(a) * math.exp(a * a / 5) for a in (1, 2, 4, 6, 8)]
    assert scaled == sorted(scaled, reverse=True)
    assert scaled[0] < 7.0


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_the_events_of_theorem_f(alpha):
    """Gap 1/2, e = 0.8, x = 0.7, 3 arms; by t = ln T, since T has up to 10^5 digits. What the proof calls
    unlikely becomes so, the index of arm i is above that of the others, and there are not rounds enough."""
    gap, e, x, arms = 0.5, 0.8, 0.7, 3
    d = 0.3 * gap * (math.sqrt((1 - x) / (1 - e)) - 1)
    assert gap * math.sqrt((1 - x) / (1 - e)) - d > gap + 2 * d
    failures = []
    for t in (1e2, 1e4, 1e6):
        log_phi = math.log(2 / C0) + (1 - alpha) / 2 * t + (3 - alpha) / 2 * math.log(t)
        order = 2 * t**alpha * log_phi
        few, many = (1 - e) * order / gap**2, 2 * order / d**2
        z = math.sqrt(2 * (1 - x) * log_phi)
        low = few * math.exp(-math.exp(min(700.0, log_phi + log_ndtr(-z))))  # (i)
        high = (arms - 1) * (math.exp(-x * log_phi) + math.exp(-2 * many * d**2))  # (ii), ceil(phi) <= 2 phi
        assert math.sqrt((1 + x) * order / many) <= d
        failures.append(low + high)
    assert failures == sorted(failures, reverse=True)
    assert failures[-1] < 1e-4
    assert math.log((arms - 1) * many + few) < t
    kinds = few * math.exp(log_phi - t) + (arms - 1) * (0.5 + order + 2 * t**alpha) / d**2 * math.exp(-t)
    assert kinds < 1e-9  # Theorem G: rounds of phase I, and pulls of others, over T


def test_the_slope_is_between_four_times_the_optimum_and_the_limit():
    """Coins 0.9 and 0.6, 100 runs: pulls per unit of ln t from 10^4 to 10^5, times gap^2."""
    result = thrifty.simulate(
        [thrifty.ThompsonSampling()],
        thrifty.Bernoulli([0.9, 0.6]),
        10**5,
        100,
        seed=3,
        checkpoints=[10**4, 10**5],
    )
    pulls = result.regret[0] / 0.3
    slopes = (pulls[:, 1] - pulls[:, 0]) / math.log(10) * 0.3**2
    error = slopes.std(ddof=1) / math.sqrt(100)
    optimum = lower_bound([0.9, 0.6]) * 0.3
    assert 4 * optimum < 1.3 < slopes.mean() - 3 * error
    assert slopes.mean() < 2.0 + 3 * error


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_the_upper_bounds_tend_to_the_first_order(alpha):
    """Theorems C and D over it fall towards 1."""
    for bound in (ts_ma_sharp, ts_td_sharp):
        ratios = [bound(1.0, t, alpha).pulls / first_order(1.0, t, alpha) for t in (1e6, 1e20, 1e100, 1e300)]
        assert ratios == sorted(ratios, reverse=True)
        assert 1.0 < ratios[-1] < 4.0


def test_the_first_order():
    """(1 - alpha) ln^(1+alpha) T for alpha < 1, 2 ln T ln ln T at alpha = 1, in the limit."""
    log = math.log(1e300)
    for alpha in (0.0, 0.5):
        exact = 1 - alpha + (3 - alpha) * math.log(log) / log + 2 * math.log(phi(math.e, 1.0)) / log
        assert first_order(0.5, 1e300, alpha) * 0.25 / log ** (1 + alpha) == pytest.approx(exact)
    exact = 2 + 2 * math.log(phi(math.e, 1.0)) / math.log(log)
    assert first_order(1.0, 1e300, 1.0) / (log * math.log(log)) == pytest.approx(exact)

    # alpha = 1 is better than alpha = 1/2 in the limit: from 10^674 on
    def apart(log):
        batch = 2 * math.log(phi(math.e, 1.0))
        return 2 * log * math.log(log) + log * batch - (log / 2 + 2.5 * math.log(log) + batch) * log**0.5

    assert apart(math.log(1e300)) == pytest.approx(
        first_order(1.0, 1e300, 1.0) - first_order(1.0, 1e300, 0.5)
    )
    assert apart(673 * math.log(10)) > 0 > apart(674 * math.log(10))
    assert "from T = 10⁶⁷⁴ on" in (Path(__file__).parents[2] / "docs" / "theory.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_ts_ma_rises_towards_the_first_order(alpha):
    """Coins 0.95 and 0.45, 100 runs: the share of it grows with T and stays below 1."""
    problem, horizons = thrifty.Bernoulli([0.95, 0.45]), (10**3, 10**4, 10**5)
    shares = []
    for horizon in horizons:
        result = thrifty.simulate([thrifty.TSMA(alpha)], problem, horizon, 100, seed=4, checkpoints=[horizon])
        shares.append(result.regret[0, :, -1] / 0.5 / first_order(0.5, horizon, alpha))
    means, errors = [s.mean() for s in shares], [s.std(ddof=1) / 10 for s in shares]
    for k in range(2):
        assert means[k + 1] - means[k] > 3 * math.hypot(errors[k], errors[k + 1])
    assert means[-1] + 5 * errors[-1] < 1.0


def test_ts_td_pulls_less_than_vanilla_once_arms_commit():
    """With phi = 100 in place of the paper's, at which bad arms do commit before T = 10^5."""
    problem = thrifty.Bernoulli([0.95, 0.45])
    policies = [thrifty.ThompsonSampling(), thrifty.TSTD(0.0), thrifty.TSTD(0.0, phi=100)]
    result = thrifty.simulate(policies, problem, 10**5, 100, seed=5, checkpoints=[10**5])
    vanilla, same, fewer = result.regret[:, :, -1]
    assert np.array_equal(vanilla, same)
    apart = vanilla - fewer
    assert apart.mean() > 5 * apart.std(ddof=1) / 10
