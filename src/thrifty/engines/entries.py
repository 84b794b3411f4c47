"""What Python calls: decisions one at a time or many, rewards, arms that come and go, and simulated runs.

A kernel here is given the block of a state, and calls the engine and the policy by the addresses that lie in
it: so it is compiled once for all. ``play`` alone, where every nanosecond counts, is compiled for each
engine. Arms are numbers, 0 to K - 1: those that were handed out come first, and new ones last.
"""

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from thrifty.engines import fade, late, ranking, renewal, rounds, trace
from thrifty.engines.memory import FIELDS, POSITIONS
from thrifty.engines.sleepers import line
from thrifty.jit import bound, entry, hot, kernel, out_of_line
from thrifty.numerics import random
from thrifty.state import bars, calls, fading, history, ranks, statistics, tokens, young
from thrifty.state.bars import LEFT, LISTED, OUT, PAUSED, RESTING, WANTED
from thrifty.state.calls import tell
from thrifty.state.fields import ARM
from thrifty.state.header import opened
from thrifty.state.rows import fetch
from thrifty.state.stale import END
from thrifty.state.statistics import ARMS, HANDED

PLACES = np.array([POSITIONS[field.name] for field in FIELDS.values() if field.rows == ARM])
STARTS = np.array(
    [np.array(field.start, field.dtype).view(np.int64) for field in FIELDS.values() if field.rows == ARM]
)


NOBODY, UNKNOWN, KNOWN = range(3)  # who is handed out: nobody; arms by select; arms with an id
STRANGER = -(2**62)  # what ``pick`` returns if it is given the number of no arm


@entry
def select(block, t):
    """The arm to pull, t pulls having been made: every arm without a law once, then by the policy. -1 if an
    index was NaN."""
    state = opened(block)
    if state.rule.cycle > 0:
        calls.event(state.engine.fade, (state, 0))
    if renewal.is_due(state):
        calls.event(state.engine.renewal, (state, 0))
    i = untried(state)
    if i == state.count[ARMS]:
        i = calls.choose(state.engine.choose, (state, t))
        if i < 0 or state.fault[0] != 0:
            return -1
    hand_out(state, t, i)
    return i


@entry
def take(block, t):
    """The same, and the pull has an id."""
    i = select(block, t)
    if i >= 0:
        opened(block).tokens[i] += 1
    return i


@entry
def select_many(block, t, out):
    """Fill ``out`` with decisions, the first of them after t pulls. Returns how many there are: fewer if an
    index was NaN."""
    for j in range(out.size):
        out[j] = select(block, t + j)
        if out[j] < 0:
            return j
    return out.size


@kernel
def hand_out(state, t, i):
    """A pull of arm i, t pulls having been made; its reward is not there yet."""
    rounds.spend(state, i)
    tell(state.engine.handed, state, i)
    if state.last.size > 0:
        state.last[i] = t
    old = young.turn(state, i) if state.ring.size > 0 else -1
    if old >= 0 and state.hooks.pending:  # as in ``cancel``
        rounds.renew(state, old)
        tell(state.engine.place, state, old)


@kernel
def untried(state):
    """An arm without a law, and it counts as handed out then: a new one, or one whose pulls have expired. The
    number of arms, if there is none, or if the policy chooses from the beginning."""
    if not state.rule.first and state.rule.burn_in == 0:
        return state.count[ARMS]
    i = new_one(state)
    if i == state.count[ARMS] and state.waiting[0] > 0 and state.ring.size > 0:
        i = young.again(state)
    return i


@kernel
def new_one(state):
    """The same, but for arms whose pulls have expired: there are none in a simulated run."""
    i = next_new(state, state.count[HANDED])
    state.count[HANDED] = i
    if i < state.count[ARMS]:
        state.count[HANDED] += pulled(state, i) + 1 >= state.rule.burn_in
    return i


@kernel
def next_new(state, i):
    """The first arm from i on that comes before the policy's choice and is not paused."""
    while i < state.count[ARMS] and (not is_new(state, i) or bars.is_paused(state, i)):
        i += 1
    return i


@hot
def is_new(state, i):
    """Whether it comes before the policy's choice."""
    if pulled(state, i) < state.rule.burn_in:
        return True
    return state.rule.first and not statistics.has_law(state, i) and state.pending[i, 0] == 0


@hot
def pulled(state, i):
    """How often arm i was pulled, whether the reward is there or not."""
    return state.pulls[i] + state.pending[i, 0]


