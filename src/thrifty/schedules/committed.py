"""Committed: a computed index that changes only when its arm is pulled. KL-UCB++, MOSS."""

from thrifty.schedules.aggregate import spends
from thrifty.state import calls

__all__ = ["COMPONENTS", "renewed", "spends"]
COMPONENTS = ()


def renewed(state, i):
    """Arm i was pulled, or its pending pulls changed."""
    state.index[i] = calls.index(state.hooks.index, (state, i, 0))
