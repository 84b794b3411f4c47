"""Arms that still follow the rule of before. A guessed horizon that is doubled gives every arm a new law or a
new index, which takes too long for one decision if there are very many: so they get it in the next ones.
"""

import numpy as np

from thrifty.jit import hot
from thrifty.state.fields import Component, Field

NEXT, END, STRIDE = range(3)  # of state.stale: the arms from one number to the other; so many in a decision
AT_ONCE = 16_384  # with so many arms, all get it at once
FEW = 4096  # arms in a decision, if there are more

STALE = Component(
    "stale",
    (
        Field("stale", np.int64, 3),
        Field("former", rows=1),  # what their laws are tempered by
    ),
)


@hot
def is_stale(state, i):
    return state.stale.size > 0 and state.stale[NEXT] <= i < state.stale[END]
