"""Scan: look at every arm's index. It runs every policy and is obviously right: the oracle for the others."""

from thrifty.engines import ranking, rounds
from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import random
from thrifty.state import bars, calls
from thrifty.state.bars import LISTED
from thrifty.state.statistics import SPENT

COMPONENTS = ()
ONE = 2**32  # more than the number of any arm


@hot
def choose(state, t):
    """The arm, or -1 if the index of some arm is not a number."""
    if bars.resting(state) > 0:
        return calls.choose(state.engine.spare, (state, t))
    if state.hooks.choose != 0:
        return calls.choose(state.hooks.choose, (state, t))
    known, top = state.hooks.refresh != 0, 0.0
    if known:
        top = calls.refresh(state.hooks.refresh, (state, t))
    if state.fault[0] != 0:
        return -1
    while True:
        i = attaining(state.index, top if known else maximum(state.index), state.rng)
        if state.pending[i, 1] & SPENT == 0:
            return i
        rounds.replace(state, i)
        known = False


@kernel
def pick(state, t):
    """The best of the arms that may be chosen: into ``state.slate``. Returns how many have a law."""
    if state.hooks.order != 0:
        calls.order(state.hooks.order, (state, t))
    elif state.hooks.refresh != 0:
        calls.refresh(state.hooks.refresh, (state, t))
    about_all = state.bars[LISTED] < 0
    if about_all:
        bars.everyone(state)
    for p in range(state.bars[LISTED]):
        state.worth[state.listed[p]] = state.index[state.listed[p]]
    found = ranking.top(state)
    if about_all:
        state.bars[LISTED] = -1
    return found


@kernel
def spare(state, t):
    """The arm to pull where some are paused; -1 if an index was not a number."""
    bars.about_all(state)
    found = pick(state, t)
    if state.fault[0] != 0:
        return -1
    return state.slate[0] if found > 0 else anyone(state, t)


@kernel
def anyone(state, _):
    """One of the arms that are not paused, when none of them has a law yet."""
    bars.about_all(state)
    ranking.rest(state, 0)
    return state.slate[0]


@hot
def largest(index, rng):
    """The arm with the largest index; one uniform is drawn if and only if there is a tie to break.

    Two plain passes (find the maximum, see who attains it) have no branch to mispredict, unlike one
    clever pass.
    """
    return attaining(index, maximum(index), rng)


@hot
def maximum(index):
    """The largest index. A maximum has to wait for the one before it: so there are four, side by side."""
    a = b = c = d = index[0]
    whole = index.size & -4
    for i in range(0, whole, 4):
        a, b = max(a, index[i]), max(b, index[i + 1])
        c, d = max(c, index[i + 2]), max(d, index[i + 3])
    for i in range(whole, index.size):
        a = max(a, index[i])
    return max(max(a, b), max(c, d))


@kernel
def attaining(index, top, rng):
    """The arm whose index is the largest one, ``top``; if there are several, one of them."""
    out_of_line()  # in a loop of rounds, LLVM would load what 32 arms at once need in each of them
    found = 0  # how many attain it, times ONE, and the sum of their numbers
    for i in range(index.size):
        found += (ONE + i) * (index[i] == top)
    if found < 2 * ONE:
        return found & (ONE - 1)
    ties = 0  # counted again: the sum may be beyond ONE
    for i in range(index.size):
        ties += index[i] == top
    left, arm = random.below(rng, ties), -1
    while left >= 0:
        arm += 1
        left -= index[arm] == top
    return arm


@kernel
def begin(state, _):
    """All statistics are new."""
    rounds.renew_all(state)


@kernel
def place(state, i):
    """Arm i has a new index. Nothing is kept here."""


handed = enter = leave = shrink = seat = place


@kernel
def move(state, i, to):
    """Arm i gets another number."""
