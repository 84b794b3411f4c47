"""When can an arm that is left alone win? What an engine needs in order to skip it.

While an arm is not pulled, its n and mean stand still and a clocked index moves with the time t alone. The
indices of UCB1, UCB1-tuned, UCB-V, KL-UCB and Bayes-UCB never fall: each file proves it in a line. So

* an index taken for a later time is an upper bound until then;
* an arm that trails another one stays behind until it has reached the other's present index. That time,
  `reach`, is mostly a closed formula, and until then the two need not be compared again.

A computed index is rounded, and `reach` must never be late: before it the index *as computed* is below the
level, by more than the rounding of the index that set the level. So the level is lowered, and the time
shortened, by more than all the roundings together.

The other indices are not clocked by t. IMED and Maillard sampling move with the largest mean, AdaUCB with the
pulls of other arms, MOSS and KL-UCB++ with nothing but their own.
"""

import math

from thrifty.jit import hot

ROUNDING, SMALLEST = 1e-14, 1e-140  # an index has a few roundings of 1e-16; below SMALLEST, coarser ones
LONGEST = 700.0  # exp of more is close to infinite: never


@hot
def lowered(level, mean):
    """The level less what the rounding of an index that starts at the mean may add."""
    if level == math.inf:
        return level
    return level - ROUNDING * (abs(level) + abs(mean)) - SMALLEST


@hot
def time(exponent):
    """e^exponent, or a little earlier."""
    if exponent > LONGEST:
        return math.inf
    return math.exp((1.0 - ROUNDING) * exponent) * (1.0 - ROUNDING)
