"""Fresh: a new draw for every arm in every round. Vanilla Thompson sampling, ExpTS."""

import math

from thrifty import laws
from thrifty.jit import hot


@hot
def refresh(rule, state):
    """Draw every arm's index anew; arms that wait for their first reward have no law, and none."""
    state.evaluations[0] += state.index.size - state.waiting[0]
    if state.waiting[0] == 0:
        laws.draw_all(rule.law, state.params, state.rng, state.index)
        for i in range(state.draws.size):
            state.draws[i] += 1
        return
    for i in range(state.index.size):
        state.index[i] = -math.inf
        if state.pulls[i] > 0:
            state.index[i] = laws.draw(rule.law, state.params[i, 0], state.params[i, 1], state.rng)
            state.draws[i] += 1
