"""Tournament: a tree of maxima over the committed indices. A round costs O(log K) instead of O(K).

An arm's *key* is its index, or -inf while it may not be chosen. The keys lie in blocks of 16, and above the
blocks stands a tree of fan-out 4. A slot of the tree holds the largest key below it and how many arms attain
it, so that a tie is broken uniformly with one uniform, and the same uniform picks the same arm as scan would.
The best arms are also kept in order (``front.py``), once somebody asks for several or leaves some out.
Slots 0 to 3 hang from the root, the children of slot s are 4(s+1) to 4(s+1)+3, and the last level has a slot
for each block, in order.

With a million arms time goes into fetching memory from afar: blocks keep the tree small (1.4 MB then), and
the fan-out keeps it flat.
"""

import math

import numpy as np
from numpy.typing import NDArray

from thrifty.engines import front, ranking, rounds, scan
from thrifty.engines.scan import place as nothing
from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import random
from thrifty.state import bars, calls
from thrifty.state.bars import LEFT, LISTED, WANTED
from thrifty.state.fields import Component, Field
from thrifty.state.rows import fetch
from thrifty.state.statistics import SPENT

ROOT = 0
BLOCK = 16
FEW = 64  # arms that are looked for at once


def slots(arms: int) -> int:
    """The size of the tree: 4 + 16 + 64 + ..., until a level has a slot for each block.

    >>> [slots(arms) for arms in (1, 64, 65, 10**6)]
    [4, 4, 20, 87380]
    """
    level = total = 4
    while level * BLOCK < arms:
        level *= 4
        total += level
    return total


