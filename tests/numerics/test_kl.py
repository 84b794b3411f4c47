"""Divergences and their inverses, against 60-digit arithmetic and published values.

An inverse is checked without solving anything: `x` is right to within `slack` if the exact
divergence is at most `c` just before `x` and at least `c` just after it.
"""

import math
import runpy
import sys
from collections.abc import Callable
from decimal import Decimal, getcontext
from types import FunctionType, SimpleNamespace
from typing import Any

import numba
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from thrifty.numerics import kl

getcontext().prec = 60
EPSILON = sys.float_info.epsilon
TINIEST = Decimal(math.ulp(0.0))
LARGEST = Decimal(sys.float_info.max)
INFINITE = Decimal("Infinity")

exact = settings(derandomize=True, deadline=None, max_examples=100)
proportions = st.floats(0.0, 1.0)
visible = st.floats(1e-20, 1.0) | st.just(0.0)  # 1 - x keeps them in 60 digits
levels = st.floats(1e-100, 1e100)
budgets = st.floats(-18.0, math.log10(800.0)).map(lambda exponent: 10.0**exponent)


# Exact divergences ------------------------------------------------------------------------------


def relative(p: Decimal, q: Decimal) -> Decimal:
    """p ln(p/q), with 0 ln 0 = 0."""
    if p == 0:
        return Decimal(0)
    return INFINITE if q == 0 else p * (p / q).ln()


def exact_bernoulli(a: Decimal, x: Decimal) -> Decimal:
    return relative(a, x) + relative(1 - a, 1 - x)


def exact_poisson(a: Decimal, x: Decimal) -> Decimal:
    return relative(a, x) + (x - a)


def exact_exponential(a: Decimal, x: Decimal) -> Decimal:
    return a / x - 1 - (a / x).ln()


def ulps(x: float, number: int = 2) -> Decimal:
    return number * Decimal(math.ulp(x))


def check_upper(
    divergence: Callable[[Decimal], Decimal], a: float, c: float, x: float, slack: Decimal
) -> None:
    """x is within slack of the largest point at or above a whose divergence from a is at most c."""
    before = Decimal(x) - slack if x < math.inf else LARGEST
    after = Decimal(x) + slack if x < math.inf else INFINITE
    assert before <= a or divergence(before) <= Decimal(c)
    assert after == INFINITE or divergence(after) >= Decimal(c)


def check_lower(
    divergence: Callable[[Decimal], Decimal], a: float, c: float, x: float, slack: Decimal
) -> None:
    """x is within slack of the smallest point at or below a with divergence at most c."""
    after = Decimal(x) + slack
    before = Decimal(x) - slack
    assert after >= a or divergence(after) <= Decimal(c)
    assert before <= 0 or divergence(before) >= Decimal(c)


def check_bernoulli_above(a: Decimal, b: Decimal, c: float, x: float, y: float) -> None:
    """(x, y) is (x, 1 - x) for the largest x with kl(a, x) <= c; b = 1 - a."""

    def of_x(x: Decimal) -> Decimal:
        return relative(a, x) + relative(b, 1 - x)

    def of_y(y: Decimal) -> Decimal:
        return relative(a, 1 - y) + relative(b, y)

    # 1 - x = b e^-s: an error of an ulp in s moves it by s ulps, so that s may multiply the slack.
    s = float((b / Decimal(y)).ln()) if y > 0 else 750.0
    slack = Decimal(y) * Decimal((3.0 + s) * EPSILON) + TINIEST
    low, high = Decimal(x) - ulps(x), Decimal(x) + ulps(x)
    assert low <= a or of_x(low) <= Decimal(c)
    assert high >= 1 or of_x(high) >= Decimal(c)
    assert Decimal(y) + slack >= b or of_y(Decimal(y) + slack) <= Decimal(c)
    assert Decimal(y) <= slack or of_y(Decimal(y) - slack) >= Decimal(c)


def check_bernoulli(a: float, c: float) -> None:
    exact_a = Decimal(a)
    x, complement = kl.bernoulli_upper(a, c)
    assert a <= x <= 1.0
    check_bernoulli_above(exact_a, 1 - exact_a, c, x, complement)
    x, complement = kl.bernoulli_lower(a, c)
    assert 0.0 <= x <= a
    check_bernoulli_above(1 - exact_a, exact_a, c, complement, x)


