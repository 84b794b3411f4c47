"""Statistical tests with computed tolerances.

Seeds are fixed, so a test passes always or never. A right program is unlucky with its seeds in one of 10^9
cases per test; a wrong one is caught because the samples are large.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import stats

from thrifty.numerics import random

Floats = NDArray[np.float64]

UNLUCKY = 1e-9
SIGMAS = float(stats.norm.isf(UNLUCKY / 2))  # 6.1: a mean is this many standard errors off, at most


@cache
def _filler(variate: Callable[..., float]) -> Callable[..., None]:
    @njit
    def fill(rng, parameters, out):
        for i in range(out.size):
            out[i] = variate(rng, *parameters)

    return fill


def sample(variate: Callable[..., float], *parameters: float, size: int, key: int = 0) -> Floats:
    """Successive calls of a variate of ``thrifty.numerics.random``."""
    out = np.empty(size)
    _filler(variate)(random.generator(2024, key), parameters, out)
    return out


def assert_law(values: Floats, sf: Callable[[float], float], points: int = 1000) -> None:
    """Kolmogorov-Smirnov, for laws with or without atoms: sup |P_n(X > x) - sf(x)| is small enough.

    It exceeds sqrt(ln(2/q) / (2n)) with a probability of at most q, whatever the law (Massart 1990). It is
    looked for two spacings to the left and to the right of quantiles of the values; a value was rounded to
    its spacing, and so may be the x of sf(x).
    """
    values = np.sort(values)
    n = values.size
    distance = 0.0
    for value in np.unique(values[np.linspace(0, n - 1, points).astype(int)]).tolist():
        spacing = math.nextafter(value, math.inf) - value
        for x in (value - 2.0 * spacing, value + 2.0 * spacing):
            share = 1.0 - np.searchsorted(values, x, side="right") / n
            distance = max(distance, share - sf(x - spacing), sf(x + spacing) - share)
    assert distance < math.sqrt(math.log(2.0 / UNLUCKY) / (2.0 * n))


def assert_mean(values: Floats, mean: float, sd: float | None = None) -> None:
    """The average is the mean, up to SIGMAS standard errors (of the known sd, or of the sample's)."""
    error = (np.std(values) if sd is None else sd) / math.sqrt(values.size)
    assert abs(np.mean(values) - mean) < SIGMAS * error


def assert_share(hits: int, trials: int, probability: float) -> None:
    """A binomial count is not surprising."""
    assert stats.binomtest(int(hits), trials, probability).pvalue > UNLUCKY


def assert_uniform(counts: NDArray[Any]) -> None:
    """Equally likely bins hold equal counts: chi-square."""
    assert stats.chisquare(counts).pvalue > UNLUCKY


def assert_same_law(first: Floats, second: Floats) -> None:
    """Two samples of one law: Kolmogorov-Smirnov with two samples."""
    assert stats.ks_2samp(first, second).pvalue > UNLUCKY
