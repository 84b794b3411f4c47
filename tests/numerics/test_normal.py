"""The normal's survival function and its inverse, in both tails."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from thrifty.numerics import normal


@given(st.floats(-38.0, 38.0))
def test_sf_keeps_its_digits(x: float) -> None:
    # log_ndtr is another computation; a relative error of 1e-16 in x is one of x^2 1e-16 in sf.
    assert normal.sf(x) == pytest.approx(math.exp(special.log_ndtr(-x)), rel=1e-12, abs=1e-310)


@given(st.floats(0.0, 300.0))
def test_isf_inverts_the_upper_tail(digits: float) -> None:
    p = 0.5 * 10.0**-digits
    assert normal.sf(normal.isf(p)) == pytest.approx(p, rel=1e-12)


@given(st.floats(-5.0, 37.0))
def test_sf_inverts_isf(x: float) -> None:
    # Below 0, sf is near 1 and spaced by 2^-53: at -5 that is 7e-11 in x.
    assert normal.isf(normal.sf(x)) == pytest.approx(x, rel=1e-10, abs=1e-14)


def test_isf_has_the_digits_of_scipy() -> None:
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(20_000), 10.0 ** rng.uniform(-323.0, 0.0, 20_000)])
    np.testing.assert_allclose([normal.isf(value) for value in p], -special.ndtri(p), rtol=2e-15, atol=1e-18)


def test_published_quantiles_and_ends() -> None:
    assert normal.isf(0.025) == pytest.approx(1.959963984540054, rel=1e-14)
    assert normal.isf(1e-20) == pytest.approx(9.262340089798408, rel=1e-14)
    assert (normal.sf(0.0), normal.isf(0.5)) == (0.5, 0.0)
    assert (normal.sf(math.inf), normal.sf(-math.inf)) == (0.0, 1.0)
    assert (normal.isf(0.0), normal.isf(1.0)) == (math.inf, -math.inf)
