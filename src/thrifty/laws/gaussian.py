"""The Gaussian law: index ~ N(S/n, 1/n), the posterior of a mean under a flat prior and unit variance.

Agrawal and Goyal, "Near-optimal regret bounds for Thompson sampling", JACM 2017, in the form of the UAI 2024
paper (each arm is pulled once instead of a N(0, 1) prior). Tempered by V it is N(S/n, V/n).
"""

import math
from typing import ClassVar

from thrifty.jit import hot
from thrifty.laws.law import Law
from thrifty.numerics import normal, random


@hot
def parameters(n, s):
    """(mean, standard deviation)."""
    return s / n, 1.0 / math.sqrt(n)


@hot
def draw(mean, sd, rng):
    return mean + sd * random.normal(rng)


@hot
def draw_all(params, rng, out):
    """Every arm's draw: the normals are filled in one go, which is where scan spends its time. Returns the
    largest."""
    return random.normals(rng, params, out)


@hot
def sf(mean, sd, c):
    return normal.sf((c - mean) / sd)


@hot
def isf(mean, sd, p):
    return mean + sd * normal.isf(p)


class Gaussian(Law):
    """N(S/n, 1/n), for rewards in [0, 1] or of variance at most 1."""

    name, formula, family = "gaussian", "N(S/n, 1/n)", "gaussian"
    sleeps_from: ClassVar[dict[str, int]] = {"fresh": 384, "duel": 48}
    parameters = staticmethod(parameters)
    draw = staticmethod(draw)
    sf = staticmethod(sf)
    isf = staticmethod(isf)
    column = staticmethod(draw_all)
