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
from tests.support.maximum import maxima
from thrifty.engines.memory import Rule
from thrifty.jit import entry
from thrifty.laws import FAMILIES, LAWS, Law
from thrifty.numerics import random
from thrifty.policies import ThompsonSampling
from thrifty.policies.program import program
from thrifty.state import calls
from thrifty.state.header import opened

GAUSSIAN, BETA, EXPONENTIAL_FAMILY = LAWS["gaussian"], LAWS["beta"], FAMILIES["bernoulli"]

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
def draws(draw, a, b, rng, out):
    for i in range(out.size):
        out[i] = draw(a, b, rng)


@njit
def inverses(isf, a, b, p, out):
    for i in range(out.size):
        out[i] = isf(a, b, p[i])


def parameters(law: Law, n: float, mean: float) -> tuple[float, float]:
    a, b = law.parameters(n, mean * n)
    return a, b


def slack(x: float, mean: float) -> float:
    """What rounding does to an index: it is the sum of a mean and a deviation."""
    return 4.0 * math.ulp(max(abs(x), abs(mean)))


def expected_sf(law: Law, n: float, mean: float, x: float) -> float:
    """The survival function from its definition and SciPy."""
    if law == GAUSSIAN:
        return float(special.ndtr((mean - x) * math.sqrt(n)))
    if law == BETA:
        return float(special.betaincc(mean * n + 1.0, n - mean * n + 1.0, x))
    exponent = (n - 1.0) * (special.rel_entr(mean, x) + special.rel_entr(1.0 - mean, 1.0 - x))
    return 0.5 * math.exp(-exponent) if x >= mean else 1.0 - 0.5 * math.exp(-exponent)


@all_laws
def test_draws_have_the_law_of_sf(law: Law, n: float, mean: float) -> None:
    a, b = parameters(law, n, mean)
    values = np.empty(200_000)
    draws(law.draw, a, b, random.generator(11), values)
    assert_law(values, lambda x: law.sf(a, b, x))


@all_laws
def test_isf_of_a_uniform_has_the_law_of_sf(law: Law, n: float, mean: float) -> None:
    a, b = parameters(law, n, mean)
    values = np.empty(200_000)
    inverses(law.isf, a, b, np.random.default_rng(12).random(values.size), values)
    assert_law(values, lambda x: law.sf(a, b, x))


@pytest.mark.parametrize(
    ("law", "n", "mean"),
    [(GAUSSIAN, 9.0, -1.0), (BETA, 30.0, 0.4), (BETA, 3.0, 1.0), (EXPONENTIAL_FAMILY, 30.0, 0.4)],
)
def test_sf_is_the_definition(law: Law, n: float, mean: float) -> None:
    a, b = parameters(law, n, mean)
    for z in (-5.0, -2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 5.0):
        x = mean + 0.5 * z / math.sqrt(n)
        if law == GAUSSIAN or 0.0 < x < 1.0:
            assert law.sf(a, b, x) == pytest.approx(expected_sf(law, n, mean, x), rel=1e-11)


def assert_sf_passes(law: Law, n: float, mean: float, x: float, p: float) -> None:
    """x is where sf passes p: not above p just behind it, not below p just before it, atom or not."""
    a, b = parameters(law, n, mean)
    tolerance = 1e-9 * min(p, 1.0 - p) + 2.0**-52 * p  # in the lower tail p itself has no more digits
    assert law.sf(a, b, x + slack(x, mean)) <= p + tolerance
    assert law.sf(a, b, x - slack(x, mean)) >= p - tolerance


@any_law(p=upper | lower)
def test_isf_inverts_sf_in_both_tails(law: Law, n: float, mean: float, p: float) -> None:
    assert_sf_passes(law, n, mean, law.isf(*parameters(law, n, mean), p), p)


@any_law(phi=sizes, word=words)
def test_the_maximum_of_phi_draws_is_where_it_should_be(
    law: Law, n: float, mean: float, phi: float, word: int
) -> None:
    """(1 - sf(max))^phi is uniform: 1 - sf(max) = U^(1/phi), for the U that was drawn."""
    rng, same = (np.array([word, 1, 2, 0], np.uint64) for _ in range(2))
    x = maxima(law, *parameters(law, n, mean), phi, rng).item()
    assert_sf_passes(law, n, mean, x, -math.expm1(math.log(random.uniform(same)) / phi))


