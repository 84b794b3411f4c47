"""Sleepers: exact Thompson sampling that draws only for arms that can win. docs/sleepers.md has the proof.

A draw of arm i is isf_i(1 - exp(-e)) with e ~ Exp(1), so it exceeds a level c if and only if e is below

    rate_i = -ln P(draw of arm i <= c),

and e is where a Poisson process of unit rate has its first point. Lay the arms out on a line, each on an
interval not shorter than its rate, and let one Poisson process run over the line: the arms that have a point
on the first ``rate`` of their interval are those that exceed the level, and the points are their draws. All
others are asleep, and nothing is drawn for them. If somebody exceeds the level, the winner has been seen.
With a level at which the rates sum to a little over ln K, that is all but certain, and a round costs about
ln K draws.

Arms whose rates lie in one octave form a group and get intervals of one length, so that a point finds its arm
by a division. Arms of rate 1/2 and more are awake: drawn in every round, without a line.

The level has to follow what is learnt. When the sum of rates has left its range, a new level is computed from
a sample of the arms, and the arms are moved to it a few in each round: the first ``SWEPT`` of them are at the
new level, the others at the old one. An arm's rate may change at any time and for any reason that does not
depend on draws that nobody has seen: what sleeps has no memory.
"""

import math

from thrifty import laws
from thrifty.engines import rounds, tournament
from thrifty.engines.state import (
    ARMS,
    CLOCK,
    DUEL,
    EPSILON,
    GROUPS,
    NEWEST,
    OLDEST,
    SPENT,
    SWEEPING,
    SWEPT,
    WOKEN,
)
from thrifty.jit import kernel
from thrifty.numerics import random

# The sum of rates is set to ln K + GOAL, and to more while moves to new levels cost more than draws. Below
# ln K + LOW the level is too high: too often nobody exceeds it. When a round costs HIGH times what the sum
# was set to, the level is too low.
LOW, GOAL, HIGH = -1.0, 3.5, 1.8
# In a round so many arms are moved to a new level, and as many as were drawn; more if draws may be forced.
STRIDE, HASTE, BURST = 16, 64.0, 10_000.0  # the last: but never more than so many
SEARCHES = 5  # for the first level
SAMPLE = 64  # arms of each group that a new level is computed from, up to twice as many
CLOSE, TINY = 0.05, 1e-300  # how close to the wanted sum a level has to come, in its logarithm
CERTAIN = 50.0  # a rate above which more would not matter

MOST = 8.0  # how many ln K the sum of rates may be set above ln K + GOAL

# The numbers in state.levels: the level of arms that were swept, that of the others, the sum of rates, how
# much its logarithm falls when the level rises, how much was drawn in the last round, by how much the sum is
# set higher than ln K + GOAL, and when.
NEW, OLD, TOTAL, SLOPE, DRAWN, AHEAD, SINCE = range(7)


