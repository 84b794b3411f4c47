"""Theorems K, L and N: TS-MA with Beta samples. The inequalities exactly, and simulations of both sides."""

import math

import numpy as np
import pytest
from scipy.special import gamma
from scipy.stats import beta, binom

import thrifty
from thrifty.errors import InvalidValue
from thrifty.numerics import kl
from thrifty.theory import lower_bound, phi, ts_ma_beta_exponent, ts_ma_beta_sharp

PAIRS = [(0.9, 0.85), (0.9, 0.6), (0.5, 0.45), (0.1, 0.03), (0.99, 0.5)]  # mu_1 and y


def low_index(s, best, y, samples):
    """P(the largest of the samples of arm 1 is at most y), exactly."""
    k = np.arange(s + 1)
    return float(np.sum(binom.pmf(k, s, best) * beta.cdf(y, k + 1, s - k + 1) ** samples))


def test_beta_and_binomial():
    for s, y in ((5, 0.3), (40, 0.8)):
        k = np.arange(s + 1)
        assert beta.sf(y, k + 1, s - k + 1) == pytest.approx(binom.cdf(k, s + 1, y))
        assert np.all(binom.cdf(k, s + 1, y) >= (1 - y) * binom.cdf(k, s, y))
        assert np.all(binom.cdf(k[k >= s * y], s, y) >= 0.5)


@pytest.mark.parametrize(("best", "y"), PAIRS)
def test_the_chance_of_a_low_index(best, y):
    """Inequalities (1) and (2), for every s."""
    rho = math.log1p(-best) / math.log1p(-y)
    for samples in (1, 10, 1000):
        scale = samples * (1 - y)
        for s in (1, 2, 5, 10, 30, 100, 400):
            exact = low_index(s, best, y, samples)
            assert exact <= math.exp(-s * kl.bernoulli(y, best)) / scale + math.exp(-scale / 2)
            assert exact <= gamma(1 + rho) / scale**rho


@pytest.mark.parametrize(("best", "second"), [(0.5, 0.45), (0.9, 0.8), (0.75, 0.5)])
def test_the_power_of_theorem_l(best, second):
    """The chance that arm 1 is stuck below the second mean falls like N^-rho, from both sides."""
    rho = math.log1p(-best) / math.log1p(-second)
    found = [sum(low_index(s, best, second, n) for s in range(1, 150)) for n in (1e4, 1e8)]
    assert math.log(found[0] / found[1]) / math.log(1e4) == pytest.approx(rho, abs=0.1)


@pytest.mark.parametrize(("best", "y"), PAIRS)
def test_the_tails_of_two_coins(best, y):
    """P(Bin(s, mu_1) <= k) <= P(Bin(s, y) <= k)^rho, with equality at k = 0."""
    rho = math.log1p(-best) / math.log1p(-y)
    for s in (1, 3, 20, 100):
        k = np.arange(s)
        apart = rho * binom.logcdf(k, s, y) - binom.logcdf(k, s, best)
        assert np.all(apart >= -1e-9)
        assert apart[0] == pytest.approx(0.0, abs=1e-9)


def test_the_bound_of_theorem_k():
    for mean, best, horizon, samples in ((0.6, 0.9, 1e6, 1e6), (0.0, 0.5, 1e4, 1e5), (0.3, 1.0, 100, 100)):
        bound = ts_ma_beta_sharp(mean, best, horizon, samples)
        grid = []
        for u in np.linspace(mean, best, 60)[1:-1]:
            for y in np.linspace(mean, best, 60)[1:-1]:
                if u < y:
                    above = (math.log(samples) + 1) / kl.bernoulli(u, y) + 1 / kl.bernoulli(u, mean)
                    below = horizon / samples / ((1 - y) * kl.bernoulli(y, best))
                    grid.append(above + below + horizon**2 * math.exp(-samples * (1 - y) / 2) + 1)
        assert 0.8 * min(grid) < bound.pulls < 1.05 * min(grid)
    assert ts_ma_beta_sharp(0.6, 0.9, 1e6).pulls == ts_ma_beta_sharp(0.6, 0.9, 1e6, 1e6).pulls


def test_the_bound_of_theorem_k_where_means_are_close_or_one():
    """Nothing cancels: for small gaps it is of the order 1/gap^2. At a mean of 1, y may be close to it."""
    for best, mean in ((0.5, 0.4), (0.5, 0.4999), (0.5, 0.5 - 2**-40), (0.5, 0.5 - 2**-53)):
        scaled = ts_ma_beta_sharp(mean, best, 1e6).pulls * (best - mean) ** 2
        assert 50.0 < scaled < 53.0
    tiny = [ts_ma_beta_sharp(0.0, best, 1e6).regret for best in (1e-3, 1e-90)]
    assert tiny[1] == pytest.approx(tiny[0], rel=0.01)

    def theorem(u, below):  # best = 1: the third term is 0
        return (math.log(1e8) + 1) / kl.bernoulli(u, 1 - below) + 1 / kl.bernoulli(u, 0.5), below

    least = min(
        sum([first, 1e16 * math.exp(-1e8 * below / 2), 1])
        for u in np.linspace(0.5, 1, 200)[1:-1]
        for first, below in (theorem(u, b) for b in np.geomspace(1e-8, 1e-4, 60))
        if u < 1 - below
    )
    assert ts_ma_beta_sharp(0.5, 1.0, 1e8).pulls == pytest.approx(least, rel=0.05)


