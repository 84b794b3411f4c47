"""The beta distribution's survival function and its inverse, in both tails and up to a + b = 1e15.

An inverse is right if sf brackets p two doubles to either side of it: near 1, where doubles are 1e-16 apart,
their spacing is what limits it.
"""

import math
import runpy
from types import FunctionType

import numba
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import special

from thrifty.numerics import beta, normal

# (a, b, x, sf). Computed with mpmath in 50 digits: the density in the log-odds integrated by Gauss-Legendre
# panels of at most one standard deviation and divided by B(a, b) from loggamma. Where a + b < 2000, mpmath's
# betainc in 400 digits gave the same.
TABLE = [
    (2.0, 3.0, 0.5, 0.3125),
    (1.5, 2.5, 0.999999, 2.037182544157116e-15),
    (1.25, 1.75, 1e-09, 0.9999999999891993),
    (1.0000001, 1.5, 0.3, 0.5856620586591642),
    (2.5, 1.0000001, 0.75, 0.5128606686459054),
    (2.0, 2.0, 0.9999999, 2.999999796841865e-14),
    (8.0, 3.0, 0.99, 0.0001138491179057799),
    (3.0, 8.0, 0.001, 0.9999998806284901),
    (30.0, 70.0, 0.3, 0.4883748954413909),
    (30.0, 70.0, 0.6, 6.179383396827537e-10),
    (45.5, 54.5, 0.25, 0.9999950795164172),
    (20.0, 1000.0, 0.06, 1.145473227874004e-10),
    (1000.0, 20.0, 0.9999, 4.513803371368883e-39),
    (101.0, 9000.0, 0.0125, 0.1038860442599382),
    (120.0, 700.0, 0.146, 0.501742769134059),
    (250.0, 250.0, 0.5, 0.5),
    (250.0, 250.0, 0.59, 2.495092391654029e-05),
    (250.0, 250.0, 0.75, 2.065360577572544e-33),
    (199.0, 201.0, 0.49, 0.6177899221002907),
    (5000.0, 300.0, 0.95, 0.01599885128123968),
    (10000.0, 1e6, 0.0103, 3.157169997771314e-05),
    (10000.0, 1e6, 0.0125, 9.349383341399286e-132),
    (1e6, 10000.0, 0.9902, 0.1526174698232629),
    (3.0, 1e6, 4e-06, 0.2381015472535786),
    (1.5, 1e9, 2e-08, 1.065508820202491e-08),
    (2.0, 1e12, 3e-11, 2.900863119035066e-12),
    (5.0, 1e12, 1e-13, 0.9999999233219831),
    (5.0, 1e12, 5e-12, 0.4404932850612644),
    (40.0, 1e12, 4e-11, 0.4789711388394887),
    (40.0, 1e12, 3e-10, 1.174988470794942e-80),
    (1.0001, 1e15, 7e-14, 3.97737420628583e-31),
    (1e12, 2.0, 0.999999999999, 0.2642329795314478),
    (1e12, 3.0, 0.99999999999, 0.9972306061628275),
    (1e6, 40.0, 0.99999, 7.347091270521751e-13),
    (5e7, 5e7, 0.5001, 0.02275013113832659),
    (5e7, 5e7, 0.5005, 7.619662585182072e-24),
    (1e8, 3e8, 0.2503, 6.123034967255185e-44),
    (123456.789, 98765.4321, 0.5562, 0.270508314280474),
    (1e15, 7.0, 0.9999999999999978, 0.00782443926132967),
    (1e14, 9e14, 0.1000000007, 0.470590132175637),
    (9e14, 1e14, 0.900000067, 8.181288816464566e-13),
    (5e14, 5e14, 0.50000003, 0.02888978539613596),
    (7.5e14, 2.4e14, 0.757575757575757, 0.5000000215370562),
    (1e15, 1e15, 0.5000003, 6.693130222026448e-159),
    (3e10, 9e14, 3.3335e-05, 1.58358618045987e-47),
]

