"""What happens to an arm: it is handed out, gives a reward, gets a new index, or gets another number.

spend      a pull of it was handed out, and its reward is not there yet
receive    the reward of such a pull is there; ``observe``: a reward without that
renew      its statistics changed: bring what is kept for it up to date
replace    its committed index was handed out and is needed again before the reward is there
forget     its last pending pull was cancelled: back to the index from before
move       it gets another number; ``clear``: the number is free
"""

import math

from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import random
from thrifty.state import calls, stale, statistics, tokens, young
from thrifty.state.statistics import REPLACED, SPENT


@kernel
def tempered(n, s, temper):
    out_of_line()  # else LLVM divides first and asks then
    return n / temper, s / temper


@hot
def learn(state, i):
    """Arm i's mean, and the parameters of its law, from its statistics."""
    n, s = statistics.evidence(state, i)
    state.means[i] = s / n
    if state.hooks.parameters != 0:
        temper = state.former[0] if stale.is_stale(state, i) else state.rule.temper
        if temper != 1.0:  # most policies: spare them two divisions
            n, s = tempered(n, s, temper)
        if n <= state.rule.least:
            state.means[i] = math.inf  # there is no posterior yet: the arm is tried again at once
        calls.parameters(state.hooks.parameters, (state, i, n, s))


@hot
def renew(state, i):
    """Arm i's statistics changed: bring what is kept for it up to date."""
    learn(state, i)
    if state.hooks.renewed != 0:
        calls.event(state.hooks.renewed, (state, i))


@kernel
def rounded(reward, grid, rng):
    """A reward in [0, 1], to one of the two next multiples of 1/grid, at random so that the mean stays."""
    whole = math.floor(reward * grid)
    return (whole + (random.uniform(rng) < reward * grid - whole)) / grid


@hot
def observe(state, i, reward, t):
    """A pull of arm i gave a reward, after t pulls."""
    if not statistics.has_law(state, i):
        state.waiting[0] -= 1
    if state.rule.grid > 0:
        reward = rounded(reward, state.rule.grid, state.rng)
    state.pulls[i] += 1
    if state.faded.size > 0:
        state.faded[i] += 1.0
    state.sums[i] += reward
    if state.squares.size > 0:
        state.squares[i] += reward * reward
    if state.hooks.keep != 0:
        calls.keep(state.hooks.keep, (state, i, reward, 1.0))
    if state.hooks.rank != 0:
        calls.event(state.hooks.rank, (state, i))
    learn(state, i)
    if state.hooks.observed != 0:
        calls.observed(state.hooks.observed, (state, i, reward, t))
    if state.hooks.renewed != 0:
        calls.event(state.hooks.renewed, (state, i))


@kernel
def spend(state, i):
    """A pull of arm i was handed out and its reward is not there yet: a committed index is spent by that."""
    state.pending[i, 0] += 1
    if state.hooks.spends != 0 and calls.ask(state.hooks.spends, (state, i)):
        state.pending[i, 1] |= SPENT


@kernel
def replace(state, i):
    """A spent index is needed again before its reward is there: a random one is drawn anew, and a
    deterministic one counts the pulls that are on their way, at the mean that there is."""
    if state.kept.size > 0 and not state.pending[i, 1] & REPLACED:
        state.kept[i] = state.index[i]
    state.pending[i, 1] = REPLACED
    if state.hooks.replace != 0:
        calls.event(state.hooks.replace, (state, i))
    else:
        renew(state, i)


@kernel
def forget(state, i):
    """No pull of arm i is on its way any more, and none gave a reward: its index is what it was before."""
    if state.kept.size > 0 and state.pending[i, 1] & REPLACED:
        state.index[i] = state.kept[i]
        if state.best.size > 0:
            state.best[i] = state.kept[i]
    state.pending[i, 1] = 0


@hot
def receive(state, i, reward, t):
    """The reward of a pull of arm i that was handed out before."""
    if tokens.free(state, i) > 0:
        young.close(state, i)
    state.pending[i, 1] = 0
    observe(state, i, reward, t)


@kernel
def renew_all(state):
    """The statistics of all arms, or the rule, are new."""
    if state.stale.size > 0:
        state.stale[stale.NEXT] = state.stale[stale.END]
    for i in range(state.index.size):
        if statistics.has_law(state, i):
            state.pending[i, 1] = 0
            renew(state, i)
    if state.hooks.rank != 0:
        calls.event(state.hooks.rank, (state, -1))


@kernel
def move(state, places, i, to):
    """Arm i gets the number ``to``, in every field that has a row for each arm."""
    block = state.block
    for p in range(places.size):
        start, columns = block[places[p]], block[places[p] + 2]
        if block[places[p] + 1] > 0:
            for column in range(columns):
                block[start + to * columns + column] = block[start + i * columns + column]


@kernel
def clear(state, places, starts, i):
    """Nothing is known of arm i."""
    block = state.block
    for p in range(places.size):
        start, columns = block[places[p]], block[places[p] + 2]
        if block[places[p] + 1] > 0:
            for column in range(columns):
                block[start + i * columns + column] = starts[p]
