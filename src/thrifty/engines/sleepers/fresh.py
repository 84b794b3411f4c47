"""Sleepers for laws that are drawn anew in every round: TS, ExpTS."""

import math

from thrifty.engines import ranking, rounds, scan
from thrifty.engines.scan import place as nothing
from thrifty.engines.sleepers import line
from thrifty.engines.sleepers.line import DRAWN, FIRST, LINE, NEW, NOBODY, OLD, RESERVE, WOKEN
from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import random
from thrifty.state import bars, calls, statistics
from thrifty.state.bars import FOUND, LEFT, LISTED, OUT, WANTED
from thrifty.state.statistics import ARMS, CLOCK

COMPONENTS = (LINE,)
BESIDE = (RESERVE,)  # in a bandit
LAW_HOOKS = ("draw_spread", "sf_spread", "isf_spread")  # the functions of a law that it calls by address
INSIDE = ("control",)  # and the one of its own
NOT_ENOUGH = -2  # no arm: -1 is nobody


@kernel
def choose(state, t):
    """The arm with the largest draw of this round."""
    state.count[CLOCK] += 1
    ends, rng = state.ends, state.rng
    (arm, top, ties), drawn = NOBODY, ends[0]
    for p in range(ends[0]):  # those who are awake
        i = int(state.line[p, 1])
        arm, top, ties = line.better(i, line.draw(state, i), arm, top, ties, rng)
    last, best, bar = -1, -math.inf, -math.inf  # the arm at hand, its best value, the highest level exceeded
    way = random.exponential(rng)
    g, size, width = FIRST
    count = WOKEN
    while count == WOKEN:
        count, above, way, g, size, width = line.gather(state, way, g, size, width)
        drawn += count
        for j in range(above):
            i = int(state.woken[j, 0])
            if not line.is_below(state, j, top):
                x = line.value(state, j)
                if i != last or x > best:  # else one of the arm's points before was as good
                    arm, top, ties = line.better(i, x, arm, top, ties, rng)
                    last, best = i, x
            bar = max(bar, line.level(state, i))
    if top <= max(state.levels[NEW], state.levels[OLD]):
        # Nobody exceeded it, as far as digits tell: draw those who may win.
        best_below = NOT_ENOUGH
        if state.engine.fallback != 0 and state.reserve.size > 0 and is_long(state):
            best_below = calls.fallback(state.engine.fallback, (state, arm, top, bar))
        if best_below != NOT_ENOUGH:
            arm = best_below
            drawn += state.bars[LISTED]
        else:
            for i in range(state.count[ARMS]):
                c = line.level(state, i)
                if state.place[i] >= ends[0] and c >= top and c > bar:
                    arm, top, ties = line.better(i, line.draw_below(state, i, c), arm, top, ties, rng)
                    drawn += 1
        # Leaders may have been removed, and no reward may come for a while.
        calls.event(state.engine.control, (state, 0))
    state.evaluations[0] += drawn
    state.levels[DRAWN] = drawn
    return arm if arm >= 0 else anyone(state, t)


@hot
def is_long(state):
    """Whether to draw for all arms would take long, or often be needed. Else a bandit decides as a simulated
    run does, which has no reserve."""
    return bars.resting(state) > 0 or state.count[ARMS] >= line.MANY


@kernel
def fallback(state, arm, top, bar):
    """The best arm by the reserve, where nobody was found on the line who is certain to win: ``arm``, with a
    draw of ``top``, is the best of those found. Who sleeps may win if its level is at least ``top`` and above
    ``bar``, and its draw does not exceed that level. NOT_ENOUGH, if the reserve is not enough for one arm of
    all."""
    on = line.reserve(state)
    bars.about_all(state)
    if not line.suffices(state, on):
        return NOT_ENOUGH
    state.bars[LISTED] = 0
    if arm >= 0:
        find(state, arm, top)
    for p in range(on.ends[0]):
        i = int(on.line[p, 1])
        if may_win(state, i, top, bar):
            find(state, i, line.draw_below(state, i, line.level(state, i)))
    way = random.exponential(state.rng)
    g, size, width = FIRST
    count = WOKEN
    while count == WOKEN:
        count, above, way, g, size, width = line.gather(on, way, g, size, width)
        for j in range(above):
            i, x = int(state.woken[j, 0]), line.value(state, j)
            if may_win(state, i, top, bar) and x <= line.level(state, i):
                find(state, i, x)
    best = -math.inf
    for p in range(state.bars[LISTED]):
        best = max(best, state.worth[state.listed[p]])
    if best <= max(on.levels[NEW], on.levels[OLD]):
        for i in range(state.count[ARMS]):
            if may_win(state, i, top, bar) and state.barred[i] == 0:
                c = min(line.level(state, i), line.level(on, i))
                find(state, i, line.draw_below(state, i, c))
    for p in range(state.bars[LISTED]):
        state.barred[state.listed[p]] &= ~FOUND
    return ranking.largest(state)


