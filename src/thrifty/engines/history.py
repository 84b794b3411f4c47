"""Every single reward of the arms that need them: different ones in order, and how often each came.

An arm's rewards lie side by side in ``history``, columns VALUE and TIMES; ``spans`` says where. When there is
no room left for another different one, they move to the end of what is used, to a span of twice the room.
Rewards of 0 and 1 take two entries, however many there are.
"""

import numpy as np
from numpy.typing import NDArray

from thrifty.jit import kernel

VALUE, TIMES = range(2)  # the columns of the history
START, SIZE, ROOM = range(3)  # the columns of the spans
LEAST = 2  # entries that an arm gets first

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def entries(arms: int, rewards: int) -> int:
    """Enough for this many rewards. A span is at most full when it is left for one of twice its room, so that
    all spans that an arm ever had take less than 4 entries for each different reward, or the least."""
    return LEAST * arms + 4 * rewards


def begin(history: Floats, spans: Integers, mean: Floats | float, weight: Floats | float) -> int:
    """Before the first reward: the pseudo-observations of every arm's prior. Returns how many entries are
    used."""
    arms = len(spans)
    spans[:] = [0, 1, LEAST]
    spans[:, START] = LEAST * np.arange(arms)
    history[: LEAST * arms : LEAST, VALUE] = mean
    history[: LEAST * arms : LEAST, TIMES] = weight
    return LEAST * arms


def moved(history: Floats, spans: Integers, target: Floats) -> int:
    """Copy what is still used to another history, close together, and let the spans say where. Returns the
    entries used there."""
    used = 0
    for span in spans:
        size = int(span[SIZE])
        target[used : used + size] = history[span[START] : span[START] + size]
        span[START], span[ROOM] = used, size
        used += size
    return used


@kernel
def fits(history, spans, used, i):
    """Whether there is room for one more different reward of arm i."""
    return spans[i, SIZE] < spans[i, ROOM] or used + max(2 * spans[i, SIZE], LEAST) <= history.shape[0]


@kernel
def add(history, spans, used, i, reward, weight):
    """Arm i gave this reward, or a prior says so, with this weight. Returns how many entries are used now."""
    start, size = spans[i, START], spans[i, SIZE]
    place = np.searchsorted(history[start : start + size, VALUE], reward)
    if place < size and history[start + place, VALUE] == reward:
        history[start + place, TIMES] += weight
        return used
    if size == spans[i, ROOM]:
        _copy(history, start, used, size)
        start = used
        spans[i, START] = start
        spans[i, ROOM] = max(2 * size, LEAST)
        used += spans[i, ROOM]
    _shift(history, start + place, start + size)
    history[start + place, VALUE] = reward
    history[start + place, TIMES] = weight
    spans[i, SIZE] += 1
    return used


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
def of(history, spans, i):
    """Arm i's different rewards, and how often each came."""
    start, end = spans[i, START], spans[i, START] + spans[i, SIZE]
    return history[start:end, VALUE], history[start:end, TIMES]
