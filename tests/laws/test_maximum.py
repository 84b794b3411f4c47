"""The maximum of phi draws, drawn at once."""

import math

import numpy as np
import pytest
from scipy import integrate

from tests.support.chance import assert_law, assert_mean
from tests.support.maximum import maxima
from thrifty.laws import FAMILIES, LAWS, Law
from thrifty.numerics import random

GAUSSIAN, BETA, EXPONENTIAL_FAMILY = LAWS["gaussian"], LAWS["beta"], FAMILIES["bernoulli"]

# phi, and the median and mean of the maximum of phi standard normals.
NORMAL_MAXIMA = [
    (190.32, 2.684181, 2.729556),
    (768.42, 3.120855, 3.165000),
    (1182.23, 3.245544, 3.289194),
    (204209.39, 4.500212, 4.537738),
    (848882.49, 4.794221, 4.830310),
]


@pytest.mark.parametrize("phi", [1.0, 2.5, 100.0, 190.32, 1e5, 1e9])
@pytest.mark.parametrize(
    ("law", "n", "mean"),
    [
        (GAUSSIAN, 1.0, 0.0), (GAUSSIAN, 1e15, 0.7), (BETA, 1.0, 0.0), (BETA, 30.0, 0.2), (BETA, 1e12, 1.0),
        (EXPONENTIAL_FAMILY, 1.0, 1.0), (EXPONENTIAL_FAMILY, 20.0, 0.0), (EXPONENTIAL_FAMILY, 1e9, 0.4),
    ],
)  # fmt: skip
def test_the_maximum_has_its_law(law: Law, n: float, mean: float, phi: float) -> None:
    """P(max > x) = 1 - (1 - sf(x))^phi."""
    a, b = law.parameters(n, mean * n)
    values = maxima(law, a, b, phi, random.generator(21), 100_000)

    def sf(x: float) -> float:
        one = law.sf(a, b, x)
        return -math.expm1(phi * math.log1p(-one)) if one < 1.0 else 1.0

    assert_law(values, sf)


def quantile_of_maximum(phi: float, energy: float) -> float:
    """The maximum that an exponential of this value gives."""
    return GAUSSIAN.isf(0.0, 1.0, -math.expm1(-energy / phi))


def mean_of_maximum(phi: float) -> float:
    """The integral of all of them, in u = e^-E cut near its ends, where the quantile is infinite."""
    value, _ = integrate.quad(
        lambda e: quantile_of_maximum(phi, e) * math.exp(-e),
        0.0,
        40.0,
        points=[1e-6, 1e-3, 0.1, 1.0, 5.0],
        limit=500,
    )
    return value


@pytest.mark.parametrize(("phi", "median", "mean"), NORMAL_MAXIMA)
def test_median_and_mean_of_the_normal_maximum(phi: float, median: float, mean: float) -> None:
    assert quantile_of_maximum(phi, math.log(2.0)) == pytest.approx(median, abs=5.1e-7)
    assert mean_of_maximum(phi) == pytest.approx(mean, abs=5.1e-7)


@pytest.mark.parametrize(("phi", "mean"), [(10.0, 1.53875), (100.0, 2.50759), (1000.0, 3.24144)])
def test_mean_of_the_maximum_of_few_normals(phi: float, mean: float) -> None:
    assert mean_of_maximum(phi) == pytest.approx(mean, abs=5.1e-6)
    values = maxima(GAUSSIAN, 0.0, 1.0, phi, random.generator(22), 1_000_000)
    assert_mean(values, mean_of_maximum(phi))


# Where the indices of an arm with four rewards of 1 in ten are; those of the others are positive.
SUPPORTS = {GAUSSIAN: (-5.0, 5.0), BETA: (0.0, 1.0)}


@pytest.mark.parametrize("phi", [1.0, 1e9, 1e15])
@pytest.mark.parametrize("word", [0, 2**64 - 1])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_the_most_extreme_uniforms_give_finite_maxima(law: Law, word: int, phi: float) -> None:
    """The smallest and the largest exponential that the generator can draw."""
    a, b = law.parameters(10.0, 4.0)
    value = maxima(law, a, b, phi, np.array([word, 1, 2, 0], np.uint64)).item()
    low, high = SUPPORTS.get(law, (0.0, math.inf))
    assert low <= value <= high
    assert math.isfinite(value)