@kernel
def choose(rule, state):
    """The arm with the largest index of this round."""
    if rule.schedule == EPSILON:
        return _choose_epsilon(rule, state)
    state.count[CLOCK] += 1
    duel = rule.schedule == DUEL
    if duel:
        _retire(rule, state)
    line, ends, params, woken, rng = state.line, state.ends, state.params, state.woken, state.rng
    arm, top, ties, drawn = -1, -math.inf, 0, ends[0]
    last, best, bar = -1, -math.inf, -math.inf  # the arm at hand, its best value, the highest level exceeded
    for p in range(ends[0]):
        i = int(line[p, 1])
        x = laws.draw_spread(rule.law, params[i, 0], params[i, 1], rng)
        if duel:
            state.best[i] = max(state.best[i], x)
            state.seen[i] += 1
        arm, top, ties = _better(i, x, arm, top, ties, rng)
    way = random.exponential(rng)  # to the next point, from where a group begins
    g, size, width = 0, 0, 1.0
    count = WOKEN
    while count == WOKEN:
        # Gather points, then their rates, then their laws: what has to be fetched from afar is then fetched
        # side by side.
        count = 0
        while count < WOKEN:
            while way >= size * width and g < GROUPS:
                way -= size * width
                g += 1
                size, width = ends[g] - ends[g - 1], 0.5 * width
            if way >= size * width:
                break
            woken[count, 0] = ends[g - 1] + min(int(way / width), size - 1)
            woken[count, 1] = width * random.uniform(rng)
            count += 1
            way += random.exponential(rng)
        drawn += count
        above = 0
        for j in range(count):
            p, e = int(woken[j, 0]), woken[j, 1]
            woken[above, 0] = line[p, 1]
            woken[above, 1] = e
            above += e < line[p, 0]
        for j in range(above):
            i = int(woken[j, 0])
            woken[j, 2] = params[i, 0]
            woken[j, 3] = params[i, 1]
        for j in range(above):
            i = int(woken[j, 0])
            x = laws.isf_spread(rule.law, woken[j, 2], woken[j, 3], -math.expm1(-woken[j, 1]))
            if duel:
                state.best[i] = max(state.best[i], x)
                state.seen[i] += i != last
            if i != last or x > best:  # else one of the arm's points before was as good
                arm, top, ties = _better(i, x, arm, top, ties, rng)
                last, best = i, x
            bar = max(bar, _level(state, i))
    level = max(state.levels[NEW], state.levels[OLD])
    if duel:
        arm, top = _commit(rule, state, arm, top, level)
    if top <= level:  # nobody exceeded it, as far as digits tell: draw those who may win
        for i in range(state.count[ARMS]):
            c = _level(state, i)
            if state.place[i] >= ends[0] and c >= top and c > bar:
                x = laws.draw_spread(rule.law, params[i, 0], params[i, 1], rng)
                while x > c:
                    x = laws.draw_spread(rule.law, params[i, 0], params[i, 1], rng)
                drawn += 1
                if duel:
                    state.best[i] = max(state.best[i], x)
                    state.seen[i] += 1
                arm, top, ties = _better(i, x, arm, top, ties, rng)
        if duel:
            arm, top = _commit(rule, state, arm, top, -math.inf)
        if state.ends[GROUPS] > 0:
            _control(rule, state)  # leaders may have been removed, and no reward may come for a while
    state.evaluations[0] += drawn
    state.levels[DRAWN] = drawn
    return arm if arm >= 0 else random.below(rng, state.count[ARMS])  # when no arm has a law yet


@kernel
def _better(i, x, arm, top, ties, rng):
    """The better of arm i and the best so far. Rounding can make ties: of n arms, each wins with 1/n."""
    if x > top:
        return i, x, 1
    if x == top:
        ties += 1
        if random.below(rng, ties) == 0:
            arm = i
    return arm, top, ties


@kernel
def _commit(rule, state, arm, top, bar):
    """The best arm of the tree, if it is above the bar and better than the best so far.

    A spent index is replaced only when it would win: so not before all that may beat it have been drawn.
    """
    while tournament.top(state.tree)[0] > max(top, bar):
        i = tournament.choose(state.tree, state.index, state.rng)
        if state.pending[i, 1] & SPENT:
            rounds.replace(rule, state, i)
            tournament.place(state.tree, state.index, i)
        else:
            arm, top = i, state.index[i]
    return arm, top


@kernel
def _choose_epsilon(rule, state):
    """The coins that say draw, found by the gaps between them; other arms are in the tree, at their means."""
    tree, index, rng = state.tree, state.index, state.rng
    gap = -1.0 / math.log1p(-rule.epsilon) if rule.epsilon < 1.0 else 0.0
    drawn = 0
    i = _steps(gap, rng)
    while i < state.count[ARMS]:
        if index[i] > -math.inf:
            state.start[drawn] = i
            drawn += 1
            index[i] = laws.draw(rule.law, state.params[i, 0], state.params[i, 1], rng)
            state.draws[i] += 1
            tournament.place(tree, index, i)
        state.evaluations[0] += 1
        i += 1 + _steps(gap, rng)
    state.evaluations[0] += 1 + drawn
    arm = tournament.choose(tree, index, rng)
    for p in range(drawn):
        i = state.start[p]
        index[i] = state.means[i]
        tournament.place(tree, index, i)
    return arm


