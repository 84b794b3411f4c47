"""The best of some arms, ``state.listed``, by what they are worth in this round, ``state.worth``.

One arm is found in two passes, and a tie is broken as scan does it. For several, the arms form a heap: each
that is taken costs O(log n). Arms at -inf have no law yet, and are left out.
"""

import math

from thrifty.engines import rounds
from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import random
from thrifty.state import bars, calls
from thrifty.state.bars import FOUND, LISTED, WANTED
from thrifty.state.statistics import SPENT

ROOT = 0  # of the heap


@kernel
def top(state):
    """Fill ``state.slate`` with the best, and return how many there are: fewer than are wanted if no others
    have a law. A committed index that was handed out already is replaced when its turn comes."""
    if state.bars[WANTED] > 1:
        return _several(state)
    i = largest(state)
    while i >= 0 and state.pending[i, 1] & SPENT:
        _replace(state, i)
        i = largest(state)
    if i >= 0:
        state.slate[0] = i
    return 1 if i >= 0 else 0


@hot
def largest(state):
    """The arm that is worth most, ties uniformly at random; -1 if all are at -inf."""
    worth, listed, count = state.worth, state.listed, state.bars[LISTED]
    best, ties, arm = -math.inf, 0, -1
    for p in range(count):
        i = listed[p]
        if worth[i] > best:
            best, ties, arm = worth[i], 1, i
        elif worth[i] == best:
            ties += 1
    if best == -math.inf:
        return -1
    if ties > 1:
        left = random.below(state.rng, ties)
        for p in range(count):
            if worth[listed[p]] == best:
                if left == 0:
                    return listed[p]
                left -= 1
    return arm


@kernel
def _replace(state, i):
    """Its index is one of another round: it gets a new one."""
    rounds.replace(state, i)
    if state.engine.enter != 0:
        calls.event(state.engine.enter, (state, i))
    state.worth[i] = state.index[i]


@kernel
def _several(state):
    """Ties form a group, which is taken in random order."""
    out_of_line()
    worth, heap, slate, wanted = state.worth, state.listed, state.slate, state.bars[WANTED]
    build(state)
    found = 0
    while found < wanted and state.bars[LISTED] > 0 and worth[heap[0]] > -math.inf:
        best, group = worth[heap[0]], found
        while state.bars[LISTED] > 0 and worth[heap[0]] == best:
            i = pop(state)
            if state.pending[i, 1] & SPENT:
                _replace(state, i)
                push(state, i)
            else:
                slate[group] = i
                group += 1
        shuffle(state, found, group)
        found = group
    return min(found, wanted)


# A few of the best, in order: the first places of the slate, and of ``state.worth`` what each is worth.


@kernel
def insert(state, i, x, size, lost):
    """Put arm i, worth x, among the best, of which there are ``size``; if they are as many as are wanted, x
    is not below the last. Returns how many there are, and how many were ``lost`` that are worth as much as
    the last: so of ties every order is as likely."""
    out_of_line()
    slate, worth, wanted = state.slate, state.worth, state.bars[WANTED]
    p, end = size, min(size, wanted - 1)
    while p > 0 and worth[p - 1] < x:
        p -= 1
    first = p
    while first > 0 and worth[first - 1] == x:
        first -= 1
    ties = p - first + (lost if p == wanted else 0)
    if ties > 0:
        p = first + random.below(state.rng, ties + 1)
        if p >= wanted:
            return size, lost + 1
    goes = worth[end] if size == wanted else -math.inf
    for q in range(end, p, -1):
        worth[q], slate[q] = worth[q - 1], slate[q - 1]
    worth[p], slate[p] = x, i
    return end + 1, lost + 1 if goes == worth[end] else 0


@kernel
def replace(state, i, x, size):
    """Another draw of arm i, which may be among the best: the better one counts. Returns how many they are
    without it, and x; or if it stays as it is, -inf."""
    out_of_line()
    slate, worth = state.slate, state.worth
    p = 0
    while p < size and slate[p] != i:
        p += 1
    if p == size:
        return size, x
    if worth[p] >= x:
        return size, -math.inf
    for q in range(p, size - 1):
        worth[q], slate[q] = worth[q + 1], slate[q + 1]
    return size - 1, x


@kernel
def shuffle(state, first, end):
    """Those in the slate, in random order."""
    slate = state.slate
    for p in range(first, end - 1):
        q = p + random.below(state.rng, end - p)
        slate[p], slate[q] = slate[q], slate[p]


@kernel
def rest(state, found):
    """Fill up the slate with arms that have no law yet, uniformly at random."""
    slate, listed = state.slate, state.listed
    if state.bars[LISTED] < 0:  # about all arms, and only those in the slate have a law
        for p in range(found):
            state.barred[slate[p]] |= FOUND
        bars.everyone(state)
        for p in range(found):
            state.barred[slate[p]] &= ~FOUND
    for p in range(found, state.bars[WANTED]):
        count = state.bars[LISTED]
        q = random.below(state.rng, count) if count > 1 else 0
        slate[p] = listed[q]
        listed[q] = listed[count - 1]
        state.bars[LISTED] -= 1


# A heap of the arms that are listed: the parent of place p is (p - 1) // 2, and is worth as much or more.


@kernel
def build(state):
    for p in range(state.bars[LISTED] // 2 - 1, -1, -1):
        _sink(state, p)


@kernel
def push(state, i):
    heap, worth, p = state.listed, state.worth, state.bars[LISTED]
    state.bars[LISTED] += 1
    while p > 0 and worth[heap[(p - 1) // 2]] < worth[i]:
        heap[p] = heap[(p - 1) // 2]
        p = (p - 1) // 2
    heap[p] = i


@kernel
def pop(state):
    """Take away the one that is worth most."""
    heap = state.listed
    i = heap[0]
    state.bars[LISTED] -= 1
    heap[0] = heap[state.bars[LISTED]]
    _sink(state, ROOT)
    return i


@kernel
def _sink(state, p):
    heap, worth, count = state.listed, state.worth, state.bars[LISTED]
    i, child = heap[p], 2 * p + 1
    while child < count:
        child += child + 1 < count and worth[heap[child + 1]] > worth[heap[child]]
        if worth[heap[child]] <= worth[i]:
            break
        heap[p] = heap[child]
        p, child = child, 2 * child + 1
    heap[p] = i
