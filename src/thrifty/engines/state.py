"""What kernels work on: a rule says how indices are made, a state holds what the next round needs.

A state is one block of memory, and its fields are windows on it. So the whole of it crosses from Python into
a kernel as one array, at almost no cost, and a snapshot is a copy of the block.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thrifty.engines import history, tournament
from thrifty.indices import ADA_UCB
from thrifty.jit import inlined
from thrifty.numerics import random

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

# When indices are drawn; for those that are functions of the statistics instead, what changes them: their own
# arm's pulls alone, the time too, or other arms' statistics as well; then indices that need every single
# reward, and policies that make lists of arms to pull.
FRESH, EPSILON, AGGREGATE, DUEL, COMMITTED, CLOCKED, SHARED, HISTORIC, LISTED = range(9)
SCHEDULES = {
    "fresh": FRESH,
    "epsilon": EPSILON,
    "aggregate": AGGREGATE,
    "duel": DUEL,
    "committed": COMMITTED,
    "clocked": CLOCKED,
    "shared": SHARED,
    "historic": HISTORIC,
    "listed": LISTED,
}


class Rule(NamedTuple):
    """A policy resolved for one number of arms and one horizon. The same types for every policy, so that
    each kernel is compiled once."""

    schedule: int
    arms: int
    horizon: int
    law: int = 0
    temper: float = 1.0  # V: the law is that of (n/V, S/V)
    phi: float = 1.0
    epsilon: float = 1.0
    batch: bool = False
    own: tuple[float, ...] = ()  # what a user's own index calls self
    prior_mean: float = 0.0
    prior_weight: float = 0.0  # 0: every arm is pulled once instead
    formula: int = 0  # which one, where the index is not drawn from a law
    family: int = 0  # of rewards
    first: float = 0.0  # the parameters of the formula, in the order of the policy's fields
    second: float = 0.0
    variance: float = 0.25
    squares: bool = False  # whether the formula needs the rewards' variance
    history: bool = False  # whether every single reward is kept
    grid: int = 0  # M: rewards in [0, 1] are rounded to multiples of 1/M, at random, so that their means stay


# The single numbers of a state, in its field count.
ARMS, HANDED, ENGINE, CLOCK, SWEPT, SWEEPING, OLDEST, NEWEST, USED, STAGE, CURSOR, LEFT, COUNTS = range(13)


class State(NamedTuple):
    """Every array is changed in place by the kernels; entry i belongs to arm i."""

    count: Integers  # type: ignore[assignment]  # single numbers, by the names above
    evaluations: Integers  # one number
    waiting: Integers  # one number: the arms without a law, because their first reward is not there yet
    rng: Words
    pulls: Integers
    sums: Floats  # of rewards, the prior's apart
    means: Floats  # the prior's pseudo-observations included, like the law's parameters
    params: Floats  # (K, 2): the law, recomputed only when its arm is pulled
    index: Floats  # type: ignore[assignment]  # the largest is pulled
    draws: Integers  # as the paper counts them
    pending: Integers  # (K, 2): pulls without their reward yet; whether the committed index was handed out
    prior: Floats  # (K, 2) or empty: arms with a (mean, weight) of their own
    tree: Floats  # (slots, 2): the largest committed index below each slot, and how many arms attain it
    best: Floats  # duel: the best draw since the last pull
    age: Integers  # duel, on scan: how many draws that is; kinetic: when the index was computed
    line: Floats  # (K, 2): sleepers: rates and arms, in order of the groups of rates
    woken: Floats  # (WOKEN, 4): sleepers: arms that may exceed the level, while a choice is made
    place: Integers  # sleepers: where on the line an arm is, or -1
    ends: Integers  # sleepers: where on the line each group ends
    levels: Floats  # sleepers: single numbers
    start: Integers  # sleepers: since when an arm has had a law, or for duel, this phase I
    since: Integers  # sleepers, duel: when an arm's unseen draws were last settled
    seen: Integers  # sleepers, duel: how many of its draws were seen since then
    older: Integers  # sleepers, duel: the arm pulled before this one
    newer: Integers  # sleepers, duel: the arm pulled after this one
    squares: Floats  # where the formula needs them: sums of squared rewards
    weights: Floats  # AdaUCB: pulls, the prior's weight included
    order: Integers  # AdaUCB: the arms, by increasing weight
    position: Integers  # AdaUCB: where in that order an arm is
    prefix: Floats  # AdaUCB: sums of roots of weights along that order
    spread: Floats  # AdaUCB: H
    races: Floats  # (slots, 3): kinetic: who leads below each slot, how many are tied, and until when
    history: (
        Floats  # (entries, 2): different rewards of an arm side by side, in order, and how often each came
    )
    spans: (
        Integers  # (K, 3): where in the history an arm's begin, how many there are, and for how many is room
    )
    marks: Integers  # lists: who is on one
    rule: Floats  # online: the rule, as numbers


GROUPS = 24  # of sleepers: one for each octave of rates from 1/2 down; the last holds all that are lower
LEVELS, WOKEN = 7, 64  # single numbers of sleepers, and how many arms they look at in one go


def _windows(block, offsets):
    """The fields of a state, for the arms that there are: a block may have room for more."""
    o, k = offsets, block[offsets[0] + ARMS]
    words, numbers = block.view(np.uint64), block.view(np.float64)
    return State(
        count=block[o[0] : o[1]],
        evaluations=block[o[1] : o[2]],
        waiting=block[o[2] : o[3]],
        rng=words[o[3] : o[4]],
        pulls=block[o[4] : o[4] + k],
        sums=numbers[o[5] : o[5] + k],
        means=numbers[o[6] : o[6] + k],
        params=numbers[o[7] : o[7] + 2 * k].reshape((k, 2)),
        index=numbers[o[8] : o[8] + k],
        draws=block[o[9] : o[9] + k],
        pending=block[o[10] : o[10] + 2 * k].reshape((k, 2)),
        prior=numbers[o[11] : min(o[11] + 2 * k, o[12])].reshape((min(k, (o[12] - o[11]) // 2), 2)),
        tree=numbers[o[12] : o[13]].reshape(((o[13] - o[12]) // 2, 2)),
        best=numbers[o[13] : min(o[13] + k, o[14])],
        age=block[o[14] : min(o[14] + k, o[15])],
        line=numbers[o[15] : min(o[15] + 2 * k, o[16])].reshape((min(k, (o[16] - o[15]) // 2), 2)),
        woken=numbers[o[16] : o[17]].reshape(((o[17] - o[16]) // 4, 4)),
        place=block[o[17] : min(o[17] + k, o[18])],
        ends=block[o[18] : o[19]],
        levels=numbers[o[19] : o[20]],
        start=block[o[20] : min(o[20] + k, o[21])],
        since=block[o[21] : min(o[21] + k, o[22])],
        seen=block[o[22] : min(o[22] + k, o[23])],
        older=block[o[23] : min(o[23] + k, o[24])],
        newer=block[o[24] : min(o[24] + k, o[25])],
        squares=numbers[o[25] : min(o[25] + k, o[26])],
        weights=numbers[o[26] : min(o[26] + k, o[27])],
        order=block[o[27] : min(o[27] + k, o[28])],
        position=block[o[28] : min(o[28] + k, o[29])],
        prefix=numbers[o[29] : min(o[29] + k, o[30])],
        spread=numbers[o[30] : min(o[30] + k, o[31])],
        races=numbers[o[31] : o[32]].reshape(((o[32] - o[31]) // 3, 3)),
        history=numbers[o[32] : o[33]].reshape(((o[33] - o[32]) // 2, 2)),
        spans=block[o[33] : min(o[33] + 3 * k, o[34])].reshape((min(k, (o[34] - o[33]) // 3), 3)),
        marks=block[o[34] : min(o[34] + k, o[35])],
        rule=numbers[o[35] : o[36]],
    )


windows = inlined(_windows)  # for kernels


@inlined
def read_rule(state):
    """The rule that the state itself holds."""
    r = state.rule
    return Rule(
        schedule=int(r[0]),
        arms=state.count[ARMS],
        horizon=int(r[2]),
        law=int(r[3]),
        temper=r[4],
        phi=r[5],
        epsilon=r[6],
        batch=r[7] != 0.0,
        own=(),
        prior_mean=r[9],
        prior_weight=r[10],
        formula=int(r[11]),
        family=int(r[12]),
        first=r[13],
        second=r[14],
        variance=r[15],
        squares=r[16] != 0.0,
        history=r[17] != 0.0,
        grid=int(r[18]),
    )


@inlined
def with_own(rule, own):
    """The same rule for a user's own index."""
    return Rule(
        schedule=rule.schedule,
        arms=rule.arms,
        horizon=rule.horizon,
        law=rule.law,
        temper=rule.temper,
        phi=rule.phi,
        epsilon=rule.epsilon,
        batch=rule.batch,
        own=own,
        prior_mean=rule.prior_mean,
        prior_weight=rule.prior_weight,
        formula=rule.formula,
        family=rule.family,
        first=rule.first,
        second=rule.second,
        variance=rule.variance,
        squares=rule.squares,
        history=rule.history,
        grid=rule.grid,
    )