@kernel
def _steps(gap, rng):
    """Geometric: how many coins in a row say mean."""
    return int(min(random.exponential(rng) * gap, 2.0**53))


@kernel
def place(rule, state, i):
    """Arm i has a new law: give it a rate, then look after the level."""
    join(rule, state, i)
    if rule.schedule != EPSILON:
        _control(rule, state)


@kernel
def join(rule, state, i):
    """Arm i has a new law, or its first: put it where it belongs."""
    if rule.schedule == EPSILON:
        state.index[i] = state.means[i]
        tournament.place(state.tree, state.index, i)
        return
    clock = state.count[CLOCK]
    if rule.schedule == DUEL:
        if state.place[i] >= 0:  # it was in phase I
            state.draws[i] += clock - state.start[i]
            _unlink(state, i)
        elif state.index[i] > -math.inf:  # it was in phase II
            state.index[i] = -math.inf
            tournament.place(state.tree, state.index, i)
        _link(state, i)
        state.best[i] = -math.inf
        state.since[i] = clock
        state.seen[i] = 0
    if rule.schedule == DUEL or state.place[i] < 0:
        state.start[i] = clock
    _set_rate(rule, state, i, _level(state, i))


@kernel
def begin(rule, state):
    """All arms at once: find a level and move everybody to it."""
    for i in range(state.count[ARMS]):
        if rounds.has_law(state, i):
            join(rule, state, i)
    if rule.schedule != EPSILON and state.ends[GROUPS] > 0:
        for _ in range(SEARCHES):  # groups of the right level are the right ones to sample from
            _find_level(rule, state)
            _sweep(rule, state, state.count[ARMS])
            if not _is_off(rule, state):
                break


@kernel
def _level(state, i):
    return state.levels[NEW] if i < state.count[SWEPT] else state.levels[OLD]


@kernel
def _rate(rule, state, i, c):
    """-ln P(draw <= c), as far as it matters."""
    above = laws.sf_spread(rule.law, state.params[i, 0], state.params[i, 1], c)
    return min(-math.log1p(-above), CERTAIN) if above < 1.0 else CERTAIN


@kernel
def _set_rate(rule, state, i, c):
    """Put arm i on the line, or move it, to where its rate at level c belongs."""
    rate = _rate(rule, state, i, c)
    if state.place[i] < 0:
        p = state.ends[GROUPS]
        state.ends[GROUPS] += 1
        state.line[p, 0] = 0.0
        state.line[p, 1] = i
        state.place[i] = p
    p = state.place[i]
    state.levels[TOTAL] += rate - state.line[p, 0]
    group = _group(state.line[p, 0])
    state.line[p, 0] = rate
    _shift(state.line, state.place, state.ends, p, group, _group(rate))
    state.evaluations[0] += 1


@kernel
def remove(rule, state, i):
    """Arm i goes: take it out of wherever it is."""
    if state.place[i] >= 0:
        if rule.schedule == DUEL:
            _unlink(state, i)
        leave(state, i)
    elif state.tree.size > 0:
        state.index[i] = -math.inf
        tournament.place(state.tree, state.index, i)


@kernel
def move(rule, state, i, to):
    """Arm i gets another number, ``to``, which is free. Its level may be another one there."""
    if state.place[i] < 0:
        return
    if rule.schedule == DUEL:
        _settle(rule, state, i, state.count[CLOCK])
        state.best[to] = state.best[i]
        state.since[to] = state.since[i]
        state.seen[to] = 0
        older, newer = state.older[i], state.newer[i]
        state.older[to] = older
        state.newer[to] = newer
        if older >= 0:
            state.newer[older] = to
        else:
            state.count[OLDEST] = to
        if newer >= 0:
            state.older[newer] = to
        else:
            state.count[NEWEST] = to
    state.start[to] = state.start[i]
    state.place[to] = state.place[i]
    state.line[state.place[i], 1] = to
    state.place[i] = -1
    _set_rate(rule, state, to, _level(state, to))


