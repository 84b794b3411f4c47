"""Ranks: the arms in order of their pulls n, and for each arm the sum that AdaUCB needs,

    H_i = sum over j of min(n_i, sqrt(n_i n_j)) = sqrt(n_i) sum over j of sqrt(min(n_i, n_j)).

All H at once. With the arms in order of n, and p the first place that has the arm's n,

    H = sqrt(n) ( sums[p] + (K - p) sqrt(n) ),     sums[p] = the sum of sqrt(n) over the places before p.

Any place that has its n would do, but arms with equal statistics must tie to the last bit.

A pull adds 1 to one n. First the arm trades places with the last arm of the same n, which no order by n can
tell. The arm after it now has a larger n, at least n + 1 if both are whole: the order holds. Before this
place no sum changes and no H, because an arm with n_j <= n sees the same min(n_j, n). So a pull costs O(K) at
most, and O(1) if it goes to the arm with the most pulls.
"""

import math

import numpy as np

from thrifty.jit import kernel
from thrifty.state.fields import PLACE, Component, Field


def _start(state, arms):
    state.weights[:] = state.prior[:, 1] if state.prior.size else state.rule.prior_weight
    state.order[:] = np.argsort(state.weights, kind="stable")
    state.position[state.order] = np.arange(arms)


def rebuild(state, capacity):
    """The order by weight, and H along it."""
    state.order[:] = np.argsort(state.weights, kind="stable")
    state.position[state.order] = np.arange(state.order.size)
    in_order = state.weights[state.order]
    roots = np.sqrt(in_order)
    state.prefix[0] = 0.0
    state.prefix[1:] = np.cumsum(roots[:-1])
    first = np.searchsorted(in_order, in_order)  # the place where each one's weight begins
    state.spread[state.order] = roots * (state.prefix[first] + (roots.size - first) * roots)


RANKS = Component(
    "ranks",
    (
        Field("weights"),  # pulls, the prior's weight included
        Field("order", np.int64, PLACE, saved=False),  # the arms, by increasing weight
        Field("position", np.int64, saved=False),  # where in that order an arm is
        Field("prefix", rows=PLACE, saved=False),  # sums of roots of weights along that order
        Field("spread", saved=False),  # H
    ),
    start=_start,
    rebuild=rebuild,
)


def rank(state, i):
    """Arm i was pulled; or if it is -1, all weights are new."""
    if i < 0:
        fill(state.weights, state.order, state.position, state.prefix, state.spread)
    else:
        pull(i, state.weights, state.order, state.position, state.prefix, state.spread)


@kernel
def fill(n, order, position, sums, spread):
    """Make `position`, `sums` and `spread`, which is H, fit `order`: the arms by increasing n. In place.

    Before the first pull, when every n is the same, any order will do.
    """
    if order.size == 0:  # all arms went, and others come
        return
    for p in range(order.size):
        position[order[p]] = p
    sums[0] = 0.0
    _renew(0, n, order, sums, spread)


@kernel
def pull(i, n, order, position, sums, spread):
    """Add 1 to n[i] and repair the rest. In place; returns the place from which on H may have changed."""
    first = position[i]
    while first + 1 < order.size and n[order[first + 1]] == n[i]:
        first += 1
    _trade(position[i], first, order, position)
    n[i] += 1.0
    p = first
    while p + 1 < order.size and n[order[p + 1]] < n[i]:  # priors may make fractions of a pull
        _trade(p, p + 1, order, position)
        p += 1
    _renew(first, n, order, sums, spread)
    return first


@kernel
def enter(first, n, order, position):
    """New arms, from ``first`` on, whose n are there already. In place; ``fill`` has to follow.

    They are put in order, and then merged with the others from the largest n down.
    """
    for i in range(first, order.size):
        p = i
        while p > first and n[position[p - 1]] > n[i]:  # positions are made anew: until then, room
            position[p] = position[p - 1]
            p -= 1
        position[p] = i
    old, new = first - 1, order.size - 1
    for p in range(order.size - 1, -1, -1):
        if new < first:
            break
        if old >= 0 and n[order[old]] > n[position[new]]:
            order[p] = order[old]
            old -= 1
        else:
            order[p] = position[new]
            new -= 1


@kernel
def leave(i, order, position):
    """Arm i goes: its place becomes the last. In place; ``fill`` has to follow when it has gone."""
    for p in range(position[i], order.size - 1):
        _trade(p, p + 1, order, position)


@kernel
def _trade(p, q, order, position):
    """The arms at places p and q change places."""
    order[p], order[q] = order[q], order[p]
    position[order[p]] = p
    position[order[q]] = q


@kernel
def _renew(first, n, order, sums, spread):
    """The sums behind place `first`, where a new n begins, and H from there on.

    They are summed anew: so they depend on the n alone, and no rounding piles up.
    """
    start = first
    for p in range(first, order.size):
        if p > first:
            sums[p] = sums[p - 1] + math.sqrt(n[order[p - 1]])
            if n[order[p]] > n[order[p - 1]]:
                start = p
        root = math.sqrt(n[order[p]])
        spread[order[p]] = root * (sums[start] + (order.size - start) * root)
