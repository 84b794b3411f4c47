"""What kernels work on: one block of memory, in which each component that is there has its fields.

The block begins with a header: of each field, where in the block it lies, how many rows it has, and how many
columns. A kernel is given the block (``state.header``).
"""

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thrifty.arrays import Floats, Integers, Words
from thrifty.engines import late, shares, tournament, trace
from thrifty.engines.modules import MODULES
from thrifty.engines.sleepers import line
from thrifty.numerics import random
from thrifty.schedules import SCHEDULES
from thrifty.state import (
    bars,
    fading,
    header,
    history,
    levels,
    lists,
    ranks,
    statistics,
    tokens,
    window,
    young,
)
from thrifty.state import stale as stales
from thrifty.state.fields import ARM, PLACE, Component, Field
from thrifty.state.header import COLUMNS, OFFSET, ROWS, State
from thrifty.state.statistics import ARMS


class Rule(NamedTuple):
    """A policy's numbers for one number of arms and one horizon."""

    arms: int
    horizon: int
    temper: float = 1.0  # V: the law is that of (n/V, S/V)
    phi: float = 1.0
    epsilon: float = 1.0
    batch: bool = False
    prior_mean: float = 0.0
    prior_weight: float = 0.0  # 0: every arm is pulled once instead
    grid: int = 0  # M: rewards in [0, 1] are rounded to multiples of 1/M, at random, so that their means stay
    least: float = 0.0  # with a count up to this there is no law, and the mean counts as infinite
    first: bool = True  # every arm without a prior is pulled once, before the policy chooses
    burn_in: int = 0  # so many pulls of every arm come before the policy's choice
    cycle: int = 0  # in so many decisions, what is known of each arm is multiplied once
    keep: float = 1.0  # by this; if the cycle is 0, nothing is forgotten

    @property
    def initial(self) -> int:
        """How many rounds go by without a choice, if there is no prior."""
        return self.arms if self.first else 0


class Hooks(NamedTuple):
    """Where the functions of a policy are, by their addresses; 0 for none. ``state.calls`` has their
    signatures."""

    # What the index is made from
    index: int = 0  # type: ignore[assignment]  # of one arm, from its statistics and the time
    compare: int = 0  # who leads whom, where that may have changed, for kinetic
    refresh: int = 0  # every arm's index, for scan; returns the largest
    choose: int = 0  # the policy's own way to choose, for scan
    order: int = 0  # every arm's index in its place, where not all arms may be chosen
    # A law
    parameters: int = 0
    draw: int = 0
    draw_spread: int = 0  # with its atoms spread out: no ties
    sf_spread: int = 0
    isf_spread: int = 0
    # When something happens to an arm
    keep: int = 0  # it gave a reward, which is kept
    rank: int = 0  # it was pulled, and arms are kept in order of their pulls; -1: all of them are new
    observed: int = 0  # it gave a reward
    renewed: int = 0  # its statistics changed
    spends: int = 0  # whether a pull spends its index
    replace: int = 0  # its spent index is needed again
    returned: int = 0  # its pull was cancelled
    moved: int = 0  # it has another number
    left: int = 0  # it goes
    entered: int = 0  # arms came, from this one on
    # No addresses
    pending: int = 0  # 1: what is kept for an arm counts its pending pulls
    solved: int = 0  # 1: isf of the law takes several times as long as sf
    alike: int = 0  # 1: arms with the same n, mean and variance have the same index