@hot
def may_win(state, i, top, bar):
    c = line.level(state, i)
    return state.place[i] >= state.ends[0] and c >= top and c > bar


@kernel
def anyone(state, t):
    """One of the arms, when none has a law yet that is not paused."""
    if bars.resting(state) == 0:
        return random.below(state.rng, state.count[ARMS])
    return calls.choose(state.engine.spare, (state, t))


@kernel
def pick(state, t):
    """The best of the arms that may be chosen: into ``state.slate``."""
    state.count[CLOCK] += 1
    if state.bars[LISTED] < 0:
        by_reserve = line.suffices(state, line.reserve(state))
        by_line = (
            by_reserve and line.promises(state) if state.bars[WANTED] > 1 else line.suffices(state, state)
        )
        if by_line or by_reserve:
            return best(state, by_line, by_reserve)
        line.ask(state)
        bars.everyone(state)
    for p in range(state.bars[LISTED]):
        i = state.listed[p]
        state.worth[i] = line.draw(state, i) if statistics.has_law(state, i) else -math.inf
    state.evaluations[0] += state.bars[LISTED]
    return ranking.top(state)


@kernel
def best(state, by_line, by_reserve):
    """The same, as ``choose`` does it: by those who exceed the level of the line, or if these may be too few,
    that of the reserve. Where they are too few, the reserve comes after the line, and all others at last: of
    these is known that they do not exceed the levels before."""
    out_of_line()
    on, level, few = line.reserve(state), math.inf, state.bars[WANTED] <= WOKEN
    state.bars[LISTED] = 0
    size, lost, marked = 0, 0, not few
    if by_line:
        size, lost = look(state, state, size, lost, False)
        level = max(state.levels[NEW], state.levels[OLD])
    if by_reserve and not is_certain(state, size, level):
        marked = mark(state)
        size, lost = look(state, on, size, lost, by_line)
        level = min(level, max(on.levels[NEW], on.levels[OLD]))
    if not is_certain(state, size, level):
        marked = mark(state)
        for i in range(state.count[ARMS]):
            if state.place[i] >= 0 and state.barred[i] == 0:
                c = line.level(state, i) if by_line else math.inf
                c = min(c, line.level(on, i)) if by_reserve else c
                size, lost = keep(state, i, line.draw_below(state, i, c), size, lost)
                state.evaluations[0] += 1
    for p in range(state.bars[LISTED] if marked else 0):
        state.barred[state.listed[p]] &= ~FOUND
    return size if few else ranking.top(state)


@kernel
def look(state, on, size, lost, below):
    """Put those into the slate who exceed their level on the line or the reserve (``on``), and who may be
    chosen. Who was seen is ``listed``. ``below``: who was not seen before does not exceed its level on the
    line. ``size`` and ``lost`` are as in ``ranking.insert``."""
    out_of_line()
    few, drawn, last = state.bars[WANTED] <= WOKEN, on.ends[0], -1
    for p in range(on.ends[0]):
        i = int(on.line[p, 1])
        if not below or is_hidden(state, i):
            x = line.draw_below(state, i, line.level(state, i)) if below else line.draw(state, i)
            see(state, i)
            size, lost = keep(state, i, x, size, lost)
    way = random.exponential(state.rng)
    g, room, width = FIRST
    count = WOKEN
    while count == WOKEN:
        count, above, way, g, room, width = line.gather(on, way, g, room, width)
        drawn += count
        # Not if more points follow, or on the reserve: of one arm there several may count.
        if few and not below and state.hooks.solved and count < WOKEN and last < 0:
            above = line.likely_first(state.woken, above)
        for j in range(above):
            i = int(state.woken[j, 0])
            if below and i != last and not is_hidden(state, i):
                continue
            full = few and size == state.bars[WANTED]
            if full and not below and line.is_below(state, j, state.worth[size - 1]):
                x = -math.inf
            else:
                x = line.value(state, j)
            if below and x > line.level(state, i):  # of no account: it is known that this is not its draw
                continue
            if i != last:
                see(state, i)
            elif few:
                size, x = ranking.replace(state, i, x, size)
            size, lost = keep(state, i, x, size, lost)
            last = i
    state.evaluations[0] += drawn
    state.levels[DRAWN] = drawn
    return size, lost


