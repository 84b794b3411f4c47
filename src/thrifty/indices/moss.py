"""MOSS: index = m + sqrt( ln+(T/(K n)) / n ), ln+(x) = max(0, ln x), T the horizon.

For rewards in [0, 1]: it is the 1-subgaussian form, sqrt(4/n ln+(T/(K n))), at a deviation of 1/2.
It depends on the arm's own statistics alone, so only the pulled arm is recomputed. From n = T/K on it is the
mean. With t in place of T it is another algorithm, an anytime one.
Audibert and Bubeck, "Minimax policies for adversarial and stochastic bandits", COLT 2009.
"""

import math

from thrifty.jit import kernel


@kernel
def index(n, mean, arms, horizon):
    """
    >>> round(index(100.0, 0.8, 20, 100_000), 10)
    0.9977883466
    """
    return mean + math.sqrt(math.log(max(horizon / (arms * n), 1.0)) / n)
