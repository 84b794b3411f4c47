"""The contract of a law, for every law: draw, sf and isf belong together, in both tails and at the edges."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy import special

from tests.support.chance import assert_law
from thrifty import laws
from thrifty.laws import BETA, EXPONENTIAL_FAMILY, GAUSSIAN
from thrifty.numerics import random

# (law, n, mean), with a mean of exactly 0 and 1, a single reward, and counts beyond any horizon.
CASES = [
    (GAUSSIAN, 1.0, 0.0),
    (GAUSSIAN, 7.5, -3.0),
    (GAUSSIAN, 1e15, 0.3),
    *[(law, n, mean) for law in (BETA, EXPONENTIAL_FAMILY) for n in (1.0, 2.0, 1e15) for mean in (0.0, 1.0)],
    *[(law, n, 0.3) for law in (BETA, EXPONENTIAL_FAMILY) for n in (10.0, 1000.0, 1e15)],
    (BETA, 1e6, 1e-6),
    (EXPONENTIAL_FAMILY, 1.5, 0.5),
]
all_laws = pytest.mark.parametrize(("law", "n", "mean"), CASES)

counts = st.one_of(st.just(1.0), st.floats(0.0, 15.0).map(lambda digits: 10.0**digits))
means = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0))
upper = st.floats(0.31, 100.0).map(lambda digits: 10.0**-digits)
lower = st.floats(0.31, 15.0).map(lambda digits: 1.0 - 10.0**-digits)
sizes = st.floats(0.0, 9.0).map(lambda digits: 10.0**digits)
words = st.sampled_from([0, 2**64 - 1]) | st.integers(0, 2**64 - 1)


def any_law(**others: st.SearchStrategy[float]) -> Callable[..., Any]:
    return given(law=st.sampled_from([GAUSSIAN, BETA, EXPONENTIAL_FAMILY]), n=counts, mean=means, **others)


@njit
def draws(law, a, b, rng, out):
    for i in range(out.size):
        out[i] = laws.draw(law, a, b, rng)


@njit
def inverses(law, a, b, p, out):
    for i in range(out.size):
        out[i] = laws.isf(law, a, b, p[i])


def parameters(law: int, n: float, mean: float) -> tuple[float, float]:
    a, b = laws.parameters(law, n, mean * n)
    return a, b


def slack(x: float, mean: float) -> float:
    """What rounding does to an index: it is the sum of a mean and a deviation."""
    return 4.0 * math.ulp(max(abs(x), abs(mean)))


def expected_sf(law: int, n: float, mean: float, x: float) -> float:
    """The survival function from its definition and SciPy."""
    if law == GAUSSIAN:
        return float(special.ndtr((mean - x) * math.sqrt(n)))
    if law == BETA:
        return float(special.betaincc(mean * n + 1.0, n - mean * n + 1.0, x))
    exponent = (n - 1.0) * (special.rel_entr(mean, x) + special.rel_entr(1.0 - mean, 1.0 - x))
    return 0.5 * math.exp(-exponent) if x >= mean else 1.0 - 0.5 * math.exp(-exponent)


@all_laws
def test_draws_have_the_law_of_sf(law: int, n: float, mean: float) -> None:
    a, b = parameters(law, n, mean)
    values = np.empty(200_000)
    draws(law, a, b, random.generator(11), values)
    assert_law(values, lambda x: laws.sf(law, a, b, x))


@all_laws
def test_isf_of_a_uniform_has_the_law_of_sf(law: int, n: float, mean: float) -> None:
    a, b = parameters(law, n, mean)
    values = np.empty(200_000)
    inverses(law, a, b, np.random.default_rng(12).random(values.size), values)
    assert_law(values, lambda x: laws.sf(law, a, b, x))


@pytest.mark.parametrize(
    ("law", "n", "mean"),
    [(GAUSSIAN, 9.0, -1.0), (BETA, 30.0, 0.4), (BETA, 3.0, 1.0), (EXPONENTIAL_FAMILY, 30.0, 0.4)],
)
def test_sf_is_the_definition(law: int, n: float, mean: float) -> None:
    a, b = parameters(law, n, mean)
    for z in (-5.0, -2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 5.0):
        x = mean + 0.5 * z / math.sqrt(n)
        if law == GAUSSIAN or 0.0 < x < 1.0:
            assert laws.sf(law, a, b, x) == pytest.approx(expected_sf(law, n, mean, x), rel=1e-11)


def assert_sf_passes(law: int, n: float, mean: float, x: float, p: float) -> None:
    """x is where sf passes p: not above p just behind it, not below p just before it, atom or not."""
    a, b = parameters(law, n, mean)
    tolerance = 1e-9 * min(p, 1.0 - p) + 2.0**-52 * p  # in the lower tail p itself has no more digits
    assert laws.sf(law, a, b, x + slack(x, mean)) <= p + tolerance
    assert laws.sf(law, a, b, x - slack(x, mean)) >= p - tolerance


@any_law(p=upper | lower)
def test_isf_inverts_sf_in_both_tails(law: int, n: float, mean: float, p: float) -> None:
    assert_sf_passes(law, n, mean, laws.isf(law, *parameters(law, n, mean), p), p)


@any_law(phi=sizes, word=words)
def test_the_maximum_of_phi_draws_is_where_it_should_be(
    law: int, n: float, mean: float, phi: float, word: int
) -> None:
    """(1 - sf(max))^phi is uniform: 1 - sf(max) = U^(1/phi), for the U that was drawn."""
    rng, same = (np.array([word, 1, 2, 0], np.uint64) for _ in range(2))
    x = laws.draw_maximum(law, *parameters(law, n, mean), phi, rng)
    assert_sf_passes(law, n, mean, x, -math.expm1(math.log(random.uniform(same)) / phi))


@any_law(z=st.floats(-4.0, 10.0))
def test_sf_inverts_isf(law: int, n: float, mean: float, z: float) -> None:
    """Where the law has a density; z counts standard deviations (of the Gaussian law, for all of them)."""
    a, b = parameters(law, n, mean)
    c = mean + z / math.sqrt(n)
    p = laws.sf(law, a, b, c)
    if 1e-200 < p < 1.0 - 1e-5 and not (law == EXPONENTIAL_FAMILY and (n == 1.0 or p == 0.5)):
        # ExpTS's law has no density at its mean: there the rounding of p moves c by 1e-8 deviations.
        assert abs(laws.isf(law, a, b, p) - c) <= 1e-7 / math.sqrt(n) + slack(c, mean)


@any_law(p=upper | lower)
def test_draws_known_to_exceed_a_threshold_do(law: int, n: float, mean: float, p: float) -> None:
    """isf(U sf(c)) is above c and isf(sf(c) + U (1 - sf(c))) is not, for the whole range of U."""
    a, b = parameters(law, n, mean)
    c = laws.isf(law, a, b, p)
    at = laws.sf(law, a, b, c)
    tolerance = slack(c, mean) + 1e-8 * abs(c - mean)
    for u in (2.0**-53, 0.3, 1.0 - 2.0**-53):
        if at > 0.0:
            assert laws.isf(law, a, b, u * at) >= c - tolerance
        assert laws.isf(law, a, b, at + u * (1.0 - at)) <= c + tolerance


@pytest.mark.parametrize(
    ("law", "n", "mean"), [(GAUSSIAN, 4.0, 1.0), (BETA, 20.0, 0.3), (EXPONENTIAL_FAMILY, 20.0, 0.3)]
)
def test_conditional_draws_have_the_conditional_law(law: int, n: float, mean: float) -> None:
    a, b = parameters(law, n, mean)
    c = laws.isf(law, a, b, 1e-6)
    values = np.empty(200_000)
    inverses(law, a, b, np.random.default_rng(13).random(values.size) * laws.sf(law, a, b, c), values)
    assert_law(values, lambda x: min(laws.sf(law, a, b, x) / laws.sf(law, a, b, c), 1.0))


@pytest.mark.parametrize("law", laws.CODES.values(), ids=laws.CODES.keys())
def test_draw_all_is_successive_draws(law: int) -> None:
    params = np.array([parameters(law, n, mean) for n in (1.0, 3.0, 1e6) for mean in (0.0, 0.25, 1.0)] * 20)
    one_by_one, at_once = random.generator(14), random.generator(14)
    expected = [laws.draw(law, a, b, one_by_one) for a, b in params.tolist()]
    out = np.empty(len(params))
    laws.draw_all(law, params, at_once, out)
    assert out.tolist() == expected
    assert at_once.tolist() == one_by_one.tolist()


def test_tempered_laws() -> None:
    """(n/V, S/V): the Gaussian is N(m, V/n), the Beta tempers the likelihood and keeps the prior."""
    v = math.log(1e5) ** 0.8
    for n, mean in ((1.0, 1.0), (37.0, -0.4), (1e12, 0.9)):
        assert parameters(GAUSSIAN, n / v, mean) == pytest.approx((mean, math.sqrt(v / n)), rel=1e-15)
    assert parameters(BETA, 40.0 / v, 0.25) == pytest.approx((10.0 / v + 1.0, 30.0 / v + 1.0), rel=1e-15)


@pytest.mark.parametrize("law", [BETA, EXPONENTIAL_FAMILY])
@pytest.mark.parametrize("s", [-1e-9, 3.0 + 1e-9])
def test_rounding_of_a_sum_leaves_a_law(law: int, s: float) -> None:
    """A sum of rewards a hair outside [0, n] counts as 0 or n."""
    a, b = laws.parameters(law, 3.0, s)
    assert (a, b) == pytest.approx(laws.parameters(law, 3.0, round(s)), rel=1e-8)
    assert 0.0 <= laws.isf(law, a, b, 1e-9) <= 1.0