def built(keys: NDArray[np.float64], room: int) -> NDArray[np.float64]:
    """The tree of these keys, with room for more arms: what ``build`` fills in, by NumPy."""
    tree = np.empty((slots(room), 2))
    level = np.full(BLOCK * (len(tree) - len(tree) // 4 + 1), -np.inf)
    level[: keys.size] = keys
    ties = np.zeros(level.size)
    ties[: keys.size] = 1.0
    fan, stop = BLOCK, len(tree)
    while stop > 0:
        rows, counts = level.reshape(-1, fan), ties.reshape(-1, fan)
        level = rows.max(axis=1)
        ties = np.where(rows == level[:, None], counts, 0.0).sum(axis=1)
        tree[stop - level.size : stop, 0] = level
        tree[stop - level.size : stop, 1] = ties
        fan, stop = 4, stop - level.size
    return tree


def rebuild(state, capacity):
    state.keys[:] = state.index
    if state.barred.size:
        state.keys[state.barred > 0] = -np.inf
    state.tree[:] = built(state.keys, capacity)
    state.front_size[:], state.front_end[:] = 0, math.inf
    state.bounded[:1] = -1  # bounds of sleepers are not in the keys any more


TREE = Component(
    "tournament",
    (
        Field(
            "tree", rows=slots, columns=2, saved=False
        ),  # the largest key below a slot, and how many have it
        Field("keys", start=-math.inf, saved=False),  # an arm's index, or -inf if it may not be chosen
    ),
    rebuild=rebuild,
)

COMPONENTS = (TREE, front.FRONT)


@kernel
def begin(state, _):
    rounds.renew_all(state)
    for i in range(state.keys.size):
        state.keys[i] = key(state, i)
    build(state.tree, state.keys)
    front.spoil(state)


@hot
def choose(state, t):
    """The arm with the largest index. A spent one is replaced first."""
    if bars.resting(state) > 0 and top(state.tree) == -math.inf:
        return calls.choose(state.engine.spare, (state, t))  # no arm has a law that is not paused
    i = largest(state.tree, state.keys, state.rng)
    while state.pending[i, 1] & SPENT:
        rounds.replace(state, i)
        place(state, i)
        i = largest(state.tree, state.keys, state.rng)
    return i


@kernel
def pick(state, t):
    """The best of the arms that may be chosen: into ``state.slate``. As far as they are not in front, others
    are taken out of the tree for this decision."""
    if state.bars[LISTED] >= 0:
        for p in range(state.bars[LISTED]):
            state.worth[state.listed[p]] = state.index[state.listed[p]]
        return ranking.top(state)
    wanted, left = state.bars[WANTED], state.bars[LEFT]
    found = leading(state) if wanted + left <= FEW else 0
    if found == wanted:
        return found
    if wanted == 1:
        return one(state)
    for j in range(left):
        take_out(state, state.left[j])
    for p in range(found):
        take_out(state, state.slate[p])
    while found < wanted and top(state.tree) > -math.inf:
        i = choose(state, t)
        state.slate[found] = i
        found += 1
        take_out(state, i)
    put_back(state, state.slate, found)
    put_back(state, state.left, left)
    return found


@kernel
def leading(state):
    """Fill ``state.slate`` from the front, until two are tied or there is nobody left. Returns how many were
    found. A spent index is replaced when its turn comes, and the arm gets another turn then."""
    wanted, some, arms, heights = state.bars[WANTED], state.bars[LEFT] > 0, state.front, state.heights
    if available(state) < wanted and front.may_grow(state) and state.keys.size > 2 * BLOCK:
        advance(state)
        if available(state) < wanted:  # others are tied
            front.wait(state)
    found, p = 0, state.front_size[0] - 1
    for q in range(p, max(p - wanted - state.bars[LEFT], -1), -1):
        fetch(state.pending, arms[q])
    while p >= 0 and found < wanted:
        i, x, q = arms[p], heights[p], p - 1
        if some and bars.is_barred(state, i):
            p -= 1
            continue
        while q >= 0 and heights[q] == x and some and bars.is_barred(state, arms[q]):
            q -= 1
        if q >= 0 and heights[q] == x:
            break
        if state.pending[i, 1] & SPENT:
            rounds.replace(state, i)
            place(state, i)
            if state.keys[i] < x:  # who comes next has its place, if it is still in front
                p -= state.keys[i] <= state.front_end[0]
                continue
        state.slate[found] = i
        found += 1
        p -= 1
    return found


@hot
def available(state):
    """How many in front may be chosen."""
    count = state.front_size[0]
    for j in range(state.bars[LEFT]):
        count -= state.keys[state.left[j]] > state.front_end[0]
    return count


@kernel
def one(state):
    """The best alone: who would win and may not be chosen is taken out. Where arms are tied, all of those
    are, so that one uniform decides, as on scan."""
    out_of_line()
    gone = found = 0
    best, ties = _merge(state.tree, ROOT)
    while found == 0 and best > -math.inf:
        before = gone
        for j in range(state.bars[LEFT] if ties > 1.0 else 0):
            if state.keys[state.left[j]] == best:
                state.found[gone] = state.left[j]
                take_out(state, state.left[j])
                gone += 1
        if gone == before:
            start, others = _block(state.tree, best, ties, state.rng)
            for row in range(start, start + BLOCK, 4):  # whether its index is spent is asked next
                fetch(state.pending, row)
            i = _within(state.keys, start, best, others)
            if bars.is_barred(state, i):
                state.found[gone] = i
                take_out(state, i)
                gone += 1
            elif state.pending[i, 1] & SPENT:
                rounds.replace(state, i)
                place(state, i)
            else:
                state.slate[0] = i
                found = 1
        best, ties = _merge(state.tree, ROOT)
    put_back(state, state.found, gone)
    return found


@kernel
def advance(state):
    """Fill the front: where it should end is guessed, and if that was wrong, it is searched for."""
    out_of_line()
    many, guess = min(FEW, (state.keys.size - BLOCK) // 2), front.next_end(state)
    least = max(many // 2, state.bars[WANTED] + state.bars[LEFT])
    if guess == -math.inf or _gather(state, many, guess) < least:
        _gather(state, many, -math.inf)


@kernel
def _gather(state, many, least):
    """Fill the front with arms whose keys are above ``least``, by a way down the tree level by level, below
    all slots that may hold one. If they are clearly more than ``many``, only the best go on. Returns how many
    are in front. What has to be fetched from afar comes side by side, and no branch waits for a key, as
    nobody could tell where it goes."""
    out_of_line()
    tree, keys, worth, slots, below = state.tree, state.keys, state.worth, state.found, state.listed
    first, size = len(tree) // 4 - 1, 1
    slots[0] = -1
    while size > 0 and slots[0] < first:
        for q in range(size):
            fetch(tree, 4 * (slots[q] + 1))
        count = 0
        for q in range(size):
            child = 4 * (slots[q] + 1)
            for slot in range(child, child + 4):
                below[count], worth[count] = slot, tree[slot, 0]
                count += tree[slot, 0] > least
            if count > 2 * many:
                count, least = _best_of(state, below, worth, count, many)
        size = count
        slots, below = below, slots
    for q in range(size):
        start = BLOCK * (slots[q] - first)
        fetch(keys, start)
        fetch(keys, start + BLOCK // 2)
    count = 0
    for q in range(size):
        start = BLOCK * (slots[q] - first)
        for i in range(start, min(start + BLOCK, keys.size)):
            below[count], worth[count] = i, keys[i]
            count += keys[i] > least
        if count > 2 * many:
            count, least = _best_of(state, below, worth, count, many)
    front.fill(state, below, worth, count, least)
    return count


@kernel
def _best_of(state, listed, worth, count, many):
    """Keep ``many`` of the best, or half as many more; or fewer, if others are tied with the last of them.
    Returns how many, and what each is worth more than: that is found by bisection."""
    out_of_line()
    low = high = worth[0]
    for p in range(count):
        low, high = min(low, worth[p]), max(high, worth[p])
    least = state.front_end[0]  # of before: most of these are below
    if not low < least < high:
        least = low + (high - low) / 2.0
    while low < least < high:
        above = 0
        for p in range(count):
            above += worth[p] > least
        if above > many + many // 2:
            low = least
        elif above < many:
            high = least
        else:
            high = low = least
        least = low + (high - low) / 2.0
    size = 0
    for p in range(count):
        listed[size], worth[size] = listed[p], worth[p]
        size += worth[p] > high
    return size, high


@hot
def take_out(state, i):
    """Arm i may be chosen no more in this decision."""
    state.keys[i] = -math.inf
    repair(state.tree, state.keys, i)


@kernel
def put_back(state, arms, count):
    """So many of these arms may be chosen again."""
    out_of_line()
    for p in range(count):  # first all that has to be fetched from afar
        state.keys[arms[p]] = state.index[arms[p]]
    for p in range(count):
        repair(state.tree, state.keys, arms[p])


@hot
def key(state, i):
    return -math.inf if bars.is_paused(state, i) else state.index[i]


@hot
def place(state, i):
    """Arm i has a new index, or may be chosen now, or may not."""
    old, new = state.keys[i], key(state, i)
    state.keys[i] = new
    if front.concerns(state, old, new):
        calls.event(state.engine.front, (state, i))
    repair(state.tree, state.keys, i)


@hot
def move(state, i, to):
    """Arm i got the number ``to``."""
    repair(state.tree, state.keys, to)


@hot
def shrink(state, last):
    """There is no arm of the last number any more."""
    front.spoil(state)
    repair(state.tree, state.keys[:last], last)


@hot
def seat(state, i):
    """Arm i was paused or resumed."""
    if state.keys[i] != key(state, i):
        place(state, i)


enter = join = place
spare = scan.anyone
handed = leave = nothing


@hot
def top(tree):
    """The largest key."""
    key, _ = _merge(tree, ROOT)
    return key


@hot
def largest(tree, keys, rng):
    """The arm with the largest key, ties uniformly at random."""
    best, ties = _merge(tree, ROOT)
    start, left = _block(tree, best, ties, rng)
    return _within(keys, start, best, left)


@hot
def _block(tree, best, ties, rng):
    """The first arm of the block in which the arm lies, and how many there come before it."""
    left = random.below(rng, ties) if ties > 1.0 else 0
    first = len(tree) // 4 - 1  # slot of the last level
    slot = -1
    while slot < first:
        slot = 4 * (slot + 1)
        here = tree[slot, 1] if tree[slot, 0] == best else 0.0
        while left >= here:
            left -= here
            slot += 1
            here = tree[slot, 1] if tree[slot, 0] == best else 0.0
    return BLOCK * (slot - first), left


@hot
def _within(keys, arm, best, left):
    """The arm from this one on before which ``left`` others have the largest key."""
    left -= keys[arm] == best
    while left >= 0:
        arm += 1
        left -= keys[arm] == best
    return arm


@hot
def repair(tree, keys, i):
    """Arm i has a new key: repair the path to the root, as far as anything changes."""
    slot = len(tree) // 4 - 1 + i // BLOCK
    top, ties = _best(keys, i // BLOCK)
    while slot >= 0 and (top != tree[slot, 0] or ties != tree[slot, 1]):
        tree[slot, 0] = top
        tree[slot, 1] = ties
        top, ties = _merge(tree, slot // 4 * 4)
        slot = slot // 4 - 1


@kernel
def build(tree, keys):
    """The tree of all keys at once, from the blocks up. Slots without arms are never chosen."""
    out_of_line()
    first = len(tree) // 4 - 1
    for block in range((keys.size + BLOCK - 1) // BLOCK):
        tree[first + block, 0], tree[first + block, 1] = _best(keys, block)
    for slot in range(first - 1, -1, -1):
        tree[slot, 0], tree[slot, 1] = _merge(tree, 4 * (slot + 1))


@hot
def _best(keys, block):
    """The largest key in a block, and how many arms attain it."""
    start = block * BLOCK
    stop = min(start + BLOCK, keys.size)
    if start >= stop:  # the last of its arms was removed
        return -math.inf, 0.0
    top = keys[start]
    for i in range(start + 1, stop):
        top = keys[i] if keys[i] > top else top
    ties = 0.0
    for i in range(start, stop):
        ties += keys[i] == top
    return top, ties


@hot
def _merge(tree, slot):
    """The same over four slots, from this one on."""
    top = tree[slot, 0]
    for s in range(slot + 1, slot + 4):
        top = tree[s, 0] if tree[s, 0] > top else top
    ties = 0.0
    for s in range(slot, slot + 4):
        ties += tree[s, 1] if tree[s, 0] == top else 0.0
    return top, ties
