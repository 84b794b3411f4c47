"""Bayes-UCB: index = the quantile of order 1 - 1/(t (ln T)^c) of the arm's posterior, Beta(S + 1, n - S + 1).

For rewards in {0, 1}; others in [0, 1] have to be binarised first. t counts the pulls made so far, T is the
horizon and ln T is read as max(1, ln T). The proof takes c >= 5; c = 0 is the practice, and then it is
anytime. At t <= 1 with c = 0 the order is 0, and so is the index of every arm.
It never falls while the arm is left alone: the mass above it, 1/(t (ln T)^c), shrinks.
Kaufmann, Cappé and Garivier, "On Bayesian upper confidence bounds for bandit problems", AISTATS 2012.
"""

import math

from thrifty.indices import times
from thrifty.jit import kernel
from thrifty.laws import beta

INVERSE = 1e-9  # relative; the quantile leaves an error of 1e-10 in the mass above it


@kernel
def index(s, n, t, horizon, c):
    """
    >>> round(index(80.0, 100.0, 10_000, 10_000, 0.0), 10)
    0.9152241844
    """
    a, b = beta.parameters(n, s)
    return beta.isf(a, b, 1.0 / (max(t, 1.0) * math.log(max(horizon, math.e)) ** c))


@kernel
def reach(s, n, level, horizon, c):
    """1/((ln T)^c P(X > level)), X of the posterior's law: no earlier time has an index of the level."""
    level = times.lowered(level, 0.0)
    if level <= 0.0:
        return 0.0
    a, b = beta.parameters(n, s)
    above = beta.sf(a, b, level) * math.log(max(horizon, math.e)) ** c
    return (1.0 - INVERSE) / above if above > 0.0 else math.inf
