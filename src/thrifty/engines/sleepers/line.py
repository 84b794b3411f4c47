"""The line that arms sleep on, the level, and how the level follows what is learnt.

Arms whose rates lie in one octave form a group and get intervals of one length, so that a point finds its arm
by a division. The groups lie one after the other, and an arm moves between them by a swap for each border.
"""

import math

import numpy as np

from thrifty.engines import tournament
from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import random
from thrifty.state import calls, header
from thrifty.state.bars import LEFT, WANTED
from thrifty.state.fields import PLACE, Component, Field
from thrifty.state.statistics import ARMS, CLOCK

GROUPS = 24  # one for each octave of rates from 1/2 down; the last holds all that are lower than this
LOWEST = 0.5**GROUPS
WOKEN = 64  # arms that are looked at in one go
SWEPT, SWEEPING = range(2)  # the numbers in state.sweep

# Where loops begin.
NOBODY = (-1, -math.inf, 0)  # the best arm so far, its draw, how many arms tie
FIRST = (0, 0, 1.0)  # what ``gather`` begins with: before the first group

# The sum of rates is set to ln K + GOAL, and to more while moves to new levels cost more than draws. Below
# ln K + LOW the level is too high: too often nobody exceeds it. When a round costs HIGH times what the sum
# was set to, the level is too low.
LOW, GOAL, HIGH = -1.0, 3.5, 1.8
# In a round so many arms are moved to a new level, and as many as were drawn; more if draws may be forced.
STRIDE, HASTE = 16, 64.0
PART, BURST, RUSH = 16, 10_000.0, 100_000.0  # but at most a sixteenth of them, or BURST if more, or RUSH
SEARCHES = 5  # for the first level
SAMPLE = 64  # arms of each group that a new level is computed from, up to twice as many
ROUNDED = 1e-9  # more than what rounding changes in a draw, as a part of it
CLOSE, TINY = 0.05, 1e-300  # how close to the wanted sum a level has to come, in its logarithm
CERTAIN = 50.0  # a rate above which more would not matter

TRIES = 500  # of which one succeeds, but for a probability of 2^-500
MOST = 8.0  # how many ln K the sum of rates may be set above ln K + GOAL

# The numbers in state.levels: the level of arms that were swept, that of the others, the sum of rates, how
# much its logarithm falls when the level rises, how much was drawn in the last round, by how much the sum is
# set higher than ln K + GOAL, and when.
NEW, OLD, TOTAL, SLOPE, DRAWN, AHEAD, SINCE = range(7)

# Of the reserve also: what the sum is set to, and the most that somebody wanted since then. In this sum no
# arm counts for more than HALF. So it falls by HALF at most for each arm that is left out; and of an arm that
# counts for r, a draw exceeds the level with probability ABOVE r at least.
DEMAND, ASKED = 7, 8
HALF, ABOVE = 0.5, 2.0 * (1.0 - math.exp(-0.5))
USUAL = 10  # arms that are left out, and arms that are chosen, for which it is enough
SLACK = 1.1  # it is set so much higher, and set anew when it is HIGH times as high or needed lower
SPARSE = 8  # arms for each of what the sum should be, with fewer of which no reserve is needed
SPARED = 4  # arms of the reserve that are moved to a new level in a round
# With so many arms it takes long to draw for all of them. So the reserve of a bandit stands in, and a new
# level is looked for when the sum has lost this part of what it was set higher by.
MANY, EARLY = 50_000, 0.5


def _start(state, arms):
    state.levels[[NEW, OLD]] = np.inf


def rebuild(state, capacity):
    """Where on the line each arm is."""
    there = state.line[: state.ends[GROUPS], 1].astype(np.int64)
    state.place[there] = np.arange(there.size)


def rebuild_reserve(state, capacity):
    """The same for the reserve."""
    there = state.reserve_line[: state.reserve_ends[GROUPS], 1].astype(np.int64)
    state.reserve_place[there] = np.arange(there.size)


def _start_reserve(state, arms):
    state.reserve_levels[[NEW, OLD]] = np.inf


