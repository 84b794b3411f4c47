"""UCB1: index = m + sqrt(2 ln(t) / n), where t counts the pulls made so far.

For rewards in [0, 1]. Anytime. It never falls while the arm is left alone, because ln(t) does not.
Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", 2002.
"""

import math

from thrifty.indices import times
from thrifty.jit import kernel


@kernel
def index(n, mean, t):
    """
    >>> round(index(100.0, 0.8, 10_000), 10)
    1.2291932053
    """
    return mean + math.sqrt(2.0 * math.log(max(t, 1.0)) / n)


@kernel
def reach(n, mean, level):
    """exp(n (level - m)^2 / 2): no earlier time has an index of the level."""
    gap = times.lowered(level, mean) - mean
    return times.time(0.5 * n * gap * gap) if gap > 0.0 else 0.0
