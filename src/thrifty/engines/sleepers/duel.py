"""Sleepers for TS-TD: arms sleep in phase I, while draws are new, and stand in a tree of maxima in phase II.

A draw that nobody has seen was below the arm's level. The best of all such draws is made up when it matters:
when the level moves, and when phase I ends.
"""

import math

import numpy as np

from thrifty.engines import rounds, tournament
from thrifty.engines.scan import place as nothing
from thrifty.engines.sleepers import line
from thrifty.engines.sleepers.line import DRAWN, GROUPS, LINE, NEW, OLD, WOKEN
from thrifty.engines.tournament import TREE
from thrifty.jit import kernel
from thrifty.numerics import random
from thrifty.state import calls, statistics
from thrifty.state.fields import Component, Field
from thrifty.state.statistics import ARMS, CLOCK, SPENT

OLDEST, NEWEST = range(2)  # the numbers in state.queue


# The arms in phase I, in order of their last pulls: a linked list.
QUEUE = Component(
    "queue",
    (
        Field("queue", np.int64, 2, start=-1),  # OLDEST, NEWEST
        Field("older", np.int64),  # the arm pulled before this one
        Field("newer", np.int64),  # the arm pulled after this one
        Field("since", np.int64),  # when an arm's unseen draws were last settled
        Field("seen", np.int64),  # how many of its draws were seen since then
    ),
)
COMPONENTS = (LINE, QUEUE, TREE)
LAW_HOOKS = ("draw_spread", "sf_spread", "isf_spread")  # the functions of a law that it calls by address


@kernel
def choose(state, t):
    """The arm with the largest index of this round."""
    state.count[CLOCK] += 1
    _retire(state)
    ends, rng = state.ends, state.rng
    arm, top, ties, drawn = -1, -math.inf, 0, ends[0]
    for p in range(ends[0]):  # those who are awake
        i = int(state.line[p, 1])
        x = line.draw(state, i)
        _see(state, i, x, 1)
        arm, top, ties = line.better(i, x, arm, top, ties, rng)
    last, best, bar = -1, -math.inf, -math.inf  # the arm at hand, its best value, the highest level exceeded
    way = random.exponential(rng)
    g, size, width = 0, 0, 1.0
    count = WOKEN
    while count == WOKEN:
        count, above, way, g, size, width = line.gather(state, way, g, size, width)
        drawn += count
        for j in range(above):
            i, x = int(state.woken[j, 0]), line.value(state, j)
            _see(state, i, x, i != last)
            if i != last or x > best:  # else one of the arm's points before was as good
                arm, top, ties = line.better(i, x, arm, top, ties, rng)
                last, best = i, x
            bar = max(bar, line.level(state, i))
    highest = max(state.levels[NEW], state.levels[OLD])
    arm, top = _commit(state, arm, top, highest)
    if top <= highest:  # nobody exceeded it, as far as digits tell: draw those who may win
        for i in range(state.count[ARMS]):
            c = line.level(state, i)
            if state.place[i] >= ends[0] and c >= top and c > bar:
                x = line.draw_below(state, i, c)
                drawn += 1
                _see(state, i, x, 1)
                arm, top, ties = line.better(i, x, arm, top, ties, rng)
        arm, top = _commit(state, arm, top, -math.inf)
        if ends[GROUPS] > 0:
            # Leaders may have been removed, and no reward may come for a while.
            calls.event(state.engine.control, (state, 0))
    state.evaluations[0] += drawn
    state.levels[DRAWN] = drawn
    return arm if arm >= 0 else random.below(rng, state.count[ARMS])  # when no arm has a law yet


@kernel
def _see(state, i, x, new):
    """A draw of phase I was seen."""
    state.best[i] = max(state.best[i], x)
    state.seen[i] += new


@kernel
def _commit(state, arm, top, bar):
    """The best arm of the tree, if it is above the bar and better than the best so far.

    A spent index is replaced only when it would win: so not before all that may beat it have been drawn.
    """
    while tournament.top(state.tree)[0] > max(top, bar):
        i = tournament.largest(state.tree, state.index, state.rng)
        if state.pending[i, 1] & SPENT:
            rounds.replace(state, i)
            tournament.place(state, i)
        else:
            arm, top = i, state.index[i]
    return arm, top


@kernel
def _retire(state):
    """Arms that have made phi draws since their last pull go to the tree, with the best of them."""
    clock = state.count[CLOCK]
    i = state.queue[OLDEST]
    while i >= 0 and clock - state.start[i] > state.rule.phi:
        line.settle(state, i, clock - 1)
        state.draws[i] += clock - 1 - state.start[i]
        line.leave(state, i)
        _unlink(state, i)
        state.index[i] = state.best[i]
        tournament.place(state, i)
        i = state.queue[OLDEST]


@kernel
def join(state, i):
    """Arm i has a new law, or its first: it begins phase I."""
    clock = state.count[CLOCK]
    if state.place[i] >= 0:  # it was in phase I
        state.draws[i] += clock - state.start[i]
        _unlink(state, i)
    elif state.index[i] > -math.inf:  # it was in phase II
        state.index[i] = -math.inf
        tournament.place(state, i)
    _link(state, i)
    state.best[i] = -math.inf
    state.since[i] = clock
    state.seen[i] = 0
    state.start[i] = clock
    line.set_rate(state, i, line.level(state, i))


@kernel
def place(state, i):
    """Arm i has a new law: give it a rate, then look after the level."""
    join(state, i)
    calls.event(state.engine.control, (state, 0))


@kernel
def begin(state, _):
    rounds.renew_all(state)
    for i in range(state.count[ARMS]):
        if statistics.has_law(state, i):
            join(state, i)
    if state.ends[GROUPS] > 0:
        calls.event(state.engine.control, (state, 1))


@kernel
def leave(state, i):
    """Arm i goes."""
    if state.place[i] >= 0:
        _unlink(state, i)
        line.leave(state, i)
    else:
        state.index[i] = -math.inf
        tournament.place(state, i)


@kernel
def move(state, i, to):
    """Arm i gets another number."""
    tournament.place(state, to)
    if state.place[i] < 0:
        return
    line.settle(state, i, state.count[CLOCK])
    state.best[to] = state.best[i]
    state.since[to] = state.since[i]
    state.seen[to] = 0
    older, newer = state.older[i], state.newer[i]
    if older >= 0:
        state.newer[older] = to
    else:
        state.queue[OLDEST] = to
    if newer >= 0:
        state.older[newer] = to
    else:
        state.queue[NEWEST] = to
    line.move(state, i, to)


enter, shrink, handed = tournament.enter, tournament.shrink, nothing
control = line.control


@kernel
def _link(state, i):
    """Arm i begins phase I: the newest to do so."""
    newest = state.queue[NEWEST]
    state.older[i] = newest
    state.newer[i] = -1
    if newest >= 0:
        state.newer[newest] = i
    else:
        state.queue[OLDEST] = i
    state.queue[NEWEST] = i


@kernel
def _unlink(state, i):
    older, newer = state.older[i], state.newer[i]
    if older >= 0:
        state.newer[older] = newer
    else:
        state.queue[OLDEST] = newer
    if newer >= 0:
        state.older[newer] = older
    else:
        state.queue[NEWEST] = older