@any_law(z=st.floats(-4.0, 10.0))
def test_sf_inverts_isf(law: Law, n: float, mean: float, z: float) -> None:
    """Where the law has a density; z counts standard deviations (of the Gaussian law, for all of them)."""
    a, b = parameters(law, n, mean)
    c = mean + z / math.sqrt(n)
    p = law.sf(a, b, c)
    if 1e-200 < p < 1.0 - 1e-5 and not (law == EXPONENTIAL_FAMILY and (n == 1.0 or p == 0.5)):
        # ExpTS's law has no density at its mean: there the rounding of p moves c by 1e-8 deviations, and with
        # n hardly above 1, everywhere.
        rounding = law.isf(a, b, p * (1.0 - 2.0**-52)) - law.isf(a, b, p * (1.0 + 2.0**-52))
        assert abs(law.isf(a, b, p) - c) <= 1e-7 / math.sqrt(n) + slack(c, mean) + rounding


@any_law(p=upper | lower)
def test_draws_known_to_exceed_a_threshold_do(law: Law, n: float, mean: float, p: float) -> None:
    """isf(U sf(c)) is above c and isf(sf(c) + U (1 - sf(c))) is not, for the whole range of U."""
    a, b = parameters(law, n, mean)
    c = law.isf(a, b, p)
    at = law.sf(a, b, c)
    tolerance = slack(c, mean) + 1e-8 * abs(c - mean)
    for u in (2.0**-53, 0.3, 1.0 - 2.0**-53):
        if at > 0.0:
            assert law.isf(a, b, u * at) >= c - tolerance
        assert law.isf(a, b, at + u * (1.0 - at)) <= c + tolerance


@pytest.mark.parametrize(
    ("law", "n", "mean"), [(GAUSSIAN, 4.0, 1.0), (BETA, 20.0, 0.3), (EXPONENTIAL_FAMILY, 20.0, 0.3)]
)
def test_conditional_draws_have_the_conditional_law(law: Law, n: float, mean: float) -> None:
    a, b = parameters(law, n, mean)
    c = law.isf(a, b, 1e-6)
    values = np.empty(200_000)
    inverses(law.isf, a, b, np.random.default_rng(13).random(values.size) * law.sf(a, b, c), values)
    assert_law(values, lambda x: min(law.sf(a, b, x) / law.sf(a, b, c), 1.0))


@entry
def column(block):
    state = opened(block)
    calls.refresh(state.hooks.refresh, (state, 0))


@pytest.mark.parametrize("name", LAWS)
def test_a_column_is_successive_draws(name: str) -> None:
    law = LAWS[name]
    params = np.array([parameters(law, n, mean) for n in (1.0, 3.0, 1e6) for mean in (0.0, 0.25, 1.0)] * 20)
    one_by_one = random.generator(14)
    expected = [law.draw(a, b, one_by_one) for a, b in params.tolist()]
    memory = program(ThompsonSampling(name), "scan").memory(Rule(len(params), 1), random.generator(14))
    state = memory.state
    state.params[:] = params
    state.waiting[0] = 0
    column(memory.block)
    assert state.index.tolist() == expected
    assert state.rng.tolist() == one_by_one.tolist()


def test_tempered_laws() -> None:
    """(n/V, S/V): the Gaussian is N(m, V/n), the Beta tempers the likelihood and keeps the prior."""
    v = math.log(1e5) ** 0.8
    for n, mean in ((1.0, 1.0), (37.0, -0.4), (1e12, 0.9)):
        assert parameters(GAUSSIAN, n / v, mean) == pytest.approx((mean, math.sqrt(v / n)), rel=1e-15)
    assert parameters(BETA, 40.0 / v, 0.25) == pytest.approx((10.0 / v + 1.0, 30.0 / v + 1.0), rel=1e-15)


@pytest.mark.parametrize("law", [BETA, EXPONENTIAL_FAMILY])
@pytest.mark.parametrize("s", [-1e-9, 3.0 + 1e-9])
def test_rounding_of_a_sum_leaves_a_law(law: Law, s: float) -> None:
    """A sum of rewards a hair outside [0, n] counts as 0 or n."""
    a, b = law.parameters(3.0, s)
    assert (a, b) == pytest.approx(law.parameters(3.0, round(s)), rel=1e-8)
    assert 0.0 <= law.isf(a, b, 1e-9) <= 1.0
