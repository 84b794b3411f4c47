"""Every single reward of the arms that need them: different ones in order, and how often each came.

An arm's rewards lie side by side in ``history``, columns VALUE and TIMES; ``spans`` says where. When there is
no room left for another different one, they move to the end of what is used, to a span of twice the room.
Rewards of 0 and 1 take two entries, however many there are.
"""

import numpy as np

from thrifty.arrays import Floats
from thrifty.jit import kernel
from thrifty.state.fields import Component, Field
from thrifty.state.rows import array

VALUE, TIMES = range(2)  # the columns of the history
START, SIZE, ROOM = range(3)  # the columns of the spans
LEAST = 2  # entries that an arm gets first


def _start(state, arms):
    if state.prior.size:
        begin(state, state.prior[:, 0], state.prior[:, 1])
    elif state.rule.prior_weight > 0.0:
        begin(state, state.rule.prior_mean, state.rule.prior_weight)


HISTORY = Component(
    "history",
    (
        # Different rewards of an arm in order, and how often each came.
        Field("history", rows=None, columns=2),
        Field("spans", np.int64, columns=3),  # start, length and capacity of an arm's slice of the history
        Field("used", np.int64, 1),  # entries
    ),
    start=_start,
)


def entries(arms: int, rewards: int) -> int:
    """Enough for this many rewards. A span is at most full when it is left for one of twice its room, so that
    all spans that an arm ever had take less than 4 entries for each different reward, or the least."""
    return LEAST * arms + 4 * rewards


def begin(state, mean: Floats | float, weight: Floats | float) -> None:
    """Before the first reward: the pseudo-observations of every arm's prior."""
    arms = len(state.spans)
    state.spans[:] = [0, 1, LEAST]
    state.spans[:, START] = LEAST * np.arange(arms)
    state.history[: LEAST * arms : LEAST, VALUE] = mean
    state.history[: LEAST * arms : LEAST, TIMES] = weight
    state.used[0] = LEAST * arms


def grown(state, more: int) -> int:
    """How many entries a larger history has: twice as many, unless closing the gaps gives enough."""
    entries, used = len(state.history), int(state.spans[:, SIZE].sum())
    return max(2 * entries if 4 * used > entries else entries, used + more)


def moved(history: Floats, state) -> None:
    """Copy what is still used of another history to the state's, without gaps."""
    used = 0
    for span in state.spans:
        size = int(span[SIZE])
        state.history[used : used + size] = history[span[START] : span[START] + size]
        span[START], span[ROOM] = used, size
        used += size
    state.used[0] = used


@kernel
def fits(state, i):
    """Whether there is room for one more different reward of arm i."""
    spans = state.spans
    return spans[i, SIZE] < spans[i, ROOM] or state.used[0] + max(2 * spans[i, SIZE], LEAST) <= len(
        state.history
    )


def keep(state, i, reward, weight):
    """Arm i gave this reward, or a prior says so, with this weight."""
    history, spans, used = state.history, state.spans, state.used
    start, size = spans[i, START], spans[i, SIZE]
    place = _place(history, start, size, reward)
    if place < size and history[start + place, VALUE] == reward:
        history[start + place, TIMES] += weight
        return
    if size == spans[i, ROOM]:
        _copy(history, start, used[0], size)
        start = used[0]
        spans[i, START] = start
        spans[i, ROOM] = max(2 * size, LEAST)
        used[0] += spans[i, ROOM]
    _shift(history, start + place, start + size)
    history[start + place, VALUE] = reward
    history[start + place, TIMES] = weight
    spans[i, SIZE] += 1


@kernel
def _place(history, start, size, reward):
    """How many of the rewards in order are below this one: by bisection."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if history[start + middle, VALUE] < reward:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _copy(history, start, target, size):
    for p in range(size):
        history[target + p, VALUE] = history[start + p, VALUE]
        history[target + p, TIMES] = history[start + p, TIMES]


@kernel
def _shift(history, first, end):
    """Entries from the first on, one up."""
    for p in range(end, first, -1):
        history[p, VALUE] = history[p - 1, VALUE]
        history[p, TIMES] = history[p - 1, TIMES]


@kernel
def of(state, i):
    """Arm i's different rewards, and how often each came."""
    history, spans = array(state.history), state.spans
    start, end = spans[i, START], spans[i, START] + spans[i, SIZE]
    return history[start:end, VALUE], history[start:end, TIMES]
