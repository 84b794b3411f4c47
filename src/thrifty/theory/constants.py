"""The few numbers that several bounds share.

The paper is "Efficient and Adaptive Posterior Sampling Algorithms for Bandits" (Hu, Huang, Zhang, Lécuyer,
Hegde; UAI 2024). Every number is derived and checked in ``docs/theory.md`` and its tests.
"""

# 100^(1/3): added to T gap^2 inside Theorem 1's logarithm, so that r^(1/3) >= ln r where its proof needs it.
OFFSET = 100.0 ** (1.0 / 3.0)

# The integral of h(sqrt(u)) over u >= 0 (lemma.h_integral computes it), rounded up: a bound stays a bound.
H_INTEGRAL = 2.2966823

# Its parts (lemma.h_parts), rounded up: from v < 0, a mean above the level, and from v > 0, one below it.
H_LOW, H_HIGH = 1.8609542, 0.4357281
