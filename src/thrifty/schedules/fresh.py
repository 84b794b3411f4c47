"""Fresh: a new draw for every arm in every round. Vanilla Thompson sampling, ExpTS."""

from thrifty import laws
from thrifty.jit import inlined


@inlined
def refresh(rule, state):
    """Draw every arm's index anew."""
    laws.draw_all(rule.law, state.params, state.rng, state.index)
    for i in range(state.draws.size):
        state.draws[i] += 1
    state.evaluations[0] += state.index.size
