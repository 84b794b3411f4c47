"""ExpTS's laws, one for each family of rewards: draw, sf and isf are those of the definition."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.chance import assert_law, assert_share
from thrifty.laws import FAMILIES, Law
from thrifty.laws.exponential_family import _bernoulli_solve
from thrifty.numerics import random

bernoulli = FAMILIES["bernoulli"]
every_family = pytest.mark.parametrize("family", [name for name in FAMILIES if name != "bernoulli"])

counts = st.floats(0.31, 15.0).map(lambda digits: 10.0**digits)
means = st.floats(-9.0, 9.0).map(lambda digits: 10.0**digits)
upper = st.floats(0.31, 100.0).map(lambda digits: 10.0**-digits)
lower = st.floats(0.31, 15.0).map(lambda digits: 1.0 - 10.0**-digits)


class Arm(NamedTuple):
    """A law with its parameters."""

    law: Law
    mean: float
    exponent: float

    def draws(self, size: int) -> np.ndarray:
        rng = random.generator(11)
        return np.array([self.law.draw(*self[1:], rng) for _ in range(size)])

    def sf(self, c: float) -> float:
        return self.law.sf(*self[1:], c)

    def isf(self, p: float) -> float:
        return self.law.isf(*self[1:], p)


def arm(family: str, n: float, s: float) -> Arm:
    return Arm(FAMILIES[family], *FAMILIES[family].parameters(n, s))


def divergence(family: str, a: float, x: float) -> float:
    """KL(a -> x), from the densities."""
    if family == "gaussian":
        return 0.5 * (a - x) ** 2
    if family == "poisson":
        return x - a + a * math.log(a / x)
    return a / x - 1.0 - math.log(a / x)


# Families other than Bernoulli


@every_family
@pytest.mark.parametrize(("n", "mean"), [(1.5, 0.3), (2.0, 1e-6), (30.0, 2.5), (1e6, 40.0), (1e15, 0.7)])
def test_draws_have_the_law_of_sf(family: str, n: float, mean: float) -> None:
    law = arm(family, n, mean * n)
    assert_law(law.draws(100_000), law.sf)


@every_family
def test_sf_is_the_definition(family: str) -> None:
    n, mean = 12.0, 1.7
    law = arm(family, n, mean * n)
    for x in (0.1, 0.9, 1.69, 1.71, 2.4, 9.0):
        half = 0.5 * math.exp(-(n - 1.0) * divergence(family, mean, x))
        assert law.sf(x) == pytest.approx(half if x > mean else 1.0 - half, rel=1e-11)
    assert law.sf(mean) == 0.5


@every_family
@given(n=counts, mean=means, p=upper | lower)
def test_isf_inverts_sf_in_both_tails(family: str, n: float, mean: float, p: float) -> None:
    law = arm(family, n, mean * n)
    x = law.isf(p)
    spacing = 4.0 * math.ulp(max(abs(x), mean))
    tolerance = 1e-9 * min(p, 1.0 - p) + 2.0**-52 * p  # in the lower tail p itself has no more digits
    assert law.sf(x + spacing) <= p + tolerance
    assert law.sf(x - spacing) >= p - tolerance


@every_family
@given(n=counts, mean=means)
def test_half_of_the_mass_is_above_the_mean(family: str, n: float, mean: float) -> None:
    law = arm(family, n, mean * n)
    assert law.sf(law.mean) == 0.5


@every_family
@pytest.mark.parametrize(("n", "s"), [(1.0, 2.0), (0.5, 0.2), (1.0, 0.0)])
def test_a_single_reward_leaves_a_coin(family: str, n: float, s: float) -> None:
    """For n <= 1 the exponent vanishes: half of the mass at each end of the means."""
    law = arm(family, n, s)
    least = -math.inf if family == "gaussian" else 0.0
    values = law.draws(10_000)
    assert set(values) == {least, math.inf}
    assert_share((values == math.inf).sum(), values.size, 0.5)
    assert [law.isf(p) for p in (0.0, 0.4, 0.6, 1.0)] == [math.inf, math.inf, least, least]
    assert [law.sf(c) for c in (0.0, 1e300, math.inf)] == [0.5, 0.5, 0.0]


def test_a_mean_of_0_is_an_atom() -> None:
    """Counts that were all 0: half of the mass, the other half being E/(n - 1). Exponential rewards: all."""
    law = arm("poisson", 10.0, 0.0)
    values = law.draws(10_000)
    assert_share((values == 0.0).sum(), values.size, 0.5)
    assert_law(values[values > 0.0], lambda x: math.exp(-9.0 * max(x, 0.0)))
    assert law.sf(0.0) == 0.5
    law = arm("exponential", 10.0, 0.0)
    assert set(law.draws(100)) == {0.0}
    assert [law.sf(c) for c in (-1.0, 0.0, 1.0)] == [1.0, 0.0, 0.0]


# Bernoulli rewards


@pytest.mark.parametrize(
    ("mean", "n", "energy", "upper", "lower"),
    [
        (0.3, 11, 1.0, 0.5210276121, 0.1291301210),
        (0.3, 11, 0.1, 0.3671623425, 0.2381382047),
        (0.8, 101, 2.0, 0.8715087975, 0.7126976608),
        (0.05, 3, 1.0, 0.5029724050, pytest.approx(8.566e-7, rel=1e-4)),
        (0.0, 5, 1.0, 0.2211992169, 0.0),
        (1.0, 5, 1.0, 1.0, 0.7788007831),
    ],
)
def test_solutions_on_both_sides(mean: float, n: int, energy: float, upper: float, lower: float) -> None:
    """x with (n-1) KL(mean, x) = energy, to the ten digits given."""
    assert _bernoulli_solve(mean, n - 1.0, True, energy) == pytest.approx(upper, abs=5.1e-11)
    assert _bernoulli_solve(mean, n - 1.0, False, energy) == (
        lower if mean == 0.05 else pytest.approx(lower, abs=5.1e-11)
    )


@given(mean=st.floats(0.0, 1.0, exclude_max=True), n=st.floats(1.0, 1e15, exclude_min=True))
def test_half_of_the_mass_is_above_a_bernoulli_mean(mean: float, n: float) -> None:
    assert bernoulli.sf(mean, n - 1.0, mean) == 0.5


@pytest.mark.parametrize(
    ("n", "s", "values"), [(1.0, 0.0, {0.0, 1.0}), (1.0, 1.0, {0.0, 1.0}), (0.5, 0.2, {0.0, 1.0})]
)
def test_a_single_bernoulli_reward_leaves_a_coin(n: float, s: float, values: set[float]) -> None:
    """For n <= 1 the exponent vanishes: half of the mass at each end."""
    mean, exponent = bernoulli.parameters(n, s)
    rng = random.generator(1)
    assert {bernoulli.draw(mean, exponent, rng) for _ in range(100)} == values
    assert [bernoulli.sf(mean, exponent, c) for c in (-0.1, 0.0, 0.5, 1.0)] == [1.0, 0.5, 0.5, 0.0]
    assert [bernoulli.isf(mean, exponent, p) for p in (0.0, 0.4, 0.6, 1.0)] == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_a_mean_at_the_end_is_an_atom(mean: float) -> None:
    rng = random.generator(2)
    values = np.array([bernoulli.draw(mean, 9.0, rng) for _ in range(1000)])
    atoms = values == mean
    assert 400 < atoms.sum() < 600  # 500 and six standard errors of 16
    assert ((values[~atoms] > 0.0) & (values[~atoms] < 1.0)).all()