@kernel
def leave(state, i):
    """Take arm i off the line."""
    p = state.place[i]
    state.levels[TOTAL] -= state.line[p, 0]
    _shift(state.line, state.place, state.ends, p, _group(state.line[p, 0]), GROUPS)
    _swap(state.line, state.place, state.place[i], state.ends[GROUPS] - 1)
    state.ends[GROUPS] -= 1
    state.place[i] = -1


@kernel
def _group(rate):
    """0 if awake; else g with 2^-(g+1) <= rate < 2^-g, as far as there are groups."""
    if rate < 0.5**GROUPS:
        return GROUPS
    return max(0, -math.frexp(rate)[1])


@kernel
def _swap(line, place, p, q):
    line[p, 0], line[q, 0] = line[q, 0], line[p, 0]
    line[p, 1], line[q, 1] = line[q, 1], line[p, 1]
    place[int(line[p, 1])] = p
    place[int(line[q, 1])] = q


@kernel
def _shift(line, place, ends, p, group, goal):
    """Move the arm at p from its group to another one, a swap for each border in between."""
    while group > goal:
        group -= 1
        _swap(line, place, p, ends[group])
        p = ends[group]
        ends[group] += 1
    while group < goal:
        ends[group] -= 1
        _swap(line, place, p, ends[group])
        p = ends[group]
        group += 1


@kernel
def _control(rule, state):
    """Keep the level where the rates sum to what they should, with a little work in each round."""
    if state.count[SWEEPING]:
        forced = math.exp(math.log(state.ends[GROUPS]) - state.levels[TOTAL])  # draws in a round, on average
        _sweep(rule, state, STRIDE + int(min(state.levels[DRAWN] + HASTE * forced, BURST)))
    elif _is_off(rule, state):
        _find_level(rule, state)


@kernel
def _is_off(rule, state):
    """Whether a round costs too much, or nobody may exceed the level too often, which a committed index above
    it prevents."""
    reach = math.log(state.ends[GROUPS])
    if state.levels[TOTAL] >= reach + LOW:
        return _cost(state.ends) > HIGH * (reach + GOAL + state.levels[AHEAD])
    return rule.schedule != DUEL or tournament.top(state.tree)[0] < state.levels[NEW]


@kernel
def _cost(ends):
    """The expected number of draws in a round."""
    total, width = ends[0] * 1.0, 1.0
    for g in range(1, GROUPS + 1):
        width *= 0.5
        total += (ends[g] - ends[g - 1]) * width
    return total


@kernel
def _sweep(rule, state, arms):
    """Move some more arms to the new level."""
    for _ in range(min(arms, state.count[ARMS] - state.count[SWEPT])):
        i = state.count[SWEPT]
        if state.place[i] >= 0:
            if rule.schedule == DUEL:
                _settle(rule, state, i, state.count[CLOCK])
            _set_rate(rule, state, i, state.levels[NEW])
        state.count[SWEPT] += 1
    if state.count[SWEPT] >= state.count[ARMS]:
        state.levels[OLD] = state.levels[NEW]
        state.count[SWEPT] = 0
        state.count[SWEEPING] = 0