# Published values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("divergence", "means", "expected"),
    [
        (kl.bernoulli, (0.1, 0.9), 1.757779),
        (kl.bernoulli, (0.4, 0.5), 0.020135),
        (kl.bernoulli, (0.01, 0.99), 4.503217),
        (kl.poisson, (2.0, 1.0), 0.386294),
        (kl.poisson, (1.0, 2.0), 0.306852),
        (kl.exponential, (1.0, 2.0), 0.193147),
        (kl.exponential, (2.0, 1.0), 0.306852),
        (kl.gaussian, (0.8, 1.1, 1.0), 0.045),
    ],
)
def test_divergences_have_their_published_values(
    divergence: Any, means: tuple[float, ...], expected: float
) -> None:
    assert 0.0 <= divergence(*means) - expected + 1e-15 < 1e-6  # published cut, not rounded, to 6 digits


@pytest.mark.parametrize(
    ("upper", "a", "c", "expected"),
    [
        (lambda a, c: kl.bernoulli_upper(a, c)[0], 0.1, 0.2, 0.378391),
        (lambda a, c: kl.bernoulli_upper(a, c)[0], 0.5, 0.2, 0.787088),
        (lambda a, c: kl.bernoulli_upper(a, c)[0], 0.9, 0.2, 0.994489),
        (lambda a, c: kl.bernoulli_upper(a, c)[0], 0.1, 0.4, 0.519475),
        (lambda a, c: kl.bernoulli_upper(a, c)[0], 0.1, 0.9, 0.734714),
        (lambda a, c: kl.bernoulli_upper(a, c)[0], 0.5, 0.4, 0.871035),
        (lambda a, c: kl.bernoulli_upper(a, c)[0], 0.5, 0.9, 0.956809),
        (lambda a, c: kl.bernoulli_upper(a, c)[0], 0.9, 0.4, 0.999285),
        (lambda a, c: kl.bernoulli_upper(a, c)[0], 0.9, 0.9, 0.999995),
        (kl.poisson_upper, 0.1, 0.2, 0.450523),
        (kl.poisson_upper, 0.5, 0.2, 1.089376),
        (kl.poisson_upper, 0.9, 0.2, 1.640112),
        (kl.poisson_upper, 0.1, 0.9, 1.252796),
        (kl.poisson_upper, 0.9, 0.9, 2.831573),
        (kl.poisson_lower, 0.5, 0.2, 0.174952),
        (kl.exponential_upper, 0.1, 0.2, 0.202741),
        (kl.exponential_upper, 0.5, 0.4, 1.428962),
        (kl.exponential_upper, 0.9, 0.9, 5.031795),
        (kl.exponential_upper, 0.1, 0.9, 0.559088),
        (kl.exponential_lower, 0.5, 0.4, 0.229489),
    ],
)
def test_inverses_have_their_published_values(
    upper: Callable[[float, float], float], a: float, c: float, expected: float
) -> None:
    # The published values are the lower ends of bisections stopped at 1e-6, printed to 6 digits.
    assert upper(a, c) == pytest.approx(expected, abs=1.5e-6)


def test_kl_ucb_indices() -> None:
    log_t = math.log(10**4)
    assert kl.bernoulli_upper(0.8, log_t / 100)[0] == pytest.approx(0.9312832129, abs=6e-11)
    budget = log_t + 3 * math.log(log_t)
    assert kl.bernoulli_upper(0.8, budget / 100)[0] == pytest.approx(0.9555672033, abs=6e-11)
    ratio = 10**5 / (20 * 100)  # KL-UCB++ with horizon 10^5, 20 arms, 100 pulls
    budget = math.log(ratio * (math.log(ratio) ** 2 + 1))
    assert budget == pytest.approx(6.7034288, abs=6e-8)
    assert kl.bernoulli_upper(0.8, budget / 100)[0] == pytest.approx(0.9172178074, abs=6e-11)


