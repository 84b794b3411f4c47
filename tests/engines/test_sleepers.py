"""Sleepers make the decisions that drawing every arm would make: the same law, whatever the level is.

Statistics are frozen, a million choices are made, and the frequencies are compared with integrals. The level only
says what is drawn when; so the engine's own levels are tried, and levels that are far off, and ones that
move in every round.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from chance import SIGMAS, UNLUCKY, assert_law, assert_share
from drive import new_run
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats

import thrifty
from thrifty import laws
from thrifty.engines import rounds, sleepers, tournament
from thrifty.engines.play import begin_sleepers
from thrifty.engines.sleepers import NEW, OLD, TOTAL
from thrifty.engines.state import (
    ARMS,
    CLOCK,
    DUEL,
    EPSILON,
    FRESH,
    GROUPS,
    NEWEST,
    OLDEST,
    SWEPT,
    Rule,
    State,
    draws,
    new_state,
)
from thrifty.jit import entry, kernel
from thrifty.numerics import random
from thrifty.policies import Policy
from thrifty.problems import Problem

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What the index of an arm is, by SciPy and from the definitions -----------------------------------


class Index(NamedTuple):
    """The law of an index, on a grid that is fine where it varies."""

    grid: Floats
    cdf: Callable[[Floats], Floats]
    atoms: dict[float, float]


def gaussian(n: float, s: float) -> Index:
    law = stats.norm(s / n, 1.0 / math.sqrt(n))
    return Index(law.mean() + law.std() * np.linspace(-9.0, 9.0, 4001), law.cdf, {})


def beta(n: float, s: float) -> Index:
    law = stats.beta(s + 1.0, n - s + 1.0)
    grid = law.mean() + law.std() * np.linspace(-15.0, 15.0, 6001)
    return Index(np.append(grid[(grid > 0.0) & (grid < 1.0)], [0.0, 1.0]), law.cdf, {})


def exponential_family(n: float, s: float) -> Index:
    """Half of the mass on each side of the mean; what does not fit into (0, 1) is at the ends."""
    mean = s / n

    def cdf(x: Floats) -> Floats:
        if n == 1.0:
            half = np.full(x.shape, 0.5)
        else:
            half = 0.5 * np.exp(-(n - 1.0) * (special.rel_entr(mean, x) + special.rel_entr(1.0 - mean, 1.0 - x)))
        return np.where(x >= 1.0, 1.0, np.where(x >= mean, 1.0 - half, half) if n > 1.0 else half)

    near = np.geomspace(1e-12, 0.5, 4001)
    atoms = {end: 0.5 for end in (0.0, 1.0) if n == 1.0 or mean == end}
    return Index(np.concatenate([[0.0], near, 1.0 - near, mean + near * 0.0, [1.0]]), cdf, atoms)


INDICES = {"gaussian": gaussian, "beta": beta, "exponential-family": exponential_family}
