"""Dirichlet Sampling: an arm with rewards X_1, ..., X_n challenges the arm that was pulled most, whose mean
is m, by

    max( mean of X,  sum of w_j X_j + w_(n+1) b ),    w ~ Dirichlet(1, ..., 1),

and wins if that is at least m. Everybody who wins is pulled once; if nobody does, the leader is. The bonus b:

    bounded          b = B, a bound that is known: the index of Non-Parametric TS
    unknown-bound    b = max( max X + GAMMA, excess(RHO_BOUND) ),   excess(rho) = m + rho mean of (m - X)^+
    quantile         b = excess(RHO), and the rewards above the quantile of order 1 - SHARE count as their
    average
    robust           b = excess( sqrt(ln(1 + n)) )

Confirmed: the duels of leader and challengers and "bounded", in public code; that the four exist and what
each is for, in the abstract. NOT confirmed: the other bonuses and all constants, which are from memory.
RHO_BOUND = -1/ln(1 - p) belongs to rewards of which a share p = 0.2 is within GAMMA of the bound. Baudry,
Saux and Maillard, "From optimality to robustness: Dirichlet sampling strategies in stochastic bandits",
NeurIPS 2021.
"""

import math

from thrifty.indices import dirichlet
from thrifty.jit import kernel

BOUNDED, UNKNOWN_BOUND, QUANTILE, ROBUST = range(4)
VARIANTS = {"bounded": BOUNDED, "unknown-bound": UNKNOWN_BOUND, "quantile": QUANTILE, "robust": ROBUST}
GAMMA = 0.1
RHO_BOUND = -1.0 / math.log(1.0 - 0.2)
SHARE, RHO = 0.05, 4.0


@kernel
def excess(values, times, m, rho):
    """m + rho mean of (m - X)^+.

    >>> import numpy as np
    >>> round(excess(np.array([0.0, 1.0]), np.array([1.0, 3.0]), 0.8, 2.0), 12)
    1.2
    """
    total, short = 0.0, 0.0
    for j in range(values.size):
        total += times[j]
        short += times[j] * max(m - values[j], 0.0)
    return m + rho * short / total


@kernel
def bonus(variant, values, times, n, m, bound):
    """b."""
    if variant == BOUNDED:
        return bound
    if variant == UNKNOWN_BOUND:
        rho = RHO_BOUND
    elif variant == QUANTILE:
        rho = RHO
    else:
        rho = math.sqrt(math.log1p(n))
    b = excess(values, times, m, rho)
    if variant == UNKNOWN_BOUND:
        b = max(b, values[values.size - 1] + GAMMA)
    return b


@kernel
def index(variant, values, times, n, m, bound, rng):
    """The weighted mean of the challenger, whose rewards are n."""
    b = bonus(variant, values, times, n, m, bound)
    top, total = dirichlet.add(1.0, b, 0.0, 0.0, rng)
    spare = math.floor(SHARE * n) if variant == QUANTILE else 0.0  # rewards that are merged: the largest
    merged, part = 0.0, 0.0
    for j in range(values.size - 1, -1, -1):
        taken = min(times[j], spare - merged)
        merged += taken
        part += taken * values[j]
        if taken < times[j]:
            top, total = dirichlet.add(times[j] - taken, values[j], top, total, rng)
    if merged > 0.0:
        top, total = dirichlet.add(merged, part / merged, top, total, rng)
    return top / total