# Decisions about some arms, or for several.


@entry
def pick(block, t, among, exclude, wanted, hands):
    """Fill ``state.slate`` with so many different arms, the best first: of the first ``among`` arms that lie
    in ``state.listed``, or of all if that is 0, which are not paused and not one of the first ``exclude``
    that lie in ``state.left``. ``hands``: NOBODY, or how they are handed out. Returns the best; -1 if an
    index was NaN; -2 - m if only m may be chosen, or STRANGER if one of them is no arm, and then nothing is
    done."""
    state = opened(block)
    size = leave_out(state, among, exclude, wanted)
    if size < wanted:
        take_back(state)
        return -2 - size if size >= 0 else STRANGER
    young.fetch_next(state, wanted)
    grow_older(state, wanted, hands)
    found = new_ones(state, hands)
    for p in range(found):
        leave_one_out(state, state.slate[p])
    if found < wanted:
        state.bars[WANTED] = wanted - found
        chosen = calls.choose(state.engine.pick, (state, t))
        if chosen < state.bars[WANTED] and state.fault[0] == 0:
            ranking.rest(state, chosen)
    if found > 0:  # they are the last that were left out
        for p in range(wanted - 1, found - 1, -1):
            state.slate[p] = state.slate[p - found]
        for p in range(found):
            state.slate[p] = state.left[state.bars[LEFT] - found + p]
    take_back(state)
    if state.fault[0] != 0:
        return -1
    if hands != NOBODY:
        hand_all(state, t, wanted, hands == KNOWN)
    return state.slate[0]


@entry
def uniform(block, t, among, exclude, wanted, hands):
    """The same, uniformly at random."""
    state = opened(block)
    size = leave_out(state, among, exclude, wanted)
    if size < wanted:
        take_back(state)
        return -2 - size if size >= 0 else STRANGER
    grow_older(state, wanted, hands)
    barred = state.bars[RESTING] + state.bars[LEFT] + wanted
    if state.bars[LISTED] < 0 and 2 * barred > state.count[ARMS]:
        bars.everyone(state)
    if state.bars[LISTED] >= 0:
        ranking.rest(state, 0)
    else:  # at least half of all arms may be chosen, until the last one is
        for p in range(wanted):
            i = random.below(state.rng, state.count[ARMS])
            while bars.is_barred(state, i):
                i = random.below(state.rng, state.count[ARMS])
            state.slate[p] = i
            leave_one_out(state, i)
    take_back(state)
    if hands != NOBODY:
        hand_all(state, t, wanted, hands == KNOWN)
    return state.slate[0]


@entry
def chance(block):
    """A uniform number in [0, 1)."""
    return random.uniform(opened(block).rng)


@kernel
def grow_older(state, count, hands):
    """So many decisions are to be made: what is known counts for less, if it does, and arms follow a new
    rule."""
    if hands != NOBODY and renewal.is_due(state):
        calls.event(state.engine.renewal, (state, 0))
    if state.rule.cycle > 0 and hands != NOBODY:
        for _ in range(count):
            calls.event(state.engine.fade, (state, 0))


@kernel
def hand_all(state, t, wanted, known):
    """Pulls of the arms in the slate, the first after t pulls; ``known``: each has an id."""
    for j in range(wanted):
        fetch(state.pending, state.slate[j])
    for j in range(wanted):
        hand_out(state, t + j, state.slate[j])
        if known:
            state.tokens[state.slate[j]] += 1


@entry
def pause(block, i):
    """Arm i may not be chosen any more."""
    state = opened(block)
    state.barred[i] = PAUSED
    state.bars[RESTING] += 1
    if state.age.size > 0 and state.place.size == 0 and state.age[i] <= state.rule.phi:  # duel's phase I
        state.age[i] = 0
        state.best[i] = -np.inf
    tell(state.engine.seat, state, i)


@entry
def resume(block, i):
    """Arm i may be chosen again."""
    state = opened(block)
    state.barred[i] = 0
    state.bars[RESTING] -= 1
    tell(state.engine.seat, state, i)
    if is_new(state, i):
        state.count[HANDED] = min(state.count[HANDED], i)
    if state.ring.size > 0 and not statistics.has_law(state, i):
        state.ring[young.LOST] = min(state.ring[young.LOST], i)


