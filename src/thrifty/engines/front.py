"""The front: the arms with the largest keys of a tournament, in order. A slate, or the best without some of
them, is read off it and not looked for in the tree.

It has every arm whose key is above ``state.front_end``, and no other. An arm with a new key enters it, leaves
it or gets another place there; those below have nothing to do with it. ``fill`` makes it, when somebody asks
for more than it has. Until then its end is infinite, and it costs one comparison for each new key.
"""

import math

import numpy as np

from thrifty.jit import hot, kernel
from thrifty.state.fields import Component, Field

ROOM = 128  # arms
SIZE, WAIT = range(2)  # the columns of state.front_size
PATIENCE = 64
NOBODY = -1

FRONT = Component(
    "front",
    (
        Field("front", np.int64, ROOM, saved=False),  # arms in the order of their keys, the best last
        Field("heights", rows=ROOM, saved=False),  # these keys
        Field("front_size", np.int64, 2, saved=False),  # how many they are; and see ``wait``
        # Arms with a key above the first are among them. It fell by the second when the front was filled.
        Field("front_end", rows=2, start=math.inf, saved=False),
    ),
)


@hot
def spoil(state):
    """Nobody is known to be in front."""
    state.front_size[SIZE] = 0
    state.front_end[0] = math.inf


def is_there(state):
    """Whether it was filled."""
    return state.front_end[0] < math.inf


@hot
def next_end(state):
    """Where it should end next, as keys lie about as close there as before; -inf if nobody can tell."""
    return state.front_end[0] - state.front_end[1] if state.front_end[0] < math.inf else -math.inf


@hot
def may_grow(state):
    """Whether it may be filled again, as it has fewer than somebody wants."""
    state.front_size[WAIT] -= state.front_size[WAIT] > 0
    return state.front_size[WAIT] == 0


@hot
def wait(state):
    """It has few, since others are tied with the next: it is not filled again for a while."""
    state.front_size[WAIT] = PATIENCE


@hot
def concerns(state, old, new):
    """Whether an arm's new key changes anything here: then ``change`` has to be called."""
    return old > state.front_end[0] or new > state.front_end[0]


def change(state, i):
    """Arm i has a new key."""
    front, heights, size, x = state.front, state.heights, state.front_size[SIZE], state.keys[i]
    p = size - 1
    while p >= 0 and front[p] != i:
        p -= 1
    if p >= 0:
        size -= 1
        for q in range(p, size):
            front[q], heights[q] = front[q + 1], heights[q + 1]
    if size == ROOM and x > state.front_end[0]:
        size = _shorten(state)
    if x > state.front_end[0]:
        p = size
        while p > 0 and heights[p - 1] > x:
            front[p], heights[p] = front[p - 1], heights[p - 1]
            p -= 1
        front[p], heights[p] = i, x
        size += 1
    state.front_size[SIZE] = size


@kernel
def _shorten(state):
    """The lower half goes, and who is tied with them. Returns how many stay."""
    front, heights = state.front, state.heights
    gone = ROOM // 2
    end = heights[gone - 1]
    while gone < ROOM and heights[gone] == end:
        gone += 1
    for p in range(gone, ROOM):
        front[p - gone], heights[p - gone] = front[p], heights[p]
    state.front_end[0] = end
    return ROOM - gone


@kernel
def fill(state, arms, keys, count, end):
    """From now on these arms are in front, all those whose keys are above ``end``. Each is told its place by
    how many are below it: no branch waits for that, and it is faster than to sort them."""
    front, heights = state.front, state.heights
    for p in range(count):
        front[p] = NOBODY
    for q in range(count):
        x, p = keys[q], 0
        for other in range(count):
            p += keys[other] < x
        while front[p] != NOBODY:  # tied
            p += 1
        front[p], heights[p] = arms[q], x
    state.front_size[SIZE] = count
    state.front_end[1] = state.front_end[0] - end if end < state.front_end[0] else math.inf
    state.front_end[0] = end
