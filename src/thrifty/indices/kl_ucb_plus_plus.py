"""KL-UCB++: index = max { q : n kl(m, q) <= g(n) },

    g(n) = ln+( T/(K n) (ln+(T/(K n))^2 + 1) ),        ln+(x) = max(0, ln x).

It depends on the arm's own statistics alone, so only the pulled arm is recomputed. From n = T/K on it is
the mean.
Ménard and Garivier, "A minimax and asymptotically optimal algorithm for stochastic bandits", ALT 2017.
"""

import math

from thrifty.jit import kernel
from thrifty.numerics import kl


@kernel
def exploration(n, arms, horizon):
    """g(n)."""
    share = horizon / (arms * n)
    if share <= 1.0:  # then ln+ is 0 inside, and outside too
        return 0.0
    return math.log(share * (math.log(share) ** 2 + 1.0))


@kernel
def index(n, mean, arms, horizon):
    return kl.bernoulli_upper(mean, exploration(n, arms, horizon) / n)[0]
