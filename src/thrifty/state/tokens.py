"""Pending pulls that have an id: who brings their reward names the decision, and not the arm.

A reward that names its arm alone is never taken for that of such a pull.
"""

import numpy as np

from thrifty.jit import hot
from thrifty.state.fields import Component, Field

# How many of an arm's pending pulls have one: in a file, it follows from the open decisions.
TOKENS = Component("tokens", (Field("tokens", np.int64, saved=False),))


@hot
def free(state, i):
    """How many of arm i's pending pulls have none."""
    return state.pending[i, 0] - (state.tokens[i] if state.tokens.size > 0 else 0)