@kernel
def _find_level(rule, state):
    """Look for the level with the wanted sum of rates, and begin to move there.

    ln(sum of rates) is nearly linear in the level, so the secant method needs an estimate or two.
    """
    _look_ahead(state)
    goal = math.log(state.ends[GROUPS]) + GOAL + state.levels[AHEAD]
    x, slope = state.levels[NEW], state.levels[SLOPE]
    if x == math.inf:  # the first level ever
        i = int(state.line[0, 1])
        a, b = state.params[i, 0], state.params[i, 1]
        x = laws.isf_spread(rule.law, a, b, 0.1)
        slope = 1.0 / max(x - laws.isf_spread(rule.law, a, b, 0.3), 1e-15 * max(1.0, abs(x)))
        y = math.log(max(_estimate(rule, state, x), TINY) / goal)
    else:
        y = math.log(max(state.levels[TOTAL], TINY) / goal)
    low, high = -math.inf, math.inf
    for _ in range(60):
        if y > 0.0:
            low = x
        else:
            high = x
        if abs(y) < CLOSE:
            break
        try_x = x + min(max(y, -2.0), 2.0) / slope
        if not low < try_x < high:
            try_x = 0.5 * (low + high)
        if not low < try_x < high:  # no number lies between them
            break
        try_y = math.log(max(_estimate(rule, state, try_x), TINY) / goal)
        slope = max((y - try_y) / (try_x - x), 0.25 * slope)
        x, y = try_x, try_y
    state.levels[NEW] = x
    state.levels[SLOPE] = slope
    state.count[SWEEPING] = 1
    state.count[SWEPT] = 0


@kernel
def _look_ahead(state):
    """If the last level did not last until its rates were paid for, aim higher: so moves become rarer, for
    more draws in each round. Where nothing was played in between, nothing is learnt."""
    lasted = state.count[CLOCK] - state.levels[SINCE]
    if lasted > 0.0:
        reach = math.log(state.ends[GROUPS])
        if lasted * _cost(state.ends) < state.ends[GROUPS]:
            state.levels[AHEAD] = min(2.0 * state.levels[AHEAD] + GOAL, MOST * reach)
        else:
            state.levels[AHEAD] *= 0.5
        state.levels[SINCE] = state.count[CLOCK]


@kernel
def _estimate(rule, state, c):
    """The sum of rates at level c, from a sample of each group."""
    total, first = 0.0, 0
    for g in range(GROUPS + 1):
        size = state.ends[g] - first
        step = max(1, size // SAMPLE)
        part, sampled = 0.0, 0
        for p in range(first + step // 2, state.ends[g], step):
            part += _rate(rule, state, int(state.line[p, 1]), c)
            sampled += 1
        if sampled > 0:
            total += part * size / sampled
        state.evaluations[0] += sampled
        first = state.ends[g]
    return total


@kernel
def _settle(rule, state, i, clock):
    """The best of the draws of phase I that nobody has seen, which were all below arm i's level.

    With k of them, -ln P(draw <= their maximum) is rate + E/k, E ~ Exp(1).
    """
    unseen = clock - state.since[i] - state.seen[i]
    if unseen > 0 and state.best[i] < _level(state, i):
        e = state.line[state.place[i], 0] + random.exponential(state.rng) / unseen
        x = laws.isf_spread(rule.law, state.params[i, 0], state.params[i, 1], -math.expm1(-e))
        state.best[i] = max(state.best[i], x)
        state.evaluations[0] += 1
    state.since[i] = clock
    state.seen[i] = 0


@kernel
def _retire(rule, state):
    """Arms that have made phi draws since their last pull go to the tree, with the best of them."""
    clock = state.count[CLOCK]
    i = state.count[OLDEST]
    while i >= 0 and clock - state.start[i] > rule.phi:
        _settle(rule, state, i, clock - 1)
        state.draws[i] += clock - 1 - state.start[i]
        leave(state, i)
        _unlink(state, i)
        state.index[i] = state.best[i]
        tournament.place(state.tree, state.index, i)
        i = state.count[OLDEST]


@kernel
def _link(state, i):
    """Arm i begins phase I: the newest to do so."""
    newest = state.count[NEWEST]
    state.older[i] = newest
    state.newer[i] = -1
    if newest >= 0:
        state.newer[newest] = i
    else:
        state.count[OLDEST] = i
    state.count[NEWEST] = i


@kernel
def _unlink(state, i):
    older, newer = state.older[i], state.newer[i]
    if older >= 0:
        state.newer[older] = newer
    else:
        state.count[OLDEST] = newer
    if newer >= 0:
        state.older[newer] = older
    else:
        state.count[NEWEST] = older