@kernel
def leave_out(state, among, exclude, wanted):
    """Mark who may not be chosen in this decision, and list in order who may, if it is about some arms.
    Returns how many may be chosen, or -1 if one of them is no arm."""
    for j in range(exclude):
        if not 0 <= state.left[j] < state.count[ARMS]:
            return -1
    for j in range(among):
        if not 0 <= state.listed[j] < state.count[ARMS]:
            return -1
    state.bars[WANTED] = wanted
    state.bars[LEFT] = 0
    for j in range(exclude):  # an arm is kept where it lay or before
        leave_one_out(state, state.left[j])
    state.bars[LISTED] = -1
    if among == 0:
        return state.count[ARMS] - state.bars[RESTING] - state.bars[LEFT]
    bars.sort(state.listed, among)
    count, last = 0, -1
    for j in range(among):
        i = state.listed[j]
        if i != last and not bars.is_barred(state, i):
            state.listed[count] = i
            count += 1
        last = i
    state.bars[LISTED] = count
    return count


@hot
def leave_one_out(state, i):
    """Arm i may not be chosen in this decision, or no more in it."""
    if not bars.is_barred(state, i):
        state.barred[i] |= OUT
        state.left[state.bars[LEFT]] = i
        state.bars[LEFT] += 1


@hot
def take_back(state):
    """The decision is made."""
    for j in range(state.bars[LEFT]):
        state.barred[state.left[j]] &= ~OUT
    state.bars[LEFT] = 0


@kernel
def new_ones(state, hands):
    """Fill the slate with arms that come before the policy's choice. Returns how many there are. ``hands`` is
    as in ``pick``."""
    found, wanted, lost = 0, state.bars[WANTED], state.waiting[0] > 0 and state.ring.size > 0
    if not state.rule.first and state.rule.burn_in == 0:
        return 0
    if state.bars[LISTED] < 0:
        i = next_new(state, state.count[HANDED])
        state.count[HANDED] = i
        while i < state.count[ARMS] and found < wanted:
            if not bars.is_barred(state, i):
                state.slate[found] = i
                found += 1
            i = next_new(state, i + 1)
        if found == 0 and lost:
            i = young.again(state)
            if i < state.count[ARMS]:
                if hands == NOBODY:
                    state.ring[young.AGAIN] = i
                elif bars.is_barred(state, i):  # its turn comes again
                    state.ring[young.LOST] = min(state.ring[young.LOST], i)
                if not bars.is_barred(state, i):
                    state.slate[0] = i
                    found = 1
        return found
    again, kept = -1, 0
    for p in range(state.bars[LISTED]):
        i = state.listed[p]
        if found < wanted and is_new(state, i):
            state.slate[found] = i
            found += 1
            continue
        expired = lost and not statistics.has_law(state, i) and young.count(state, i) == 0
        if expired and (again < 0 or state.pending[i, 0] < state.pending[state.listed[again], 0]):
            again = kept
        state.listed[kept] = i
        kept += 1
    if found == 0 and again >= 0 and young.is_turn(state):
        state.slate[0] = state.listed[again]
        found = 1
        for p in range(again, kept - 1):
            state.listed[p] = state.listed[p + 1]
        kept -= 1
    state.bars[LISTED] = kept
    return found


@entry
def update(block, t, i, reward):
    """A reward of arm i, after t pulls. Returns 1 if its pull was not handed out, 0 if it was, and -1 if
    there is no room for it."""
    state = opened(block)
    if state.spans.size > 0 and not history.fits(state, i):
        return -1
    new = 1 if tokens.free(state, i) == 0 else 0
    if new and state.rule.cycle > 0:  # a decision too, though somebody else's
        calls.event(state.engine.fade, (state, 0))
    if new and state.last.size > 0:
        state.last[i] = t
    rounds.receive(state, i, reward, t)
    tell(state.engine.place, state, i)
    return new


@entry
def update_many(block, t, arms, rewards):
    """Many of them. Returns how many there was room for, and of how many the pull was not handed out."""
    unasked = 0
    for j in range(arms.size):
        new = update(block, t, arms[j], rewards[j])
        if new < 0:
            return j, unasked
        unasked += new
    return arms.size, unasked


@entry
def redeem(block, t, i, reward):
    """The reward of a pull of arm i that has an id; -1 if there is no room for it."""
    state = opened(block)
    state.tokens[i] -= 1
    new = update(block, t, i, reward)
    state.tokens[i] += new < 0
    return new


