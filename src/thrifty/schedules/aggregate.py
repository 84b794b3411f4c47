"""Aggregate: the maximum of phi draws, kept until the arm is pulled. TS-MA-alpha.

"maximum" draws it in one draw from the law of the maximum; "batch" makes the phi draws, as the algorithm is
first written down. They have the same law. Hu, Huang, Zhang, Lécuyer and Hegde, "Efficient and Adaptive
Posterior Sampling Algorithms for Bandits", UAI 2024.
"""

import math
from typing import Any

from thrifty.jit import kernel
from thrifty.numerics import random
from thrifty.state.fields import Component, Field

KEPT = Component("kept", (Field("kept"),))  # the index before it was REPLACED
COMPONENTS = (KEPT,)
# The law's functions take the place of these.
draw: Any = None
isf: Any = None


@kernel
def highest(state):
    """P(draw > x) at the maximum x of ``phi`` independent draws; ``phi`` may be any real number from 1 up.

    P(max > x) = 1 - (1 - sf(x))^phi. With E ~ Exp(1), exp(-E) is uniform, so the maximum is where
    sf = 1 - exp(-E/phi); expm1 keeps the digits that 1 - U^(1/phi) would lose for a large phi.
    """
    return -math.expm1(-random.exponential(state.rng) / state.rule.phi)


def renewed(state, i):
    """Arm i was pulled: commit it to the best of a new batch."""
    state.index[i] = isf(state, state.params[i, 0], state.params[i, 1], highest(state))
    state.draws[i] += 1
    state.evaluations[0] += 1


def renewed_batch(state, i):
    """The same with all draws of the batch made: compiled for ``sampling="batch"`` alone."""
    size = int(state.rule.phi)
    best = draw(state, state.params[i, 0], state.params[i, 1])
    for _ in range(size - 1):
        best = max(best, draw(state, state.params[i, 0], state.params[i, 1]))
    state.index[i] = best
    state.draws[i] += size
    state.evaluations[0] += size


def spends(state, i):
    """A pull spends the index, if there is one. Nobody has to look if all arms have a law."""
    return 1 if state.waiting[0] == 0 or state.index[i] > -math.inf else 0