# log-uniform from 1 to 1e15 with a + b <= 1e15, and exactly 1
parameter = st.one_of(st.just(1.0), st.floats(0.0, math.log10(5e14)).map(lambda exponent: 10.0**exponent))
# both tails and the middle
tail = st.one_of(
    st.floats(0.0, 1.0, exclude_min=True, exclude_max=True),
    st.floats(-300.0, 0.0, exclude_max=True).map(lambda exponent: 10.0**exponent),
)
place = st.floats(-30.0, 30.0)  # in standard deviations from the mean


def deviation(a: float, b: float) -> float:
    n = a + b
    return math.sqrt(a / n * (b / n) / (n + 1.0))


def at(a: float, b: float, z: float) -> float:
    return min(max(a / (a + b) + z * deviation(a, b), 0.0), 1.0)


def spaced(x: float, steps: int) -> float:
    return min(max(x + steps * math.ulp(x), 0.0), 1.0)


@pytest.mark.parametrize(("a", "b", "x", "value"), TABLE)
def test_sf_has_twelve_digits(a: float, b: float, x: float, value: float) -> None:
    assert beta.sf(a, b, x) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("a", "b", "x", "value"), [row for row in TABLE if row[3] < 0.99])
def test_isf_finds_the_point(a: float, b: float, x: float, value: float) -> None:
    assert abs(beta.isf(a, b, value) - x) <= 1e-10 * deviation(a, b) + 2.0 * math.ulp(x)


def test_normal_limit_at_a_huge_sum() -> None:
    # Cornish-Fisher with the skewness; the next term is of the order of z^3 / n = 4e-13 deviations.
    a, b, z = 9e14, 1e14, normal.isf(1e-12)
    n = a + b
    skewness = 2.0 * (b - a) * math.sqrt(n + 1.0) / ((n + 2.0) * math.sqrt(a * b))
    expected = a / n + deviation(a, b) * (z + skewness * (z * z - 1.0) / 6.0)
    assert abs(beta.isf(a, b, 1e-12) - expected) <= 2.0 * math.ulp(expected)


def test_scipy_agrees_while_it_is_reliable() -> None:
    rng = np.random.default_rng(3)
    a, b = 10.0 ** rng.uniform(0.0, math.log10(5e5), size=(2, 2000))
    p = np.concatenate([rng.random(1000), 10.0 ** rng.uniform(-30.0, 0.0, size=1000)])
    x = special.betainccinv(a, b, p)
    sd = np.array([deviation(*pair) for pair in zip(a, b, strict=True)])
    ours = np.array([beta.isf(*row) for row in zip(a, b, p, strict=True)])
    assert np.all(abs(ours - x) <= 1e-9 * sd + 2.0 * np.spacing(x))
    ours = np.array([beta.sf(*row) for row in zip(a, b, x, strict=True)])
    np.testing.assert_allclose(ours, special.betaincc(a, b, x), rtol=1e-9)


@given(parameter, parameter, tail)
@example(1.0001, 5e14, 0.63)
@example(5e14, 1.0001, 1e-300)
@example(101.0, 101.0, 4e-5)
def test_sf_undoes_isf(a: float, b: float, p: float) -> None:
    x = beta.isf(a, b, p)
    assert 0.0 <= x <= 1.0
    assert beta.sf(a, b, spaced(x, 2)) * (1.0 - 1e-10) <= p <= beta.sf(a, b, spaced(x, -2)) * (1.0 + 1e-10)


@given(parameter, parameter, place)
def test_isf_undoes_sf(a: float, b: float, z: float) -> None:
    x = at(a, b, z)
    p = beta.sf(a, b, x)
    assume(1e-300 < p < 0.9)  # closer to 1 the spacing of p decides
    assert abs(beta.isf(a, b, p) - x) <= 2e-10 * deviation(a, b) + 2.0 * math.ulp(x)


