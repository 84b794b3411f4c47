"""Reward families by code: one compiled function serves them all.

    family        KL(a -> x)                                      means
    bernoulli     a ln(a/x) + (1 - a) ln((1 - a)/(1 - x))         [0, 1]
    gaussian      (a - x)^2 / 2, the variance being 1             all numbers
    poisson       x - a + a ln(a/x)                               [0, inf)
    exponential   a/x - 1 - ln(a/x)                               [0, inf)

`kl` has the formulas. The Bernoulli one may be used for every law on [0, 1]: its K_inf is no smaller.
"""

from thrifty.jit import hot
from thrifty.numerics import kl

BERNOULLI, GAUSSIAN, POISSON, EXPONENTIAL = range(4)
CODES = {"bernoulli": BERNOULLI, "gaussian": GAUSSIAN, "poisson": POISSON, "exponential": EXPONENTIAL}


@hot
def divergence(family, a, x):
    """KL(a -> x), infinite where it is.

    >>> divergence(GAUSSIAN, 0.0, 3.0), round(divergence(POISSON, 1.0, 2.0), 6)
    (4.5, 0.306853)
    """
    if family == BERNOULLI:
        return kl.bernoulli(a, x)
    if family == GAUSSIAN:
        return kl.gaussian(a, x, 1.0)
    if family == POISSON:
        return kl.poisson(a, x)
    return kl.exponential(a, x)


@hot
def upper(family, a, c):
    """The largest x >= a with KL(a -> x) <= c.

    >>> round(upper(BERNOULLI, 0.1, 0.2), 6), upper(GAUSSIAN, 0.0, 4.5), upper(POISSON, 0.0, 0.2)
    (0.378392, 3.0, 0.2)
    """
    if family == BERNOULLI:
        x, _ = kl.bernoulli_upper(a, c)
        return x
    if family == GAUSSIAN:
        return kl.gaussian_upper(a, c, 1.0)
    if family == POISSON:
        return kl.poisson_upper(a, c)
    return kl.exponential_upper(a, c)


@hot
def lower(family, a, c):
    """The smallest x <= a with KL(a -> x) <= c.

    >>> round(lower(POISSON, 0.5, 0.2), 6), round(lower(EXPONENTIAL, 0.5, 0.4), 6)
    (0.174952, 0.229489)
    """
    if family == BERNOULLI:
        x, _ = kl.bernoulli_lower(a, c)
        return x
    if family == GAUSSIAN:
        return kl.gaussian_lower(a, c, 1.0)
    if family == POISSON:
        return kl.poisson_lower(a, c)
    return kl.exponential_lower(a, c)
