"""The standard normal: survival function and its inverse, accurate in both tails."""

import math

from thrifty.jit import kernel
from thrifty.numerics.special import ndtri

SQRT_HALF = math.sqrt(0.5)


@kernel
def sf(x):
    """P(Z > x), by erfc: no cancellation for large x."""
    return 0.5 * math.erfc(x * SQRT_HALF)


@kernel
def isf(p):
    """The x with P(Z > x) = p. By symmetry it is a lower quantile, which keeps every digit of a tiny p."""
    return -ndtri(p)