@entry
def observe(block, t, i, reward):
    """A reward of somebody else's decision: it closes no pending pull; -1 if there is no room for it."""
    state = opened(block)
    asked = tokens.free(state, i)
    state.tokens[i] += asked
    new = update(block, t, i, reward)
    state.tokens[i] -= asked
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
    if state.reserve.size > 0 and state.reserve_ends[line.GROUPS] == 0:  # the file is an older one's
        other = line.reserve(state)
        for p in range(state.ends[line.GROUPS]):
            line.set_rate(other, int(state.line[p, 1]), line.level(other, 0))
        calls.event(state.engine.control, (other, 1))


@entry
def cancel(block, i, known):
    """A pull of arm i that was handed out is not made: if it was to be its first, it is handed out again.
    ``known`` is 1 if it has an id. Returns whether there was one."""
    state = opened(block)
    state.tokens[i] -= known
    if tokens.free(state, i) == 0:
        return False
    young.close(state, i)
    if is_new(state, i):
        state.count[HANDED] = min(state.count[HANDED], i)
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
def forget(block, keep):
    """Forget all but this share of what the arms gave."""
    state = opened(block)
    fade.all_at_once(state, keep)
    if keep == 0.0 and state.waiting[0] > 0:  # arms lost their law
        state.count[HANDED] = 0
        if state.ring.size > 0:
            state.ring[young.LOST] = 0
    calls.event(state.engine.begin, (state, 0))


@entry
def add(block, priors):
    """More arms, the last in the state: a row for each, its prior where arms have priors of their own."""
    state = opened(block)
    first = state.count[ARMS] - len(priors)
    for i in range(first, state.count[ARMS]):  # all of them first: an engine may look at those still to come
        rounds.clear(state, PLACES, STARTS, i)
    for i in range(first, state.count[ARMS]):
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
    if bars.is_paused(state, i):
        state.bars[RESTING] -= 1
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
    if renewal.is_due(state):
        state.stale[END] = min(state.stale[END], last)
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
    if state.rule.cycle > 0 and to < state.turn[fading.NEXT] <= i:
        fade.take_turn(state, to)
    if renewal.is_due(state):
        renewal.rename(state, i, to)


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


@entry
def ahead(block, t):
    """An arm that comes before the policy's choice, by control, by the floor or to burn it in; it is handed
    out. -1 if the policy is to choose."""
    state = opened(block)
    i = shared(state, t)
    if i == state.count[ARMS]:
        i = untried(state)
    if i == state.count[ARMS]:
        return -1
    grow_older(state, 1, UNKNOWN)
    hand_out(state, t, i)
    return i


@hot
def shared(state, t):
    """The arm that control or the floor chooses; the number of arms, if the policy is to choose."""
    if state.engine.share == 0:
        return state.count[ARMS]
    return calls.choose(state.engine.share, (state, t))


@kernel
def before_choice(state, t):
    """What comes before the policy's choice in a simulated round. Returns the arm; the number of arms, if the
    policy is to choose."""
    out_of_line()
    if state.track_start[0] >= 0:
        trace.follow(state, t)
    i = shared(state, t)
    if state.rule.cycle > 0:
        calls.event(state.engine.fade, (state, 0))
    if renewal.is_due(state):
        calls.event(state.engine.renewal, (state, 0))
    if i == state.count[ARMS] and has_new_ones(state):
        i = new_one(state)
    return i


@hot
def is_busy(state):
    """Whether anything comes before the policy's choice in the next round."""
    if state.track_start[0] >= 0 or state.engine.share != 0 or state.rule.cycle > 0:
        return True
    return renewal.is_due(state) or has_new_ones(state)


@hot
def has_new_ones(state):
    """Whether arms that come before the policy's choice may be left."""
    return state.count[HANDED] < state.count[ARMS] and (state.rule.first or state.rule.burn_in > 0)


# An engine's kernels, in place of which ``play`` gets them.
choose: Any = None
place: Any = None
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
    t, busy = start, True
    while t < stop:
        i = state.count[ARMS]
        if busy:
            i = before_choice(state, t)
            busy = is_busy(state)
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
            calls.observed(state.engine.late, (state, i, reward, t))
        t += 1
        trace.record(state, t, i)
    return t


@cache
def play_on(name: str, engine: ModuleType) -> Any:
    """``play`` for an engine. The name makes it another one to Numba's cache."""
    kernels = {each: getattr(engine, each) for each in ("choose", "place", "begin")}
    return entry(bound(play, f"play_{name}", **kernels))
