"""IMED pulls the arm with the *smallest* index  n KL(m, m*) + ln(n),  where m* is the largest mean.

KL is that of the rewards' family. For any rewards in [0, 1], K_inf(F, m*) takes its place, F being the law of
the arm's rewards. An arm whose mean is m* has KL = 0 by definition, also at m = m* = 1: its index is ln(n).
Where KL is infinite, so is the index: for a Bernoulli arm with m < m* = 1, and for an exponential one with
m = 0 < m*. The smallest index is always finite.

Anytime. Its clock is m*, not t: with n and m fixed the index never falls while m* grows, since KL(m, x)
increases in x >= m. So the index at some m* is a lower bound for as long as m* is no smaller.
Honda and Takemura, "Non-asymptotic analysis of a new bandit algorithm for semi-bounded rewards", JMLR 2015.
"""

import math

from thrifty.jit import kernel
from thrifty.numerics import families


@kernel
def index(family, n, mean, best):
    """
    >>> round(index(families.BERNOULLI, 100.0, 0.8, 0.9), 6), index(families.BERNOULLI, 1.0, 1.0, 1.0)
    (9.045471, 0.0)
    """
    return bounded(n, families.divergence(family, mean, best) if mean < best else 0.0)


@kernel
def bounded(n, divergence):
    """The index of an arm whose K_inf(F, m*), or whatever divergence, is known."""
    return n * divergence + math.log(n)
