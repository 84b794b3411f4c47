"""Pending pulls count while they are young: in the next ``pending_for`` decisions, and then no more.

Rewards get lost. If a pull without its reward counted in n for ever, an arm would look known that nobody has
seen. So the arms of the last decisions lie in a ring, ``state.ring``, and a pull that leaves it without its
reward has *expired*. A reward says its arm and not its pull: it is taken for that of a young pull, the
oldest, and only if there is none for that of an expired one. ``state.expired`` has a row for each arm: its
expired pulls, and how many of its entries in the ring are dealt with. Both are empty if pulls count for ever.

An arm without a law waits for its first reward and can do nothing else. Its pulls expire after a thirtieth
of that time. Then it is tried again, in turn with others like it: they get a tenth of the decisions at most,
since their rewards may just be late.
"""

import numpy as np

from thrifty.jit import hot, kernel, out_of_line
from thrifty.state import bars
from thrifty.state.fading import has_law
from thrifty.state.fields import Component, Field
from thrifty.state.rows import fetch

# In front of the ring's entries: how many decisions it has seen; an arm before which no first pull expired
# since the last turn of such arms began; and the arm from which on this turn looks for the next.
SEEN, LOST, AGAIN, FIRST = range(4)
EXPIRED, CLOSED = range(2)  # the columns of state.expired
SOONER = 30  # times, without a law
SHARE = 10  # one of so many decisions may try an arm again


def _start(state, arms):
    state.ring[:FIRST] = 0, arms, arms


YOUNG = Component(
    "young",
    (
        Field("ring", np.int64, None, start=-1),  # the arms of the last decisions, behind three numbers
        Field("expired", np.int64, columns=2),  # pending pulls that are too old; entries of the ring to skip
    ),
    start=_start,
)


def words(pending_for: int | None) -> int:
    """How many the ring takes: an entry for a decision and for those in which it counts."""
    return 0 if pending_for is None else FIRST + 1 + pending_for


@hot
def count(state, i):
    """The pending pulls of arm i that count."""
    pending = state.pending[i, 0]
    return pending if pending == 0 or state.expired.size == 0 else pending - state.expired[i, EXPIRED]


@kernel
def close(state, i):
    """One of the pending pulls of arm i is so no more."""
    if state.expired.size > 0:
        if count(state, i) > 0:
            state.expired[i, CLOSED] += 1
        else:
            state.expired[i, EXPIRED] -= 1
    state.pending[i, 0] -= 1


@kernel
def turn(state, i):
    """Arm i was handed out. Returns the arm with a law of which a pull expires by that, or -1."""
    ring, expired, size = state.ring, state.expired, state.ring.size - FIRST
    here = ring[SEEN] % size
    ring[SEEN] += 1
    ring[FIRST + here] = i
    before = here - (size - 1) // SOONER
    early = ring[FIRST + before + (size if before < 0 else 0)]
    if early >= 0 and not has_law(state, early) and count(state, early) > 0:
        expired[early, EXPIRED] += 1
        expired[early, CLOSED] += 1
        ring[LOST] = min(ring[LOST], early)
    last = FIRST + (here + 1 if here + 1 < size else 0)
    old = ring[last]
    ring[last] = -1
    if old >= 0 and expired[old, CLOSED] > 0:
        expired[old, CLOSED] -= 1
        return -1
    if old >= 0:
        expired[old, EXPIRED] += 1
    if old >= 0 and not has_law(state, old):  # all that it gave was forgotten meanwhile
        ring[LOST] = min(ring[LOST], old)
        return -1
    return old


@kernel
def fetch_next(state, count):
    """So many decisions are about to be made: ``turn`` will look at the arms that leave the ring."""
    size = state.ring.size - FIRST
    here = state.ring[SEEN] % size if size > 0 else 0
    for _ in range(min(count, size)):
        here = here + 1 if here + 1 < size else 0
        old = state.ring[FIRST + here]
        if old >= 0:
            fetch(state.expired, old)


@kernel
def again(state):
    """The next arm without a law whose pulls have all expired, if it is time for one; else the number of
    arms."""
    out_of_line()
    ring, arms = state.ring, state.pulls.size
    if not is_turn(state):
        return arms
    i = expired_from(state, ring[AGAIN])
    if i == arms:
        i = expired_from(state, ring[LOST])
        ring[LOST] = arms
    ring[AGAIN] = min(i + 1, arms)
    return i


@kernel
def is_turn(state):
    """Whether this decision may try an arm again."""
    return state.ring[SEEN] % SHARE == 0


@kernel
def expired_from(state, i):
    """The first such arm from i on that is not paused, or the number of arms."""
    out_of_line()
    while i < state.pulls.size and (has_law(state, i) or count(state, i) > 0 or bars.is_paused(state, i)):
        i += 1
    return min(i, state.pulls.size)


@kernel
def rename(state, i, to):
    """Arm i gets the number ``to``, or goes if that is -1."""
    if count(state, i) + state.expired[i, CLOSED] > 0:  # it has entries in the ring
        for p in range(FIRST, state.ring.size):
            if state.ring[p] == i:
                state.ring[p] = to
