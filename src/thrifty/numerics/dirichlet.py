"""Means with random weights,  sum over j of w_j x_j,  w ~ Dirichlet(weights),

that is w_j = g_j / sum of g, g_j ~ Gamma(weight_j). Values that are equal share one g, since Gamma(a) +
Gamma(b) = Gamma(a + b). The mean is the ratio of two sums, to which ``add`` brings what a value x of some
weight adds.
"""

from thrifty.jit import hot
from thrifty.numerics import random


@hot
def add(weight, x, top, total, rng):
    """The two sums with a value x of this weight."""
    g = random.exponential(rng) if weight == 1.0 else random.gamma(rng, weight)
    return top + g * x, total + g