def test_it_is_asymptotically_optimal():
    optimum = lower_bound([0.9, 0.6]) / 0.3
    ratios = [ts_ma_beta_sharp(0.6, 0.9, t).pulls / math.log(t) / optimum for t in (1e6, 1e30, 1e100, 1e300)]
    assert ratios == sorted(ratios, reverse=True)
    assert 1.0 < ratios[-1] < 3.0


def test_the_exponent():
    assert ts_ma_beta_exponent([0.8, 0.9, 0.8]) == pytest.approx(1 - math.log(0.1) / math.log(0.2) / 2)
    assert ts_ma_beta_exponent([0.5, 0.49999]) == pytest.approx(0.5, abs=1e-4)
    assert ts_ma_beta_exponent([0.75, 0.5]) == 0.0  # rho = 2
    assert ts_ma_beta_exponent([1.0, 0.99]) == ts_ma_beta_exponent([0.5, 0.0]) == 0.0
    for means in ([0.5], [0.5, 0.5]):
        with pytest.raises(InvalidValue, match="one best arm and another"):
            ts_ma_beta_exponent(means)
    with pytest.raises(InvalidValue, match="mean must be below best"):
        ts_ma_beta_sharp(0.5, 0.5, 100)


def test_alpha_one_loses_the_best_arm_where_means_are_high():
    """Coins 1.0 and 0.98, T = 10^4: arm 1 is pulled once in 3.2 % of runs or more, at other alpha in none."""
    horizon, runs = 10**4, 400
    policies = [thrifty.TSMA(alpha, "beta") for alpha in (1.0, 0.5, 0.0)]
    result = thrifty.simulate(
        policies, thrifty.Bernoulli([1.0, 0.98]), horizon, runs, seed=1, checkpoints=[horizon]
    )
    once = (result.pulls[:, :, 0] == 1).mean(axis=1)
    samples = math.ceil(phi(horizon, 1.0))
    chance = 0.98 ** (samples * (1 + 1 / math.log(horizon)))
    assert once[0] > chance - 3 * math.sqrt(chance / runs) > 0.0
    assert once[1] == once[2] == 0.0
    assert ts_ma_beta_exponent([1.0, 0.98], 1.0) == pytest.approx(1 + phi(math.e, 1.0) * math.log(0.98))
    assert ts_ma_beta_exponent([1.0, 0.94], 1.0) == ts_ma_beta_exponent([1.0, 0.98], 0.5) == 0.0


def test_rounded_shapes():
    """P(Beta(a+1, b+1) > y) lies between those of whole shapes, rounded down and up, and up and down."""
    for a, b, y in ((2.3, 4.7, 0.3), (0.1, 0.2, 0.9), (13.5, 2.5, 0.6)):
        lower = beta.sf(y, math.floor(a) + 1, math.ceil(b) + 1)
        upper = beta.sf(y, math.ceil(a) + 1, math.floor(b) + 1)
        assert lower <= beta.sf(y, a + 1, b + 1) <= upper


def test_few_samples_get_stuck_and_many_do_not():
    """Coins 0.5 and 0.4, T = 1000, 1000 runs. With 3 samples arm 1 begins with six zeros and samples below
    0.3 in 1.2 % of runs; where arm 2 stays above that, it is never pulled again. With T samples it is."""
    horizon, runs = 1000, 1000
    policies = [thrifty.TSMA(law="beta", phi=3), thrifty.TSMA(law="beta", phi=horizon)]
    result = thrifty.simulate(
        policies, thrifty.Bernoulli([0.5, 0.4]), horizon, runs, seed=10, checkpoints=[horizon]
    )
    pulls = result.regret[:, :, -1] / 0.1
    stuck = pulls > horizon - 100
    chance = 0.5**6 * (1 - 0.7**7) ** 3  # the lower bound has this, times that for arm 2
    assert stuck[0].mean() > 0.5 * chance
    assert not stuck[1].any()
    upper = pulls[1].mean() + 5 * pulls[1].std(ddof=1) / math.sqrt(runs)
    assert upper < ts_ma_beta_sharp(0.4, 0.5, horizon).pulls


def test_the_papers_batch_is_nearly_t_where_one_can_run_it():
    assert phi(6.5e5, 0.0) > 6.5e5
    covered = ts_ma_beta_sharp(0.8, 0.9, 1e6, phi(1e6, 0.0)).pulls
    assert covered < 1.1 * ts_ma_beta_sharp(0.8, 0.9, 1e6).pulls
