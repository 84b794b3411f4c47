"""Duel: a new draw in each of the first phi rounds after a pull, then the best of them. TS-TD-alpha.

Hu, Huang, Zhang, Lécuyer and Hegde, "Efficient and Adaptive Posterior Sampling Algorithms for Bandits",
UAI 2024. The pseudo-code resets the best draw to 0; the analysis uses the plain maximum, and so do we (-inf),
which matters when rewards can be negative.
"""

import math
from typing import Any

import numpy as np

from thrifty.schedules.aggregate import KEPT, highest
from thrifty.state.bars import is_paused
from thrifty.state.fields import Component, Field
from thrifty.state.statistics import has_law

DUEL = Component(
    "duel",
    (
        Field("best", start=-math.inf),  # the best draw since the last pull
        Field("age", np.int64),  # on scan: how many draws that is
    ),
)
COMPONENTS = (KEPT, DUEL)
OVER = 2**53  # the age in phase II, whatever phi becomes
# The law's functions take the place of these.
draw: Any = None
isf: Any = None


def refresh(state, t):
    """Phase I draws and remembers the best draw; phase II, after phi draws, is committed to it. While an arm
    is paused, phase I waits. Returns the largest index."""
    phi, top = state.rule.phi, -math.inf
    for i in range(state.index.size):
        if not has_law(state, i) or (state.age[i] < phi and is_paused(state, i)):
            state.index[i] = -math.inf
        elif state.age[i] < phi:
            x = draw(state, state.params[i, 0], state.params[i, 1])
            state.age[i] += 1
            state.best[i] = max(state.best[i], x)
            state.draws[i] += 1
            state.evaluations[0] += 1
            state.index[i] = x
        else:
            state.age[i] = OVER
            state.index[i] = state.best[i]
        top = max(top, state.index[i])
    return top


def renewed(state, i):
    """Arm i was pulled: back to phase I."""
    state.age[i] = 0
    state.best[i] = -math.inf


def spends(state, i):
    """A pull spends the index of phase II; the last draw of phase I does not count."""
    if state.place.size > 0:
        return 1 if state.place[i] < 0 and state.index[i] > -math.inf else 0
    return 1 if state.age[i] > state.rule.phi else 0


def replace(state, i):
    """Phase II again, with the best of phi new draws."""
    x = isf(state, state.params[i, 0], state.params[i, 1], highest(state))
    state.best[i] = x
    state.index[i] = x
    state.draws[i] += int(state.rule.phi)
    state.evaluations[0] += 1