@pytest.mark.parametrize(
    ("mean", "pulls", "exponential", "upper", "lower"),
    [
        (0.3, 11, 1.0, 0.5210276121, 0.1291301210),
        (0.3, 11, 0.1, 0.3671623425, 0.2381382047),
        (0.8, 101, 2.0, 0.8715087975, 0.7126976608),
        (0.05, 3, 1.0, 0.5029724050, 8.566e-7),
        (0.0, 5, 1.0, 0.2211992169, 0.0),
        (1.0, 5, 1.0, 1.0, 0.7788007831),
    ],
)
def test_expts_quantiles(mean: float, pulls: int, exponential: float, upper: float, lower: float) -> None:
    c = exponential / (pulls - 1)
    assert kl.bernoulli_upper(mean, c)[0] == pytest.approx(upper, abs=6e-11)
    assert kl.bernoulli_lower(mean, c)[0] == pytest.approx(lower, abs=6e-11)


# Divergences ------------------------------------------------------------------------------------


def test_divergences_at_the_boundaries() -> None:
    assert [kl.bernoulli(a, a) for a in (0.0, 0.3, 1.0)] == [0.0, 0.0, 0.0]
    assert kl.bernoulli(0.0, 0.5) == pytest.approx(math.log(2), rel=1e-15)
    assert kl.bernoulli(1.0, 0.5) == pytest.approx(math.log(2), rel=1e-15)
    assert kl.bernoulli(0.0, 1.0) == kl.bernoulli(1.0, 0.0) == math.inf
    assert kl.bernoulli(5e-324, 0.0) == kl.bernoulli(1 - 1e-16, 1.0) == math.inf
    assert kl.bernoulli(0.5, 5e-324) == pytest.approx(0.5 * (-math.log(4.0) + 744.4400719), rel=1e-9)
    assert kl.poisson(0.0, 0.0) == 0.0
    assert kl.poisson(0.0, 7.0) == 7.0
    assert kl.poisson(7.0, 0.0) == kl.poisson(7.0, math.inf) == kl.poisson(0.0, math.inf) == math.inf
    assert kl.poisson(1e-310, 1e20) == 1e20
    assert kl.exponential(2.0, 2.0) == kl.exponential(0.0, 0.0) == 0.0
    assert kl.exponential(0.0, 2.0) == kl.exponential(2.0, 0.0) == math.inf
    assert kl.exponential(2.0, math.inf) == math.inf
    assert kl.gaussian(0.0, math.inf, 1.0) == kl.gaussian(0.0, -math.inf, 1.0) == math.inf


def near(a: float, exponent: float, side: float) -> float:
    return a * (1.0 + side * math.pow(10.0, exponent))


exponents = st.floats(-15.0, 0.0)
sides = st.sampled_from([-1.0, 1.0])


@exact
@given(st.floats(1e-9, 0.499), exponents, sides)
@example(0.3, -8.0, 1.0)
@example(0.3, math.log10(0.2), -1.0)
def test_bernoulli_divergence_is_accurate_next_to_its_zero(a: float, exponent: float, side: float) -> None:
    # h loses a digit where its series ends, and the four roundings of 1 - a and 1 - x one ulp each.
    x = near(a, exponent, side)
    for p, q in ((a, x), (x, a)):
        truth = exact_bernoulli(Decimal(p), Decimal(q))
        assert kl.bernoulli(p, q) == pytest.approx(float(truth), rel=30 * EPSILON)


@exact
@given(levels, exponents, sides)
def test_poisson_and_exponential_divergences_are_accurate_next_to_their_zero(
    a: float, exponent: float, side: float
) -> None:
    x = near(a, exponent, side)
    if x > 0.0:
        truth = float(exact_poisson(Decimal(a), Decimal(x)))
        assert kl.poisson(a, x) == pytest.approx(truth, rel=30 * EPSILON)
        truth = float(exact_exponential(Decimal(a), Decimal(x)))
        assert kl.exponential(a, x) == pytest.approx(truth, rel=30 * EPSILON)


@exact
@given(visible, visible)
def test_bernoulli_divergence_is_accurate_everywhere(a: float, x: float) -> None:
    if a != x:
        truth = float(exact_bernoulli(Decimal(a), Decimal(x)))
        assert kl.bernoulli(a, x) == pytest.approx(truth, rel=30 * EPSILON)


@exact
@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_poisson_and_exponential_divergences_are_accurate_everywhere(a: float, x: float) -> None:
    truth = exact_poisson(Decimal(a), Decimal(x))
    assert kl.poisson(a, x) == pytest.approx(float(truth), rel=30 * EPSILON, abs=1e-300)
    truth = min(exact_exponential(Decimal(a), Decimal(x)), INFINITE)
    assert kl.exponential(a, x) == pytest.approx(float(truth), rel=30 * EPSILON)