def write_rule(state: State, rule: Rule) -> None:
    numbers: Any = rule._replace(own=())
    state.rule[:] = [0.0 if value == () else value for value in numbers]


# The fields whose size does not depend on the number of arms.
FIXED = ("count", "evaluations", "waiting", "rng", "woken", "ends", "levels", "rule")


LEADER, TIES, UNTIL = range(3)  # the columns of state.races


def races(arms: int, room: int) -> Floats:
    """A binary tree in which nothing has been compared yet: the root is slot 1, slot s has children 2s, 2s +
    1."""
    tree = np.full((2 << (room - 1).bit_length(), 3), -np.inf)
    leaves = tree[tree.shape[0] // 2 :]
    leaves[:, LEADER] = np.where(np.arange(leaves.shape[0]) < arms, np.arange(leaves.shape[0]), -1)
    leaves[:, TIES] = leaves[:, LEADER] >= 0
    return tree


class Memory(NamedTuple):
    """Where a state lives: its block, where each field begins in it, and for how many arms there is room."""

    block: Integers
    offsets: Integers
    room: int

    @property
    def state(self) -> State:
        """The fields, for the arms that there are: windows on the block."""
        state: State = _windows(self.block, self.offsets)
        return state

    def grown(self, room: int) -> "Memory":
        """A copy with room for more arms."""
        old = dict(zip(State._fields, np.diff(self.offsets).tolist(), strict=True))
        sizes = {name: size if name in FIXED else size // self.room * room for name, size in old.items()}
        sizes["tree"] = 2 * tournament.slots(room) if old["tree"] else 0
        sizes["races"] = 3 * (2 << (room - 1).bit_length()) if old["races"] else 0
        sizes["history"] = 2 * old["history"]
        offsets = begins(sizes)
        memory = Memory(np.zeros(offsets[-1], np.int64), offsets, room)
        for start, size, target in zip(self.offsets[:-1], old.values(), offsets[:-1], strict=True):
            memory.block[target : target + size] = self.block[start : start + size]
        state = memory.state
        if old["tree"]:
            state.tree[:] = tournament.built(state.index, room)
        if old["races"]:
            state.races[:] = races(state.index.size, room)
        if old["history"]:
            state.count[USED] = history.moved(self.state.history, state.spans, state.history)
        return memory


def layout(rule: Rule, engine: str, room: int, *, priors: bool, entries: int | None = None) -> dict[str, int]:
    """How many words each field takes; the history has so many entries, or enough for the horizon."""
    schedule = rule.schedule
    if entries is None:
        entries = history.entries(room, rule.horizon) if rule.history else 0
    duel = room if schedule == DUEL else 0
    squares = room if rule.squares else 0
    ranks = room if schedule == SHARED and rule.formula == ADA_UCB else 0
    asleep = room if engine == "sleepers" else 0
    racing = room if engine == "kinetic" else 0
    late = min(duel, asleep)
    tree = engine == "tournament" or (engine == "sleepers" and schedule != FRESH)
    sizes = dict(  # noqa: C408
        count=COUNTS, evaluations=1, waiting=1, rng=4, pulls=room, sums=room, means=room, params=2 * room,
        index=room, draws=room, pending=2 * room, prior=2 * room if priors else 0,
        tree=2 * tournament.slots(room) if tree else 0, best=duel, age=duel or racing, line=2 * asleep,
        woken=4 * WOKEN if asleep else 0, place=asleep, ends=GROUPS + 1 if asleep else 0,
        levels=LEVELS if asleep else 0, start=asleep, since=late, seen=late, older=late, newer=late,
        squares=squares, weights=ranks, order=ranks, position=ranks, prefix=ranks, spread=ranks,
        races=3 * (2 << (room - 1).bit_length()) if racing else 0,
        history=2 * entries, spans=3 * room if rule.history else 0, marks=room if schedule == LISTED else 0,
        rule=len(Rule._fields),
    )  # fmt: skip
    return {name: sizes[name] for name in State._fields}


def begins(sizes: dict[str, int]) -> Integers:
    """Where each field begins, and the end of the last."""
    return np.concatenate([[0], np.cumsum(list(sizes.values()))])


def new_memory(
    rule: Rule, rng: Words, engine: str, *, priors: bool = False, entries: int | None = None
) -> Memory:
    """A state before the first round; with ``priors``, each arm has one of its own."""
    k = rule.arms
    offsets = begins(layout(rule, engine, k, priors=priors, entries=entries))
    memory = Memory(np.zeros(offsets[-1], np.int64), offsets, k)
    memory.block[ARMS] = k
    state = memory.state
    state.count[[OLDEST, NEWEST]] = -1
    state.waiting[0] = k if rule.prior_weight == 0.0 and not priors else 0
    state.rng[:] = rng
    state.index[:] = -np.inf
    state.best[:] = -np.inf
    state.place[:] = -1
    state.levels[:2] = np.inf
    if state.tree.size:
        state.tree[:] = tournament.built(state.index, k)
    if state.races.size:
        state.races[:] = races(k, k)
    if state.spans.size and rule.prior_weight > 0.0:
        state.count[USED] = history.begin(state.history, state.spans, rule.prior_mean, rule.prior_weight)
    if state.order.size:
        state.weights[:] = rule.prior_weight
        state.order[:] = state.position[:] = np.arange(k)
    return memory


def new_state(rule: Rule, rng: Words, engine: str) -> State:
    return new_memory(rule, rng, engine).state


def draws(state: State) -> Integers:
    """Every arm's draws, as the paper counts them: of arms that sleep, those since their start too."""
    asleep = state.count[CLOCK] - state.start if state.start.size else 0
    return state.draws + np.where(state.place >= 0, asleep, 0) if state.place.size else state.draws.copy()


class Trace(NamedTuple):
    """What a run leaves behind: the regret at the checkpoints."""

    checkpoints: Integers
    regret: Floats
    total: Floats  # one number: the regret so far
    passed: Integers  # one number: the checkpoints passed


def new_trace(checkpoints: Integers) -> Trace:
    return Trace(checkpoints, np.zeros(checkpoints.size), np.zeros(1), np.zeros(1, np.int64))


def policy_stream(seed: int, run: int) -> Words:
    """The policy's random stream: of the seed and the run, and of nothing else."""
    return random.generator(seed, run, 0)


def delay_stream(seed: int, run: int) -> Words:
    """The delays' random stream: the same rewards come at the same time, whatever the policy."""
    return random.generator(seed, run, 2)


def reward_stream(seed: int, run: int) -> Words:
    """The rewards' random stream, independent of the policy's."""
    return random.generator(seed, run, 1)
