"""The generator, bit by bit, and its variates against their exact laws."""

import itertools
import math

import numpy as np
import pytest
from numba import njit
from scipy import special, stats

from tests.support.chance import (
    SIGMAS,
    UNLUCKY,
    assert_law,
    assert_mean,
    assert_share,
    assert_uniform,
    sample,
)
from thrifty.numerics import random

MILLION = 1_000_000
TOP = 2**64 - 1


def xoshiro256_plus(state: list[int], count: int) -> list[int]:
    """Blackman and Vigna's definition in plain integers."""
    s0, s1, s2, s3 = state
    words = []
    for _ in range(count):
        words.append((s0 + s3) & TOP)
        shifted = (s1 << 17) & TOP
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = ((s3 << 45) | (s3 >> 19)) & TOP
    return words


@njit
def words(rng, out):
    for i in range(out.size):
        out[i] = random.word(rng)


def test_words_are_those_of_xoshiro256_plus() -> None:
    rng, out = random.generator(3, 1, 4), np.empty(1000, np.uint64)
    expected = xoshiro256_plus(rng.tolist(), out.size)
    words(rng, out)
    assert out.tolist() == expected


def test_first_words_of_a_published_state() -> None:
    """The vector that other implementations of xoshiro256+ are tested with."""
    out = np.empty(5, np.uint64)
    words(np.array([1, 2, 3, 4], np.uint64), out)
    assert out.tolist() == [
        5, 211106232532999, 211106635186183, 9223759065350669058, 9250833439874351877,
    ]  # fmt: skip


def next_word(bits: int) -> np.ndarray:
    """A generator whose next word has these bits."""
    return np.array([bits, 1, 2, 0], np.uint64)


@pytest.mark.parametrize(("bits", "value"), [(0, 2.0**-53), (1 << 63, 0.5 + 2.0**-53), (TOP, 1.0 - 2.0**-53)])
def test_uniform_lies_in_the_open_interval(bits: int, value: float) -> None:
    assert random.uniform(next_word(bits)) == value


@pytest.mark.parametrize("bits", [0, TOP])
def test_exponential_is_positive_and_finite(bits: int) -> None:
    assert 0.0 < random.exponential(next_word(bits)) < 37.0


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 1000, 2**20 + 1, 2**31 - 1])
def test_below_never_reaches_its_bound(count: int) -> None:
    assert random.below(next_word(TOP), count) == count - 1
    assert random.below(next_word(0), count) == 0


@pytest.mark.parametrize("count", [2, 7, 100])
def test_below_is_uniform(count: int) -> None:
    assert_uniform(np.bincount(sample(random.below, count, size=MILLION).astype(int), minlength=count))


def test_uniform_and_exponential_have_their_laws() -> None:
    assert_law(sample(random.uniform, size=MILLION), lambda x: min(max(1.0 - x, 0.0), 1.0))
    assert_law(sample(random.exponential, size=MILLION), lambda x: min(math.exp(-x), 1.0))


def standard(size: int) -> np.ndarray:
    """Mean 0 and deviation 1, for each of so many normals."""
    return np.tile([0.0, 1.0], (size, 1))


