"""Levels that are kept: R of all arms that may be chosen, up to date after every reward (``largest``).

When an arm has new parameters its old r is subtracted at every level and the new one added. Levels follow
what is learnt: a spare one is filled a few arms at a time, and takes its place when all of them are in.
"""

import math

from thrifty.engines.largest import (
    ADD,
    ENOUGH,
    FINEST,
    REST,
    TAKE,
    WHOLE,
    amount,
    chance,
    coarsest,
    follow,
    height,
    led,
    middle,
    put,
    spread,
    total,
    weigh,
)  # fmt: skip
from thrifty.jit import entry, hot, kernel
from thrifty.state import bars, calls, statistics
from thrifty.state.header import opened
from thrifty.state.levels import (
    AGE,
    ASKED,
    COUNT,
    CURSOR,
    FAULT,
    LEADERS,
    NEWS,
    PARAMETERS,
    SF,
    SIZE,
    STALE,
)  # fmt: skip

NARROW = 0.1  # cells that are narrower than this are fine
GROUND = 2.0 * math.log(0.5 * ENOUGH)  # the lowest level is at least this high
SLICE = 128  # arms that are counted at the spare level for each question
URGENT = 20_000  # and if the levels are too coarse
EVERY = 8  # so often we look whether another level is needed
LARGE = 0.25  # a cell with more of the mass is too coarse
NOBODY, ANEW, BROKEN = -1.0, -2.0, -3.0  # in place of a probability


@kernel
def recount(state, i, sign):
    """Add arm i at all levels where it counts, or subtract it. An r of 0 has none but zeros above it."""
    numbers, fault = state.level_numbers, state.fault[0]
    sf, a, b = numbers[SF], state.params[i, 0], state.params[i, 1]
    for m in range(numbers[COUNT]):
        r = amount(state, sf, a, b, 0.0, 1.0, state.level_at[m], 1.0)
        if r * WHOLE * REST < 1.0:
            break
        put(state.totals, m, r, sign)
    if numbers[CURSOR] >= 0 and (sign > 0 or state.counted[i] == 1 + numbers[AGE]):
        put(state.totals, SIZE, amount(state, sf, a, b, 0.0, 1.0, state.level_at[SIZE], 1.0), sign)
    if sign > 0:
        follow(state.leaders, state.lead, i, amount(state, sf, a, b, 0.0, 1.0, state.middle[0], 1.0))
    if state.fault[0] != fault:  # ``sf`` is the user's own: it is those who ask that have to know
        state.fault[0], numbers[FAULT] = fault, 1
    state.counted[i], numbers[NEWS] = 1 + numbers[AGE] if sign > 0 else 0, 1


def learnt(state, i, n, s):
    """In place of the law's ``parameters``: arm i has new ones."""
    numbers = state.level_numbers
    if numbers[STALE] == 0 and state.counted[i] > 0:
        recount(state, i, TAKE)
    calls.parameters(numbers[PARAMETERS], (state, i, n, s))
    if numbers[STALE] == 0 and not bars.is_paused(state, i):
        recount(state, i, ADD)


@entry
def leave(block, i):
    """Arm i is about to go."""
    state = opened(block)
    if state.level_numbers[STALE] == 0 and state.counted[i] > 0:
        recount(state, i, TAKE)


@entry
def seat(block, i):
    """Arm i was paused or resumed."""
    state = opened(block)
    member = statistics.has_law(state, i) and not bars.is_paused(state, i)
    if state.level_numbers[STALE] == 0 and (state.counted[i] > 0) != member:
        recount(state, i, ADD if member else TAKE)


