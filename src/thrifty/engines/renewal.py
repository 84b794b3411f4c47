"""A new rule for very many arms, some in each decision, in the order of their numbers."""

from thrifty.engines import rounds
from thrifty.jit import hot, kernel
from thrifty.state import calls, statistics
from thrifty.state.stale import END, NEXT, STRIDE


@hot
def is_due(state):
    return state.stale.size > 0 and state.stale[NEXT] < state.stale[END]


@kernel
def step(state, _):
    """A decision is to be made: first the arms whose turn it is."""
    stale = state.stale
    stop, last = min(stale[NEXT] + stale[STRIDE], stale[END]), -1
    for i in range(stale[NEXT], stop):
        stale[NEXT] += 1
        if statistics.has_law(state, i):
            state.pending[i, 1] = 0
            rounds.renew(state, i)
            if last >= 0 and state.engine.join != 0:
                calls.event(state.engine.join, (state, last))
            last = i
    if last >= 0 and state.engine.place != 0:  # levels are looked after once
        calls.event(state.engine.place, (state, last))


@kernel
def rename(state, i, to):
    """Arm i, the last or the last that was handed out, has got the number ``to``."""
    stale = state.stale
    if to < stale[NEXT] <= i < stale[END] and statistics.has_law(state, to):  # its turn was to come
        state.pending[to, 1] = 0
        rounds.renew(state, to)
        if state.engine.place != 0:
            calls.event(state.engine.place, (state, to))
