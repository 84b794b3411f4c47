"""What kernels work on: a rule says how indices are made, a state holds what the next round needs.

A state is one block of memory, and its fields are windows on it.
A kernel is given the header, which says where each field lies and how many rows it has.
"""

import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thrifty.engines import history, tournament, young
from thrifty.indices import ADA_UCB
from thrifty.numerics import random

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
ITEMS: dict[Any, Any] = {Floats: np.float64, Integers: np.int64, Words: np.uint64}

# When indices are drawn; for those that are functions of the statistics instead, what changes them: their own
# arm's pulls alone, the time too, or other arms' statistics as well; then indices that need every single
# reward, policies that make lists of arms to pull, and indices of the user's own.
FRESH, EPSILON, AGGREGATE, DUEL, COMMITTED, CLOCKED, SHARED, HISTORIC, LISTED, OWN = range(10)
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
    "own": OWN,
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
    function: int = 0  # where the user's own index is, and where its parameters
    own: int = 0


# Of a committed index: it was handed out; it is not the one that was there after the last reward.
SPENT, REPLACED = 1, 2

# The single numbers of a state, in its field count.
ARMS, HANDED, ENGINE, CLOCK, SWEPT, SWEEPING, OLDEST, NEWEST, USED, STAGE, CURSOR, LEFT, COUNTS = range(13)


class State(NamedTuple):
    """Every array is changed in place by the kernels; entry i belongs to arm i."""

    header: Integers  # of every other field: its address, and how many rows it has
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
    pending: Integers  # (K, 2): pulls without their reward yet; SPENT, REPLACED, both, or neither
    prior: Floats  # (K, 2) or empty: arms with a (mean, weight) of their own
    tree: Floats  # (slots, 2): the largest committed index below each slot, and how many arms attain it
    kept: Floats  # aggregate and duel: the index before it was REPLACED
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
    ring: Integers  # young: the arms of the last decisions, behind two numbers; or empty
    expired: Integers  # (K, 2) or empty: young: pending pulls that are too old; entries of the ring to skip
    rule: Integers  # a word for each field of the rule, whole or with a fraction


# The fields, and how many columns each has; then of what kind its items are.
COLUMNS = dict.fromkeys(State._fields[1:], 1) | {
    "params": 2, "pending": 2, "prior": 2, "tree": 2, "line": 2, "woken": 4, "races": 3, "history": 2,
    "spans": 3, "expired": 2,
}  # fmt: skip
POSITIONS = {name: number for number, name in enumerate(COLUMNS)}
DTYPES = {name: ITEMS[State.__annotations__[name]] for name in COLUMNS}

GROUPS = 24  # of sleepers: one for each octave of rates from 1/2 down; the last holds all that are lower
LEVELS, WOKEN = 7, 64  # single numbers of sleepers, and how many arms they look at in one go


WORDS = struct.Struct("".join("d" if kind is float else "q" for kind in Rule.__annotations__.values()))


def write_rule(state: "State | Memory", rule: Rule) -> None:
    """From now on the state follows this rule."""
    WORDS.pack_into(state.rule.data, 0, *rule)


# The fields whose number of rows is not that of the arms.
APART = (
    "count",
    "evaluations",
    "waiting",
    "rng",
    "tree",
    "woken",
    "ends",
    "levels",
    "races",
    "history",
    "ring",
    "rule",
)


LEADER, TIES, UNTIL = range(3)  # the columns of state.races


