"""Sleepers for TS-TD: arms sleep in phase I, while draws are new, and stand in a tree of maxima in phase II.

A draw that nobody has seen was below the arm's level. The best of all such draws is made up when it matters:
when the level moves, and when phase I ends.
"""

import math

import numpy as np

from thrifty.engines import ranking, rounds, tournament
from thrifty.engines.scan import place as nothing
from thrifty.engines.sleepers import fresh, line
from thrifty.engines.sleepers.line import DRAWN, FIRST, LINE, NEW, NOBODY, OLD, WOKEN
from thrifty.engines.tournament import COMPONENTS as TREE
from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import random
from thrifty.state import bars, calls, statistics
from thrifty.state.bars import FOUND, LEFT, LISTED, OUT, WANTED
from thrifty.state.fields import Component, Field
from thrifty.state.statistics import ARMS, CLOCK, SPENT

OLDEST, NEWEST = range(2)  # the numbers in state.queue
LAST, MOST = range(2)  # the numbers in state.bounded
MANY, EVERYBODY = (
    20_000,
    2**62,
)  # arms that go to the tree in one round at most; those who do if one must know


def _start(state, arms):
    state.bounded[:] = -1, MANY


# The arms in phase I, in order of their last pulls: a linked list.
QUEUE = Component(
    "queue",
    (
        Field("queue", np.int64, 2, start=-1),  # OLDEST, NEWEST
        Field("older", np.int64),  # the arm pulled before this one
        Field("newer", np.int64),  # the arm pulled after this one
        Field("since", np.int64),  # when an arm's unseen draws were last settled
        Field("seen", np.int64),  # how many of its draws were seen since then
        # The newest arm with a bound in the tree, or -1; arms that may go there in a round.
        Field("bounded", np.int64, 2, saved=False),
    ),
    start=_start,
)
COMPONENTS = (LINE, QUEUE, *TREE)
LAW_HOOKS = ("draw_spread", "sf_spread", "isf_spread")  # the functions of a law that it calls by address
# Those of its own: called by several others, or seldom.
INSIDE = ("control", "settle", "join", "commit", "retire", "end")


@kernel
def choose(state, t):
    """The arm with the largest index of this round."""
    state.count[CLOCK] += 1
    if _is_due(state):
        calls.event(state.engine.retire, (state, state.bounded[MOST]))
    ends, rng, some_over = state.ends, state.rng, state.bounded[LAST] >= 0
    (arm, top, ties), drawn = NOBODY, ends[0]
    for p in range(ends[0]):  # those who are awake
        i = int(state.line[p, 1])
        if some_over and _is_over(state, i):
            continue
        x = line.draw(state, i)
        _see(state, i, x, 1)
        arm, top, ties = line.better(i, x, arm, top, ties, rng)
    last, best, bar = -1, -math.inf, -math.inf  # the arm at hand, its best value, the highest level exceeded
    way = random.exponential(rng)
    g, size, width = FIRST
    count = WOKEN
    while count == WOKEN:
        count, above, way, g, size, width = line.gather(state, way, g, size, width)
        drawn += count
        for j in range(above):
            i = int(state.woken[j, 0])
            if some_over and _is_over(state, i):
                continue
            x = line.value(state, j)
            _see(state, i, x, i != last)
            if i != last or x > best:  # else one of the arm's points before was as good
                arm, top, ties = line.better(i, x, arm, top, ties, rng)
                last, best = i, x
            bar = max(bar, line.level(state, i))
    highest = max(state.levels[NEW], state.levels[OLD])
    arm, top = _committed(state, arm, top, highest)
    if top <= highest:  # nobody exceeded it, as far as digits tell: draw those who may win
        for i in range(state.count[ARMS]):
            c = line.level(state, i)
            if state.place[i] >= ends[0] and c >= top and c > bar and not _is_over(state, i):
                x = line.draw_below(state, i, c)
                drawn += 1
                _see(state, i, x, 1)
                arm, top, ties = line.better(i, x, arm, top, ties, rng)
        arm, top = _committed(state, arm, top, -math.inf)
        # Leaders may have been removed, and no reward may come for a while.
        calls.event(state.engine.control, (state, 0))
    state.evaluations[0] += drawn
    state.levels[DRAWN] = drawn
    return arm if arm >= 0 else fresh.anyone(state, t)


@kernel
def pick(state, t):
    """The best of the arms that may be chosen: into ``state.slate``. Phase I draws as in any round, and those
    who sleep are drawn for if they may be among the best; phase II has its tree."""
    state.count[CLOCK] += 1
    if _is_due(state):
        calls.event(state.engine.retire, (state, EVERYBODY))
    seen = _draw(state)
    picked = _pick_listed(state) if state.bars[LISTED] >= 0 else _pick_of_all(state, seen)
    for p in range(seen):
        state.barred[state.found[p]] &= ~FOUND
    return picked


