"""MOTS and MOTS-J: Thompson sampling whose draw X is clipped from above, index = min(X, clip).

    clip       m + sqrt( alpha v/n ln+(T/(K n)) ),  ln+(x) = max(0, ln x), T the horizon, v the variance
    MOTS       X ~ N(m, s^2),                       s^2 = v/(rho n), rho in (1/2, 1)
    MOTS-J     X = m + s R or m - s R, fairly,      s^2 = v/n, R = sqrt(2 E), E ~ Exp(1): a Rayleigh variable

The paper has v = 1, for 1-subgaussian rewards, and alpha >= 4; v = 1/4 scales both to rewards in [0, 1].
Neither X has an atom, so `sf` and `isf` are inverse to each other; the index has one, at the clip. Unclipped,
MOTS is the Gaussian law with rho n/v in place of n, and MOTS-J is, with n - 1 in place of n, the law of ExpTS
for Gaussian rewards.

Confirmed in the paper's abstract: the clipping, and both optimalities. Not confirmed, because no text or code
that has them right was found: the ranges of rho and alpha, the form of the clip, and the Rayleigh law.
Jin, Xu, Shi, Xiao and Gu, "MOTS: minimax optimal Thompson sampling", ICML 2021.
"""

import math

from thrifty.jit import kernel
from thrifty.laws import gaussian
from thrifty.numerics import random


@kernel
def clip(n, mean, arms, horizon, alpha, variance):
    """
    >>> round(clip(100.0, 0.8, 20, 100_000, 4.0, 0.25), 10)
    0.9977883466
    """
    return mean + math.sqrt(alpha * variance / n * math.log(max(horizon / (arms * n), 1.0)))


@kernel
def scale(n, rho, variance):
    """s of MOTS, and with rho = 1 of MOTS-J."""
    return math.sqrt(variance / (rho * n))


@kernel
def draw(mean, s, ceiling, rng):
    """An index of MOTS, `ceiling` being its clip."""
    return min(gaussian.draw(mean, s, rng), ceiling)


@kernel
def sf(mean, s, c):
    """P(X > c) in MOTS."""
    return gaussian.sf(mean, s, c)


@kernel
def isf(mean, s, p):
    """The c with P(X > c) = p in MOTS."""
    return gaussian.isf(mean, s, p)


@kernel
def draw_j(mean, s, ceiling, rng):
    """An index of MOTS-J, `ceiling` being its clip."""
    step = s * math.sqrt(2.0 * random.exponential(rng))
    return min(mean + step if random.uniform(rng) < 0.5 else mean - step, ceiling)


@kernel
def sf_j(mean, s, c):
    """P(X > c) in MOTS-J: half of exp(-z^2/2), z = (c - m)/s, above the mean."""
    z = (c - mean) / s
    half = 0.5 * math.exp(-0.5 * z * z)
    return half if z >= 0.0 else 1.0 - half


@kernel
def isf_j(mean, s, p):
    """The c with P(X > c) = p in MOTS-J."""
    if p <= 0.0:
        return math.inf
    if p >= 1.0:
        return -math.inf
    if p < 0.5:
        return mean + s * math.sqrt(-2.0 * math.log(2.0 * p))
    return mean - s * math.sqrt(-2.0 * math.log(2.0 * (1.0 - p)))
