"""ExpTS's law for Gaussian, Poisson and exponential rewards: draw, sf and isf are those of the definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.chance import assert_law, assert_share
from thrifty import laws
from thrifty.numerics import families, random

FAMILIES = {name: code for name, code in families.CODES.items() if name != "bernoulli"}
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)

counts = st.floats(0.31, 15.0).map(lambda digits: 10.0**digits)
means = st.floats(-9.0, 9.0).map(lambda digits: 10.0**digits)
upper = st.floats(0.31, 100.0).map(lambda digits: 10.0**-digits)
lower = st.floats(0.31, 15.0).map(lambda digits: 1.0 - 10.0**-digits)


def parameters(family: int, n: float, s: float) -> tuple[int, float, float]:
    """The code of the law and its parameters."""
    code = laws.OTHER_FAMILY + family
    return code, *laws.parameters(code, n, s)


def draws(law: tuple[int, float, float], size: int) -> np.ndarray:
    rng = random.generator(11)
    return np.array([laws.draw(*law, rng) for _ in range(size)])


def divergence(family: int, a: float, x: float) -> float:
    """KL(a -> x), from the densities."""
    if family == families.GAUSSIAN:
        return 0.5 * (a - x) ** 2
    if family == families.POISSON:
        return x - a + a * math.log(a / x)
    return a / x - 1.0 - math.log(a / x)


@every_family
@pytest.mark.parametrize(("n", "mean"), [(1.5, 0.3), (2.0, 1e-6), (30.0, 2.5), (1e6, 40.0), (1e15, 0.7)])
def test_draws_have_the_law_of_sf(family: int, n: float, mean: float) -> None:
    law = parameters(family, n, mean * n)
    assert_law(draws(law, 100_000), lambda x: laws.sf(*law, x))


@every_family
def test_sf_is_the_definition(family: int) -> None:
    n, mean = 12.0, 1.7
    law = parameters(family, n, mean * n)
    for x in (0.1, 0.9, 1.69, 1.71, 2.4, 9.0):
        half = 0.5 * math.exp(-(n - 1.0) * divergence(family, mean, x))
        assert laws.sf(*law, x) == pytest.approx(half if x > mean else 1.0 - half, rel=1e-11)
    assert laws.sf(*law, mean) == 0.5


@every_family
@given(n=counts, mean=means, p=upper | lower)
def test_isf_inverts_sf_in_both_tails(family: int, n: float, mean: float, p: float) -> None:
    law = parameters(family, n, mean * n)
    x = laws.isf(*law, p)
    spacing = 4.0 * math.ulp(max(abs(x), mean))
    tolerance = 1e-9 * min(p, 1.0 - p) + 2.0**-52 * p  # in the lower tail p itself has no more digits
    assert laws.sf(*law, x + spacing) <= p + tolerance
    assert laws.sf(*law, x - spacing) >= p - tolerance


@every_family
@given(n=counts, mean=means)
def test_half_of_the_mass_is_above_the_mean(family: int, n: float, mean: float) -> None:
    law = parameters(family, n, mean * n)
    assert laws.sf(*law, law[1]) == 0.5


@every_family
@pytest.mark.parametrize(("n", "s"), [(1.0, 2.0), (0.5, 0.2), (1.0, 0.0)])
def test_a_single_reward_leaves_a_coin(family: int, n: float, s: float) -> None:
    """For n <= 1 the exponent vanishes: half of the mass at each end of the means."""
    law = parameters(family, n, s)
    least = -math.inf if family == families.GAUSSIAN else 0.0
    values = draws(law, 10_000)
    assert set(values) == {least, math.inf}
    assert_share((values == math.inf).sum(), values.size, 0.5)
    assert [laws.isf(*law, p) for p in (0.0, 0.4, 0.6, 1.0)] == [math.inf, math.inf, least, least]
    assert [laws.sf(*law, c) for c in (0.0, 1e300, math.inf)] == [0.5, 0.5, 0.0]


def test_a_mean_of_0_is_an_atom() -> None:
    """Counts that were all 0: half of the mass, the other half being E/(n - 1). Exponential rewards: all."""
    law = parameters(families.POISSON, 10.0, 0.0)
    values = draws(law, 10_000)
    assert_share((values == 0.0).sum(), values.size, 0.5)
    assert_law(values[values > 0.0], lambda x: math.exp(-9.0 * max(x, 0.0)))
    assert laws.sf(*law, 0.0) == 0.5
    law = parameters(families.EXPONENTIAL, 10.0, 0.0)
    assert set(draws(law, 100)) == {0.0}
    assert [laws.sf(*law, c) for c in (-1.0, 0.0, 1.0)] == [1.0, 0.0, 0.0]