LINE = Component(
    "line",
    (
        Field("line", rows=PLACE, columns=2),  # rates and arms, in order of the groups of rates
        Field("place", np.int64, start=-1, saved=False),  # where on the line an arm is, or -1
        Field("start", np.int64),  # since when an arm has had a law, or for duel, this phase I
        Field("ends", np.int64, GROUPS + 1),  # where on the line each group ends
        Field("levels", rows=7),  # NEW to SINCE
        Field("sweep", np.int64, 2),  # how many arms were moved to the new level; whether that is under way
        Field("woken", rows=WOKEN, columns=5, saved=False),  # scratch: arms that may exceed the level
    ),
    start=_start,
    rebuild=rebuild,
)


# A second line of the same arms, at a lower level: for decisions in which those who win most often may not be
# chosen, or several arms are. Its header makes all kernels here work on it in the place of the line.
RESERVE = Component(
    "reserve",
    (
        Field("reserve_line", rows=PLACE, columns=2),
        Field("reserve_place", np.int64, start=-1, saved=False),
        Field("reserve_ends", np.int64, GROUPS + 1),
        Field("reserve_levels", rows=9),  # NEW to ASKED
        Field("reserve_sweep", np.int64, 2),
        Field("reserve_evaluations", np.int64, 1, saved=False),
        Field("reserve", np.int64, rows=header.words, saved=False),
    ),
    start=_start_reserve,
    rebuild=rebuild_reserve,
)
TWINS = {name: f"reserve_{name}" for name in ("line", "place", "ends", "levels", "sweep", "evaluations")}


@hot
def reserve(state):
    """The state with the reserve in the place of its line."""
    return header.opened(state.reserve)


@hot
def is_reserve(state):
    return state.levels.size > DEMAND


@kernel
def is_sparse(state):
    """Whether there are so few arms that to draw for all of them is as good as a reserve."""
    return state.ends[GROUPS] < SPARSE * usual(state)


@hot
def gather(state, way, g, size, width):
    """Wake the next arms that may exceed their level, at most WOKEN: into state.woken go the arm, the point
    on its interval, the parameters of its law, and its rate. ``way`` is that to the next point, from where
    group g begins, whose arms have intervals of this width. Returns how many points there were, how many are
    above the level, and where to go on.

    First points, then their rates, then their laws: what has to be fetched from afar is then fetched side by
    side.
    """
    line, ends, params, woken, rng = state.line, state.ends, state.params, state.woken, state.rng
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
    above = 0
    for j in range(count):
        p, e = int(woken[j, 0]), woken[j, 1]
        woken[above, 0] = line[p, 1]
        woken[above, 1] = e
        woken[above, 4] = line[p, 0]
        above += e < line[p, 0]
    for j in range(above):
        i = int(woken[j, 0])
        woken[j, 2] = params[i, 0]
        woken[j, 3] = params[i, 1]
    return count, above, way, g, size, width


@kernel
def likely_first(woken, count):
    """Put these in order, so that the largest draws most likely come first: by how far a point is below its
    rate. Of points of one arm, which are neighbours, the lowest stays, as its draw is the largest. Returns
    how many there are."""
    out_of_line()
    size = 0
    for j in range(count):
        i, e, a, b, part = woken[j, 0], woken[j, 1], woken[j, 2], woken[j, 3], woken[j, 1] / woken[j, 4]
        if j + 1 < count and woken[j + 1, 0] == i:
            woken[j + 1, 1] = min(woken[j + 1, 1], e)
            continue
        p = size
        while p > 0 and woken[p - 1, 4] > part:
            for column in range(5):
                woken[p, column] = woken[p - 1, column]
            p -= 1
        woken[p, 0], woken[p, 1], woken[p, 2], woken[p, 3], woken[p, 4] = i, e, a, b, part
        size += 1
    return size


@hot
def value(state, j):
    """The draw of the j-th arm that was woken."""
    p = -math.expm1(-state.woken[j, 1])
    return calls.isf(state.hooks.isf_spread, (state, state.woken[j, 2], state.woken[j, 3], p))


@hot
def is_below(state, j, x):
    """Whether the draw of the j-th arm that was woken is below x for certain, whatever is rounded, if that is
    faster to tell than to make it."""
    if x == -math.inf or not state.hooks.solved:
        return False
    x -= ROUNDED * abs(x) + TINY
    p = -math.expm1(-state.woken[j, 1])
    return calls.sf(state.hooks.sf_spread, (state, state.woken[j, 2], state.woken[j, 3], x)) <= p


