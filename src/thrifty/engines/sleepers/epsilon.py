"""Sleepers for epsilon-TS and ExpTS+: most arms stand at their means, in a tree of maxima.

The coins that say draw are found by the gaps between them, which are geometric. Those arms are drawn, put in
the tree for this round, and put back.
"""

import math

import numpy as np

from thrifty.engines import ranking, rounds, tournament
from thrifty.engines.scan import place as nothing
from thrifty.engines.tournament import COMPONENTS as TREE
from thrifty.jit import kernel, out_of_line
from thrifty.numerics import random
from thrifty.state import bars, calls, statistics
from thrifty.state.bars import LEFT, LISTED
from thrifty.state.fields import PLACE, Component, Field
from thrifty.state.statistics import ARMS

COINS = Component("coins", (Field("drawn", np.int64, PLACE, saved=False),))  # scratch: arms to put back
COMPONENTS = (*TREE, COINS)
LAW_HOOKS = ("draw",)  # the functions of a law that it calls by address
INSIDE = ("control",)  # and the one of its own


@kernel
def choose(state, t):
    """The arm with the largest index of this round."""
    drawn = _draw(state)
    if bars.resting(state) > 0 and tournament.top(state.tree) == -math.inf:
        arm = calls.choose(state.engine.spare, (state, t))
    else:
        arm = tournament.largest(state.tree, state.keys, state.rng)
    for p in range(drawn):
        place(state, state.drawn[p])
    return arm


@kernel
def pick(state, t):
    """The best of the arms that may be chosen: into ``state.slate``."""
    if state.bars[LISTED] >= 0:
        for p in range(state.bars[LISTED]):
            i = state.listed[p]
            state.worth[i] = state.index[i]
            if state.index[i] > -math.inf and random.uniform(state.rng) < state.rule.epsilon:
                state.worth[i] = calls.draw(state.hooks.draw, (state, state.params[i, 0], state.params[i, 1]))
                state.draws[i] += 1
                state.evaluations[0] += 1
        return ranking.top(state)
    drawn = _draw(state)
    found = tournament.pick(state, t)
    for p in range(drawn):
        place(state, state.drawn[p])
    tournament.put_back(state, state.left, state.bars[LEFT])
    return found


@kernel
def _draw(state):
    """Throw the coins, and draw for those who shall: their indices are for this round. Returns how many."""
    out_of_line()
    index, rng = state.index, state.rng
    gap = -1.0 / math.log1p(-state.rule.epsilon) if state.rule.epsilon < 1.0 else 0.0
    drawn = 0
    i = _steps(gap, rng)
    while i < state.count[ARMS]:
        if index[i] > -math.inf:
            state.drawn[drawn] = i
            drawn += 1
            index[i] = calls.draw(state.hooks.draw, (state, state.params[i, 0], state.params[i, 1]))
            state.draws[i] += 1
            tournament.place(state, i)
        state.evaluations[0] += 1
        i += 1 + _steps(gap, rng)
    state.evaluations[0] += 1 + drawn
    return drawn


@kernel
def _steps(gap, rng):
    """Geometric: how many coins in a row say mean."""
    return int(min(random.exponential(rng) * gap, 2.0**53))


@kernel
def place(state, i):
    """Arm i stands at its mean."""
    state.index[i] = state.means[i]
    tournament.place(state, i)


@kernel
def begin(state, _):
    rounds.renew_all(state)
    for i in range(state.count[ARMS]):
        if statistics.has_law(state, i):
            place(state, i)


@kernel
def leave(state, i):
    """Arm i goes."""
    state.index[i] = -math.inf
    tournament.place(state, i)


enter, move, shrink, handed = tournament.enter, tournament.move, tournament.shrink, nothing
seat, join, spare = tournament.seat, place, tournament.spare