@entry
def build(block, isf, who, kinks, steps, us, heights, size):
    """All levels anew, for these arms."""
    state = opened(block)
    numbers, fault = state.level_numbers, state.fault[0]
    for p in range(LEADERS):
        state.leaders[p], state.lead[p] = -1, math.inf
    few = max(min(LEADERS, who.size - 2), 0)
    arms = state, numbers[SF], isf, state.params, state.means, 1.0, who, state.leaders[:few], state.lead[:few]
    grid = state.level_at[:SIZE], us, state.totals[:SIZE], heights, size, FINEST
    spread(arms, grid, kinks, steps, 0.0)
    if state.fault[0] != fault:
        state.fault[0], numbers[FAULT] = fault, 1
    state.middle[0] = state.level_at[middle(state.totals, size[0])]
    for i in range(state.counted.size):
        state.counted[i] = 0
    for p in range(who.size):
        state.counted[who[p]] = 1
    numbers[COUNT], numbers[CURSOR], numbers[AGE], numbers[STALE], numbers[NEWS] = size[0], -1, 0, 0, 0


@entry
def ask(block, i, exclude):
    """The probability of arm i, which is none of those to ``exclude``: NOBODY if it has no law or the levels
    are too coarse, ANEW if they have to be built anew, BROKEN if ``sf`` was no number."""
    state = opened(block)
    numbers, xs, fault = state.level_numbers, state.level_at, state.fault[0]
    curve, weights = state.curve, state.weighed
    if numbers[STALE] != 0:
        return ANEW
    if state.counted[i] == 0:
        return NOBODY
    if numbers[NEWS] != 0:
        tend(state, SLICE)
        if coarseness(state) > LARGE:
            tend(state, URGENT)
        numbers[NEWS] = 0
    coarse = max(LARGE, 2.0 * coarseness(state))
    size, sf = numbers[COUNT], numbers[SF]
    for p in range(exclude.size):
        j = exclude[p]
        if state.counted[j] > 0:
            for m in range(size):
                r = amount(state, sf, state.params[j, 0], state.params[j, 1], 0.0, 1.0, xs[m], 1.0)
                curve[m] = max(curve[m] - r, 0.0)
                if r == 0.0:
                    break
    if exclude.size > 0 and coarsest(curve, xs, size) > coarse:
        return NOBODY
    weigh(curve, xs, size, weights)
    curved = straight = 0.0
    for m in range(size):
        r = amount(state, sf, state.params[i, 0], state.params[i, 1], 0.0, 1.0, xs[m], 1.0)
        curved += weights[m, 0] * r
        straight += weights[m, 1] * r
        if r == 0.0:
            break
    if state.fault[0] != fault or numbers[FAULT] != 0:
        state.fault[0], numbers[FAULT], numbers[STALE] = fault, 0, 1
        return BROKEN
    return chance(curved, straight)


@kernel
def coarseness(state):
    """The same of the levels that are kept, where R is now in ``state.curve``."""
    size = state.level_numbers[COUNT]
    for m in range(size):
        state.curve[m] = total(state.totals, m)
    return coarsest(state.curve, state.level_at, size)


@kernel
def tend(state, budget):
    """Levels follow what is learnt, and stay while nothing is: so many arms are counted at the spare level;
    if there is none, we look now and then where one is needed, and at once if it is urgent. Arms come down
    from the last one, as those that get another number do."""
    numbers = state.level_numbers
    numbers[ASKED] += 1
    while budget > 0:
        if numbers[CURSOR] < 0:
            if budget <= SLICE and numbers[ASKED] % EVERY != 0:
                return
            look(state)
            if numbers[CURSOR] < 0 or budget <= SLICE:
                return
        end = min(numbers[CURSOR], state.counted.size)
        begin = max(end - budget, 0)
        for i in range(end - 1, begin - 1, -1):
            if 0 < state.counted[i] <= numbers[AGE]:
                a, b = state.params[i, 0], state.params[i, 1]
                r = amount(state, numbers[SF], a, b, 0.0, 1.0, state.level_at[SIZE], 1.0)
                put(state.totals, SIZE, r, ADD)
                state.counted[i] = 1 + numbers[AGE]
        numbers[CURSOR] = begin
        if begin == 0:
            settle(state)
        budget -= end - begin


@kernel
def high(state, m):
    """The height of level m, with the leaders as they are now."""
    numbers = state.level_numbers
    arms = state, numbers[SF], 0, state.params, state.means, 1.0, state.leaders, state.leaders, state.lead
    return height(total(state.totals, m), led(arms, state.level_at[m], 1.0), FINEST)


