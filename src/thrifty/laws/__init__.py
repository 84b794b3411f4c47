"""Laws: from which distribution an arm's index is drawn, given its count n and sum S of rewards.

A law is one file with ``parameters(n, S)``, kept per arm so that nothing is divided twice, and ``draw``,
``sf`` and ``isf`` of those parameters. The functions here choose the law by its code: one compiled function
serves all laws, for a branch that is always predicted, where a function per law would be compiled for each.
"""

import math

from thrifty.jit import hot, kernel
from thrifty.laws import beta, exponential_families, exponential_family, gamma, gaussian, inverse_gamma
from thrifty.numerics import families, random

GAUSSIAN, BETA, EXPONENTIAL_FAMILY, GAMMA, INVERSE_GAMMA, INVERSE_GAMMA_FLAT = range(6)
CODES = {
    "gaussian": GAUSSIAN,
    "beta": BETA,
    "gamma": GAMMA,
    "inverse-gamma": INVERSE_GAMMA,
    "inverse-gamma-flat": INVERSE_GAMMA_FLAT,
}

# The law of ExpTS: for Bernoulli rewards it has a file of its own, for another family its code is this plus
# that of the family.
OTHER_FAMILY = 6
EXPONENTIAL_FAMILIES = {name: OTHER_FAMILY + code for name, code in families.CODES.items()} | {
    "bernoulli": EXPONENTIAL_FAMILY
}


@kernel
def parameters(law, n, s):
    """The two numbers that determine an arm's law."""
    if law == GAUSSIAN:
        return gaussian.parameters(n, s)
    if law == BETA:
        return beta.parameters(n, s)
    if law == GAMMA:
        return gamma.parameters(n, s)
    if law == INVERSE_GAMMA:
        return inverse_gamma.parameters(n, s)
    if law == INVERSE_GAMMA_FLAT:
        return inverse_gamma.parameters_flat(n, s)
    if law >= OTHER_FAMILY:
        return exponential_families.parameters(n, s)
    return exponential_family.parameters(n, s)


@kernel
def draw(law, a, b, rng):
    """One index."""
    if law == GAUSSIAN:
        return gaussian.draw(a, b, rng)
    if law == BETA:
        return beta.draw(a, b, rng)
    if law == GAMMA:
        return gamma.draw(a, b, rng)
    if law in (INVERSE_GAMMA, INVERSE_GAMMA_FLAT):
        return inverse_gamma.draw(a, b, rng)
    if law >= OTHER_FAMILY:
        return exponential_families.draw(law - OTHER_FAMILY, a, b, rng)
    return exponential_family.draw(a, b, rng)


@hot
def draw_all(law, params, rng, out):
    """One index for every arm, in order, into ``out``: what calling ``draw`` for each would give."""
    if law == GAUSSIAN:
        gaussian.draw_all(params, rng, out)
    else:
        for i in range(out.size):
            out[i] = draw(law, params[i, 0], params[i, 1], rng)


@kernel
def sf(law, a, b, c):
    """P(index > c)."""
    if law == GAUSSIAN:
        return gaussian.sf(a, b, c)
    if law == BETA:
        return beta.sf(a, b, c)
    if law == GAMMA:
        return gamma.sf(a, b, c)
    if law in (INVERSE_GAMMA, INVERSE_GAMMA_FLAT):
        return inverse_gamma.sf(a, b, c)
    if law >= OTHER_FAMILY:
        return exponential_families.sf(law - OTHER_FAMILY, a, b, c)
    return exponential_family.sf(a, b, c)


@kernel
def isf(law, a, b, p):
    """The c with P(index > c) = p."""
    if law == GAUSSIAN:
        return gaussian.isf(a, b, p)
    if law == BETA:
        return beta.isf(a, b, p)
    if law == GAMMA:
        return gamma.isf(a, b, p)
    if law in (INVERSE_GAMMA, INVERSE_GAMMA_FLAT):
        return inverse_gamma.isf(a, b, p)
    if law >= OTHER_FAMILY:
        return exponential_families.isf(law - OTHER_FAMILY, a, b, p)
    return exponential_family.isf(a, b, p)


@hot
def draw_spread(law, a, b, rng):
    """An index that is never tied: where the law has atoms, they are spread out and the order is kept."""
    return gaussian.draw(a, b, rng) if law == GAUSSIAN else _draw_spread(law, a, b, rng)


@kernel
def _draw_spread(law, a, b, rng):
    if law == EXPONENTIAL_FAMILY:
        return exponential_family.isf_spread(a, b, random.uniform(rng))
    return draw(law, a, b, rng)


@kernel
def sf_spread(law, a, b, c):
    """P(spread index > c)."""
    if law == EXPONENTIAL_FAMILY:
        return exponential_family.sf_spread(a, b, c)
    return sf(law, a, b, c)


@kernel
def isf_spread(law, a, b, p):
    """The c with P(spread index > c) = p."""
    if law == EXPONENTIAL_FAMILY:
        return exponential_family.isf_spread(a, b, p)
    return isf(law, a, b, p)


@kernel
def draw_maximum(law, a, b, phi, rng):
    """The maximum of ``phi`` independent draws, in one draw; ``phi`` may be any real number from 1 up.

    P(max > x) = 1 - (1 - sf(x))^phi. With E ~ Exp(1), exp(-E) is uniform, so the maximum is where
    sf = 1 - exp(-E/phi); expm1 keeps the digits that 1 - U^(1/phi) would lose for a large phi.
    """
    return isf(law, a, b, -math.expm1(-random.exponential(rng) / phi))
