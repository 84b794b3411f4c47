"""The law of ExpTS for Gaussian, Poisson and exponential rewards, with mean m = S/n and the family's KL:

    P(index > x) = 1/2 exp(-(n-1) KL(m, x))       for x >= m,
    P(index < x) = 1/2 exp(-(n-1) KL(m, x))       for x <= m.

For n <= 1 the exponent vanishes, and half of the mass lies at each end of the means: at infinity, and at
minus infinity (Gaussian) or 0. At m = 0 the lower half is an atom at 0 (Poisson), or all of the mass is
(exponential). ``exponential_family`` has the law for Bernoulli rewards.

Jin, Xu, Xiao and Anandkumar, "Finite-time regret of Thompson sampling algorithms for exponential family
multi-armed bandits", NeurIPS 2022.
"""

import math

from thrifty.jit import kernel
from thrifty.numerics import families, random


@kernel
def parameters(n, s):
    """(mean, exponent n - 1)."""
    return s / n, max(n - 1.0, 0.0)


@kernel
def draw(family, mean, exponent, rng):
    return _solve(family, mean, exponent, random.uniform(rng) < 0.5, random.exponential(rng))


@kernel
def sf(family, mean, exponent, c):
    """P(index > c), atoms included."""
    if c == math.inf:
        return 0.0
    if c < 0.0 and family != families.GAUSSIAN:
        return 1.0
    if exponent == 0.0:
        return 0.5
    if mean == 0.0 and family == families.EXPONENTIAL:
        return 0.0
    half = 0.5 * math.exp(-exponent * families.divergence(family, mean, c))
    return half if c >= mean else 1.0 - half


@kernel
def isf(family, mean, exponent, p):
    if p < 0.5:
        return _solve(family, mean, exponent, True, -math.log(2.0 * p)) if p > 0.0 else math.inf
    if p < 1.0:
        return _solve(family, mean, exponent, False, -math.log(2.0 * (1.0 - p)))
    return -math.inf if family == families.GAUSSIAN else 0.0


@kernel
def _solve(family, mean, exponent, above, energy):
    """The x on one side of the mean with (n-1) KL(mean, x) = energy."""
    if exponent == 0.0:
        if above:
            return math.inf
        return -math.inf if family == families.GAUSSIAN else 0.0
    if above:
        return families.upper(family, mean, energy / exponent)
    return families.lower(family, mean, energy / exponent)
