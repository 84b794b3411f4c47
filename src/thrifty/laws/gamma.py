"""The gamma law: index ~ Gamma(S + 1, rate n), the posterior of a Poisson mean under a flat prior on it.

Jin, Yang, Xiao and Xu, "Thompson sampling with less exploration is fast and optimal", ICML 2023, as in their
code. Jeffreys' prior, that of Korda, Kaufmann and Munos (NIPS 2013), would give Gamma(S + 1/2, rate n).

Rewards must not be negative, and one is enough: n > 0. If all of them were 0, the index is exponential of
mean 1/n. Tempered by V it is Gamma(S/V + 1, rate n/V), so that the prior weighs more while n < V: a variant
of ours.
"""

from thrifty.jit import hot
from thrifty.laws.law import Law
from thrifty.numerics import gamma, random


@hot
def parameters(n, s):
    """(shape, rate). Rounding may put S a hair below 0; the shape is never below 1."""
    return max(s, 0.0) + 1.0, n


@hot
def draw(shape, rate, rng):
    return random.gamma(rng, shape) / rate


@hot
def sf(shape, rate, c):
    return gamma.sf(shape, rate * c)


@hot
def isf(shape, rate, p):
    return gamma.isf(shape, p) / rate


class Gamma(Law):
    """Gamma(S + 1, rate n), for Poisson rewards."""

    name, formula, rewards, family = "gamma", "Gamma(S + 1, rate n)", "non-negative", "poisson"
    solved = True
    parameters = staticmethod(parameters)
    draw = staticmethod(draw)
    sf = staticmethod(sf)
    isf = staticmethod(isf)
