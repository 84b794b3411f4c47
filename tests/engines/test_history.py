"""The history of rewards against a dictionary of counters."""

import copy
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from thrifty.engines.memory import POSITIONS, Hooks, Memory, Rule, new_memory
from thrifty.jit import entry, kernel
from thrifty.state import history as module
from thrifty.state.header import ROWS, opened
from thrifty.state.history import HISTORY, LEAST, ROOM, SIZE, START, TIMES, VALUE, begin, entries, moved

of = getattr(module.of, "py_func", module.of)  # kernels own no arrays, so they return none to Python
keep = kernel(module.keep)


@entry
def add(block, arm, reward, weight):
    keep(opened(block), arm, reward, weight)


@entry
def fits(block, arm):
    return module.fits(opened(block), arm)


MARGIN = 300  # rows behind a history that nobody may write to: kernels do not check where they write
NOBODY = -7.0

ARMS = st.integers(1, 4)
FEW = st.sampled_from([0.0, 1.0, 0.5])
MANY = st.floats(-1e9, 1e9) | st.integers(-9, 9).map(float)
PULLS = st.lists(st.tuples(st.integers(0, 3), FEW), max_size=80) | st.lists(
    st.tuples(st.integers(0, 3), MANY), max_size=80
)
PRIOR = st.none() | st.tuples(FEW | MANY, st.floats(0.01, 50.0))


def new_history(arms: int, rows: int, prior: tuple[float, float] | None = None) -> Memory:
    """The memory of arms whose rewards are kept, with rows behind the history."""
    mean, weight = prior or (0.0, 0.0)
    rule = Rule(arms, 1, prior_mean=mean, prior_weight=weight)
    memory = new_memory(rule, Hooks(), [HISTORY], np.ones(4, np.uint64), sizes={"history": rows + MARGIN})
    memory.field("history")[int(memory.field("used")[0]) :] = NOBODY
    return resized(memory, rows)


def resized(memory: Memory, rows: int) -> Memory:
    """Kernels see a history of so many rows."""
    memory.block[POSITIONS["history"] + ROWS] = rows
    return memory


class Story:
    """A history with rows to spare, and what it should hold."""

    def __init__(self, arms: int, rows: int, prior: tuple[float, float] | None = None) -> None:
        self.memory, self.rows = new_history(arms, rows, prior), rows
        self.told: list[Counter[float]] = [Counter() for _ in range(arms)]
        if prior is not None:
            for counter in self.told:
                counter[prior[0]] = prior[1]  # type: ignore[assignment]

    @property
    def spans(self) -> NDArray[np.int64]:
        return self.memory.field("spans")

    @property
    def used(self) -> int:
        return int(self.memory.field("used")[0])

    def fits(self, arm: int) -> bool:
        return bool(fits(self.memory.block, arm))

    def add(self, arm: int, reward: float, weight: float = 1.0) -> None:
        add(self.memory.block, arm, reward, weight)
        self.told[arm][reward] += weight  # type: ignore[assignment]

    def move(self, rows: int) -> None:
        target = new_history(len(self.told), rows)
        target.field("spans")[:] = self.spans
        moved(self.memory.field("history"), target.state)
        self.memory, self.rows = target, rows

    def check(self) -> None:
        """It holds what was told, in order; no two arms share a row; nothing is written elsewhere."""
        everything = resized(copy.copy(self.memory), self.rows + MARGIN).field("history")
        taken = np.zeros(len(everything), int)
        for arm, counter in enumerate(self.told):
            values, times = of(self.memory.state, arm)
            assert values.tolist() == sorted(counter)
            assert times.tolist() == [counter[x] for x in values.tolist()]
            start, size, room = self.spans[arm].tolist()
            assert size <= room
            taken[start : start + room] += 1
        assert taken.max(initial=0) <= 1
        assert not taken[self.used :].any()
        assert self.used <= self.rows
        assert np.all(everything[self.used :] == NOBODY)


@given(arms=ARMS, pulls=PULLS, prior=PRIOR)
def test_enough_entries_for_every_reward(
    arms: int, pulls: list[tuple[int, float]], prior: tuple[float, float] | None
) -> None:
    """A simulated run never asks whether there is room: ``entries`` must be enough."""
    story = Story(arms, entries(arms, len(pulls)), prior)
    story.check()
    for count, (arm, reward) in enumerate(pulls, start=1):
        assert story.fits(arm % arms)
        story.add(arm % arms, reward)
        story.check()
        assert story.used <= entries(arms, count)


