"""What Python calls: decisions one at a time or many, rewards, arms that come and go, and simulated runs.

A kernel here is given the block of a state, and calls the engine and the policy by the addresses that lie in
it: so it is compiled once for all. ``play`` alone, where every nanosecond counts, is compiled for each
engine. Arms are numbers, 0 to K - 1: those that were handed out come first, and new ones last.
"""

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from thrifty.engines import late, rounds, trace
from thrifty.engines.memory import FIELDS, POSITIONS
from thrifty.jit import bound, entry, hot, kernel
from thrifty.state import calls, history, ranks, statistics, young
from thrifty.state.fields import ARM
from thrifty.state.header import opened
from thrifty.state.statistics import ARMS, HANDED

PLACES = np.array([POSITIONS[field.name] for field in FIELDS.values() if field.rows == ARM])
STARTS = np.array(
    [np.array(field.start, field.dtype).view(np.int64) for field in FIELDS.values() if field.rows == ARM]
)


@entry
def select(block, t):
    """The arm to pull, t pulls having been made; -1 if an index was NaN."""
    return decide(opened(block), t)


@entry
def select_many(block, t, out):
    """Fill ``out`` with decisions, the first of them after t pulls. Returns how many there are: fewer if an
    index was NaN."""
    state = opened(block)
    for j in range(out.size):
        out[j] = decide(state, t + j)
        if out[j] < 0:
            return j
    return out.size


@kernel
def decide(state, t):
    """Every arm without a law once, then by the policy."""
    i = untried(state)
    if i == state.count[ARMS]:
        i = calls.choose(state.engine.choose, (state, t))
        if i < 0 or state.fault[0] != 0:
            return -1
    rounds.spend(state, i)
    tell(state.engine.handed, state, i)
    if state.last.size > 0:
        state.last[i] = t
    old = young.turn(state, i) if state.ring.size > 0 else -1
    if old >= 0 and state.hooks.pending:  # as in ``cancel``
        rounds.renew(state, old)
        tell(state.engine.place, state, old)
    return i


@hot
def tell(address, state, i):
    """Something happened to arm i, if anybody has to know."""
    if address != 0:
        calls.event(address, (state, i))


@kernel
def untried(state):
    """An arm without a law, and it counts as handed out then: a new one, or one whose pulls have expired. The
    number of arms, if there is none, or if the policy chooses from the beginning."""
    if not state.rule.first:
        return state.count[ARMS]
    i = state.count[HANDED]
    while i < state.count[ARMS] and (statistics.has_law(state, i) or state.pending[i, 0] > 0):
        i += 1
    state.count[HANDED] = min(i + 1, state.count[ARMS])
    if i == state.count[ARMS] and state.waiting[0] > 0 and state.ring.size > 0:
        return young.again(state)
    return i


@entry
def update(block, t, i, reward):
    """A reward of arm i, after t pulls. Returns 1 if its pull was not handed out, 0 if it was, and -1 if
    there is no room for it."""
    return accept(opened(block), t, i, reward)


@entry
def update_many(block, t, arms, rewards):
    """Many of them. Returns how many there was room for, and of how many the pull was not handed out."""
    state = opened(block)
    unasked = 0
    for j in range(arms.size):
        new = accept(state, t, arms[j], rewards[j])
        if new < 0:
            return j, unasked
        unasked += new
    return arms.size, unasked


@kernel
def accept(state, t, i, reward):
    """As ``update`` says."""
    if state.spans.size > 0 and not history.fits(state, i):
        return -1
    new = 1 if state.pending[i, 0] == 0 else 0
    if new and state.last.size > 0:
        state.last[i] = t
    rounds.receive(state, i, reward, t)
    tell(state.engine.place, state, i)
    return new


@entry
def rebuild(block):
    """Statistics or the rule are new: make everything that is kept for an arm anew."""
    state = opened(block)
    calls.event(state.engine.begin, (state, 0))


@entry
def restore(block):
    """Statistics came from a file: make what follows from them, and draw nothing."""
    state = opened(block)
    for i in range(state.index.size):
        if statistics.has_law(state, i):
            rounds.learn(state, i)


@entry
def cancel(block, i):
    """A pull of arm i that was handed out is not made: if it was to be its first, it is handed out again.
    Returns whether there was one."""
    state = opened(block)
    if state.pending[i, 0] == 0:
        return False
    young.close(state, i)
    if not statistics.has_law(state, i):
        state.count[HANDED] = min(state.count[HANDED], i)
        if state.ring.size > 0:
            state.ring[young.LOST] = min(state.ring[young.LOST], i)
    elif state.hooks.pending:  # what is kept counts such pulls
        rounds.renew(state, i)
        tell(state.engine.place, state, i)
    else:
        tell(state.hooks.returned, state, i)
    if state.pending[i, 0] == 0:
        rounds.forget(state, i)
        tell(state.engine.enter, state, i)
    return True


@entry
def renew(block, arms):
    """The statistics of these arms were changed: make what is kept for them anew, and for no other arm."""
    state = opened(block)
    for j in range(arms.size):
        state.pending[arms[j], 1] = 0
        rounds.renew(state, arms[j])
        tell(state.engine.place, state, arms[j])
    tell(state.hooks.rank, state, -1)