@kernel
def _draw(state):
    """The draws of phase I in this round, as far as they are seen. Returns of how many arms they are."""
    out_of_line()
    ends, seen, drawn = state.ends, 0, state.ends[0]
    for p in range(ends[0]):
        seen = _find(state, int(state.line[p, 1]), line.draw(state, int(state.line[p, 1])), seen)
    way = random.exponential(state.rng)
    g, size, width = FIRST
    count = WOKEN
    while count == WOKEN:
        count, above, way, g, size, width = line.gather(state, way, g, size, width)
        drawn += count
        for j in range(above):
            seen = _find(state, int(state.woken[j, 0]), line.value(state, j), seen)
    state.evaluations[0] += drawn
    state.levels[DRAWN] = drawn
    return seen


@kernel
def _find(state, i, x, seen):
    """A draw of phase I was seen: of several in a round, the best is the arm's."""
    new = state.barred[i] & FOUND == 0
    _see(state, i, x, new)
    if new:
        state.barred[i] |= FOUND
        state.found[seen] = i
        state.worth[i] = x
    state.worth[i] = max(state.worth[i], x)
    return seen + new


@kernel
def _wake(state, i):
    """The draw of an arm that sleeps: it does not exceed the level."""
    x = line.draw_below(state, i, line.level(state, i))
    _see(state, i, x, 1)
    state.worth[i] = x
    state.evaluations[0] += 1


@kernel
def _pick_listed(state):
    out_of_line()
    for p in range(state.bars[LISTED]):
        i = state.listed[p]
        if state.place[i] < 0:
            state.worth[i] = state.index[i]
        elif state.barred[i] & FOUND == 0:
            _wake(state, i)
    return ranking.top(state)


@kernel
def _pick_of_all(state, seen):
    """A heap of those in phase I, beside the tree of phase II."""
    out_of_line()
    highest, left = max(state.levels[NEW], state.levels[OLD]), state.bars[LEFT]
    for j in range(left):
        tournament.take_out(state, state.left[j])
    state.bars[LISTED] = 0
    for p in range(seen):
        i = state.found[p]
        if not bars.is_barred(state, i):
            ranking.push(state, i)
    found, woken = 0, False
    while found < state.bars[WANTED]:
        first = state.worth[state.listed[0]] if state.bars[LISTED] > 0 else -math.inf
        second = tournament.top(state.tree)
        if max(first, second) <= highest and not woken:  # somebody who sleeps may be better
            woken = True
            for i in range(state.count[ARMS]):
                if state.place[i] >= state.ends[0] and state.barred[i] == 0:
                    _wake(state, i)
                    ranking.push(state, i)
            calls.event(state.engine.control, (state, 0))
        elif max(first, second) == -math.inf:
            break
        elif first > second:
            state.slate[found] = ranking.pop(state)
            found += 1
        else:
            i = tournament.largest(state.tree, state.keys, state.rng)
            if state.pending[i, 1] & SPENT:
                rounds.replace(state, i)
            else:
                state.slate[found] = i
                found += 1
                state.barred[i] |= OUT
            tournament.place(state, i)
    state.bars[LISTED] = -1
    for p in range(found):
        if state.barred[state.slate[p]] & OUT:
            state.barred[state.slate[p]] &= ~OUT
            tournament.place(state, state.slate[p])
    tournament.put_back(state, state.left, left)
    return found


@kernel
def seat(state, i):
    """Arm i was paused or resumed: in phase I it begins anew then."""
    if _is_over(state, i):
        calls.event(state.engine.end, (state, i))
    if state.place[i] < 0 and state.index[i] > -math.inf:
        tournament.place(state, i)
    elif state.place[i] < 0:
        if statistics.has_law(state, i):
            place(state, i)
    elif bars.is_paused(state, i):
        state.draws[i] += state.count[CLOCK] - state.start[i]
        _unlink(state, i)
        line.leave(state, i)


@kernel
def _see(state, i, x, new):
    """A draw of phase I was seen."""
    state.best[i] = max(state.best[i], x)
    state.seen[i] += new


@hot
def _committed(state, arm, top, bar):
    """The best arm of the tree and its index, if it is above the bar and better than the best so far."""
    best = calls.commit(state.engine.commit, (state, arm, top, bar))
    return best, top if best == arm else state.index[best]


@kernel
def commit(state, arm, top, bar):
    """The same arm. A spent index is replaced only when it would win: so not before all that may beat it have
    been drawn. A bound, too, gives way to the index."""
    while tournament.top(state.tree) > max(top, bar):
        i = tournament.largest(state.tree, state.keys, state.rng)
        if state.place[i] >= 0:
            calls.event(state.engine.end, (state, i))
        elif state.pending[i, 1] & SPENT:
            rounds.replace(state, i)
            tournament.place(state, i)
        else:
            arm, top = i, state.index[i]
    return arm