class Engine(NamedTuple):
    """Where the functions of an engine are; 0 for none, where it has nothing to do."""

    choose: int = 0  # the arm to pull, t pulls having been made
    place: int = 0  # an arm has new statistics
    join: int = 0  # the same as one of many: for the last of them ``place`` is called
    handed: int = 0  # an arm was handed out
    begin: int = 0  # all statistics are new
    enter: int = 0  # an arm is there, with the index that it has
    leave: int = 0  # an arm goes
    move: int = 0  # an arm has another number
    shrink: int = 0  # the last number is free
    control: int = 0  # look after the level, for sleepers
    settle: int = 0  # an arm gets another level
    end: int = 0  # an arm's phase I is over, for TS-TD
    retire: int = 0  # the same for all whose draws are made
    commit: int = 0  # the best of those whose phase I is over
    needed: int = 0  # what the sum of rates must be for so many arms, for a reserve
    seat: int = 0  # an arm was paused or resumed
    pick: int = 0  # the best of the arms that may be chosen, t pulls having been made
    spare: int = 0  # the arm to pull where arms are paused and ``choose`` has none
    fallback: int = 0  # the arm to pull where nobody exceeds the level, and arms are paused or many
    front: int = 0  # an arm that is in front, or will be, has a new key
    # Of all engines: a decision is to be made, and first the arms have a turn whose turn it is
    fade: int = 0  # to forget
    renewal: int = 0  # to follow a new rule
    share: int = 0  # and somebody else may make it: the arm, or the number of arms if the policy is to choose
    # An arm was pulled in a simulated run, and its reward comes later
    late: int = 0


RULE = Component("rule", (Field("words", np.int64, len(Rule._fields), saved=False),))
HOOKS = Component("hooks", (Field("addresses", np.int64, len(Hooks._fields), saved=False),))
ENGINE = Component("engine", (Field("functions", np.int64, len(Engine._fields), saved=False),))
OWN = Component("own", (Field("own", columns=0),))  # numbers of a policy's own for each arm
PARAMETERS = Component("parameters", (Field("parameters", rows=None, saved=False),))

# Every component that there is. Where a field's entry in the header is follows from this order.
_OURS = (
    RULE, HOOKS, ENGINE, PARAMETERS, *statistics.COMPONENTS, OWN, ranks.RANKS, history.HISTORY, young.YOUNG,
    lists.LISTS, fading.FADING, window.WINDOW, bars.BARS, tokens.TOKENS, stales.STALE, levels.LEVELS,
)  # fmt: skip
_THEIRS = (module.COMPONENTS for module in (*SCHEDULES.values(), *MODULES.values()))
_PLAYED = (line.RESERVE, trace.TRACE, trace.PROBLEM, late.LATE, shares.SHARES)
COMPONENTS: tuple[Component, ...] = tuple(dict.fromkeys((*_OURS, *chain(*_THEIRS), *_PLAYED)))
FIELDS = {field.name: field for component in COMPONENTS for field in component.fields}
if len(FIELDS) < sum(len(component.fields) for component in COMPONENTS):
    raise ValueError("two fields have one name")
POSITIONS = {name: 1 + 3 * number for number, name in enumerate(FIELDS)}
HEADER = 1 + 3 * len(FIELDS)  # words: how many the block has, then three for each field
ALWAYS = (RULE, HOOKS, ENGINE, PARAMETERS, statistics.CORE)
# Named numbers, and the field that has them.
NUMBERS: dict[Any, str] = {Rule: "words", Hooks: "addresses", Engine: "functions"}


for _field in FIELDS.values():
    header.declare(_field, POSITIONS[_field.name])
for _kind, _name in NUMBERS.items():
    header.declare_numbers(_kind.__name__.lower(), _kind, POSITIONS[_name])


MANY = 50_000  # arms, from which on there is spare room
PAGE = 512  # words, of which a system gives memory at least so many at a time
LINE = 8  # words, of which a processor fetches so many at a time: four slots of a tree lie in one
# Words between large fields. A cache has few places for lines that are a power of two apart, as an arm's rows
# would be where there is room for 2^20 arms.
APART = 9 * LINE


# How Python makes one ----------------------------------------------------------------------------------


class Rooms(dict[str, memoryview]):
    """The words of fields that have one for each arm, with room for as many arms as there may be."""

    def __init__(self, block: Integers, capacity: int) -> None:
        self.block, self.capacity = block, capacity

    def __missing__(self, name: str) -> memoryview:
        start = int(self.block[POSITIONS[name]])
        room = self[name] = self.block.data.cast("B").cast("q")[start : start + self.capacity]
        return room


