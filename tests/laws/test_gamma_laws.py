"""The gamma law and the two inverse gamma laws: draw, sf and isf belong together and are SciPy's."""

import math
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy import integrate, stats

from tests.support.chance import assert_law, assert_mean, sample
from thrifty.laws import gamma, inverse_gamma
from thrifty.numerics import random

Parameters = tuple[float, float]

# name: the law's file, its parameters, the fewest rewards, and SciPy's distribution.
LAWS: dict[str, tuple[ModuleType, Any, float, Any]] = {
    "gamma": (gamma, gamma.parameters, 1.0, lambda n, s: stats.gamma(s + 1.0, scale=1.0 / n)),
    "jeffreys": (inverse_gamma, inverse_gamma.parameters, 1.0, lambda n, s: stats.invgamma(n, scale=s)),
    "flat": (
        inverse_gamma,
        inverse_gamma.parameters_flat,
        2.0,
        lambda n, s: stats.invgamma(n - 1.0, scale=s),
    ),
}
every_law = pytest.mark.parametrize("name", LAWS)

# (pulls, mean): few rewards, tiny and large means, and counts beyond any horizon.
CASES = [(2.0, 0.3), (3.0, 1e-9), (10.0, 2.5), (1000.0, 40.0), (1e6, 0.01), (1e15, 0.7), (1e3, 1e12)]
every_case = pytest.mark.parametrize(("n", "mean"), CASES)

counts = st.one_of(st.sampled_from([2.0, 3.0]), st.floats(math.log10(2.0), 15.0).map(lambda x: 10.0**x))
means = st.floats(-12.0, 12.0).map(lambda digits: 10.0**digits)
upper = st.floats(0.31, 100.0).map(lambda digits: 10.0**-digits)
lower = st.floats(0.31, 15.0).map(lambda digits: 1.0 - 10.0**-digits)


def parameters(name: str, n: float, s: float) -> Parameters:
    shape, other = LAWS[name][1](n, s)
    return shape, other


@cache
def variate(law: ModuleType) -> Callable[..., float]:
    @njit
    def draw(rng, a, b):
        return law.draw(a, b, rng)

    return draw


def draws(name: str, n: float, s: float, size: int) -> np.ndarray:
    return sample(variate(LAWS[name][0]), *parameters(name, n, s), size=size)


@every_law
@every_case
def test_draws_have_the_law_of_sf(name: str, n: float, mean: float) -> None:
    law, (a, b) = LAWS[name][0], parameters(name, n, mean * n)
    assert_law(draws(name, n, mean * n, 200_000), lambda x: law.sf(a, b, x))


@every_law
@pytest.mark.parametrize(("n", "mean"), [(2.0, 0.3), (3.0, 1e-9), (10.0, 2.5), (1000.0, 40.0)])
def test_sf_and_isf_are_those_of_scipy(name: str, n: float, mean: float) -> None:
    law, (a, b), theirs = LAWS[name][0], parameters(name, n, mean * n), LAWS[name][3](n, mean * n)
    for p in (1e-30, 1e-9, 0.01, 0.3, 0.5, 0.8, 0.999):
        x = law.isf(a, b, p)
        assert x == pytest.approx(theirs.isf(p), rel=1e-10)
        assert law.sf(a, b, x) == pytest.approx(theirs.sf(x), rel=1e-11)


@pytest.mark.parametrize(
    ("name", "prior", "likelihood"),
    [
        ("gamma", lambda m: 1.0, lambda m, n, s: m**s * math.exp(-n * m)),
        ("jeffreys", lambda m: 1.0 / m, lambda m, n, s: m**-n * math.exp(-s / m)),
        ("flat", lambda m: 1.0, lambda m, n, s: m**-n * math.exp(-s / m)),
    ],
)
def test_the_law_is_the_posterior(name: str, prior: Any, likelihood: Any) -> None:
    """Prior times likelihood of the rewards, integrated above c and everywhere."""
    n, s = 5.0, 7.0
    law, (a, b) = LAWS[name][0], parameters(name, n, s)

    def mass(low: float, high: float) -> float:
        value, _ = integrate.quad(lambda m: prior(m) * likelihood(m, n, s), low, high, epsabs=0.0)
        return value

    for c in (0.5, 1.0, 1.5, 3.0):
        above = mass(c, math.inf)
        assert law.sf(a, b, c) == pytest.approx(above / (above + mass(1e-9, c)), rel=1e-7)


@every_law
@given(n=counts, mean=means, p=upper | lower)
def test_isf_inverts_sf_in_both_tails(name: str, n: float, mean: float, p: float) -> None:
    law, (a, b) = LAWS[name][0], parameters(name, n, mean * n)
    x = law.isf(a, b, p)
    assert 0.0 < x < math.inf
    tolerance = 1e-11 * min(p, 1.0 - p) + 2.0**-52 * p  # in the lower tail p itself has no more digits
    spacing = 4.0 * math.ulp(x)
    assert law.sf(a, b, x + spacing) <= p + tolerance
    assert law.sf(a, b, x - spacing) >= p - tolerance


