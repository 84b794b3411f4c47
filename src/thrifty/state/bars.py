"""Who may be chosen: arms that are paused, and those that are left out of one decision.

``state.barred`` has bits for each arm. A decision among some arms, or for several, also needs room: the
arms that it is about, those that it leaves out, what each is worth in this round, and who was chosen.
"""

import numpy as np

from thrifty.jit import hot, kernel
from thrifty.state.fields import PLACE, Component, Field

PAUSED, OUT, FOUND = 1, 2, 4  # bits: until it is resumed; in this decision; its index of this round is known
RESTING, LISTED, LEFT, WANTED, NUMBERS = range(5)  # numbers in state.bars: see there


def rebuild(state, capacity):
    state.bars[:] = 0
    state.bars[RESTING] = np.count_nonzero(state.barred)


BARS = Component(
    "bars",
    (
        Field("barred", np.int64),
        # How many arms are paused, are in ``listed`` (-1: all that may be chosen), are in ``left``; and how
        # many are to be chosen.
        Field("bars", np.int64, NUMBERS, saved=False),
        Field("listed", np.int64, PLACE, saved=False),  # the arms that a decision is about
        Field("left", np.int64, PLACE, saved=False),  # those that it leaves out
        Field("found", np.int64, PLACE, saved=False),  # those whose index of this round is known
        Field("slate", np.int64, PLACE, saved=False),  # who was chosen, the best first
        Field("worth", saved=False),  # an arm's index of this round
    ),
    rebuild=rebuild,
)


@hot
def is_barred(state, i):
    """Whether it may not be chosen now."""
    return state.barred.size > 0 and state.barred[i] & (PAUSED | OUT) != 0


@hot
def is_paused(state, i):
    return state.barred.size > 0 and state.barred[i] & PAUSED != 0


@hot
def resting(state):
    """How many arms are paused."""
    return state.bars[RESTING] if state.bars.size > 0 else 0


@hot
def about_all(state):
    """The decision is for one arm of all that may be chosen."""
    state.bars[LISTED] = -1
    state.bars[LEFT] = 0
    state.bars[WANTED] = 1


@kernel
def everyone(state):
    """The decision is about all arms that may be chosen, and have not been found."""
    count = 0
    for i in range(state.barred.size):
        if state.barred[i] == 0:
            state.listed[count] = i
            count += 1
    state.bars[LISTED] = count


@kernel
def sort(numbers, count):
    """Put the first ``count`` numbers in order: the largest is at the root of a heap, and goes to the end."""
    start, end = count // 2, count
    while end > 1:
        if start > 0:
            start -= 1
        else:
            end -= 1
            numbers[0], numbers[end] = numbers[end], numbers[0]
        number, p, child = numbers[start], start, 2 * start + 1
        while child < end:
            child += child + 1 < end and numbers[child + 1] > numbers[child]
            if numbers[child] <= number:
                break
            numbers[p] = numbers[child]
            p, child = child, 2 * child + 1
        numbers[p] = number
