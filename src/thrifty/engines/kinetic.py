"""Kinetic: a tournament of indices that rise with time. A comparison is not repeated before it can turn out
otherwise.

Each node of a binary tree keeps the arm that leads below it, how many arms are tied with it, and the time at
which something below may change: an arm that trails stays behind until its own index has reached what the
leader's is now, because that of the leader does not fall. A round repeats the comparisons above the arms that
changed, as far up as the outcome is another one, and those whose time has come, which are few. Who leads on
the two sides is compared anew only if one of them is another arm, or the same after a pull. The choices, and
the random numbers of ties, are those of scan.
"""

import math
from typing import Any

import numpy as np

from thrifty.engines import ranking, rounds
from thrifty.engines.scan import place as nothing
from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import random
from thrifty.state import bars, calls, statistics
from thrifty.state.bars import LEFT, LISTED, WANTED
from thrifty.state.fields import Component, Field
from thrifty.state.rows import fetch
from thrifty.state.statistics import CLOCK

LEADER, TIES, UNTIL, HOLDS = range(4)  # the columns of state.races
EMPTY = (-1.0, 0.0)  # the first two, where nobody leads
OPEN = (-math.inf, 0.0)  # and the others, where nothing has been compared
TIED = -1  # less the number of an arm: it was taken out while others were tied with it
FEW = 64  # arms that are looked for at once, or that changed
ROOT = np.int64(1)  # the slot at the top; no literal, for which a kernel would be compiled apart


def slots(capacity: int) -> int:
    """A binary tree: the root is slot 1, slot s has children 2s and 2s + 1."""
    return 2 << (capacity - 1).bit_length()


