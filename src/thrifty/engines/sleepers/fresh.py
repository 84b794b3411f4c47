"""Sleepers for laws that are drawn anew in every round: TS, ExpTS."""

import math

from thrifty.engines import rounds
from thrifty.engines.scan import place as nothing
from thrifty.engines.sleepers import line
from thrifty.engines.sleepers.line import DRAWN, GROUPS, LINE, NEW, OLD, WOKEN
from thrifty.jit import kernel
from thrifty.numerics import random
from thrifty.state import calls, statistics
from thrifty.state.statistics import ARMS, CLOCK

COMPONENTS = (LINE,)
LAW_HOOKS = ("draw_spread", "sf_spread", "isf_spread")  # the functions of a law that it calls by address


@kernel
def choose(state, t):
    """The arm with the largest draw of this round."""
    state.count[CLOCK] += 1
    ends, rng = state.ends, state.rng
    arm, top, ties, drawn = -1, -math.inf, 0, ends[0]
    for p in range(ends[0]):  # those who are awake
        i = int(state.line[p, 1])
        arm, top, ties = line.better(i, line.draw(state, i), arm, top, ties, rng)
    last, best, bar = -1, -math.inf, -math.inf  # the arm at hand, its best value, the highest level exceeded
    way = random.exponential(rng)
    g, size, width = 0, 0, 1.0
    count = WOKEN
    while count == WOKEN:
        count, above, way, g, size, width = line.gather(state, way, g, size, width)
        drawn += count
        for j in range(above):
            i, x = int(state.woken[j, 0]), line.value(state, j)
            if i != last or x > best:  # else one of the arm's points before was as good
                arm, top, ties = line.better(i, x, arm, top, ties, rng)
                last, best = i, x
            bar = max(bar, line.level(state, i))
    if top <= max(state.levels[NEW], state.levels[OLD]):
        # Nobody exceeded it, as far as digits tell: draw those who may win.
        for i in range(state.count[ARMS]):
            c = line.level(state, i)
            if state.place[i] >= ends[0] and c >= top and c > bar:
                arm, top, ties = line.better(i, line.draw_below(state, i, c), arm, top, ties, rng)
                drawn += 1
        if ends[GROUPS] > 0:
            # Leaders may have been removed, and no reward may come for a while.
            calls.event(state.engine.control, (state, 0))
    state.evaluations[0] += drawn
    state.levels[DRAWN] = drawn
    return arm if arm >= 0 else random.below(rng, state.count[ARMS])  # when no arm has a law yet


@kernel
def join(state, i):
    """Arm i has a new law, or its first: put it where it belongs."""
    if state.place[i] < 0:
        state.start[i] = state.count[CLOCK]
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
        line.leave(state, i)


@kernel
def move(state, i, to):
    """Arm i gets another number."""
    if state.place[i] >= 0:
        line.move(state, i, to)


enter = handed = shrink = nothing
control = line.control
