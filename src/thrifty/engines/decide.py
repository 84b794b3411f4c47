"""Decisions one at a time, for ``thrifty.Bandit``: the same choices and updates as in a simulated run.

A kernel here is given the header of a state. Arms are numbers, 0 to K - 1: those
that were handed out come first, and new ones last.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from thrifty import indices
from thrifty.engines import history, kinetic, lists, play, rounds, sleepers, tournament, young
from thrifty.engines.header import opened, rule_of
from thrifty.engines.state import (
    ARMS,
    CLOCKED,
    COMMITTED,
    ENGINE,
    HANDED,
    LEFT,
    LISTED,
    STAGE,
    USED,
)
from thrifty.indices import ada_ucb
from thrifty.jit import entry, inlined, kernel

SCAN, TOURNAMENT, SLEEPERS, KINETIC = range(4)  # in the order of ENGINES


@kernel
def _place(rule, state, i):
    if state.count[ENGINE] == TOURNAMENT:
        tournament.place(state.tree, state.index, i)
    elif state.count[ENGINE] == SLEEPERS:
        sleepers.place(rule, state, i)
    elif state.count[ENGINE] == KINETIC:
        kinetic.place(rule, state, i)


@inlined
def _select(choose, place, header, t, out):
    """Fill ``out`` with decisions, the first of them after t pulls: every arm without a law once, then by the
    policy. Returns how many there are: fewer, if there was nothing to choose by."""
    state = opened(header)
    rule = rule_of(state)
    for j in range(out.size):
        i = _untried(state)
        if i == state.count[ARMS]:
            i = choose(rule, state, t + j)
            if i < 0:
                return j
        rounds.spend(rule, state, i)
        if rule.schedule == CLOCKED:
            place(rule, state, i)
        old = young.turn(state, i) if state.ring.size > 0 else -1
        if old >= 0 and (rule.schedule == COMMITTED or rule.schedule == CLOCKED):  # as in ``cancel``
            rounds.renew(rule, state, old)
            place(rule, state, old)
        out[j] = i
    return out.size


@kernel
def _untried(state):
    """An arm without a law, and it counts as handed out then: a new one, or one whose pulls have expired. The
    number of arms, if there is none."""
    i = state.count[HANDED]
    while i < state.count[ARMS] and (rounds.has_law(state, i) or state.pending[i, 0] > 0):
        i += 1
    state.count[HANDED] = min(i + 1, state.count[ARMS])
    if i == state.count[ARMS] and state.waiting[0] > 0 and state.ring.size > 0:
        return young.again(state)
    return i


@inlined
def _update(place, header, arms, rewards):
    """Rewards, each of a pull that was handed out or not. Returns how many there was room for, and how many
    of them were of pulls that were not."""
    state = opened(header)
    rule = rule_of(state)
    unasked = 0
    for j in range(arms.size):
        if state.spans.size > 0 and not history.fits(state.history, state.spans, state.count[USED], arms[j]):
            return j, unasked
        unasked += state.pending[arms[j], 0] == 0
        rounds.receive(rule, state, arms[j], rewards[j])
        place(rule, state, arms[j])
    return arms.size, unasked


# One by one for each engine, as in ``play``: whoever uses one of them does not wait for the others to be
# compiled.


@entry
def select_scan(header, t, out):
    return _select(play.choose_scan, play.place_scan, header, t, out)


@entry
def select_tournament(header, t, out):
    return _select(play.choose_tournament, play.place_tournament, header, t, out)


@entry
def select_sleepers(header, t, out):
    return _select(play.choose_sleepers, play.place_sleepers, header, t, out)


@entry
def select_kinetic(header, t, out):
    return _select(play.choose_kinetic, play.place_kinetic, header, t, out)


@entry
def update_scan(header, arms, rewards):
    return _update(play.place_scan, header, arms, rewards)


@entry
def update_tournament(header, arms, rewards):
    return _update(play.place_tournament, header, arms, rewards)


@entry
def update_sleepers(header, arms, rewards):
    return _update(play.place_sleepers, header, arms, rewards)


@entry
def update_kinetic(header, arms, rewards):
    return _update(play.place_kinetic, header, arms, rewards)


@entry
def begin_scan(header):
    state = opened(header)
    play.begin_scan(rule_of(state), state)


@entry
def begin_tournament(header):
    state = opened(header)
    play.begin_tournament(rule_of(state), state)


@entry
def begin_sleepers(header):
    state = opened(header)
    play.begin_sleepers(rule_of(state), state)


@entry
def begin_kinetic(header):
    state = opened(header)
    play.begin_kinetic(rule_of(state), state)


class Kernels(NamedTuple):
    """What decides on one engine."""

    select: Callable[..., int]
    update: Callable[..., tuple[int, int]]
    begin: Callable[..., None]  # statistics or the rule are new: make everything that is kept for an arm anew


KERNELS = {
    "scan": Kernels(select_scan, update_scan, begin_scan),
    "tournament": Kernels(select_tournament, update_tournament, begin_tournament),
    "sleepers": Kernels(select_sleepers, update_sleepers, begin_sleepers),
    "kinetic": Kernels(select_kinetic, update_kinetic, begin_kinetic),
}


@entry
def cancel(header, i):
    """A pull of arm i that was handed out is not made: if it was to be its first, it is handed out again.
    Returns whether there was one."""
    state = opened(header)
    rule = rule_of(state)
    if state.pending[i, 0] == 0:
        return False
    young.close(state, i)
    if not rounds.has_law(state, i):
        state.count[HANDED] = min(state.count[HANDED], i)
        if state.ring.size > 0:
            state.ring[young.LOST] = min(state.ring[young.LOST], i)
    elif rule.schedule == COMMITTED or rule.schedule == CLOCKED:  # whose indices count such pulls
        rounds.renew(rule, state, i)
        _place(rule, state, i)
    elif rule.schedule == LISTED:
        lists.put_back(rule, state, i)
    if state.pending[i, 0] == 0:
        rounds.forget(state, i)
        if state.tree.size > 0:
            tournament.place(state.tree, state.index, i)
    return True


@entry
def renew(header, arms):
    """The statistics of these arms were changed: make what is kept for them anew, and for no other arm."""
    state = opened(header)
    rule = rule_of(state)
    for j in range(arms.size):
        state.pending[arms[j], 1] = 0
        rounds.renew(rule, state, arms[j])
        _place(rule, state, arms[j])
    if state.order.size > 0:
        ada_ucb.fill(state.weights, state.order, state.position, state.prefix, state.spread)


@entry
def add(header, priors):
    """More arms, the last in the state: a row for each, its prior where arms have priors of their own."""
    state = opened(header)
    rule = rule_of(state)
    first = state.count[ARMS] - priors.shape[0]
    for i in range(first, state.count[ARMS]):
        _add(rule, state, i, priors[i - first])
    if rule.formula == indices.UCB_IMPROVED:
        state.count[STAGE] = 0  # they go through all phases; the others have the pulls of theirs
    if state.order.size > 0:
        ada_ucb.enter(first, state.weights, state.order, state.position)
        ada_ucb.fill(state.weights, state.order, state.position, state.prefix, state.spread)


@kernel
def _add(rule, state, i, prior):
    _clear(state, i)
    if state.prior.size > 0:
        state.prior[i, 0] = prior[0]
        state.prior[i, 1] = prior[1]
    if state.tree.size > 0:
        tournament.place(state.tree, state.index, i)
    if state.races.size > 0:
        kinetic.enter(state.races, i)
    if state.order.size > 0:
        state.weights[i] = rounds.prior(rule, state, i)[1]
    if rule.prior_weight > 0.0 or state.prior.size > 0:
        if state.spans.size > 0:
            mean, weight = rounds.prior(rule, state, i)
            state.count[USED] = history.add(state.history, state.spans, state.count[USED], i, mean, weight)
        rounds.renew(rule, state, i)
        _place(rule, state, i)
    else:
        state.waiting[0] += 1


@entry
def remove(header, i):
    """Arm i goes, and others take over numbers so that the last one is free. Returns from, to, from, to."""
    state = opened(header)
    rule = rule_of(state)
    last, handed = state.count[ARMS] - 1, state.count[HANDED]
    if not rounds.has_law(state, i):
        state.waiting[0] -= 1
    if state.count[ENGINE] == SLEEPERS:
        sleepers.remove(rule, state, i)
    if state.order.size > 0:
        ada_ucb.leave(i, state.order, state.position)
    if state.marks.size > 0 and rule.formula == indices.DIRICHLET_SAMPLING:
        state.count[LEFT] -= state.marks[i]
    if state.ring.size > 0:
        young.rename(state, i, -1)
    hole = i
    if i < handed:
        hole = handed - 1
        _move(rule, state, hole, i)
        state.count[HANDED] -= 1
    _move(rule, state, last, hole)
    _clear(state, last)
    if state.tree.size > 0:
        tournament.place(state.tree, state.index[:last], last)
    if state.races.size > 0:
        kinetic.leave(state.races, last)
    if state.order.size > 0:
        weights, order, position = state.weights[:last], state.order[:last], state.position[:last]
        ada_ucb.fill(weights, order, position, state.prefix[:last], state.spread[:last])
    return hole, i, last, hole


@kernel
def _move(rule, state, i, to):
    """Arm i gets the number ``to``, which is free."""
    if i == to:
        return
    state.pulls[to] = state.pulls[i]
    state.sums[to] = state.sums[i]
    state.means[to] = state.means[i]
    state.params[to, 0] = state.params[i, 0]
    state.params[to, 1] = state.params[i, 1]
    state.index[to] = state.index[i]
    state.draws[to] = state.draws[i]
    state.pending[to, 0] = state.pending[i, 0]
    state.pending[to, 1] = state.pending[i, 1]
    if state.ring.size > 0:
        young.rename(state, i, to)
        if not rounds.has_law(state, to):
            state.ring[young.LOST] = min(state.ring[young.LOST], to)
    if state.prior.size > 0:
        state.prior[to, 0] = state.prior[i, 0]
        state.prior[to, 1] = state.prior[i, 1]
    if state.kept.size > 0:
        state.kept[to] = state.kept[i]
    if state.best.size > 0:
        state.best[to] = state.best[i]
        state.age[to] = state.age[i]
    if state.count[ENGINE] == SLEEPERS:
        sleepers.move(rule, state, i, to)
    if state.squares.size > 0:
        state.squares[to] = state.squares[i]
    if state.spans.size > 0:
        for j in range(3):
            state.spans[to, j] = state.spans[i, j]
    if state.marks.size > 0:
        lists.move(rule, state, i, to)
    if state.order.size > 0:
        state.weights[to] = state.weights[i]
        state.position[to] = state.position[i]
        state.order[state.position[to]] = to
    if state.tree.size > 0:
        tournament.place(state.tree, state.index, to)
    if state.races.size > 0:
        kinetic.place(rule, state, to)


@kernel
def _clear(state, i):
    """Nothing is known of arm i."""
    state.pulls[i] = 0
    state.sums[i] = 0.0
    state.index[i] = -math.inf
    state.draws[i] = 0
    state.pending[i, 0] = 0
    state.pending[i, 1] = 0
    if state.ring.size > 0:
        state.expired[i, young.EXPIRED] = 0
        state.expired[i, young.CLOSED] = 0
    if state.best.size > 0:
        state.best[i] = -math.inf
    if state.age.size > 0:
        state.age[i] = 0
    if state.place.size > 0:
        state.place[i] = -1
    if state.squares.size > 0:
        state.squares[i] = 0.0
    if state.spans.size > 0:
        for j in range(3):
            state.spans[i, j] = 0
    if state.marks.size > 0:
        state.marks[i] = 0