# Inverses ---------------------------------------------------------------------------------------


EDGES = [0.0, 1e-300, 1e-20, 1e-8, 1e-3, 0.05, 0.3, 0.5, 0.8, 0.99, 1 - 1e-8, 1 - 1e-16, 1.0]
BUDGETS = [1e-18, 1e-15, 1e-12, 1e-8, 1e-5, 1e-3, 0.03, 0.2, 1.0, 4.0, 30.0, 400.0, 744.0, 800.0]


@pytest.mark.parametrize("a", EDGES)
@pytest.mark.parametrize("c", BUDGETS)
def test_bernoulli_inverses_on_a_grid(a: float, c: float) -> None:
    check_bernoulli(a, c)


@exact
@given(proportions, budgets)
def test_bernoulli_inverses(a: float, c: float) -> None:
    check_bernoulli(a, c)


@exact
@given(st.floats(0.5, 1.0), budgets)
def test_bernoulli_inverses_are_mirror_images(a: float, c: float) -> None:
    # From 1/2 on, 1 - a is exact.
    x, complement = kl.bernoulli_upper(1.0 - a, c)
    assert kl.bernoulli_lower(a, c) == (complement, x)


def test_a_step_of_1e_8_keeps_its_digits() -> None:
    # n = 10^15 pulls: kl(a, a + d) = d^2/(2 a b) (1 + O(d)), so d = sqrt(2 a b c) to 8 digits,
    # as many as x = a + d can hold.
    a, c = 0.3, 1e-15
    d = math.sqrt(2 * 0.3 * 0.7 * c)
    assert kl.bernoulli_upper(a, c)[0] - a == pytest.approx(d, rel=1e-8)
    assert a - kl.bernoulli_lower(a, c)[0] == pytest.approx(d, rel=1e-8)


def test_the_complement_survives_where_x_rounds_to_one() -> None:
    x, complement = kl.bernoulli_upper(0.99, 1.0)
    # 1 - x = b e^-(c - a ln a)/b, since x = 1 to 46 digits; b = 1 - 0.99 is exact as a double
    b = 1.0 - 0.99
    assert x == 1.0
    expected = b * math.exp(-(1.0 - 0.99 * math.log(0.99)) / b)
    assert complement == pytest.approx(expected, rel=200 * EPSILON)


@exact
@given(levels, budgets)
@example(1e-100, 1e-18)
@example(1e-100, 800.0)
@example(1e100, 1e-18)
def test_poisson_inverses(a: float, c: float) -> None:
    def divergence(x: Decimal) -> Decimal:
        return exact_poisson(Decimal(a), x)

    x = kl.poisson_upper(a, c)
    assert x >= a
    check_upper(divergence, a, c, x, ulps(x))
    x = kl.poisson_lower(a, c)
    assert 0.0 <= x <= a
    s = math.log(a / x) if x > 0.0 else 750.0  # x = a e^-s: as for the Bernoulli complement
    check_lower(divergence, a, c, x, Decimal(x) * Decimal((3.0 + s) * EPSILON) + TINIEST)


@exact
@given(levels, budgets)
@example(1e-100, 800.0)
@example(1e100, 800.0)
@example(1.0, 1e-18)
def test_exponential_inverses(a: float, c: float) -> None:
    def divergence(x: Decimal) -> Decimal:
        return exact_exponential(Decimal(a), x)

    x = kl.exponential_upper(a, c)
    assert x >= a
    slack = Decimal(min(x, 1e308)) * Decimal((5.0 + 2.0 * c) * EPSILON)  # x = a e^s, s < c + 1
    check_upper(divergence, a, c, x, slack)
    x = kl.exponential_lower(a, c)
    assert 0.0 <= x <= a
    check_lower(divergence, a, c, x, ulps(x, 4))


@exact
@given(st.floats(-1e6, 1e6), budgets, st.floats(1e-6, 1e6))
def test_gaussian_inverses(a: float, c: float, variance: float) -> None:
    step = math.sqrt(2 * variance * c)
    rounding = 2 * math.ulp(abs(a) + step)
    assert kl.gaussian_upper(a, c, variance) - a == pytest.approx(step, rel=1e-15, abs=rounding)
    assert a - kl.gaussian_lower(a, c, variance) == pytest.approx(step, rel=1e-15, abs=rounding)