@entry
def add(block, priors):
    """More arms, the last in the state: a row for each, its prior where arms have priors of their own."""
    state = opened(block)
    first = state.count[ARMS] - priors.shape[0]
    for i in range(first, state.count[ARMS]):
        rounds.clear(state, PLACES, STARTS, i)
        if state.prior.size > 0:
            state.prior[i, 0] = priors[i - first, 0]
            state.prior[i, 1] = priors[i - first, 1]
        tell(state.engine.enter, state, i)
        mean, weight = statistics.prior(state, i)
        if state.order.size > 0:
            state.weights[i] = weight
        if weight > 0.0:
            if state.hooks.keep != 0:
                calls.keep(state.hooks.keep, (state, i, mean, weight))
            rounds.renew(state, i)
            tell(state.engine.place, state, i)
        else:
            state.waiting[0] += 1
    tell(state.hooks.entered, state, first)
    if state.order.size > 0:
        ranks.enter(first, state.weights, state.order, state.position)
        tell(state.hooks.rank, state, -1)


@entry
def remove(block, i):
    """Remove arm i by moving arms into the hole (swap-remove). Returns the two moves, (from, to, from, to).

    An arm that was handed out stays below one that was not.
    """
    state = opened(block)
    last, before = state.count[ARMS] - 1, state.count[HANDED]
    if not statistics.has_law(state, i):
        state.waiting[0] -= 1
    tell(state.engine.leave, state, i)
    if state.order.size > 0:
        ranks.leave(i, state.order, state.position)
    tell(state.hooks.left, state, i)
    if state.ring.size > 0:
        young.rename(state, i, -1)
    hole = i
    if i < before:
        hole = before - 1
        renumber(state, hole, i)
        state.count[HANDED] -= 1
    renumber(state, last, hole)
    rounds.clear(state, PLACES, STARTS, last)
    tell(state.engine.shrink, state, last)
    if state.order.size > 0:
        weights, order, position = state.weights[:last], state.order[:last], state.position[:last]
        ranks.fill(weights, order, position, state.prefix[:last], state.spread[:last])
    return hole, i, last, hole


@kernel
def renumber(state, i, to):
    """Arm i gets the number ``to``, which is free."""
    if i == to:
        return
    rounds.move(state, PLACES, i, to)
    if state.ring.size > 0:
        young.rename(state, i, to)
        if not statistics.has_law(state, to):
            state.ring[young.LOST] = min(state.ring[young.LOST], to)
    if state.hooks.moved != 0:
        calls.moved(state.hooks.moved, (state, i, to))
    if state.order.size > 0:
        state.order[state.position[to]] = to
    if state.engine.move != 0:
        calls.moved(state.engine.move, (state, i, to))


# Simulated rounds, one at a time, where the policy or the problem is plain Python.


@entry
def pull(block, t, i):
    """The reward of arm i, after t pulls; 0 if it is -1."""
    state = opened(block)
    if i < 0:
        return 0.0
    if state.track_start[0] >= 0:
        trace.follow(state, t)
    return calls.pull(state.pull[0], (state, i))


@entry
def send(block, t, i, reward):
    """Arm i was pulled, after t pulls, and its reward is on its way; nothing, if it is -1."""
    state = opened(block)
    if i >= 0:
        late.send(state, t, i, reward)
        trace.record(state, t + 1, i)


@entry
def arrive(block, t):
    """The entry of a reward that arrives now, after t pulls, or -1."""
    return late.arrive(opened(block), t)


# An engine's kernels, in place of which ``play`` gets them.
choose: Any = None
place: Any = None
handed: Any = None
begin: Any = None


def play(block, start, stop, anew):
    """Play rounds ``start`` to ``stop`` of a simulated run, so that a long run can be played in slices, with
    progress shown in between; where the cuts lie changes nothing. Returns how many rounds were played:
    ``stop``, or fewer if an index or a reward was no number. ``anew``: the rule is new, so that whatever is
    kept for an arm is made again first."""
    state = opened(block)
    if anew:
        begin(state, 0)
    prompt = state.late[late.KIND] == late.PROMPT
    t = start
    while t < stop:
        if state.track_start[0] >= 0:
            trace.follow(state, t)
        i = untried(state) if state.count[HANDED] < state.count[ARMS] else state.count[ARMS]
        if i == state.count[ARMS]:
            i = choose(state, t)
            if i < 0:
                break
        reward = calls.pull(state.pull[0], (state, i))
        if state.fault[0] != 0:
            break
        if state.last.size > 0:
            state.last[i] = t
        if prompt:
            rounds.observe(state, i, reward, t)
            place(state, i)
        else:
            rounds.spend(state, i)
            handed(state, i)
            late.send(state, t, i, reward)
            e = late.arrive(state, t)
            while e >= 0:
                if state.late_arm[e] >= 0:  # its arm is still there
                    rounds.receive(state, state.late_arm[e], state.late_reward[e], t)
                    place(state, state.late_arm[e])
                e = late.arrive(state, t)
        t += 1
        trace.record(state, t, i)
    return t


@cache
def play_on(name: str, engine: ModuleType) -> Any:
    """``play`` for an engine. The name makes it another one to Numba's cache."""
    kernels = {each: getattr(engine, each) for each in ("choose", "place", "handed", "begin")}
    return entry(bound(play, f"play_{name}", **kernels))
