"""Epsilon: each arm's own coin says, with probability epsilon, to draw; otherwise its index is its mean.

Jin, Yang, Xiao and Xu, "Thompson sampling with less exploration is fast and optimal", ICML 2023; with the
law of ExpTS and epsilon = 1/K it is ExpTS+.
"""

import math
from typing import Any

from thrifty.numerics import random
from thrifty.state.statistics import has_law

COMPONENTS = ()
draw: Any = None  # the law's takes its place


def refresh(state, t):
    """One coin per arm (not per round: that would be another algorithm), then the draw or the mean.
    Returns the largest."""
    epsilon, top = state.rule.epsilon, -math.inf
    for i in range(state.index.size):
        if not has_law(state, i):
            state.index[i] = -math.inf
        elif random.uniform(state.rng) < epsilon:
            state.index[i] = draw(state, state.params[i, 0], state.params[i, 1])
            state.draws[i] += 1
            state.evaluations[0] += 1
        else:
            state.index[i] = state.means[i]
        top = max(top, state.index[i])
    state.evaluations[0] += state.index.size - state.waiting[0]
    return top
