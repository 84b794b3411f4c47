"""Whom the next decision is about: the arms that have a law, one that comes before the policy's choice, and
indices that are there."""

from thrifty.engines.entries import is_new
from thrifty.jit import entry, hot
from thrifty.state import bars, calls, statistics, young
from thrifty.state.header import opened
from thrifty.state.statistics import ARMS, HANDED


@hot
def is_out(state, exclude, i):
    """Whether arm i may not be chosen."""
    for p in range(exclude.size):
        if exclude[p] == i:
            return True
    return bars.is_paused(state, i)


@entry
def lawful(block, among, exclude, out):
    """Fill ``out`` with the arms that may be chosen and have a law; returns their number. ``among`` has all
    of them, or is empty."""
    state, found = opened(block), 0
    for p in range(among.size if among.size > 0 else state.count[ARMS]):
        i = among[p] if among.size > 0 else p
        if statistics.has_law(state, i) and not is_out(state, exclude, i):
            out[found] = i
            found += 1
    return found


@entry
def coming(block, among, exclude):
    """The arm that comes before the policy's choice, as ``entries.new_ones`` finds it; -1 if none does."""
    state = opened(block)
    if not state.rule.first and state.rule.burn_in == 0:
        return -1
    lost = state.waiting[0] > 0 and state.ring.size > 0 and young.is_turn(state)
    if among.size == 0:
        for i in range(state.count[HANDED], state.count[ARMS]):
            if is_new(state, i) and not is_out(state, exclude, i):
                return i
        if lost:
            i = young.expired_from(state, state.ring[young.AGAIN])
            if i == state.count[ARMS]:
                i = young.expired_from(state, state.ring[young.LOST])
            if i < state.count[ARMS] and not is_out(state, exclude, i):
                return i
        return -1
    again = -1
    for p in range(among.size):
        i = among[p]
        if not is_out(state, exclude, i):
            if is_new(state, i):
                return i
            expired = lost and not statistics.has_law(state, i) and young.count(state, i) == 0
            if expired and (again < 0 or state.pending[i, 0] < state.pending[again, 0]):
                again = i
    return again


@entry
def indices(block, t, who, out):
    """Fill ``out`` with the indices of these arms after t pulls, as an engine has them that just decided."""
    state = opened(block)
    for p in range(who.size):
        if state.hooks.compare != 0:
            out[p] = calls.index(state.hooks.index, (state, who[p], t))
        else:
            out[p] = state.index[who[p]]