@hot
def draw(state, i):
    """A draw of arm i."""
    return calls.draw(state.hooks.draw_spread, (state, state.params[i, 0], state.params[i, 1]))


@hot
def draw_below(state, i, c):
    """A draw of arm i that does not exceed c. An arm that sleeps exceeds it with a probability below 1/2, so
    that more tries than these would only be needed if the level came from a file that lies."""
    x = draw(state, i)
    for _ in range(TRIES):
        if x <= c:
            break
        x = draw(state, i)
    return min(x, c)


@kernel
def move(state, i, to):
    """Arm i, which is on the line, gets another number, ``to``. Its level may be another one there."""
    state.place[to] = state.place[i]
    state.line[state.place[i], 1] = to
    state.place[i] = -1
    set_rate(state, to, level(state, to))


@hot
def better(i, x, arm, top, ties, rng):
    """The better of arm i and the best so far. Rounding can make ties: of n arms, each wins with 1/n."""
    if x > top:
        return i, x, 1
    if x == top:
        ties += 1
        if random.below(rng, ties) == 0:
            arm = i
    return arm, top, ties


@hot
def level(state, i):
    return state.levels[NEW] if i < state.sweep[SWEPT] else state.levels[OLD]


@kernel
def _rate(state, i, c):
    """-ln P(draw <= c), as far as it matters."""
    above = calls.sf(state.hooks.sf_spread, (state, state.params[i, 0], state.params[i, 1], c))
    return min(-math.log1p(-above), CERTAIN) if above < 1.0 else CERTAIN


@hot
def counted(state, rate):
    """What a rate counts for in the sum."""
    return min(rate, HALF) if is_reserve(state) else rate


@kernel
def set_rate(state, i, c):
    """Put arm i on the line, or move it, to where its rate at level c belongs."""
    out_of_line()
    _put(state, i, _rate(state, i, c))


@kernel
def _put(state, i, rate):
    """The same with a rate that is known."""
    if state.place[i] < 0:
        p = state.ends[GROUPS]
        state.ends[GROUPS] += 1
        state.line[p, 0] = 0.0
        state.line[p, 1] = i
        state.place[i] = p
    p = state.place[i]
    state.levels[TOTAL] += counted(state, rate) - counted(state, state.line[p, 0])
    group = _group(state.line[p, 0])
    state.line[p, 0] = rate
    _shift(state.line, state.place, state.ends, p, group, _group(rate))
    state.evaluations[0] += 1


@kernel
def leave(state, i):
    """Take arm i off the line."""
    out_of_line()
    p = state.place[i]
    state.levels[TOTAL] -= counted(state, state.line[p, 0])
    _shift(state.line, state.place, state.ends, p, _group(state.line[p, 0]), GROUPS)
    _swap(state.line, state.place, state.place[i], state.ends[GROUPS] - 1)
    state.ends[GROUPS] -= 1
    state.place[i] = -1


@kernel
def _group(rate):
    """0 if awake; else g with 2^-(g+1) <= rate < 2^-g, as far as there are groups."""
    if rate < LOWEST:
        return GROUPS
    _, exponent = math.frexp(rate)
    return max(0, -exponent)


@kernel
def _swap(line, place, p, q):
    out_of_line()  # else LLVM writes it out eight times, wherever an arm is moved
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
def control(state, anew):
    """Keep the level where the rates sum to what they should, with a little work in each round. If all arms
    are ``anew`` on the line: find a level and move everybody to it. Nothing, while nobody is on the line."""
    if state.ends[GROUPS] == 0 or (is_reserve(state) and is_sparse(state)):
        return
    for _ in range(SEARCHES if anew else 1):  # groups of the right level are the right ones to sample from
        sweeping, new, old = state.sweep[SWEEPING], state.levels[NEW], state.levels[OLD]
        if anew or (not sweeping and is_off(state)):
            find_level(state)
        if anew and state.levels[NEW] == new == old:  # everybody is there already
            state.sweep[SWEEPING] = 0
            break
        if anew or sweeping:
            sweep(state, state.count[ARMS] if anew else _stride(state))
        if anew and not is_off(state):
            break


