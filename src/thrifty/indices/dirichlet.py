"""Means of an arm's own rewards with random weights: the indices that resample instead of assuming a family.

    index = sum over j of w_j x_j,    w ~ Dirichlet(weights),   that is w_j = g_j / sum of g,  g_j ~
    Gamma(weight_j)

Rewards that are equal share one g: Gamma(a) + Gamma(b) = Gamma(a + b). An index is the ratio of two sums, to
which ``add`` brings what a value x of some weight adds.

    Non-Parametric TS    x: the rewards, weight 1 each, and the bound B, weight 1. For rewards in {0, 1} and B
    = 1
                         the index is Beta(S + 1, n - S), and 1 if there was no 0.
    Multinomial TS       x: 0, 1/M, ..., 1, weights 1 + how often each came.

Riou and Honda, "Bandit algorithms based on Thompson sampling for bounded reward distributions", ALT 2020.
Confirmed: the index of Non-Parametric TS, in two public implementations; of Multinomial TS, the abstract. In
the paper the first rewards of Non-Parametric TS come from its index, which is B without any: here each arm is
pulled once at first, which is the same but for the order, and ties of arms that gave nothing but B.
"""

from thrifty.jit import kernel
from thrifty.numerics import random


@kernel
def add(weight, x, top, total, rng):
    """The two sums with a value x of this weight."""
    g = random.exponential(rng) if weight == 1.0 else random.gamma(rng, weight)
    return top + g * x, total + g


@kernel
def non_parametric(values, times, bound, rng):
    """An index of Non-Parametric TS."""
    top, total = add(1.0, bound, 0.0, 0.0, rng)
    for j in range(values.size):
        top, total = add(times[j], values[j], top, total, rng)
    return top / total


@kernel
def multinomial(values, times, levels, rng):
    """An index of Multinomial TS, for rewards that are multiples of 1/levels."""
    top, total, j = 0.0, 0.0, 0
    for level in range(levels + 1):
        x = level / levels
        while j < values.size and values[j] < x:  # a prior's, between the levels
            top, total = add(times[j], values[j], top, total, rng)
            j += 1
        weight = 1.0
        if j < values.size and values[j] == x:
            weight += times[j]
            j += 1
        top, total = add(weight, x, top, total, rng)
    return top / total
