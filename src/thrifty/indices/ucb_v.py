"""UCB-V: index = m + sqrt(2 V E/n) + 3 c E/n, with E = zeta ln(t) and V the variance of the arm's rewards.

V is the mean of (x - m)^2. For rewards in [0, 1]; t counts the pulls made so far. Anytime. The authors prove
logarithmic regret for c = 1 and zeta > 1; public code uses zeta = c = 1.
It never falls while the arm is left alone: E grows with t, and nothing else moves (zeta, c >= 0).
Audibert, Munos and Szepesvári, "Exploration-exploitation tradeoff using variance estimates in multi-armed
bandits", Theoretical Computer Science 2009.
"""

import math

from thrifty.indices import times
from thrifty.jit import kernel


@kernel
def index(n, mean, variance, t, zeta, c):
    """
    >>> round(index(100.0, 0.8, 0.16, 10_000, 1.0, 1.0), 10)
    1.2479874933
    """
    rate = zeta * math.log(max(t, 1.0)) / n
    return mean + math.sqrt(2.0 * variance * rate) + 3.0 * c * rate


@kernel
def reach(n, mean, variance, level, zeta, c):
    """exp(n z^2 / zeta) for the z with sqrt(2 V) z + 3 c z^2 = level - m.

    No earlier time has an index of the level.
    """
    gap = times.lowered(level, mean) - mean
    if gap <= 0.0:
        return 0.0
    slope = math.sqrt(2.0 * variance)
    below = slope + math.sqrt(2.0 * variance + 12.0 * c * gap)
    if gap == math.inf or below == 0.0 or zeta == 0.0:  # nothing raises it above its mean
        return math.inf
    z = 2.0 * gap / below  # the positive root, written so that nothing cancels
    return times.time(n * z * z / zeta)