@given(parameter, parameter, place, st.floats(0.0, 10.0))
def test_sf_falls(a: float, b: float, z: float, step: float) -> None:
    low, high = beta.sf(a, b, at(a, b, z)), beta.sf(a, b, at(a, b, z + step))
    assert 0.0 <= high <= low * (1.0 + 1e-12) <= 1.0 + 1e-12


@given(parameter, parameter, tail, tail)
def test_isf_falls(a: float, b: float, p: float, q: float) -> None:
    slack = 1e-10 * deviation(a, b)
    assert beta.isf(a, b, max(p, q)) <= spaced(beta.isf(a, b, min(p, q)), 2) + slack


@given(parameter, parameter, st.floats(0.5, 1.0))
def test_the_mirror_has_the_other_tail(a: float, b: float, x: float) -> None:
    # 1 - x is exact for x >= 1/2.
    assert beta.sf(a, b, x) + beta.sf(b, a, 1.0 - x) == pytest.approx(1.0, abs=1e-13)


@given(parameter, st.floats(0.0, 1.0), tail)
def test_closed_forms_are_the_limits(b: float, x: float, p: float) -> None:
    # A change of 1e-13 in a or b changes ln sf by about 1e-13 (|ln sf| + ln n), which is below 8e-11.
    near = 1.0 + 1e-13
    assert beta.sf(near, b, x) == pytest.approx(beta.sf(1.0, b, x), rel=1e-10, abs=1e-300)
    assert beta.sf(b, near, x) == pytest.approx(beta.sf(b, 1.0, x), rel=1e-10, abs=1e-300)
    assert beta.isf(near, b, p) == pytest.approx(beta.isf(1.0, b, p), rel=1e-10)
    assert beta.isf(b, near, p) == pytest.approx(beta.isf(b, 1.0, p), rel=1e-10)


@pytest.mark.parametrize("mean", [1e-9, 0.1, 0.5, 0.97, 1.0 - 1e-9])
def test_series_and_fraction_meet(mean: float) -> None:
    n = 1.001 * beta.LARGE / (mean * (1.0 - mean))
    a, b = n * mean, n * (1.0 - mean)
    for z in np.linspace(0.0, 4.0, 41):
        x = at(a, b, z)
        d = beta._distance(a, b, x)
        energy, mills = beta._tail(a, b, x, 1.0 - x, d)
        if energy < beta.NEAR:
            assert mills == pytest.approx(beta._fraction(a, b, x, 1.0 - x, d), rel=1e-13)


@pytest.mark.parametrize("a", [1.0, 1.0 + 1e-15, 1.3, 50.0, 1e8, 5e14])
@pytest.mark.parametrize("b", [1.0, 1.0 + 1e-15, 1.3, 50.0, 1e8, 5e14])
def test_ends(a: float, b: float) -> None:
    assert (beta.sf(a, b, 0.0), beta.sf(a, b, 1.0)) == (1.0, 0.0)
    assert (beta.isf(a, b, 0.0), beta.isf(a, b, 1.0)) == (1.0, 0.0)
    for tiny in (5e-324, 1e-300, 1e-17):
        assert 0.0 <= beta.sf(a, b, tiny) <= 1.0
        assert a / (a + b) <= beta.isf(a, b, tiny) <= 1.0
    assert 0.0 <= beta.sf(a, b, 1.0 - 2.0**-53) <= 1.0
    assert 0.0 <= beta.isf(a, b, 1.0 - 2.0**-53) <= a / (a + b)


def test_interpreted_kernels_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    interpreted = runpy.run_path(beta.__file__)
    assert isinstance(interpreted["isf"], FunctionType)
    for a, b, x, value in TABLE:
        assert interpreted["sf"](a, b, x) == pytest.approx(beta.sf(a, b, x), rel=1e-13)
        assert interpreted["isf"](a, b, value) == pytest.approx(beta.isf(a, b, value), rel=1e-13)
