"""Fresh: a new draw for every arm in every round. Vanilla Thompson sampling, ExpTS."""

import math

from thrifty import laws
from thrifty.jit import inlined


@inlined
def refresh(rule, state):
    """Draw every arm's index anew; arms that wait for their first reward have none."""
    laws.draw_all(rule.law, state.params, state.rng, state.index)
    for i in range(state.draws.size):
        state.draws[i] += 1
    state.evaluations[0] += state.index.size - state.waiting[0]
    if state.waiting[0] > 0:
        for i in range(state.index.size):
            if state.pulls[i] == 0:
                state.index[i] = -math.inf
                state.draws[i] -= 1