@kernel
def _stride(state):
    """How many arms to move in this round."""
    if is_reserve(state):
        return SPARED
    forced = math.exp(math.log(state.ends[GROUPS]) - state.levels[TOTAL])  # draws in a round, on average
    most = min(max(state.ends[GROUPS] / PART, BURST), RUSH)
    return STRIDE + int(min(state.levels[DRAWN] + HASTE * forced + _behind(state), most))


@kernel
def _early(state):
    """How far above ln K + LOW the sum is when a new level is looked for: not 0 where levels do not last and
    arms are many, so that it comes in time."""
    return EARLY * state.levels[AHEAD] if state.ends[GROUPS] >= MANY else 0.0


@kernel
def _behind(state):
    """How many more arms should have been moved by now: as large a part of all as the old level has lost of
    its sum on the way from ``_early``, which was half of what it is now, to ln K + LOW."""
    early, log_arms, total = 0.5 * _early(state), math.log(state.ends[GROUPS]), state.levels[TOTAL]
    if early == 0.0:
        return 0.0
    if state.levels[NEW] < state.levels[OLD]:  # without what those who were moved have gained, roughly
        total -= (log_arms + GOAL + state.levels[AHEAD]) * state.sweep[SWEPT] / state.count[ARMS]
    lost = min((log_arms + LOW + early - total) / early, 1.0)
    return max(lost * state.count[ARMS] - state.sweep[SWEPT], 0.0)


@kernel
def is_off(state):
    """Whether a round costs too much, or nobody may exceed the level too often, which a committed index above
    it prevents."""
    if is_reserve(state):
        demand = max(state.levels[DEMAND], usual(state))
        return not demand <= SLACK * state.levels[TOTAL] <= HIGH * SLACK * demand
    log_arms = math.log(state.ends[GROUPS])
    if state.levels[TOTAL] >= log_arms + LOW + _early(state):
        return _cost(state.ends) > HIGH * (log_arms + GOAL + state.levels[AHEAD])
    return state.since.size == 0 or tournament.top(state.tree) < state.levels[NEW]


@kernel
def _cost(ends):
    """The expected number of draws in a round: the sum of 2^-g for each arm of group g, by Horner's rule."""
    total = 0
    for g in range(GROUPS):
        total = 2 * total + ends[g]
    return (total + ends[GROUPS]) * LOWEST


@kernel
def sweep(state, arms):
    """Move some more arms to the new level. Neighbours with the same law need one rate."""
    out_of_line()
    params, known, a, b, rate = state.params, False, 0.0, 0.0, 0.0
    for _ in range(min(arms, state.count[ARMS] - state.sweep[SWEPT])):
        i = state.sweep[SWEPT]
        if state.place[i] >= 0:
            if state.engine.settle != 0:
                calls.event(state.engine.settle, (state, i))
            if not (known and params[i, 0] == a and params[i, 1] == b):
                known, a, b, rate = True, params[i, 0], params[i, 1], _rate(state, i, state.levels[NEW])
            _put(state, i, rate)
        state.sweep[SWEPT] += 1
    if state.sweep[SWEPT] >= state.count[ARMS]:
        state.levels[OLD] = state.levels[NEW]
        state.sweep[SWEPT] = 0
        state.sweep[SWEEPING] = 0


@kernel
def find_level(state):
    """Look for the level with the wanted sum of rates, and begin to move there.

    ln(sum of rates) is nearly linear in the level, so the secant method needs an estimate or two.
    """
    out_of_line()
    if is_reserve(state):
        goal = state.levels[DEMAND] = max(state.levels[ASKED], usual(state))
        state.levels[ASKED] = 0.0
    else:
        _look_ahead(state)
        goal = math.log(state.ends[GROUPS]) + GOAL + state.levels[AHEAD]
    x, slope = state.levels[NEW], state.levels[SLOPE]
    if x == math.inf:  # the first level ever
        i = int(state.line[0, 1])
        a, b = state.params[i, 0], state.params[i, 1]
        x = calls.isf(state.hooks.isf_spread, (state, a, b, 0.1))
        slope = 1.0 / max(x - calls.isf(state.hooks.isf_spread, (state, a, b, 0.3)), 1e-15 * max(1.0, abs(x)))
        y = math.log(max(_estimate(state, x), TINY) / goal)
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
        try_y = math.log(max(_estimate(state, try_x), TINY) / goal)
        slope = max((y - try_y) / (try_x - x), 0.25 * slope)
        x, y = try_x, try_y
    state.levels[NEW] = x
    state.levels[SLOPE] = slope
    state.sweep[SWEEPING] = 1
    state.sweep[SWEPT] = 0


