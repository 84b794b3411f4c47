"""The few numbers that several bounds share.

The paper is "Efficient and Adaptive Posterior Sampling Algorithms for Bandits" (Hu, Huang, Zhang, Lécuyer,
Hegde; UAI 2024). Every number is derived and checked in ``docs/theory.md`` and its tests.
"""

import math

from thrifty import checks

# c0 = 1 / (2 sqrt(2 e pi)): the paper's constant in the batch size and in its Gaussian anti-concentration.
C0 = 1.0 / (2.0 * math.sqrt(2.0 * math.e * math.pi))

# 100^(1/3): added to T gap^2 inside Theorem 1's logarithm, so that r^(1/3) >= ln r where its proof needs it.
OFFSET = 100.0 ** (1.0 / 3.0)

# The integral of h(sqrt(u)) over u >= 0 (lemma.h_integral computes it), rounded up: a bound stays a bound.
H_INTEGRAL = 2.2966823


def phi(horizon: float, alpha: float) -> float:
    """phi = (2/c0) T^((1-alpha)/2) (ln T)^((3-alpha)/2), the paper's batch size before rounding.

    >>> round(phi(1e5, 0.8), 2)
    768.42
    """
    horizon = checks.at_least("horizon", horizon, 3.0)
    alpha = checks.unit("alpha", alpha)
    growth: float = horizon ** ((1.0 - alpha) / 2.0) * math.log(horizon) ** ((3.0 - alpha) / 2.0)
    return (2.0 / C0) * growth