def races(arms: int, room: int) -> Floats:
    """A binary tree in which nothing has been compared yet: the root is slot 1, slot s has children 2s, 2s +
    1."""
    tree = np.full((2 << (room - 1).bit_length(), 3), -np.inf)
    leaves = tree[tree.shape[0] // 2 :]
    leaves[:, LEADER] = np.where(np.arange(leaves.shape[0]) < arms, np.arange(leaves.shape[0]), -1)
    leaves[:, TIES] = leaves[:, LEADER] >= 0
    return tree


class Memory:
    """Where a state lives: its block, where each field begins in it, and for how many arms there is room."""

    def __init__(self, block: Integers, offsets: Integers, room: int) -> None:
        self.block, self.offsets, self.room = block, offsets, room
        sizes = np.diff(offsets)
        self.priors = bool(sizes[POSITIONS["prior"]])  # whether each arm has one
        self.entries = int(sizes[POSITIONS["history"]]) // COLUMNS["history"]  # of the history
        self._by_arm = np.array([name not in APART for name in COLUMNS]) & (sizes > 0)
        self.header = np.empty(2 * len(COLUMNS), np.int64)
        self.header[::2] = block.ctypes.data + block.itemsize * offsets[:-1]
        self.header[1::2] = sizes // list(COLUMNS.values())
        self.resize(int(block[ARMS]))

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, in this process or another, has a header of its own."""
        return Memory, (self.block, self.offsets, self.room)

    def resize(self, arms: int) -> None:
        """There are so many arms now: at most as there is room for."""
        self.block[ARMS] = self.block[self.offsets[-2] + Rule._fields.index("arms")] = arms
        self.header[1::2][self._by_arm] = arms

    def field(self, name: str) -> NDArray[Any]:
        """One of the fields, for the arms that there are: a window on the block."""
        number, columns = POSITIONS[name], COLUMNS[name]
        start, rows = self.offsets[number], self.header[2 * number + 1]
        items: NDArray[Any] = self.block[start : start + rows * columns].view(DTYPES[name])
        return items.reshape(rows, columns) if columns > 1 else items

    @property
    def rule(self) -> Integers:
        """The words of the rule."""
        return self.field("rule")

    @property
    def state(self) -> State:
        """All fields."""
        return State(self.header, *map(self.field, COLUMNS))

    def grown(self, room: int, entries: int = 0) -> "Memory":
        """A copy with room for more arms, and where rewards are kept, for this many entries more."""
        old = dict(zip(COLUMNS, np.diff(self.offsets).tolist(), strict=True))
        sizes = {name: size if name in APART else size // self.room * room for name, size in old.items()}
        sizes["tree"] = 2 * tournament.slots(room) if old["tree"] else 0
        sizes["races"] = 3 * (2 << (room - 1).bit_length()) if old["races"] else 0
        used = int(self.field("spans")[:, history.SIZE].sum())
        if 8 * used > old["history"]:  # else closing the gaps is enough
            sizes["history"] = 2 * old["history"]
        if old["history"]:
            sizes["history"] = max(sizes["history"], 2 * (used + entries))
        offsets = begins(sizes)
        block = np.zeros(offsets[-1], np.int64)
        for start, size, target in zip(self.offsets[:-1], old.values(), offsets[:-1], strict=True):
            block[target : target + size] = self.block[start : start + size]
        memory = Memory(block, offsets, room)
        state = memory.state
        if old["tree"]:
            state.tree[:] = tournament.built(state.index, room)
        if old["races"]:
            state.races[:] = races(state.index.size, room)
        if old["history"]:
            state.count[USED] = history.moved(self.state.history, state.spans, state.history)
        return memory


def layout(
    rule: Rule,
    engine: str,
    room: int,
    *,
    priors: bool,
    entries: int | None = None,
    pending_for: int | None = None,
) -> dict[str, int]:
    """How many words each field takes; the history has so many entries, or enough for the horizon."""
    schedule = rule.schedule
    if entries is None:
        entries = history.entries(room, rule.horizon) if rule.history else 0
    duel = room if schedule == DUEL else 0
    drawn = room if schedule in (AGGREGATE, DUEL) else 0
    squares = room if rule.squares else 0
    ranks = room if schedule == SHARED and rule.formula == ADA_UCB else 0
    asleep = room if engine == "sleepers" else 0
    racing = room if engine == "kinetic" else 0
    late = min(duel, asleep)
    tree = engine == "tournament" or (engine == "sleepers" and schedule != FRESH)
    sizes = dict(  # noqa: C408
        count=COUNTS, evaluations=1, waiting=1, rng=random.WORDS, pulls=room, sums=room, means=room,
        params=2 * room, index=room, draws=room, pending=2 * room, prior=2 * room if priors else 0,
        tree=2 * tournament.slots(room) if tree else 0, kept=drawn, best=duel, age=duel or racing,
        line=2 * asleep,
        woken=4 * WOKEN if asleep else 0, place=asleep, ends=GROUPS + 1 if asleep else 0,
        levels=LEVELS if asleep else 0, start=asleep, since=late, seen=late, older=late, newer=late,
        squares=squares, weights=ranks, order=ranks, position=ranks, prefix=ranks, spread=ranks,
        races=3 * (2 << (room - 1).bit_length()) if racing else 0,
        history=2 * entries, spans=3 * room if rule.history else 0, marks=room if schedule == LISTED else 0,
        ring=young.words(pending_for), expired=0 if pending_for is None else 2 * room,
        rule=len(Rule._fields),
    )  # fmt: skip
    return {name: sizes[name] for name in COLUMNS}


def begins(sizes: dict[str, int]) -> Integers:
    """Where each field begins, and the end of the last."""
    return np.concatenate([[0], np.cumsum(list(sizes.values()))])


def new_memory(
    rule: Rule,
    rng: Words,
    engine: str,
    *,
    priors: bool = False,
    entries: int | None = None,
    pending_for: int | None = None,
) -> Memory:
    """A state before the first round; with ``priors``, each arm has one of its own."""
    k = rule.arms
    offsets = begins(layout(rule, engine, k, priors=priors, entries=entries, pending_for=pending_for))
    block = np.zeros(offsets[-1], np.int64)
    block[ARMS] = k
    memory = Memory(block, offsets, k)
    state = memory.state
    write_rule(state, rule)
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
    if state.ring.size:
        state.ring[:] = -1
        state.ring[: young.FIRST] = 0, k, k
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