@kernel
def _look_ahead(state):
    """If the last level did not last until its rates were paid for, aim higher: so moves become rarer, for
    more draws in each round. Where nothing was played in between, nothing is learnt."""
    lasted = state.count[CLOCK] - state.levels[SINCE]
    if lasted > 0.0:
        log_arms = math.log(state.ends[GROUPS])
        if lasted * _cost(state.ends) < state.ends[GROUPS]:
            state.levels[AHEAD] = min(2.0 * state.levels[AHEAD] + GOAL, MOST * log_arms)
        else:
            state.levels[AHEAD] *= 0.5
        state.levels[SINCE] = state.count[CLOCK]


@kernel
def _estimate(state, c):
    """The sum of rates at level c, from a sample of each group."""
    out_of_line()
    total, first = 0.0, 0
    for g in range(GROUPS + 1):
        size = state.ends[g] - first
        step = max(1, size // SAMPLE)
        part, sampled = 0.0, 0
        for p in range(first + step // 2, state.ends[g], step):
            part += counted(state, _rate(state, int(state.line[p, 1]), c))
            sampled += 1
        if sampled > 0:
            total += part * size / sampled
        state.evaluations[0] += sampled
        first = state.ends[g]
    return total


@kernel
def usual(state):
    """What the reserve's sum is set to, if nobody wants more."""
    return SLACK * (calls.needed(state.engine.needed, (state, USUAL)) + HALF * USUAL)


@kernel
def needed(state, count):
    """What the sum must be at least, so that hardly ever fewer than ``count`` arms exceed the level.

    For one arm, P(nobody) <= exp(-sum). The number of those who exceed it is a sum of independent coins with
    an expectation of m = ABOVE times the sum, or more, so P(at most a) <= exp(-(m - a + a ln(a/m))),
    by Chernoff.
    """
    enough = max(math.log(state.count[ARMS]) + LOW, 1.0)
    a = count - 1.0
    if a == 0.0:
        return enough
    m = a + enough + math.sqrt(2.0 * a * enough)  # above the root, and Newton's method comes down to it
    for _ in range(5):
        m -= (m - a + a * math.log(a / m) - enough) / (1.0 - a / m)
    return m / ABOVE


@kernel
def promises(state):
    """Whether as many can be expected to exceed the level of the line as are wanted, without those who are
    left out. They may be fewer, so that a reserve must be enough."""
    expected = state.levels[TOTAL]
    for p in range(state.ends[0]):
        expected -= max(state.line[p, 0] - 1.0, 0.0)
    for j in range(state.bars[LEFT]):
        if state.place[state.left[j]] >= 0:
            expected -= min(state.line[state.place[state.left[j]], 0], 1.0)
    return expected >= state.bars[WANTED] and max(state.levels[NEW], state.levels[OLD]) < math.inf


@kernel
def suffices(state, on):
    """Whether the line or the reserve (``on``) is enough for a decision without those who are left out."""
    out_of_line()
    if max(on.levels[NEW], on.levels[OLD]) == math.inf or (is_reserve(on) and is_sparse(on)):
        return False
    total = on.levels[TOTAL]
    for j in range(state.bars[LEFT]):
        if on.place[state.left[j]] >= 0:
            total -= counted(on, on.line[on.place[state.left[j]], 0])
    return total >= calls.needed(state.engine.needed, (state, state.bars[WANTED]))


@kernel
def ask(state):
    """Nothing was enough for this decision: lower the reserve, if that helps, all at once. The decision takes
    long anyway."""
    out_of_line()
    other = reserve(state)
    least = calls.needed(state.engine.needed, (state, state.bars[WANTED]))
    wanted = SLACK * (least + HALF * state.bars[LEFT])
    if other.ends[GROUPS] >= SPARSE * wanted:
        other.levels[ASKED] = max(other.levels[ASKED], wanted)
        find_level(other)
        sweep(other, state.count[ARMS])