class Memory:
    """A block, and what Python needs to know of it."""

    def __init__(self, block: Integers, components: tuple[Component, ...], capacity: int) -> None:
        self.block, self.components, self.capacity = block, components, capacity
        self.rooms = Rooms(block, capacity)

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies: components are known by their names."""
        return _copied, (self.block, [component.name for component in self.components], self.capacity)

    @property
    def state(self) -> Any:
        """All fields, for the arms that there are."""
        return State(self.block)

    @property
    def arms(self) -> int:
        return int(self.block[self.block[POSITIONS["count"]] + ARMS])

    def field(self, name: str) -> NDArray[Any]:
        """One of the fields: a window on the block."""
        field, place = FIELDS[name], POSITIONS[name]
        start, rows, columns = self.block[place : place + 3]
        window: NDArray[Any] = self.block[start : start + rows * columns].view(field.dtype)
        return window.reshape(rows, columns) if field.columns > 1 else window

    def copy(self) -> "Memory":
        block = _zeros(self.block.size)
        block[:] = self.block
        return Memory(block, self.components, self.capacity)

    def has(self, component: Component) -> bool:
        return component in self.components

    def write(self, numbers: Rule | Hooks | Engine) -> None:
        """From now on the state follows this rule, or calls these functions."""
        words = self.field(NUMBERS[type(numbers)])
        if not isinstance(numbers, Rule):
            words[:] = numbers
            return
        floats = words.view(np.float64)
        for place, (value, kind) in enumerate(zip(numbers, Rule.__annotations__.values(), strict=True)):
            (floats if kind is float else words)[place] = value

    def resize(self, arms: int) -> None:
        """There are so many arms now: at most the capacity."""
        self.field("count")[ARMS] = self.field("words")[Rule._fields.index("arms")] = arms
        for component in self.components:
            for field in component.fields:
                if field.rows in (ARM, PLACE):
                    self.block[POSITIONS[field.name] + ROWS] = arms
        if self.has(line.RESERVE):
            self._write_reserve()

    def _write_reserve(self) -> None:
        """A header by which the reserve is the line, and all else is where it is. It counts from itself."""
        at = self.block[POSITIONS["reserve"]]
        words = self.block[:HEADER].copy()
        for name, twin in line.TWINS.items():
            words[POSITIONS[name] : POSITIONS[name] + 3] = words[POSITIONS[twin] : POSITIONS[twin] + 3]
        words[1::3] -= at
        self.field("reserve")[:] = words

    def grown(
        self,
        capacity: int,
        entries: int = 0,
        sizes: dict[str, int] | None = None,
        also: tuple[Component, ...] = (),
    ) -> "Memory":
        """A copy with room for more arms, and where rewards are kept, for this many entries more. ``sizes``
        has the rows that other fields get, at least; ``also`` are components that it has besides."""
        more = sizes or {}
        sizes = {
            name: max(len(self.field(name)), more.get(name, 0))
            for name, field in FIELDS.items()
            if field.rows is None
        }
        sizes["own"] = int(self.block[POSITIONS["own"] + COLUMNS])
        if self.has(history.HISTORY):
            sizes["history"] = history.grown(self.state, entries)
        there = tuple(part for part in COMPONENTS if part in self.components or part in also)
        memory = _blank(there, capacity, self.arms, sizes)
        for component in self.components:
            for field in component.fields:
                old, new = self.field(field.name), memory.field(field.name)
                new[: len(old)] = old[: len(new)]
        memory.resize(self.arms)
        if self.has(history.HISTORY):
            history.moved(self.field("history"), memory.state)
        memory.lay_out()
        return memory

    def turn_stale(self, former: float) -> bool:
        """The rule is new; arms follow it in the next decisions, and have laws tempered by ``former`` until
        then. Returns whether that is so: not where it can be done at once, or the last time is not
        over."""
        if not self.has(stales.STALE) or self.arms <= stales.AT_ONCE:
            return False
        numbers = self.field("stale")
        if numbers[stales.NEXT] < numbers[stales.END]:
            return False
        numbers[:], self.field("former")[0] = (0, self.arms, stales.FEW), former
        return True

    def touch(self) -> None:
        """Have the system find the memory now, and not page by page in the first decisions: what is in use,
        not the spare room. Few arms have few pages."""
        if self.capacity < MANY:
            return
        for start, rows, columns in self.block[1:HEADER].reshape(-1, 3).tolist():
            self.block[start : start + rows * columns : PAGE] |= 0

    def lay_out(self) -> None:
        """Rebuild what is as large as follows from the capacity: what lies where does, too."""
        for component in self.components:
            if any(callable(field.rows) for field in component.fields):
                self.rebuild(component)

    def rebuild(self, *only: Component) -> None:
        """Make what follows from the rest, of all components or of these."""
        state = self.state
        for component in self.components:
            if component.rebuild and (not only or component in only):
                component.rebuild(state, self.capacity)


def _copied(block: Integers, names: list[str], capacity: int) -> Memory:
    there = tuple(component for component in COMPONENTS if component.name in names)
    return Memory(block, there, capacity).copy()


def _zeros(words: int) -> Integers:
    """A block of zeros that begins with a line of the processor's caches."""
    room = np.zeros(words + LINE, np.int64)
    start = -(room.ctypes.data // room.itemsize) % LINE
    return room[start : start + words]


def _blank(components: tuple[Component, ...], capacity: int, arms: int, sizes: dict[str, int]) -> Memory:
    """A block with room for these components, filled with what fields start with. ``sizes`` has the rows, or
    the columns, of fields that are as large as somebody wants them."""
    entries = np.zeros((len(FIELDS), 3), np.int64)
    end = HEADER
    entries[:, OFFSET] = end
    for component in components:
        for field in component.fields:
            columns = field.columns or sizes.get(field.name, 0)
            rows = capacity if field.rows in (ARM, PLACE) else field.rows
            if callable(rows):
                rows = rows(capacity)
            if rows is None:
                rows = sizes.get(field.name, 0)
            end += -end % LINE + APART if rows >= PAGE else 0
            entries[POSITIONS[field.name] // 3] = end, rows, columns
            end += rows * columns
    block = _zeros(end)
    block[:HEADER] = end, *entries.ravel()
    memory = Memory(block, components, capacity)
    memory.resize(arms)  # rows of arms that come later are filled then
    for component in components:
        for field in component.fields:
            if field.start:
                memory.field(field.name)[:] = field.start
    return memory


def roomy(arms: int) -> int:
    """A capacity for a bandit of very many arms, so that some more can come before it has to be copied. The
    system finds no memory for room that is not used. Trees have as many levels as without it, or nearly.

    >>> [roomy(arms) for arms in (1000, 10**6, 1048576, 10**7)]
    [1000, 1048576, 2097152, 16777216]
    """
    if arms < MANY:
        return arms
    level = tournament.BLOCK
    while level < arms + arms // 32:
        level *= 4
    return min(level, 2 * arms)


def new_memory(
    rule: Rule,
    hooks: Hooks,
    components: Iterable[Component],
    rng: Words,
    priors: Floats | None = None,
    sizes: dict[str, int] | None = None,
    capacity: int = 0,
) -> Memory:
    """A state before the first round; ``priors`` has a row (mean, weight) for each arm, if they have their
    own. ``capacity``: room for so many arms, if that is more than there are."""
    wanted = {*ALWAYS, *components, *((statistics.PRIOR,) if priors is not None else ())}
    there = tuple(component for component in COMPONENTS if component in wanted)
    memory = _blank(there, max(rule.arms, capacity), rule.arms, sizes or {})
    memory.write(rule)
    memory.write(hooks)
    if priors is not None:
        memory.field("prior")[:] = priors
    state = memory.state
    state.rng[:] = rng
    for component in there:
        if component.start:
            component.start(state, rule.arms)
    memory.lay_out()
    return memory


def policy_stream(seed: int, run: int) -> Words:
    """The policy's random stream: of the seed and the run, and of nothing else."""
    return random.generator(seed, run, 0)


def reward_stream(seed: int, run: int) -> Words:
    """The rewards' random stream, independent of the policy's."""
    return random.generator(seed, run, 1)


def delay_stream(seed: int, run: int) -> Words:
    """The delays' random stream: the same rewards come at the same time, whatever the policy."""
    return random.generator(seed, run, 2)