@hot
def _is_due(state):
    """Whether an arm has made phi draws since its last pull."""
    return state.queue[OLDEST] >= 0 and _has_drawn_all(state, state.queue[OLDEST])


@kernel
def retire(state, most):
    """Arms that have made phi draws since their last pull go to the tree, with the best of them; if there are
    very many, some in each round.

    An arm whose turn has not come draws no more. Its best draw is the best that was seen, or if that is below
    its level, not above the level. This bound is in the tree, and when it would win, the arm goes first.
    """
    while most > 0 and _is_due(state):
        calls.event(state.engine.end, (state, state.queue[OLDEST]))
        most -= 1
    if not _is_due(state):
        return
    last = state.bounded[LAST]
    i = state.queue[OLDEST] if last < 0 else state.newer[last]
    while i >= 0 and _has_drawn_all(state, i):
        state.keys[i] = max(state.best[i], line.level(state, i))
        if last >= 0:
            tournament.repair(state.tree, state.keys, i)
        state.bounded[LAST] = i
        i = state.newer[i]
    if last < 0:
        tournament.build(state.tree, state.keys)


@hot
def _has_drawn_all(state, i):
    return state.count[CLOCK] - state.start[i] > state.rule.phi


@hot
def _is_over(state, i):
    """Whether arm i, in the queue, has made all its draws and waits for its turn to go to the tree."""
    return state.place[i] >= 0 and _has_drawn_all(state, i)


@kernel
def end(state, i):
    """Phase I of arm i is over, and its index is the best draw."""
    drawn = int(state.rule.phi)
    _settle(state, i, state.start[i] + drawn)
    state.draws[i] += drawn
    line.leave(state, i)
    _unlink(state, i)
    state.index[i] = state.best[i]
    tournament.place(state, i)


@kernel
def join(state, i):
    """Arm i has a new law, or its first: it begins phase I, unless it is paused."""
    clock = state.count[CLOCK]
    if _is_over(state, i):
        calls.event(state.engine.end, (state, i))
    if state.place[i] >= 0:  # it was in phase I
        state.draws[i] += clock - state.start[i]
        _unlink(state, i)
    elif state.index[i] > -math.inf:  # it was in phase II
        state.index[i] = -math.inf
        tournament.place(state, i)
    if bars.is_paused(state, i):
        return
    _link(state, i)
    state.best[i] = -math.inf
    state.since[i] = clock
    state.seen[i] = 0
    state.start[i] = clock
    line.set_rate(state, i, line.level(state, i))


@kernel
def place(state, i):
    """Arm i has a new law: give it a rate, then look after the level."""
    calls.event(state.engine.join, (state, i))
    calls.event(state.engine.control, (state, 0))


@kernel
def begin(state, _):
    rounds.renew_all(state)
    for i in range(state.count[ARMS]):
        if statistics.has_law(state, i):
            calls.event(state.engine.join, (state, i))
    calls.event(state.engine.control, (state, 1))


@kernel
def leave(state, i):
    """Arm i goes."""
    if _is_over(state, i):
        calls.event(state.engine.end, (state, i))
    if state.place[i] >= 0:
        _unlink(state, i)
        line.leave(state, i)
    else:
        state.index[i] = -math.inf
        tournament.place(state, i)


@kernel
def move(state, i, to):
    """Arm i gets another number."""
    if _is_over(state, i):
        calls.event(state.engine.end, (state, i))
        state.place[to] = -1
        state.index[to] = state.index[i]
        state.best[to] = state.best[i]
        state.draws[to] = state.draws[i]
    tournament.place(state, to)
    if state.place[i] < 0:
        return
    settle(state, i)
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
control, spare = line.control, fresh.spare


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
    if state.bounded[LAST] == i:
        state.bounded[LAST] = older
    if older >= 0:
        state.newer[older] = newer
    else:
        state.queue[OLDEST] = newer
    if newer >= 0:
        state.older[newer] = older
    else:
        state.queue[NEWEST] = older


@kernel
def settle(state, i):
    """Arm i gets another level."""
    _settle(state, i, state.count[CLOCK])


@kernel
def _settle(state, i, clock):
    """The best of the draws of phase I that nobody has seen, which were all below arm i's level.

    With k of them, -ln P(draw <= their maximum) is rate + E/k, E ~ Exp(1).
    """
    if clock - state.start[i] > state.rule.phi:  # those were all
        clock = state.start[i] + int(state.rule.phi)
    unseen = clock - state.since[i] - state.seen[i]
    if unseen > 0 and state.best[i] < line.level(state, i):
        e = state.line[state.place[i], 0] + random.exponential(state.rng) / unseen
        x = calls.isf(
            state.hooks.isf_spread, (state, state.params[i, 0], state.params[i, 1], -math.expm1(-e))
        )
        state.best[i] = max(state.best[i], x)
        state.evaluations[0] += 1
    state.since[i] = clock
    state.seen[i] = 0