def rebuild(state, capacity):
    """Nothing has been compared yet."""
    state.races[:], state.changed[:1] = EMPTY + OPEN, 0
    leaves = state.races[len(state.races) // 2 :]
    leaves[:, LEADER] = np.where(np.arange(len(leaves)) < state.index.size, np.arange(len(leaves)), -1)
    leaves[np.flatnonzero(state.barred), LEADER] = -1
    leaves[:, TIES] = leaves[:, LEADER] >= 0


RACES = Component(
    "kinetic",
    (
        # Who leads below a slot, ties, until when nothing changes there; and until when those who lead on its
        # two sides compare as they do: with a minus if they are tied, and 0 if they have to be compared anew.
        Field("races", rows=slots, columns=4, saved=False),
        Field("changed", np.int64, 1 + FEW, saved=False),  # how many arms changed since then, and which
        Field("computed", np.int64, saved=False),  # for which time the index was computed, plus 1
        Field("log_t", rows=2, start=-1, saved=False),  # a time t, and its logarithm
    ),
    rebuild=rebuild,
)

COMPONENTS = (RACES,)


@kernel
def choose(state, t):
    """The arm with the largest index at time t, ties uniformly at random; -1 if one is NaN."""
    return -1 if not up_to_date(state, t) else leader(state)


@hot
def up_to_date(state, t):
    """Compare again what may have changed by time t; False if an index is NaN."""
    if t < state.count[CLOCK]:  # pulls were cancelled, and what is certain is so from a later time on
        open_all(state)
    state.count[CLOCK] = t
    if state.races[1, UNTIL] <= t:
        calls.compare(state.hooks.compare, (state, t))
    return state.fault[0] == 0


@hot
def leader(state):
    """Who leads at the root, of several one at random."""
    tree = state.races
    if tree[1, TIES] == 1.0:
        return _first(state)
    left = random.below(state.rng, tree[1, TIES])
    slot = 1
    while 2 * slot < len(tree):
        _fetch_below(tree, slot)
        slot, left = _below(tree, slot, left)
    return int(tree[slot, LEADER])


@hot
def _below(tree, slot, left):
    """On the way to the arm before which ``left`` others lead at this slot: the slot below, and how many
    there."""
    slot *= 2  # who leads there leads above, if it is one of those who are tied
    here = int(tree[slot, TIES]) if tree[slot, LEADER] == tree[slot // 2, LEADER] else 0
    return (slot + 1, left - here) if left >= here else (slot, left)


@hot
def _fetch_below(tree, slot):
    """On the way down: the eight slots three levels below are needed soon, or one of them."""
    for below in range(8 * slot, 8 * slot + 8, 2):
        fetch(tree, below)


@kernel
def pick(state, t):
    """The best of the arms that may be chosen: into ``state.slate``. Others are taken out of the tree for
    this decision, if they would win it. Until when comparisons hold does not change by that; but those above
    the arms of the slate are left to be made again, as pulls change these arms."""
    if state.bars[LISTED] >= 0:
        for p in range(state.bars[LISTED]):
            state.worth[state.listed[p]] = _index(state, state.listed[p], t)
        return ranking.top(state)
    if not up_to_date(state, t):
        return 0
    tree, wanted, left = state.races, state.bars[WANTED], state.bars[LEFT]
    found = gone = out = 0  # arms in the slate; others that were taken out; those of the slate that were
    while found < wanted:
        if tree[1, TIES] > 1.0 and wanted + left <= FEW and _of_equals(state, found, gone):
            break
        i, before = _first(state), gone
        if tree[1, TIES] == 1.0 and bars.is_barred(state, i):
            state.found[gone] = i
            gone += 1
        for j in range(left if tree[1, TIES] > 1.0 else 0):
            if _before(tree, state.left[j]) >= 0:
                state.found[gone] = TIED - state.left[j]
                gone += 1
        for j in range(before, gone):
            i = state.found[j]
            _take_out(state, i if i >= 0 else TIED - i, t)
        if gone == before:
            state.slate[found] = leader(state)
            found += 1
            if found < wanted:
                _void(tree, state.slate[out])
                _take_out(state, state.slate[out], t)
                out += 1
    for p in range(out):
        _leaf(state, state.slate[p], True)
        _note(state, state.slate[p])
    for j in range(gone - 1, -1, -1):
        i = state.found[j]
        if i < 0:
            _put_in(state, TIED - i, t)
        else:  # it led alone at the root, and everywhere on the way there
            slot = _leaf(state, i, True) // 2
            while slot > 0:
                tree[slot, LEADER], tree[slot, TIES] = i, 1.0
                slot //= 2
    return wanted


@kernel
def _of_equals(state, found, gone):
    """Fill the rest of ``state.slate`` with some of those who lead at the root, if enough of them may be
    chosen. Returns whether; nothing else changes. The ways down the tree lie side by side, and so does what
    has to be fetched from afar."""
    out_of_line()
    tree, taken, slots, slate = state.races, state.found[gone:], state.listed, state.slate[found:]
    count, wanted, ties = 0, state.bars[WANTED] - found, int(tree[1, TIES])
    for j in range(state.bars[LEFT]):  # how many come before each that may not be chosen, in order
        before = _before(tree, state.left[j])
        if before >= 0:
            _insert(taken, count, before)
            count += 1
    if ties - count < wanted:
        return False
    for p in range(wanted):
        left = random.below(state.rng, ties - count) if ties - count > 1 else 0
        for q in range(count):
            left += left >= taken[q]
        _insert(taken, count, left)
        count += 1
        slots[p], slate[p] = 1, left
    while 2 * slots[0] < len(tree):
        if wanted == 1:
            _fetch_below(tree, slots[0])
        for p in range(wanted):
            slots[p], slate[p] = _below(tree, slots[p], slate[p])
    for p in range(wanted):
        slate[p] = int(tree[slots[p], LEADER])
    return True


@hot
def _before(tree, i):
    """How many of those who lead at the root come before arm i; -1 if it is none of them."""
    slot, before = len(tree) // 2 + i, 0
    if tree[slot, TIES] == 0.0:
        return -1
    while slot > 1:
        up, other = slot // 2, slot ^ 1
        if tree[other, TIES] > 0.0 and tree[up, TIES] == tree[slot, TIES] + tree[other, TIES]:  # both sides
            before += int(tree[other, TIES]) if other < slot else 0
        elif tree[up, LEADER] != tree[slot, LEADER]:
            return -1
        slot = up
    return before


@hot
def _insert(numbers, count, number):
    """One more number, in rising order."""
    while count > 0 and numbers[count - 1] > number:
        numbers[count] = numbers[count - 1]
        count -= 1
    numbers[count] = number


@hot
def _first(state):
    """Who leads at the root, the first of several."""
    return int(state.races[1, LEADER])


@hot
def _leaf(state, i, there):
    """Arm i is there now, or not."""
    slot = len(state.races) // 2 + i
    state.races[slot, LEADER] = i if there else -1
    state.races[slot, TIES] = 1.0 if there else 0.0
    return slot


@hot
def _take_out(state, i, t):
    """Arm i is not there for a while: who leads above it, as far as that changes. Whether two were tied is
    seen by how many are; so indices are needed only where arm i led alone."""
    tree, slot, before, same = state.races, _leaf(state, i, False), 1.0, False
    who, ties, x = -1.0, 0.0, -math.inf  # who leads at the slot now, how many do, and with which index
    while slot > 1:  # ``before``: how many led at the slot; ``same``: some of them still do
        other, up = slot ^ 1, slot // 2
        rival, those, led = tree[other, LEADER], tree[other, TIES], tree[up, TIES]
        if those > 0.0 and led == before + those:  # both sides
            who, ties, same = (min(who, rival), ties + those, True) if same else (rival, those, True)
        elif those > 0.0 and tree[up, LEADER] == rival:
            return
        elif those > 0.0 and not same:
            y = _index(state, int(rival), t)
            if ties == 0.0 or y > x:
                who, ties, x = rival, those, y
            elif y == x:
                who, ties = min(who, rival), ties + those
        tree[up, LEADER], tree[up, TIES] = who, ties
        slot, before = up, led


@hot
def _put_in(state, i, t):
    """Arm i is there again."""
    tree, slot = state.races, _leaf(state, i, True)
    while slot > 1:
        slot //= 2
        lead, ties = _better(state, slot, t)
        if tree[slot, LEADER] == tree[lead, LEADER] and tree[slot, TIES] == ties:
            return
        tree[slot, LEADER] = tree[lead, LEADER]
        tree[slot, TIES] = ties


@hot
def _better(state, slot, t):
    """The slot below this one whose leader leads, and how many are tied with it."""
    tree, lead = state.races, 2 * slot
    a, b = int(tree[lead, LEADER]), int(tree[lead + 1, LEADER])
    if a < 0 or b < 0:
        lead += a < 0
        return lead, tree[lead, TIES]
    x, y = _index(state, a, t), _index(state, b, t)
    lead += x < y
    return lead, tree[lead, TIES] + (tree[lead + 1, TIES] if x == y else 0.0)


@kernel
def begin(state, _):
    rounds.renew_all(state)
    open_all(state)


@kernel
def open_all(state):
    """Nothing has been compared yet."""
    for i in range(state.computed.size):
        state.computed[i] = 0
    for slot in range(len(state.races)):
        state.races[slot, UNTIL], state.races[slot, HOLDS] = OPEN
    state.changed[0] = 0


@hot
def place(state, i):
    """Arm i has new statistics: everything that it was compared with is open."""
    state.computed[i] = 0
    _void(state.races, i)
    _note(state, i)


@hot
def _void(tree, i):
    """Arm i has to be compared anew with all that it was compared with: where it leads one of the sides."""
    slot = len(tree) // 2 + i
    while slot > 1 and tree[slot, LEADER] == i:
        slot //= 2
        tree[slot, HOLDS] = 0.0


@hot
def _note(state, i):
    """Arm i changed, which its leaf says. If very many did, they are found in the tree."""
    tree, changed, leaf, count = state.races, state.changed, len(state.races) // 2 + i, state.changed[0]
    if count == FEW:
        _open(tree, leaf)
    elif tree[leaf, UNTIL] > -math.inf:
        tree[leaf, UNTIL] = tree[1, UNTIL] = -math.inf
        changed[0], changed[1 + count] = count + 1, i


@kernel
def seat(state, i):
    """There is an arm i now, or it was paused, or resumed."""
    slot = len(state.races) // 2 + i
    paused = bars.is_paused(state, i)
    if (state.races[slot, LEADER] < 0) == paused and state.races[slot, TIES] == (not paused):
        return
    if paused:
        shrink(state, i)
    else:
        _leaf(state, i, True)
        _note(state, i)


@kernel
def move(state, i, to):
    place(state, to)
    seat(state, to)


@kernel
def shrink(state, i):
    """There is no arm i any more: nobody leads where it did, until the others there are asked."""
    tree, slot = state.races, len(state.races) // 2 + i
    _void(tree, i)
    while slot > 0 and tree[slot, LEADER] == i:
        tree[slot, LEADER], tree[slot, TIES] = EMPTY
        slot //= 2
    _note(state, i)


enter, handed, join, leave = seat, place, place, nothing


@hot
def _index(state, i, t):
    """Arm i's index at time t."""
    return state.index[i] if state.computed[i] == t + 1 else calls.index(state.hooks.index, (state, i, t))


@hot
def _open(tree, slot):
    while slot > 0 and tree[slot, UNTIL] > -math.inf:  # above what is open, everything is
        tree[slot, UNTIL] = -math.inf
        slot //= 2


# What follows is compiled for each policy, with its functions in the place of these.
inside: Any = None
index: Any = None
reach: Any = None


@hot
def settled(itself, state, i, level):
    """A time until which arms that tie go on to tie: no policy has to know one."""
    return 0.0


def compare(state, t):
    """Compare again what may have changed by time t: above the arms that changed, then where a time has come.
    It goes up as long as anything is new, but not past a side that has to be compared before."""
    itself, tree, changed, slot, p = inside(state), state.races, state.changed, ROOT, 0
    tell_time(state, t)
    fetch_rivals(state)
    while p < changed[0] or tree[1, UNTIL] <= t:
        if p < changed[0]:
            p += 1
            slot = len(tree) // 2 + changed[p]
            compute_rivals(itself, state, slot, t)
        else:
            slot = last_open(state, slot if tree[slot, UNTIL] <= t else ROOT, t)
        news = True
        while news:
            up, who, ties = slot // 2, tree[slot, LEADER], tree[slot, TIES]
            if 2 * slot < len(tree):
                contest(itself, state, slot, t)
                news = tree[slot, LEADER] != who or tree[slot, TIES] != ties
            else:
                tree[slot, UNTIL] = math.inf
            news |= tree[up, HOLDS] == 0.0 or tree[up, UNTIL] <= t or tree[up, UNTIL] > tree[slot, UNTIL]
            news &= slot > 1 and tree[slot ^ 1, UNTIL] > t
            slot = up if news else max(slot ^ 1, 1)
    changed[0] = 0


@hot
def last_open(state, slot, t):
    """A slot below this one whose time has come, and that of none below it."""
    tree = state.races
    while 2 * slot < len(tree):
        if tree[2 * slot, UNTIL] <= t:
            below = 2 * slot
        elif tree[2 * slot + 1, UNTIL] <= t:
            below = 2 * slot + 1
        else:
            return slot
        if not holds(tree[slot, HOLDS], t):
            fetch_leader(state, below ^ 1)
        slot = below
    return slot


@hot
def fetch_rivals(state):
    """What comparisons above the arms that changed need from afar, side by side."""
    tree, changed = state.races, state.changed
    for p in range(1, changed[0] + 1):
        slot = len(tree) // 2 + changed[p]
        while slot > 1 and tree[slot // 2, HOLDS] == 0.0:
            fetch_leader(state, slot ^ 1)
            slot //= 2


@hot
def compute_rivals(itself, state, slot, t):
    """The indices that comparisons above this leaf need, before one of them has to wait."""
    tree = state.races
    while slot > 1 and tree[slot // 2, HOLDS] == 0.0:
        if tree[slot ^ 1, LEADER] >= 0.0:
            value(itself, state, int(tree[slot ^ 1, LEADER]), t)
        slot //= 2


@hot
def fetch_leader(state, slot):
    """The index of who leads below this slot will be needed."""
    i = int(max(state.races[slot, LEADER], 0.0))  # perhaps nobody does
    fetch(state.computed, i)
    fetch(state.index, i)
    fetch(state.pulls, i)
    fetch(state.means, i)
    fetch(state.pending, i)


def computed(state, i, t):
    """Arm i's index at time t."""
    tell_time(state, t)
    return value(inside(state), state, i, t)


@hot
def tell_time(state, t):
    if state.log_t[0] != t:
        state.log_t[0] = t
        state.log_t[1] = math.log(max(t, 1.0))


@hot
def value(itself, state, i, t):
    """The same: computed once, and not for each comparison."""
    if state.computed[i] != t + 1:
        state.index[i] = -math.inf
        if statistics.has_law(state, i):
            state.index[i] = index(itself, state, i, t, 0.0, state.log_t[1])
        state.computed[i] = t + 1
    return state.index[i]


@hot
def contest(itself, state, slot, t):
    """Who leads below this slot, and a time before which for certain that stays so."""
    tree, left, right = state.races, 2 * slot, 2 * slot + 1
    a, b = int(tree[left, LEADER]), int(tree[right, LEADER])
    lead, until = left if a >= 0 else right, math.inf
    if a >= 0 and b >= 0:
        until = tree[slot, HOLDS]
        if not holds(until, t):
            lead, until = compared(itself, state, a, b, t)
            lead += left
            tree[slot, HOLDS] = until
        elif until > 0.0 and tree[slot, LEADER] == b:
            lead = right
    if tree[slot, LEADER] != tree[lead, LEADER]:
        tree[slot, LEADER] = tree[lead, LEADER]
        tree[slot // 2, HOLDS] = 0.0
    tree[slot, TIES] = tree[lead, TIES] + (tree[right, TIES] if until < 0.0 else 0.0)
    tree[slot, UNTIL] = min(max(abs(until), t + 1.0), tree[left, UNTIL], tree[right, UNTIL])


@hot
def compared(itself, state, a, b, t):
    """Whether arm b leads arm a, and until when for certain they compare as they do: the time has a minus if
    they are tied."""
    x, y = value(itself, state, a, t), value(itself, state, b, t)
    until = math.inf
    if x != y:
        behind = b if x > y else a
        if statistics.has_law(state, behind):
            until = reach(itself, state, behind, max(x, y))
        return int(behind == a), until
    if not alike(state, a, b):
        until = 0.0
        if statistics.has_law(state, a) and statistics.has_law(state, b):
            until = min(settled(itself, state, a, x), settled(itself, state, b, x))
    return 0, -max(until, t + 1.0)


@hot
def holds(until, t):
    """Whether a comparison holds at time t."""
    return abs(until) > t


@kernel
def alike(state, i, j):
    """Whether the indices of two arms, equal now, stay so while both are left alone, because their statistics
    are equal."""
    known = statistics.has_law(state, i)
    if known != statistics.has_law(state, j):
        return False
    if not known:
        return True
    return (
        statistics.counted(state, i) == statistics.counted(state, j)
        and state.means[i] == state.means[j]
        and statistics.variance(state, i) == statistics.variance(state, j)
        and state.hooks.alike == 1
    )