SIZES = [2 * MILLION, pytest.param(20 * MILLION, marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=SIZES)
def z(request: pytest.FixtureRequest) -> np.ndarray:
    """Two million normals, or twenty."""
    out = np.empty(request.param)
    random.normals(random.generator(5), standard(out.size), out)
    return out


def test_normal_has_its_law(z: np.ndarray) -> None:
    assert_law(z, lambda x: 0.5 * math.erfc(x / math.sqrt(2.0)), points=10_000)


def test_normal_falls_evenly_into_equally_likely_bins(z: np.ndarray) -> None:
    edges = special.ndtri(np.arange(1, 1024) / 1024)
    assert_uniform(np.bincount(np.searchsorted(edges, z), minlength=1024))


def test_normal_has_its_moments(z: np.ndarray) -> None:
    # The variance of Z^k is E Z^2k - (E Z^k)^2, from the moments 1, 0, 1, 0, 3, 0, 15, 0, 105.
    power = np.ones(z.size)
    for mean, variance in [(0, 1), (1, 2), (0, 15), (3, 96)]:
        power *= z
        assert_mean(power, mean, math.sqrt(variance))


def test_normal_has_its_tails(z: np.ndarray) -> None:
    """Beyond R another method takes over: as many as there should be, on each side."""
    for bound in (3.5, random.R, 4.5):
        share = 0.5 * math.erfc(bound / math.sqrt(2.0))
        assert_share((z > bound).sum(), z.size, share)
        assert_share((z < -bound).sum(), z.size, share)


@pytest.mark.parametrize("size", SIZES)
def test_the_tail_beyond_r_has_its_law(size: int) -> None:
    mass = math.erfc(random.R / math.sqrt(2.0))
    values = sample(random._tail, size=size)
    assert_law(values, lambda x: min(math.erfc(x / math.sqrt(2.0)) / mass, 1.0))


def test_ziggurat_layers_have_equal_areas() -> None:
    edge = random.STEP * 2.0**52  # of layer 0 .. 255, from the top down; the base is a box of the same area
    height = random.DENSITY[:-1] - random.DENSITY[1:]
    np.testing.assert_allclose(edge[:-1] * height[:-1], random.V, rtol=1e-9)
    base = random.R * math.exp(-0.5 * random.R**2)
    tail = math.sqrt(0.5 * math.pi) * math.erfc(random.R / math.sqrt(2.0))
    assert base + tail == pytest.approx(random.V, rel=1e-11)


@pytest.mark.parametrize("size", [0, 1, 2, 100_000])
def test_normals_are_successive_normals(size: int) -> None:
    one_by_one, at_once = random.generator(9), random.generator(9)
    expected, out = np.empty(size), np.empty(size)
    for i in range(size):
        expected[i] = random.normal(one_by_one)
    assert random.normals(at_once, standard(size), out) == expected.max(initial=-math.inf)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(at_once, one_by_one)


@pytest.mark.parametrize("shape", [0.1, 0.9, 1.0, 1.5, 10.0, 1e6, 1e15])
def test_gamma_has_its_law(shape: float) -> None:
    values = sample(random.gamma, shape, size=MILLION)
    assert_law(values, lambda x: special.gammaincc(shape, max(x, 0.0)))
    assert_mean(values, shape, math.sqrt(shape))


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, 1), (1, 1e6), (1e6, 1), (2, 3), (1.5, 1), (0.3, 0.7), (40, 3000), (1e9, 1e10), (1e15, 1e15)],
)
def test_beta_has_its_law(a: float, b: float) -> None:
    values = sample(random.beta, float(a), float(b), size=MILLION)
    assert_law(values, lambda x: special.betaincc(a, b, min(max(x, 0.0), 1.0)), points=200)
    assert_mean(values, a / (a + b), math.sqrt(a * b / (a + b + 1.0)) / (a + b))


def test_beta_of_tiny_shapes_is_a_coin() -> None:
    """Gamma variates of shape 10^-3 underflow half of the time; the share of ones must stay right."""
    values = sample(random.beta, 1e-3, 2e-3, size=MILLION)
    assert ((values >= 0.0) & (values <= 1.0)).all()
    assert_share((values > 0.5).sum(), values.size, special.betaincc(1e-3, 2e-3, 0.5))


@pytest.mark.parametrize("mean", [0.0, 1e-9, 0.3, 1.0, 4.5, 9.999, 10.0, 14.05, 31.0, 300.0, 1e6, 1e15])
def test_poisson_has_its_law(mean: float) -> None:
    """P(K > k) = P(Gamma(k + 1) < mean)."""
    values = sample(random.poisson, mean, size=MILLION)
    assert (values == np.floor(values)).all()
    assert values.min() >= 0.0
    assert_law(values, lambda x: special.gammainc(math.floor(x) + 1.0, mean) if x >= 0.0 else 1.0)
    assert_mean(values, mean, math.sqrt(mean) + 1e-12)


@pytest.mark.parametrize("mean", [0.3, 9.999, 10.0, 14.05, 31.0])
def test_every_poisson_count_has_its_share(mean: float) -> None:
    """Chi-square over the counts that are expected a hundred times, and the two ends."""
    values = sample(random.poisson, mean, size=5 * MILLION, key=1)
    shares = np.exp(special.xlogy(counts := np.arange(100.0), mean) - mean - special.gammaln(counts + 1.0))
    low, high = np.flatnonzero(shares * values.size > 100.0)[[0, -1]]
    seen = np.bincount(np.clip(values, low, high).astype(int) - low, minlength=high - low + 1)
    expected = shares[low : high + 1]
    expected[0], expected[-1] = shares[: low + 1].sum(), 1.0 - shares[:high].sum()
    assert stats.chisquare(seen, expected * values.size).pvalue > UNLUCKY


