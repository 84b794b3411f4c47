"""Kinetic: a tournament of indices that rise with time. A comparison is not repeated before it can turn out
otherwise.

Each node of a binary tree keeps the arm that leads below it, how many arms are tied with it, and the time at
which something below may change: an arm that trails stays behind until its own index has reached what the
leader's is now, because that of the leader does not fall. A round repairs the nodes whose time has come,
which are few, and the path above the arm that was pulled. The choices, and the random numbers of ties, are
those of scan.
"""

import math

from thrifty.engines import rounds
from thrifty.engines.state import CLOCK, LEADER, TIES, UNTIL
from thrifty.jit import kernel
from thrifty.numerics import random


@kernel
def choose(rule, state, t):
    """The arm with the largest index at time t, ties uniformly at random."""
    tree = state.races
    if t < state.count[CLOCK]:  # pulls were cancelled, and what is certain is so from a later time on
        begin(state)
    state.count[CLOCK] = t
    _repair(rule, state, t)
    if tree[1, TIES] == 1.0:
        return int(tree[1, LEADER])
    left = random.below(state.rng, tree[1, TIES])
    top = _index(rule, state, int(tree[1, LEADER]), t)
    slot = 1
    while 2 * slot < tree.shape[0]:
        slot *= 2
        leader = int(tree[slot, LEADER])
        here = tree[slot, TIES] if leader >= 0 and _index(rule, state, leader, t) == top else 0.0
        if left >= here:
            left -= here
            slot += 1
    return int(tree[slot, LEADER])


@kernel
def place(rule, state, i):
    """Arm i has new statistics: everything that it was compared with is open."""
    state.age[i] = 0
    _open(state.races, state.races.shape[0] // 2 + i)


@kernel
def _index(rule, state, i, t):
    """Arm i's index at time t: computed once, and not for each comparison. ``age`` is t + 1 then."""
    if state.age[i] != t + 1:
        state.index[i] = rounds.clocked(rule, state, i, t)
        state.age[i] = t + 1
    return state.index[i]


@kernel
def begin(state):
    """Nothing has been compared yet."""
    for i in range(state.age.size):
        state.age[i] = 0
    for slot in range(state.races.shape[0]):
        state.races[slot, UNTIL] = -math.inf


@kernel
def enter(tree, i):
    """There is an arm i now."""
    slot = tree.shape[0] // 2 + i
    tree[slot, LEADER] = i
    tree[slot, TIES] = 1.0
    _open(tree, slot)


@kernel
def leave(tree, i):
    """There is no arm i any more."""
    slot = tree.shape[0] // 2 + i
    tree[slot, LEADER] = -1.0
    tree[slot, TIES] = 0.0
    _open(tree, slot)


@kernel
def _open(tree, slot):
    while slot > 0:
        tree[slot, UNTIL] = -math.inf
        slot //= 2


@kernel
def _repair(rule, state, t):
    """Compare again what may have changed, from the leaves up."""
    tree = state.races
    slot = 1
    while slot > 0 and tree[1, UNTIL] <= t:
        if 2 * slot >= tree.shape[0]:
            tree[slot, UNTIL] = math.inf
            slot //= 2
        elif tree[2 * slot, UNTIL] <= t:
            slot = 2 * slot
        elif tree[2 * slot + 1, UNTIL] <= t:
            slot = 2 * slot + 1
        else:
            _compare(rule, state, slot, t)
            slot //= 2


@kernel
def _compare(rule, state, slot, t):
    """Who leads below this slot, and until when for certain."""
    tree = state.races
    left, right = 2 * slot, 2 * slot + 1
    a, b = int(tree[left, LEADER]), int(tree[right, LEADER])
    until = math.inf
    if b < 0 or a < 0:
        lead = left if a >= 0 else right
        ties = tree[lead, TIES]
    else:
        x, y = _index(rule, state, a, t), _index(rule, state, b, t)
        lead = left if x >= y else right
        ties = tree[left, TIES] + tree[right, TIES] if x == y else tree[lead, TIES]
        if x != y:
            until = rounds.reach(rule, state, b if x > y else a, max(x, y))
        elif not rounds.alike(rule, state, a, b):
            until = 0.0
    tree[slot, LEADER] = tree[lead, LEADER]
    tree[slot, TIES] = ties
    tree[slot, UNTIL] = min(max(until, t + 1.0), tree[left, UNTIL], tree[right, UNTIL])
