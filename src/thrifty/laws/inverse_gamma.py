"""The inverse gamma laws: index ~ 1/Gamma(shape, rate S), posteriors of the mean m of exponential rewards.

The likelihood of n rewards is m^-n exp(-S/m). Two priors are in use, and give two laws:

    Jeffreys', 1/m    InvGamma(n, S)        Korda, Kaufmann and Munos, NIPS 2013: one reward, n > 0
    flat, 1           InvGamma(n - 1, S)    the code of Jin, Yang, Xiao and Xu, ICML 2023: two rewards, n > 1

Rewards must be positive. Where there is no posterior, the law is a point mass: at infinity under the flat
prior while n <= 1, so that the arm is tried again, and otherwise at 0 if S = 0. It is kept as a scale of
infinity or 0, and the index is surely that.
"""

import math

from thrifty.jit import hot
from thrifty.laws.law import Law
from thrifty.numerics import gamma, random


@hot
def parameters(n, s):
    """(shape, scale) under Jeffreys' prior."""
    return n, max(s, 0.0)


@hot
def parameters_flat(n, s):
    """(shape, scale) under the flat prior."""
    return (n - 1.0, max(s, 0.0)) if n > 1.0 else (1.0, math.inf)


@hot
def draw(shape, scale, rng):
    return _over(scale, random.gamma(rng, shape))


@hot
def sf(shape, scale, c):
    """P(scale/G > c) = P(G < scale/c), G ~ Gamma(shape, 1)."""
    if _certain(scale):
        return 1.0 if scale > c else 0.0
    return gamma.cdf(shape, scale / c) if c > 0.0 else 1.0


@hot
def isf(shape, scale, p):
    return _over(scale, gamma.icdf(shape, p))


@hot
def _certain(scale):
    """Whether the law is a point mass."""
    return scale == 0.0 or scale == math.inf


@hot
def _over(scale, x):
    """scale / x for an x that may be 0 or infinite, as the quantiles of order 0 and 1 are."""
    if _certain(scale):
        return scale
    return scale / x if x > 0.0 else math.inf


class InverseGamma(Law):
    """InvGamma(n, S), for exponential rewards, under Jeffreys' prior."""

    name, formula, rewards, family = "inverse-gamma", "InvGamma(n, S)", "non-negative", "exponential"
    tempered, solved = False, True
    parameters = staticmethod(parameters)
    draw = staticmethod(draw)
    sf = staticmethod(sf)
    isf = staticmethod(isf)


class InverseGammaFlat(InverseGamma):
    """InvGamma(n - 1, S), under a flat prior: there is none before the second reward."""

    name, formula = "inverse-gamma-flat", "InvGamma(n - 1, S)"
    sleeps, least = False, 1.0
    parameters = staticmethod(parameters_flat)
