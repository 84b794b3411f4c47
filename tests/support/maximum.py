"""The maximum of phi draws of a law, as TS-MA makes it."""

import numpy as np
from numpy.typing import NDArray

from thrifty.arrays import Words
from thrifty.engines.memory import Hooks, Rule, new_memory
from thrifty.jit import entry
from thrifty.laws import Law
from thrifty.policies.compiled import law_hook
from thrifty.schedules import aggregate
from thrifty.state import calls
from thrifty.state.header import opened


@entry
def _fill(block, isf, a, b, out):
    state = opened(block)
    for i in range(out.size):
        out[i] = calls.isf(isf, (state, a, b, aggregate.highest(state)))


def maxima(law: Law, a: float, b: float, phi: float, rng: Words, size: int = 1) -> NDArray[np.float64]:
    """So many of them; the generator moves on."""
    out = np.empty(size)
    memory = new_memory(Rule(2, 2, phi=phi), Hooks(), (), rng)
    _fill(memory.block, law_hook(law, "isf"), a, b, out)
    rng[:] = memory.field("rng")
    return out
