"""The gamma distribution's tails and their inverses, at both ends and up to a shape of 1e15.

An inverse is right if the tail brackets p two doubles to either side of it: at a large shape the spacing of
doubles is what limits it.
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

from thrifty.numerics import beta, gamma, normal

# (a, x, cdf, sf). Computed with mpmath in 40 digits: the density in ln x integrated from x away from the
# mean, by Gauss-Legendre panels of at most 1.5 standard deviations, and divided by Gamma(a) from loggamma.
# For eight other points with a < 200, mpmath's gammainc gave the same.
TABLE = [
    (0.001, 1e-300, 0.5014761980108866, 0.4985238019891134),
    (0.001, 1e-05, 0.9891230446957827, 0.01087695530421733),
    (0.001, 2.0, 0.999951023082169, 4.897691783098148e-05),
    (0.1, 1e-09, 0.13233030881510574, 0.8676696911848942),
    (0.1, 40.0, 1.0, 1.5797414197837044e-20),
    (0.5, 0.25, 0.5204998778130465, 0.4795001221869535),
    (0.9, 1e-06, 4.139333804227031e-06, 0.9999958606661957),
    (0.999, 3.0, 0.9503093608689828, 0.04969063913101726),
    (1.0, 0.5, 0.3934693402873666, 0.6065306597126334),
    (1.0000001, 0.7, 0.5034146478799791, 0.49658535212002086),
    (1.0000001, 1e-300, 9.999308825574537e-301, 1.0),
    (1.25, 1e-09, 4.963281448256843e-12, 0.9999999999950367),
    (1.5, 1.2, 0.506365377288272, 0.49363462271172803),
    (1.5, 700.0, 1.0, 2.945619361016309e-303),
    (2.0, 1.0, 0.26424111765711533, 0.7357588823428847),
    (2.0, 1e-07, 4.9999996666666786e-15, 0.999999999999995),
    (2.5, 2.5, 0.5841198130044921, 0.41588018699550794),
    (3.0, 40.0, 0.9999999999999964, 3.572865928700226e-15),
    (7.0, 0.01, 1.96684280255335e-18, 1.0),
    (10.0, 30.0, 0.9999928782491372, 7.121750862815577e-06),
    (10.0, 1e-20, 2.7557319223985875e-207, 1.0),
    (20.0, 15.0, 0.12478121503252482, 0.8752187849674752),
    (50.0, 4.0, 8.282453304479507e-37, 1.0),
    (50.0, 52.0, 0.6278502984261325, 0.37214970157386756),
    (99.0, 99.0, 0.5133658023307904, 0.4866341976692096),
    (99.9, 66.0, 6.122773868752266e-05, 0.9999387722613124),
    (100.5, 144.0, 0.9999450118968044, 5.498810319556198e-05),
    (101.0, 66.8, 5.8346281897042784e-05, 0.999941653718103),
    (101.0, 145.5, 0.9999589775652129, 4.102243478705048e-05),
    (150.0, 0.9, 9.79973030083463e-271, 1.0),
    (250.0, 890.0, 1.0, 8.065780008975082e-143),
    (1000.0, 320.0, 5.473830977845082e-202, 1.0),
    (1000.0, 1010.0, 0.6276789447369947, 0.3723210552630053),
    (12345.678, 12222.0, 0.13267426215926423, 0.8673257378407357),
    (10000.0, 7300.0, 9.835838260008435e-197, 1.0),
    (10000.0, 12700.0, 1.0, 4.082230326133853e-137),
    (1e6, 995000.0, 2.749580359270071e-07, 0.9999997250419641),
    (1e6, 988000.0, 9.935030455836757e-34, 1.0),
    (1e6, 1037000.0, 1.0, 7.815172448166054e-293),
    (1e8, 100000001.0, 0.5000531923037551, 0.49994680769624494),
    (1e8, 99700000.0, 1.990882289646706e-198, 1.0),
    (1e10, 9999500000.0, 2.8653265451088904e-07, 0.9999997134673455),
    (1e10, 10003700000.0, 1.0, 6.77838277679227e-300),
    (1e12, 999993000000.0, 1.2796663959363176e-12, 0.9999999999987204),
    (1e12, 1000000300000.0, 0.6179115378765836, 0.38208846212341646),
    (1e12, 1000037000000.0, 1.0, 5.823061528044497e-300),
    (1e15, 999999000000000.0, 8.976171374845785e-220, 1.0),
    (1e15, 999999999999990.0, 0.49999987804859475, 0.5000001219514052),
    (1e15, 1000000200000000.0, 0.9999999998730182, 1.2698176751058533e-10),
    (1e15, 1000001170000000.0, 1.0, 6.022561469994441e-300),
]

# log-uniform from 1e-3 to 1e15, many of them near 1, where the methods change, and exactly 1
shapes = st.one_of(
    st.just(1.0),
    st.floats(-3.0, 15.0).map(lambda exponent: 10.0**exponent),
    st.floats(-12.0, 1.0).map(lambda exponent: 1.0 + 10.0**exponent),
)
# both tails and the middle
masses = st.one_of(
    st.floats(1e-300, 1.0, exclude_max=True),  # below, a mass has fewer digits than the test asks for
    st.floats(-300.0, -1e-3).map(lambda exponent: 10.0**exponent),
)
places = st.floats(-30.0, 30.0)  # in standard deviations from the mean


def at(a: float, z: float) -> float:
    """About z standard deviations from the mean, and above 0: the cube root is nearly normal."""
    root = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * math.sqrt(a))
    return a * root**3 if root > 0.01 else a * 1e-6 * math.exp(z)


def spaced(x: float, steps: int) -> float:
    return max(x + steps * math.ulp(x), 0.0)


@pytest.mark.parametrize(("a", "x", "lower", "upper"), TABLE)
def test_both_tails_have_twelve_digits(a: float, x: float, lower: float, upper: float) -> None:
    assert gamma.cdf(a, x) == pytest.approx(lower, rel=1e-12)
    assert gamma.sf(a, x) == pytest.approx(upper, rel=1e-12)


@pytest.mark.parametrize(("a", "x", "lower", "upper"), TABLE)
def test_both_inverses_find_the_point(a: float, x: float, lower: float, upper: float) -> None:
    # Beyond 0.9 the spacing of the mass decides; each point has at least one mass below.
    tolerance = 1e-12 * min(x, math.sqrt(a)) + 2.0 * math.ulp(x)
    assert lower > 0.9 or abs(gamma.icdf(a, lower) - x) <= tolerance / min(a, 1.0)
    assert upper > 0.9 or abs(gamma.isf(a, upper) - x) <= tolerance / min(a, 1.0)


@given(shapes, masses)
@example(1.0000001, 1e-300)
@example(1.0000001, 0.63)
@example(1e15, 1e-300)
@example(100.5, 4e-5)
def test_a_tail_undoes_its_inverse(a: float, p: float) -> None:
    x = gamma.isf(a, p)
    assert gamma.sf(a, spaced(x, 2)) * (1.0 - 1e-11) <= p <= gamma.sf(a, spaced(x, -2)) * (1.0 + 1e-11)
    x = gamma.icdf(a, p)
    assert gamma.cdf(a, spaced(x, -2)) * (1.0 - 1e-11) <= p <= gamma.cdf(a, spaced(x, 2)) * (1.0 + 1e-11)


@given(st.floats(0.0, 15.0).map(lambda exponent: 10.0**exponent), places)
def test_an_inverse_undoes_its_tail(a: float, z: float) -> None:
    x = at(a, z)
    lower, upper = gamma.cdf(a, x), gamma.sf(a, x)
    assume(min(lower, upper) > 1e-300)
    tolerance = 1e-11 * min(x, math.sqrt(a)) + 2.0 * math.ulp(x)
    assert lower > 0.9 or abs(gamma.icdf(a, lower) - x) <= tolerance
    assert upper > 0.9 or abs(gamma.isf(a, upper) - x) <= tolerance


@given(shapes, places)
def test_the_tails_make_up_the_whole(a: float, z: float) -> None:
    x = at(a, z)
    assert gamma.sf(a, x) + gamma.cdf(a, x) == pytest.approx(1.0, abs=1e-13)


@given(shapes, places, st.floats(0.0, 10.0))
def test_tails_are_monotone(a: float, z: float, step: float) -> None:
    low, high = sorted((at(a, z), at(a, z + step)))
    assert 0.0 <= gamma.sf(a, high) <= gamma.sf(a, low) * (1.0 + 1e-12) <= 1.0 + 1e-12
    assert 0.0 <= gamma.cdf(a, low) <= gamma.cdf(a, high) * (1.0 + 1e-12) <= 1.0 + 1e-12


@given(shapes, masses, masses)
def test_inverses_are_monotone(a: float, p: float, q: float) -> None:
    small, large = min(p, q), max(p, q)
    assert gamma.isf(a, large) <= gamma.isf(a, small) * (1.0 + 1e-11)
    assert gamma.icdf(a, small) <= gamma.icdf(a, large) * (1.0 + 1e-11)


@given(st.integers(1, 40), st.floats(0.0, 300.0, exclude_min=True))
def test_a_whole_shape_counts_poisson_events(a: int, x: float) -> None:
    """P(X > x) is the probability of fewer than a events of mean x, a finite sum."""
    terms = [math.exp(k * math.log(x) - x - math.lgamma(k + 1.0)) for k in range(a)]
    assert gamma.sf(float(a), x) == pytest.approx(math.fsum(terms), rel=1e-11)


@given(shapes, places)
def test_the_recurrence_in_the_shape(a: float, z: float) -> None:
    """sf(a+1, x) = sf(a, x) + x^a e^-x / Gamma(a+1), all of them positive."""
    assume(a < 1e6)  # beyond, the term itself has fewer digits when it is computed like this
    x = at(a, z)
    term = math.exp(a * math.log(x) - x - math.lgamma(a + 1.0))
    slack = 1e-12 + 4e-16 * a * (1.0 + abs(math.log(x)))
    assert gamma.sf(a + 1.0, x) == pytest.approx(gamma.sf(a, x) + term, rel=slack, abs=1e-300)
    assert gamma.cdf(a, x) == pytest.approx(gamma.cdf(a + 1.0, x) + term, rel=slack, abs=1e-300)


def test_scipy_agrees_while_it_is_reliable() -> None:
    rng = np.random.default_rng(3)
    a = 10.0 ** rng.uniform(-3.0, 4.0, size=2000)
    p = np.concatenate([rng.random(1000), 10.0 ** rng.uniform(-30.0, 0.0, size=1000)])
    for ours, inverse, scipys, tail in [
        (gamma.isf, gamma.sf, special.gammainccinv, special.gammaincc),
        (gamma.icdf, gamma.cdf, special.gammaincinv, special.gammainc),
    ]:
        x = scipys(a, p)
        found = [ours(*row) for row in zip(a, p, strict=True)]
        np.testing.assert_allclose(found, x, rtol=1e-10, atol=5e-324)  # the smallest one for 0
        masses = [inverse(*row) for row in zip(a, x, strict=True)]
        np.testing.assert_allclose(masses, tail(a, x), rtol=3e-12)


def test_normal_limit_at_a_huge_shape() -> None:
    # Cornish-Fisher with the skewness 2/sqrt(a); the next term is of the order of z^3 / a deviations.
    a, z = 1e15, normal.isf(1e-12)
    step, bend = math.sqrt(a) * z, (z * z - 1.0) / 3.0
    assert abs(gamma.isf(a, 1e-12) - (a + step + bend)) <= 2.0 * math.ulp(a)
    assert abs(gamma.icdf(a, 1e-12) - (a - step + bend)) <= 2.0 * math.ulp(a)


@pytest.mark.parametrize("a", [1.5, 20.0, 3e3])
def test_the_limit_of_the_beta(a: float) -> None:
    """b X -> Gamma(a) for X ~ Beta(a, b) and b -> infinity; at b = 1e14 they differ by about x^2/b."""
    for z in (-4.0, -1.0, 0.0, 1.0, 4.0):
        x = at(a, z)
        assert gamma.sf(a, x) == pytest.approx(beta.sf(a, 1e14, x / 1e14), rel=1e-6)


@pytest.mark.parametrize("side", [gamma.UPPER, gamma.LOWER])
@pytest.mark.parametrize("a", [1.001 * gamma.LARGE, 1e4, 1e9])
def test_series_and_fraction_meet(side: float, a: float) -> None:
    # The fraction needs more terms the closer x is to the mean: it is asked where E is from half of NEAR up.
    met = 0
    for z in np.linspace(2.5, 4.5, 21):
        x = at(a, side * z)
        energy, mills = gamma._tail(side, a, x, x - a)
        if 0.5 * gamma.NEAR < energy < gamma.NEAR:
            met += 1
            fraction = gamma._upper_fraction(a, x - a) if side > 0 else gamma._lower_fraction(a, x, x - a)
            assert mills == pytest.approx(fraction, rel=1e-13)
    assert met > 5


@pytest.mark.parametrize("a", [1e-6, 1e-3, 0.5, 1.0, 1.0 + 1e-15, 1.3, 50.0, 1e8, 1e15, 1e100])
def test_ends(a: float) -> None:
    for x, lower, upper in [(-1.0, 0.0, 1.0), (0.0, 0.0, 1.0), (math.inf, 1.0, 0.0)]:
        assert (gamma.cdf(a, x), gamma.sf(a, x)) == (lower, upper)
    for p, low, high in [(0.0, 0.0, math.inf), (1.0, math.inf, 0.0)]:
        assert (gamma.icdf(a, p), gamma.isf(a, p)) == (low, high)
    for x in (5e-324, 1e-300, 1e300, 1.7e308):
        assert 0.0 <= gamma.sf(a, x) <= 1.0
        assert 0.0 <= gamma.cdf(a, x) <= 1.0
    for p in (5e-324, 1e-300, 1e-17):
        assert 0.0 <= gamma.icdf(a, p) <= a <= gamma.isf(a, p) < math.inf
    largest = 1.0 - 2.0**-53
    assert 0.0 <= gamma.isf(a, largest) <= a <= gamma.icdf(a, largest) < math.inf


def test_interpreted_kernels_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    interpreted = runpy.run_path(gamma.__file__)
    assert isinstance(interpreted["isf"], FunctionType)
    for a, x, lower, upper in TABLE:
        for tail, inverse, mass in (("sf", "isf", upper), ("cdf", "icdf", lower)):
            assert interpreted[tail](a, x) == pytest.approx(getattr(gamma, tail)(a, x), rel=1e-13)
            assert interpreted[inverse](a, mass) == pytest.approx(getattr(gamma, inverse)(a, mass), rel=1e-13)
