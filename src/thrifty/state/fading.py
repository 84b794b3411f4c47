"""What is left of an arm's pulls when they are forgotten: each counts for less and less.

Forgetting multiplies an arm's count and sum of rewards (and of squares) by a number in [0, 1]. The prior's
pseudo-observations are not forgotten. ``state.pulls`` stays a count; what is left of it is ``state.faded``,
which takes its place in every formula. A state that never forgets has no such field.
"""

import numpy as np

from thrifty.jit import hot, kernel
from thrifty.state.fields import Component, Field

NEXT, MADE = range(2)  # the numbers in state.turn
LEAST = 1e-100  # what is left never falls below, unless it is all forgotten: no quotient overflows or is 0/0

FADING = Component(
    "fading",
    (
        Field("faded"),  # what is left of an arm's pulls
        # In the cycle at hand: the arm whose turn is next, and how many decisions were made.
        Field("turn", np.int64, 2),
    ),
)


@hot
def left(state, i):
    """What is left of arm i's pulls: all of them, if nothing is ever forgotten."""
    return state.faded[i] if state.faded.size > 0 else float(state.pulls[i])


@hot
def has_law(state, i):
    """Whether arm i has a reward or a prior to draw from."""
    return state.waiting[0] == 0 or left(state, i) > 0.0


@kernel
def multiply(state, i, keep):
    """Forget all but this share of what arm i gave. Returns whether anything changed."""
    if state.faded[i] == 0.0:
        return False
    if keep > 0.0:
        keep = max(keep, LEAST / state.faded[i])
    if keep >= 1.0:
        return False
    least = LEAST if keep > 0.0 else 0.0
    state.faded[i] = max(keep * state.faded[i], least)  # whatever was rounded
    state.sums[i] *= keep
    if state.squares.size > 0:
        state.squares[i] *= keep
    return True
