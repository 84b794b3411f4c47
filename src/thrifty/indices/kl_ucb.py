"""KL-UCB: index = max { q : n KL(m, q) <= ln(t) + c ln ln(t) }, with ln ln(t) read as ln max(1, ln t).

t counts the pulls made so far. Anytime. The proof takes c = 3, the authors recommend c = 0. KL is that of the
rewards' family; Bernoulli's is valid for every law on [0, 1]. At a Bernoulli mean of 1 the index is 1, at an
exponential mean of 0 it is 0. It never falls while the arm is left alone: its budget grows with t (c >= 0).
Garivier and Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.
"""

import math

from thrifty.indices import times
from thrifty.jit import kernel
from thrifty.numerics import families

ITERATIONS = 3  # of a bound that is valid after the first


@kernel
def exploration(t, c):
    """ln(t) + c ln ln(t)."""
    log = math.log(max(t, 1.0))
    return log + c * math.log(max(log, 1.0))


@kernel
def index(family, n, mean, t, c):
    """
    >>> round(index(families.BERNOULLI, 100.0, 0.8, 10_000, 0.0), 10)
    0.9312832129
    """
    return families.upper(family, mean, exploration(t, c) / n)


@kernel
def reach(family, n, mean, level, c):
    """The t with ln(t) + c ln ln(t) = n KL(m, level), or a little less: no earlier time has that index."""
    level = times.lowered(level, mean)
    if level <= mean:
        return 0.0
    if family == families.BERNOULLI and level > 1.0:
        return math.inf
    return times.time(_logarithm(n * families.divergence(family, mean, level), c))


@kernel
def _logarithm(budget, c):
    """At most the y with y + c ln max(1, y) = budget.

    Beyond y = 1 the left side is concave, so that no step of Newton's method ends above the root.
    """
    if c == 0.0 or budget <= 1.0 or budget > times.LONGEST * (1.0 + c):
        return budget  # the last: y itself is beyond LONGEST, because c ln y <= c y
    y = budget
    for _ in range(ITERATIONS):
        y = max(y - (y + c * math.log(y) - budget) / (1.0 + c / y), 1.0)
    return y