@kernel
def look(state):
    """Whether a level is needed beyond the ends, or in the middle of a cell that is wide, while two others
    are narrow. If so, it is the spare one."""
    xs, last = state.level_at, state.level_numbers[COUNT] - 1
    if total(state.totals, last) > 3.0 * FINEST:
        begin(state, beyond(state, last, last - 1, FINEST))
        return
    if high(state, 0) < GROUND:
        begin(state, beyond(state, 0, 1, ENOUGH))
        return
    widest, narrow, best, above, here = 0.0, math.inf, 0, 0.0, high(state, 0)
    for m in range(last):
        there = high(state, m + 1)
        middle = 0.5 * xs[m] + 0.5 * xs[m + 1]
        if here - there > widest and xs[m] < middle < xs[m + 1]:
            widest, best = here - there, m
        if not is_kink(xs, m):
            narrow = min(narrow, above - there if m > 0 else here - there)
        above, here = here, there
    if widest > 2.0 * narrow and widest > NARROW:
        begin(state, 0.5 * xs[best] + 0.5 * xs[best + 1])


@hot
def is_kink(xs, m):
    """Whether level m is there twice, and stays."""
    return xs[m] == xs[m + 1] or (m > 0 and xs[m - 1] == xs[m])


@kernel
def beyond(state, end, inner, wanted):
    """Where R is about what is wanted, if ln R goes on as between the last two levels: 1 to 8 cells on."""
    xs, here, there = state.level_at, total(state.totals, end), total(state.totals, inner)
    rise = math.log(max(here, 1e-300) / max(there, 1e-300))
    cells = math.log(wanted / max(here, 1e-300)) / rise if rise != 0.0 else 8.0
    return xs[end] + min(max(cells, 1.0), 8.0) * (xs[end] - xs[inner])


@kernel
def begin(state, x):
    """There is a spare level at x, with no arm counted."""
    numbers = state.level_numbers
    if not math.isfinite(x):
        return
    state.level_at[SIZE] = x
    state.totals[SIZE, 0] = state.totals[SIZE, 1] = 0
    numbers[AGE] += 1
    numbers[CURSOR] = state.counted.size


@kernel
def settle(state):
    """Every arm is counted at the spare level: it takes its place among the others, and the one that is
    missed least goes."""
    xs, totals, numbers = state.level_at, state.totals, state.level_numbers
    x, whole, rest, m = xs[SIZE], totals[SIZE, 0], totals[SIZE, 1], numbers[COUNT]
    while m > 0 and xs[m - 1] > x:
        shift(state, m - 1, m)
        m -= 1
    xs[m], totals[m, 0], totals[m, 1] = x, whole, rest
    numbers[CURSOR] = -1
    numbers[COUNT] += 1
    if numbers[COUNT] > SIZE:
        drop(state)
    state.middle[0] = xs[middle(totals, numbers[COUNT])]
    for p in range(LEADERS):
        if state.leaders[p] >= 0:
            state.lead[p] = 0.0
    for p in range(LEADERS):
        i = state.leaders[p]
        if 0 <= i < state.counted.size:
            r = amount(
                state, numbers[SF], state.params[i, 0], state.params[i, 1], 0.0, 1.0, state.middle[0], 1.0
            )
            state.lead[p] = r if state.counted[i] > 0 else 0.0
    for p in range(1, LEADERS):
        follow(state.leaders, state.lead, state.leaders[p], state.lead[p])


@kernel
def drop(state):
    """The level that is missed least goes."""
    xs = state.level_at
    least, narrow, above, here = 0, math.inf, 0.0, high(state, 0)
    for m in range(SIZE):
        there = high(state, m + 1)
        gap = above - there if m > 0 else here - there
        if gap < narrow and not is_kink(xs, m):
            least, narrow = m, gap
        above, here = here, there
    for m in range(least, SIZE):
        shift(state, m + 1, m)
    state.level_numbers[COUNT] = SIZE


@hot
def shift(state, m, to):
    state.level_at[to] = state.level_at[m]
    state.totals[to, 0], state.totals[to, 1] = state.totals[m, 0], state.totals[m, 1]
