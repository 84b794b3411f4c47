"""Fresh: a new draw for every arm in every round. Vanilla Thompson sampling, ExpTS."""

import math
from typing import Any

from thrifty.state.statistics import has_law

COMPONENTS = ()
# The law's functions take the place of these.
draw: Any = None
column: Any = None


def refresh(state, t):
    """Draw every arm's index anew; arms that wait for their first reward have no law, and none. Returns the
    largest."""
    state.evaluations[0] += state.index.size - state.waiting[0]
    if state.waiting[0] == 0:
        top = column(state)
        for i in range(state.draws.size):
            state.draws[i] += 1
        return top
    top = -math.inf
    for i in range(state.index.size):
        state.index[i] = -math.inf
        if has_law(state, i):
            state.index[i] = draw(state, state.params[i, 0], state.params[i, 1])
            state.draws[i] += 1
        top = max(top, state.index[i])
    return top
