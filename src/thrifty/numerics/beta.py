"""The beta distribution: survival function and its inverse."""

from numba import njit

from thrifty.numerics.special import betaincc, betainccinv


@njit
def sf(a, b, x):
    """P(X > x) for X ~ Beta(a, b)."""
    return betaincc(a, b, x)


@njit
def isf(a, b, p):
    """The x with P(X > x) = p."""
    return betainccinv(a, b, p)
