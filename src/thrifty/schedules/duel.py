"""Duel: a new draw in each of the first phi rounds after a pull, then the best of them. TS-TD-alpha.

Hu, Huang, Zhang, Lécuyer and Hegde, "Efficient and Adaptive Posterior Sampling Algorithms for Bandits",
UAI 2024. The pseudo-code resets the best draw to 0; the analysis uses the plain maximum, and so do we (-inf),
which matters when rewards can be negative.
"""

import math

from thrifty import laws
from thrifty.jit import kernel


@kernel
def refresh(rule, state):
    """Phase I draws and remembers the best draw; phase II, after phi draws, is committed to it."""
    for i in range(state.index.size):
        if state.waiting[0] > 0 and state.pulls[i] == 0:
            state.index[i] = -math.inf
        elif state.age[i] < rule.phi:
            x = laws.draw(rule.law, state.params[i, 0], state.params[i, 1], state.rng)
            state.age[i] += 1
            state.best[i] = max(state.best[i], x)
            state.draws[i] += 1
            state.evaluations[0] += 1
            state.index[i] = x
        else:
            state.age[i] = int(rule.phi) + 1
            state.index[i] = state.best[i]


@kernel
def renew(state, i):
    """Arm i was pulled: back to phase I."""
    state.age[i] = 0
    state.best[i] = -math.inf


@kernel
def is_committed(rule, state, i):
    """Whether arm i is in phase II; the last draw of phase I does not count."""
    if state.place.size > 0:
        return state.place[i] < 0 and state.index[i] > -math.inf
    return state.age[i] > rule.phi


@kernel
def replace(rule, state, i):
    """Phase II again, with the best of phi new draws."""
    x = laws.draw_maximum(rule.law, state.params[i, 0], state.params[i, 1], rule.phi, state.rng)
    state.best[i] = x
    state.index[i] = x
    state.draws[i] += int(rule.phi)
    state.evaluations[0] += 1