@hot
def see(state, i):
    """Arm i was seen; if many are wanted, ``find`` notes that."""
    if state.bars[WANTED] <= WOKEN:
        state.listed[state.bars[LISTED]] = i
        state.bars[LISTED] += 1


@kernel
def keep(state, i, x, size, lost):
    """A draw of arm i: among the best, if it is one of them and may be chosen."""
    out_of_line()
    if state.bars[WANTED] <= WOKEN and size == state.bars[WANTED] and x < state.worth[size - 1]:
        return size, lost
    if x == -math.inf or (state.bars[LEFT] > 0 and state.barred[i] & OUT):
        return size, lost
    if state.bars[WANTED] > WOKEN:
        find(state, i, x)
        return size, lost
    return ranking.insert(state, i, x, size, lost)


@kernel
def is_certain(state, size, level):
    """Whether as many exceed this level, as far as digits tell, as are wanted."""
    if state.bars[WANTED] <= WOKEN:
        return size == state.bars[WANTED] and state.worth[size - 1] > level
    certain = 0
    for p in range(state.bars[LISTED]):
        certain += state.worth[state.listed[p]] > level
    return certain >= state.bars[WANTED]


@kernel
def mark(state):
    """Those who were seen."""
    for p in range(state.bars[LISTED]):
        state.barred[state.listed[p]] |= FOUND
    return True


@hot
def is_hidden(state, i):
    """Whether arm i sleeps, and was not seen."""
    return state.place[i] >= state.ends[0] and state.barred[i] & FOUND == 0


@kernel
def find(state, i, x):
    """A draw of arm i: of several in a round, the best is the arm's."""
    if state.barred[i] & FOUND == 0:
        state.barred[i] |= FOUND
        state.listed[state.bars[LISTED]] = i
        state.bars[LISTED] += 1
        state.worth[i] = x
    state.worth[i] = max(state.worth[i], x)


@kernel
def seat(state, i):
    """Arm i was paused or resumed."""
    if bars.is_paused(state, i):
        if state.place[i] >= 0:
            state.draws[i] += state.count[CLOCK] - state.start[i]
            leave(state, i)
    elif state.place[i] < 0 and statistics.has_law(state, i):
        place(state, i)


@kernel
def join(state, i):
    """Arm i has a new law, or its first: put it where it belongs, unless it is paused."""
    if bars.is_paused(state, i):
        return
    if state.place[i] < 0:
        state.start[i] = state.count[CLOCK]
    line.set_rate(state, i, line.level(state, i))
    if state.reserve.size > 0:
        other = line.reserve(state)
        line.set_rate(other, i, line.level(other, i))


@kernel
def place(state, i):
    """Arm i has a new law: give it a rate, then look after the level."""
    join(state, i)
    look_after(state, 0)


@kernel
def look_after(state, anew):
    """The level, and that of the reserve."""
    calls.event(state.engine.control, (state, anew))
    if state.reserve.size > 0:
        calls.event(state.engine.control, (line.reserve(state), anew))


@kernel
def begin(state, _):
    rounds.renew_all(state)
    for i in range(state.count[ARMS]):
        if statistics.has_law(state, i):
            join(state, i)
    look_after(state, 1)


@kernel
def leave(state, i):
    """Arm i goes."""
    if state.place[i] >= 0:
        line.leave(state, i)
        if state.reserve.size > 0:
            line.leave(line.reserve(state), i)


@kernel
def move(state, i, to):
    """Arm i gets another number."""
    if state.place[i] >= 0:
        line.move(state, i, to)
        if state.reserve.size > 0:
            line.move(line.reserve(state), i, to)


enter = handed = shrink = nothing
control, needed, spare = line.control, line.needed, scan.anyone