@every_law
@given(n=counts, mean=means, z=st.floats(-4.0, 10.0))
def test_sf_inverts_isf(name: str, n: float, mean: float, z: float) -> None:
    law, (a, b) = LAWS[name][0], parameters(name, n, mean * n)
    c = mean * math.exp(z / math.sqrt(a))
    p = law.sf(a, b, c)
    if 1e-200 < p < 1.0 - 1e-5:
        assert law.isf(a, b, p) == pytest.approx(c, rel=1e-10)


@every_law
@given(
    n=counts, mean=means, phi=st.floats(0.0, 9.0).map(lambda digits: 10.0**digits), u=st.floats(0.01, 0.99)
)
def test_the_maximum_of_phi_draws_keeps_its_digits(
    name: str, n: float, mean: float, phi: float, u: float
) -> None:
    """(1 - sf(max))^phi is the uniform that it was made of, where doubles are close enough to tell."""
    law, (a, b) = LAWS[name][0], parameters(name, n, mean * n)
    tail = -math.expm1(math.log(u) / phi)
    x = law.isf(a, b, tail)
    spread = 4.0 * math.ulp(x) * math.sqrt(a) / x * 10.0  # of sf, relative: its slope is below ten deviations
    again = math.exp(phi * math.log1p(-law.sf(a, b, x)))
    assert again == pytest.approx(u, rel=1e-9 + 5.0 * spread)


def test_mean_and_variance() -> None:
    """Gamma(S+1, n) has mean (S+1)/n; InvGamma(a, S) has mean S/(a-1) and variance mean^2/(a-2)."""
    n, s, size = 20.0, 30.0, 500_000
    assert_mean(draws("gamma", n, s, size), 31.0 / 20.0, math.sqrt(31.0) / 20.0)
    assert_mean(draws("jeffreys", n, s, size), 30.0 / 19.0, 30.0 / 19.0 / math.sqrt(18.0))
    assert_mean(draws("flat", n, s, size), 30.0 / 18.0, 30.0 / 18.0 / math.sqrt(17.0))


def test_no_event_at_all_leaves_an_exponential() -> None:
    """Poisson rewards that were all 0: Gamma(1, n)."""
    a, b = gamma.parameters(8.0, 0.0)
    for c in (0.0, 0.1, 2.0):
        assert gamma.sf(a, b, c) == pytest.approx(math.exp(-8.0 * c), rel=1e-15)
    assert gamma.isf(a, b, 1e-9) == pytest.approx(9.0 * math.log(10.0) / 8.0, rel=1e-15)


def test_tempered_gamma_keeps_its_prior() -> None:
    v = math.log(1e5) ** 0.8
    assert gamma.parameters(40.0 / v, 10.0 / v) == pytest.approx((10.0 / v + 1.0, 40.0 / v), rel=1e-15)


@every_law
def test_rounding_of_a_sum_leaves_a_law(name: str) -> None:
    """A sum a hair below 0 counts as 0."""
    assert parameters(name, 3.0, -1e-9) == parameters(name, 3.0, 0.0)


@pytest.mark.parametrize(
    ("parameters", "n", "s", "point"),
    [
        (inverse_gamma.parameters, 5.0, 0.0, 0.0),
        (inverse_gamma.parameters_flat, 5.0, 0.0, 0.0),
        (inverse_gamma.parameters_flat, 1.0, 2.0, math.inf),
        (inverse_gamma.parameters_flat, 0.5, 0.0, math.inf),
    ],
)
def test_without_a_posterior_the_index_is_certain(parameters: Any, n: float, s: float, point: float) -> None:
    """All rewards 0: 0. Fewer than two rewards and a flat prior: infinity. Never NaN."""
    rng, (a, b) = random.generator(1), parameters(n, s)
    assert {inverse_gamma.draw(a, b, rng) for _ in range(100)} == {point}
    assert [inverse_gamma.isf(a, b, p) for p in (0.0, 1e-9, 0.5, 1.0)] == [point] * 4
    for c in (-math.inf, -1.0, 0.0, 1e-300, 1.0, 1e300, math.inf):
        assert inverse_gamma.sf(a, b, c) == (1.0 if point > c else 0.0)


@every_law
@pytest.mark.parametrize("n", [2.0, 30.0, 1e15])
def test_ends(name: str, n: float) -> None:
    law, (a, b) = LAWS[name][0], parameters(name, n, 0.5 * n)
    assert [law.sf(a, b, c) for c in (-math.inf, -1.0, 0.0, math.inf)] == [1.0, 1.0, 1.0, 0.0]
    assert (law.isf(a, b, 0.0), law.isf(a, b, 1.0)) == (math.inf, 0.0)
    for c in (5e-324, 1e-300, 1e300):
        assert 0.0 <= law.sf(a, b, c) <= 1.0


def test_a_tiny_weight_gives_no_nan() -> None:
    """A prior of weight 10^-3 for the initial pulls: indices beyond doubles are infinite, the others fit."""
    a, b = inverse_gamma.parameters(1e-3, 1e-3)
    values = draws("jeffreys", 1e-3, 1e-3, 100_000)
    assert not np.isnan(values).any()
    finite = values[values < 1e300]
    assert 0.3 < finite.size / values.size < 0.7
    beyond = inverse_gamma.sf(a, b, 1e300)
    assert_law(finite, lambda x: (inverse_gamma.sf(a, b, x) - beyond) / (1.0 - beyond))
