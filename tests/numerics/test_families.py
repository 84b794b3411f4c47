"""The ladder of families against published values and against definitions of their own."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

from thrifty.numerics import families
from thrifty.numerics.families import BERNOULLI, EXPONENTIAL, GAUSSIAN, POISSON

ALL = sorted(families.CODES.values())


def test_codes_are_distinct() -> None:
    assert ALL == [0, 1, 2, 3]
    assert set(families.CODES) == {"bernoulli", "gaussian", "poisson", "exponential"}


@pytest.mark.parametrize(
    ("family", "a", "x", "value"),
    [
        (BERNOULLI, 0.1, 0.9, 1.757779),
        (BERNOULLI, 0.4, 0.5, 0.020135),
        (BERNOULLI, 0.01, 0.99, 4.503217),
        (POISSON, 2.0, 1.0, 0.386294),
        (POISSON, 1.0, 2.0, 0.306852),
        (EXPONENTIAL, 1.0, 2.0, 0.193147),
        (EXPONENTIAL, 2.0, 1.0, 0.306852),
        (GAUSSIAN, -1.0, 1.0, 2.0),
    ],
)
def test_divergence_at_published_values(family: int, a: float, x: float, value: float) -> None:
    """Published with six decimals, the last of them cut off."""
    assert families.divergence(family, a, x) == pytest.approx(value, abs=1.1e-6)


@pytest.mark.parametrize(
    ("family", "a", "c", "x"),
    [
        (BERNOULLI, 0.1, 0.2, 0.378391),
        (BERNOULLI, 0.5, 0.9, 0.956809),
        (BERNOULLI, 0.9, 0.4, 0.999285),
        (POISSON, 0.1, 0.2, 0.450524),
        (POISSON, 0.9, 0.9, 2.831573),
        (EXPONENTIAL, 0.1, 0.2, 0.202741),
        (EXPONENTIAL, 0.9, 0.9, 5.031795),
        (GAUSSIAN, 0.5, 2.0, 2.5),
    ],
)
def test_upper_at_published_values(family: int, a: float, c: float, x: float) -> None:
    assert families.upper(family, a, c) == pytest.approx(x, abs=1.1e-6)


@pytest.mark.parametrize(
    ("family", "a", "c", "x"),
    [
        (BERNOULLI, 0.3, 0.1, 0.1291301210),
        (POISSON, 0.5, 0.2, 0.174952),
        (EXPONENTIAL, 0.5, 0.4, 0.229489),
        (GAUSSIAN, 0.5, 2.0, -1.5),
    ],
)
def test_lower_at_derived_values(family: int, a: float, c: float, x: float) -> None:
    assert families.lower(family, a, c) == pytest.approx(x, abs=6e-7)


def second_definition(family: int, a: float, x: float) -> float:
    if family == BERNOULLI:
        return float(rel_entr(a, x) + rel_entr(1 - a, 1 - x))
    if family == GAUSSIAN:
        return 0.5 * (a - x) ** 2
    if family == POISSON:
        return float(rel_entr(a, x)) + x - a
    return a / x - 1 - math.log(a / x)


@given(family=st.sampled_from(ALL), a=st.floats(0.01, 0.98), x=st.floats(0.01, 0.98))
def test_divergence_is_that_of_the_family(family: int, a: float, x: float) -> None:
    assert families.divergence(family, a, x) == pytest.approx(second_definition(family, a, x), abs=1e-13)


@given(family=st.sampled_from(ALL), a=st.floats(0.01, 0.98), c=st.floats(1e-6, 3.0))
def test_both_inverses_spend_the_budget(family: int, a: float, c: float) -> None:
    above, below = families.upper(family, a, c), families.lower(family, a, c)
    assert below < a < above
    assert families.divergence(family, a, below) == pytest.approx(c, rel=1e-6)
    if family != BERNOULLI or above < 1.0 - 1e-9:
        assert families.divergence(family, a, above) == pytest.approx(c, rel=1e-6)


@pytest.mark.parametrize("family", ALL)
@pytest.mark.parametrize("a", [0.0, 0.5, 1.0])
def test_no_budget_and_every_budget(family: int, a: float) -> None:
    assert families.upper(family, a, 0.0) == families.lower(family, a, 0.0) == a
    assert families.divergence(family, a, a) == 0.0
    for budget in (1e-300, 1.0, 1e300, math.inf):
        assert families.lower(family, a, budget) <= a <= families.upper(family, a, budget)