def test_the_hat_of_large_poisson_means_fits() -> None:
    """The probability of keeping a count is at most 1, at least ``sure`` in the box, at most the edge beyond.

    For a given count it grows with |u|. Its extremes are therefore where the stretched uniform is whole.
    """
    for mean in [*np.linspace(10.0, 60.0, 1001), *np.geomspace(60.0, 1e6, 200)]:
        a, b, height, sure = random._hat(mean)
        reach = 12.0 * math.sqrt(mean) + 30.0
        k = np.arange(max(math.floor(mean - reach), 0.0), mean + reach)
        share = np.exp([random._log_poisson(count, mean) for count in k])
        low, high = k - mean - 0.43, k - mean + 0.57
        far = np.maximum(abs(low), abs(high))
        near = np.where((low < 0.0) & (high > 0.0), 0.0, np.minimum(abs(low), abs(high)))
        edges, kept = [], []
        for distance in (near, far):  # (2a/(1/2 - u) + b) u = distance, a quadratic equation
            half = 2.0 * a + 0.5 * b + distance
            edge = 0.5 - distance / (half + np.sqrt(half * half - 2.0 * b * distance))
            edges.append(edge)
            kept.append(share * (a / edge**2 + b) / height)
        assert kept[1].max() <= 1.0
        assert kept[0][edges[0] >= 0.07].min() >= sure
        assert (kept[1] <= edges[1])[edges[1] < 0.013].all()
        assert (k[edges[0] >= 0.07] > 0.0).all()  # nothing below 0 is kept without a look


@pytest.mark.parametrize("mean", [10.0, 55.5, 1e4, 1e9, 1e15])
def test_poisson_probabilities_do_not_cancel(mean: float) -> None:
    """Two successive ones differ by the factor mean/k, and at the mode Stirling's series gives the value."""
    mode = math.floor(mean)
    for k in (mode, mode + 1.0, mode + 2.0 * math.floor(math.sqrt(mean))):
        step = random._log_poisson(k, mean) - random._log_poisson(k - 1.0, mean)
        assert step == pytest.approx(math.log1p((mean - k) / k), abs=1e-13)
    if mode == mean:
        expected = -0.5 * math.log(2.0 * math.pi * mean) - 1.0 / (12.0 * mean) + 1.0 / (360.0 * mean**3)
        assert random._log_poisson(mean, mean) == pytest.approx(expected, abs=1e-8)
    assert random._log_poisson(0.0, 10.0) == -10.0


@pytest.mark.parametrize("bits", [0, 1 << 12, 1 << 62, 1 << 63, TOP - (1 << 13), TOP])
@pytest.mark.parametrize("mean", [0.0, 5e-324, 1e-9, 1.0, 9.999, 10.0, 1e6, 1e15, 1e100])
def test_poisson_ends_at_every_uniform(mean: float, bits: int) -> None:
    assert 0.0 <= random.poisson(next_word(bits), mean) <= mean + 40.0 * (1.0 + math.sqrt(mean))


def test_successive_and_parallel_streams_are_uncorrelated() -> None:
    """A correlation has a standard error of n^(-1/2)."""
    keys = [(run, stream) for run in range(4) for stream in range(2)]
    streams = np.empty((len(keys), MILLION))
    for key, out in zip(keys, streams, strict=True):
        random.normals(random.generator(0, *key), standard(out.size), out)
    limit = SIGMAS / math.sqrt(MILLION)
    for a, b in itertools.combinations(streams, 2):
        for power in (1, 2):
            assert abs(np.corrcoef(a**power, b**power)[0, 1]) < limit
    for lag in (1, 2, 3):
        assert abs(np.corrcoef(streams[0, lag:], streams[0, :-lag])[0, 1]) < limit


def test_keys_and_seeds_give_different_generators() -> None:
    keys = [(), (0,), (0, 0), (0, 1), (1, 0), (10**12, 0)]
    states = {tuple(random.generator(seed, *key).tolist()) for seed in (0, 1, 2**70) for key in keys}
    assert len(states) == 3 * len(keys)
