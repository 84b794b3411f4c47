"""The compiled side of a bandit: a block of memory, and the kernels that work on it.

Arms are numbers here, rewards are in the unit of the policy, and everything has been checked.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from thrifty.engines import ENGINES, ahead, decide, history
from thrifty.engines.state import (
    ARMS,
    ENGINE,
    HANDED,
    USED,
    Floats,
    Integers,
    Memory,
    Rule,
    Words,
    draws,
    new_memory,
    policy_stream,
    write_rule,
)
from thrifty.errors import InvalidValue
from thrifty.policies import Policy
from thrifty.slices import MOST, REWARDS, cost, slices

Moves = list[tuple[int, int]]  # arms that took over numbers, each (from, to)

FEW = 1000  # rewards that there is room for at first, where all are kept; it grows

kernels: Any = decide  # typed by Numba, which compiles them


def begin_memory(
    rule: Rule, rng: Words, engine: str, priors: Floats | None, pending_for: int | None
) -> Memory:
    """The memory of a bandit that has decided nothing; ``priors`` has a row (mean, weight) for each arm."""
    entries = history.entries(rule.arms, min(rule.horizon, FEW)) if rule.history else 0
    memory = new_memory(
        rule, rng, engine, priors=priors is not None, entries=entries, pending_for=pending_for
    )
    state = memory.state
    state.count[ENGINE] = ENGINES.index(engine)
    if priors is not None:
        state.prior[:] = priors
        if state.order.size:
            state.weights[:] = priors[:, 1]
            state.order[:] = np.argsort(state.weights, kind="stable")
        if state.spans.size:
            state.count[USED] = history.begin(state.history, state.spans, priors[:, 0], priors[:, 1])
    return memory


class Core:
    """The arms' statistics and indices, and who is chosen next."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.engine = ENGINES[memory.block[ENGINE]]
        ahead.compile_bandit(self.engine)

    @property
    def _kernels(self) -> decide.Kernels:
        return decide.KERNELS[self.engine]

    @property
    def has_priors(self) -> bool:
        """Whether each arm has a prior of its own."""
        return self.memory.priors

    @property
    def pulls(self) -> Integers:
        return self.memory.field("pulls")

    @property
    def sums(self) -> Floats:
        return self.memory.field("sums")

    @property
    def draws(self) -> Integers:
        return draws(self.memory.state)

    @property
    def pending(self) -> Integers:
        return self.memory.field("pending")[:, 0]

    def checkpoint(self, count: int) -> Callable[[], None] | None:
        """A way back to here, should so many decisions fail or be interrupted; none if it is one slice, which
        is made whole or not at all."""
        return self._way_back() if self._work(count) > MOST else None

    def _way_back(self) -> Callable[[], None]:
        block = self.memory.block.copy()

        def back() -> None:
            self.memory.block[:] = block

        return back

    def slices(self, count: int) -> Iterator[tuple[int, int]]:
        """Where to cut so many decisions, for ``select``."""
        if self._work(count) <= MOST:
            yield 0, count
            return
        new, kept = min(count, self._new), lambda: int(self.memory.block[USED])
        yield from slices(0, new, self._cheap)
        yield from slices(new, count, self._cost, kept if self.memory.entries else None)

    def _work(self, count: int) -> float:
        """How much so many decisions are, roughly, in arms looked at."""
        each = self._cost + int(self.memory.block[USED]) / REWARDS
        if count * each <= MOST:
            return count * each
        return min(count, self._new) * self._cheap + max(0, count - self._new) * each

    @property
    def _new(self) -> int:
        """How many arms are handed out next without a choice."""
        if self.memory.field("waiting")[0] == 0:
            return 0
        rest = slice(self.memory.block[HANDED], None)
        return int(np.count_nonzero((self.pulls[rest] == 0) & (self.pending[rest] == 0)))

    def select(self, t: int, out: Integers) -> None:
        """Fill ``out`` with decisions, the first of them after t pulls."""
        self._kernels.select(self.memory.header, t, out)

    def update(self, arms: Integers, rewards: Floats) -> int:
        """Returns how many of these rewards are of pulls that were not handed out."""
        done, unasked = self._kernels.update(self.memory.header, arms, rewards)
        while done < arms.size:
            self.memory = self.memory.grown(self.memory.room)
            more, others = self._kernels.update(self.memory.header, arms[done:], rewards[done:])
            done, unasked = done + more, unasked + others
        return unasked

    def cancel(self, arm: int) -> bool:
        """A pull that was handed out is not made; returns whether there was one."""
        ahead.compile_change("cancel")
        return bool(kernels.cancel(self.memory.header, arm))

    def reseed(self, seed: int) -> None:
        """Other random numbers from now on. Indices that were drawn stay."""
        self.memory.state.rng[:] = policy_stream(seed, 0)

    def warm(self, pulls: Integers, sums: Floats) -> None:
        """Statistics of before: pulls of each arm and the sum of their rewards."""
        self._add(pulls, sums)
        self.begin()

    def merge(self, pulls: Integers, sums: Floats) -> None:
        """The same later on: arms without pulls among these keep their indices."""
        ahead.compile_change("renew")
        self._add(pulls, sums)
        kernels.renew(self.memory.header, np.flatnonzero(pulls))

    def _add(self, pulls: Integers, sums: Floats) -> None:
        state = self.memory.state
        state.pulls[:] += pulls
        state.sums[:] += sums
        if state.waiting[0] > 0:
            state.waiting[0] = np.count_nonzero(state.pulls == 0)
        state.squares[:] += sums[: state.squares.size]  # the largest that rewards in [0, 1] can have
        if state.order.size:
            state.weights[:] += pulls
            state.order[:] = np.argsort(state.weights, kind="stable")

    def begin(self) -> None:
        """Make everything that is kept for an arm anew."""
        self._kernels.begin(self.memory.header)

    def follow(self, rule: Rule) -> None:
        """Another rule from now on, without making anything anew."""
        write_rule(self.memory, rule)
        self._cost = cost(rule, looks_at_all=self.engine == "scan")
        self._cheap = cost(rule, looks_at_all=False)

    def add(self, priors: Floats) -> None:
        """More arms, with the next numbers: a row for each, its prior where arms have priors of their own."""
        ahead.compile_change("add")
        memory, more = self.memory, len(priors)
        arms = int(memory.block[ARMS])
        entries = history.LEAST * more if memory.entries else 0
        if arms + more > memory.room:
            self.memory = memory.grown(max(2 * arms, arms + more), entries)
        elif memory.block[USED] + entries > memory.entries:
            self.memory = memory.grown(memory.room, entries)
        self.memory.resize(arms + more)
        kernels.add(self.memory.header, priors)

    def remove(self, arm: int) -> Moves:
        """An arm goes; returns which arms took over which numbers."""
        ahead.compile_change("remove")
        first, to, last, hole = kernels.remove(self.memory.header, arm)
        self.memory.resize(last)
        return [(first, to), (last, hole)]


class OwnIndexCore(Core):
    """The same for a policy of the user's, whose index may not be a number."""

    def __init__(self, memory: Memory, policy: Policy) -> None:
        self._policy = policy
        super().__init__(memory)

    def checkpoint(self, count: int) -> Callable[[], None]:
        return self._way_back()

    def select(self, t: int, out: Integers) -> None:
        back = self._way_back()
        made = self._kernels.select(self.memory.header, t, out)
        if made < out.size:
            back()
            raise InvalidValue(
                f"the index of {self._policy!r} must be a number, got NaN or an error after {t + made} pulls"
            )