BOUNDS: list[tuple[Callable[[float, float], float], Callable[[float, float], float]]] = [
    (lambda a, c: kl.bernoulli_upper(a, c)[0], lambda a, c: kl.bernoulli_lower(a, c)[0]),
    (lambda a, c: kl.gaussian_upper(a, c, 0.25), lambda a, c: kl.gaussian_lower(a, c, 0.25)),
    (kl.poisson_upper, kl.poisson_lower),
    (kl.exponential_upper, kl.exponential_lower),
]
FAMILIES = ["bernoulli", "gaussian", "poisson", "exponential"]


@pytest.mark.parametrize(("upper", "lower"), BOUNDS, ids=FAMILIES)
@exact
@given(proportions, budgets, st.floats(0.0, 1.0))
def test_bounds_widen_with_the_budget(
    upper: Callable[[float, float], float],
    lower: Callable[[float, float], float],
    a: float,
    c: float,
    share: float,
) -> None:
    smaller = share * c
    # An answer right to a few ulps (of x, or of s in x = a e^s) is monotone to within as many.
    slack = (6.0 + 2.0 * c) * EPSILON
    assert a <= upper(a, smaller) <= upper(a, c) * (1.0 + slack)
    assert a >= lower(a, smaller) >= lower(a, c) - slack * a


@pytest.mark.parametrize(("upper", "lower"), BOUNDS, ids=FAMILIES)
@pytest.mark.parametrize("a", [0.0, 5e-324, 0.3, 1.0])
def test_no_budget_no_step(
    upper: Callable[[float, float], float], lower: Callable[[float, float], float], a: float
) -> None:
    assert upper(a, 0.0) == upper(a, -1.0) == a
    assert lower(a, 0.0) == lower(a, -1.0) == a


def test_an_infinite_budget_and_a_mean_at_an_end() -> None:
    assert kl.bernoulli_upper(0.3, math.inf) == (1.0, 0.0)
    assert kl.bernoulli_lower(0.3, math.inf) == (0.0, 1.0)
    assert kl.bernoulli_upper(1.0, 0.5) == (1.0, 0.0)
    assert kl.bernoulli_lower(0.0, 0.5) == (0.0, 1.0)
    assert kl.bernoulli_upper(0.0, 0.5) == (-math.expm1(-0.5), math.exp(-0.5))
    assert kl.gaussian_upper(0.3, math.inf, 1.0) == -kl.gaussian_lower(0.3, math.inf, 1.0) == math.inf
    assert kl.poisson_upper(0.3, math.inf) == kl.exponential_upper(0.3, math.inf) == math.inf
    assert kl.poisson_lower(0.3, math.inf) == kl.exponential_lower(0.3, math.inf) == 0.0
    assert kl.poisson_upper(0.0, 0.5) == 0.5
    assert kl.poisson_lower(0.0, 0.5) == 0.0
    assert kl.exponential_upper(0.0, 0.5) == kl.exponential_lower(0.0, 0.5) == 0.0


# Compiled and interpreted -----------------------------------------------------------------------


def test_interpreted_kernels_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    interpreted = SimpleNamespace(**runpy.run_path(kl.__file__))
    assert isinstance(interpreted.bernoulli_upper, FunctionType)

    def numbers(module: Any, a: float, c: float) -> list[float]:
        return [
            *module.bernoulli_upper(a, c),
            *module.bernoulli_lower(a, c),
            module.poisson_upper(a, c),
            module.poisson_lower(a, c),
            module.exponential_upper(a, c),
            module.exponential_lower(a, c),
            module.gaussian_upper(a, c, 0.25),
            module.gaussian_lower(a, c, 0.25),
            module.bernoulli(a, c / 800.0),
            module.poisson(a, c),
            module.exponential(a, c),
            module.gaussian(a, c, 0.25),
        ]

    for a in (0.0, 1e-300, 0.05, 0.3, 0.9, 1 - 1e-16, 1.0):
        for c in (0.0, 1e-18, 1e-6, 0.02, 0.4, 5.0, 60.0, 800.0):
            assert numbers(interpreted, a, c) == numbers(kl, a, c)
