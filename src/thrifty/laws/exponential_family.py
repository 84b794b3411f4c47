"""The law of ExpTS for Bernoulli rewards, with mean m = S/n and KL the Bernoulli divergence:

    P(index > x) = 1/2 exp(-(n-1) KL(m, x))       for x >= m,
    P(index < x) = 1/2 exp(-(n-1) KL(m, x))       for x <= m.

Given its side, (n-1) KL(m, index) is Exp(1), so a draw is a fair coin and one inversion. For n <= 1 the
exponent vanishes and half of the mass lies at each end, 0 and 1. At m = 0 the lower half is an atom at 0, at
m = 1 the upper half an atom at 1.

Jin, Xu, Xiao and Anandkumar, "Finite-time regret of Thompson sampling algorithms for exponential family
multi-armed bandits", NeurIPS 2022.
"""

import math

from thrifty.jit import kernel
from thrifty.numerics import kl, random


@kernel
def parameters(n, s):
    """(mean, exponent n - 1)."""
    return min(max(s / n, 0.0), 1.0), max(n - 1.0, 0.0)


@kernel
def draw(mean, exponent, rng):
    return _solve(mean, exponent, random.uniform(rng) < 0.5, random.exponential(rng))


@kernel
def sf(mean, exponent, c):
    """P(index > c), atoms included."""
    if c < 0.0:
        return 1.0
    if c >= 1.0:
        return 0.0
    if exponent == 0.0:
        return 0.5
    half = 0.5 * math.exp(-exponent * kl.bernoulli(mean, c))
    return half if c >= mean else 1.0 - half


@kernel
def isf(mean, exponent, p):
    if p < 0.5:
        return _solve(mean, exponent, True, -math.log(2.0 * p)) if p > 0.0 else 1.0
    return _solve(mean, exponent, False, -math.log(2.0 * (1.0 - p))) if p < 1.0 else 0.0


@kernel
def _solve(mean, exponent, above, energy):
    """The x on one side of the mean with (n-1) KL(mean, x) = energy."""
    if exponent == 0.0:
        return 1.0 if above else 0.0
    if above:
        return kl.bernoulli_upper(mean, energy / exponent)[0]
    return kl.bernoulli_lower(mean, energy / exponent)[0]


@kernel
def sf_spread(mean, exponent, c):
    """P(index > c) with the atom at 1 spread over (1, 2) and the one at 0 over (-1, 0).

    The order of the draws of different arms stays, and ties are broken, by the place in the interval.
    """
    if 0.0 <= c < 1.0:
        return sf(mean, exponent, c)
    if c >= 1.0:
        return 0.5 * max(2.0 - c, 0.0) if exponent == 0.0 or mean == 1.0 else 0.0
    return 1.0 - 0.5 * max(1.0 + c, 0.0) if exponent == 0.0 or mean == 0.0 else 1.0


@kernel
def isf_spread(mean, exponent, p):
    if p < 0.5 and (exponent == 0.0 or mean == 1.0):
        return 2.0 - 2.0 * p
    if p >= 0.5 and (exponent == 0.0 or mean == 0.0):
        return 1.0 - 2.0 * p
    return isf(mean, exponent, p)