def test_rewards_of_0_and_1_take_two_entries() -> None:
    story = Story(3, entries(3, 0))
    for pull in range(3000):
        story.add(pull % 3, float(pull % 7 > 3))
    story.check()
    assert story.used == 2 * 3


@pytest.mark.parametrize("prior", [None, (0.5, 1.0)])
def test_the_bound_on_entries_is_nearly_reached(prior: tuple[float, float] | None) -> None:
    """One arm, all rewards different: of 2 + 4 * 1025, it needs 2 + 4 + ... + 2048, or 4094."""
    story = Story(1, entries(1, 1025), prior)
    for pull in range(1025):
        story.add(0, pull % 2 - 1.0 / (2 + pull))
    story.check()
    assert story.used == 4094 < entries(1, 1025) == 4102


@given(arms=ARMS, pulls=PULLS, prior=PRIOR, rows=st.integers(0, 60))
def test_growing_when_it_does_not_fit(
    arms: int, pulls: list[tuple[int, float]], prior: tuple[float, float] | None, rows: int
) -> None:
    """As a bandit does it, whose rewards are unlimited: to twice the rows, until there is room."""
    story = Story(arms, LEAST * arms + rows, prior)
    for arm, reward in pulls:
        for _ in range(3):
            if not story.fits(arm % arms):
                story.move(2 * story.rows)
                story.check()
                assert story.used == sum(len(counter) for counter in story.told)
        assert story.fits(arm % arms)
        story.add(arm % arms, reward)
        story.check()


@given(arms=ARMS, pulls=PULLS, rows=st.integers(0, 200))
def test_fits_is_exact(arms: int, pulls: list[tuple[int, float]], rows: int) -> None:
    """One more different reward stays within the rows if and only if ``fits`` says so."""
    story = Story(arms, entries(arms, len(pulls)))
    for arm, reward in pulls:
        story.add(arm % arms, reward)
    for arm in range(arms):
        size = max(rows, story.used)
        said = bool(fits(resized(copy.copy(story.memory), size).block, arm))
        after = copy.copy(story.memory)
        add(after.block, arm, 1e10, 1.0)
        assert said == (after.field("used")[0] <= size)


@given(arms=ARMS, pulls=PULLS, prior=PRIOR)
def test_moved_leaves_no_gap(
    arms: int, pulls: list[tuple[int, float]], prior: tuple[float, float] | None
) -> None:
    story = Story(arms, entries(arms, len(pulls)), prior)
    for arm, reward in pulls:
        story.add(arm % arms, reward)
    different = sum(len(counter) for counter in story.told)
    story.move(different)
    story.check()
    assert story.used == different
    assert story.spans[:, ROOM].tolist() == story.spans[:, SIZE].tolist()


def test_begin_with_a_prior_for_each_arm() -> None:
    means, weights = np.array([0.25, 0.0, 1.0]), np.array([2.0, 0.5, 7.0])
    memory = new_history(3, 10)
    memory.field("spans")[:] = 99
    state = memory.state
    begin(state, means, weights)
    assert state.used.tolist() == [6]
    for arm in range(3):
        values, times = of(state, arm)
        assert (values.tolist(), times.tolist()) == ([means[arm]], [weights[arm]])
    assert state.spans[:, START].tolist() == [0, 2, 4]
    assert state.spans[:, ROOM].tolist() == [LEAST] * 3
    add(memory.block, 1, 0.75, 1.0)
    assert state.used.tolist() == [6]  # there was room for one more
    assert state.history[2:4, VALUE].tolist() == [0.0, 0.75]
    assert state.history[2:4, TIMES].tolist() == [0.5, 1.0]


def test_the_weight_of_a_prior_and_of_a_reward_add_up() -> None:
    story = Story(2, entries(2, 10), (1.0, 2.5))
    for reward, weight in [(0.0, 1.0), (1.0, 1.0), (0.5, 1.0), (0.5, 0.25)]:
        story.add(1, reward, weight)
    story.check()
    assert dict(story.told[1]) == {0.0: 1.0, 0.5: 1.25, 1.0: 3.5}
