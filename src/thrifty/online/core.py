"""The compiled side of a bandit: a block of memory, and the kernels that work on it.

Arms are numbers here, rewards are in the unit of the policy, and everything has been checked.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from thrifty.engines import decide
from thrifty.engines.state import (
    ARMS,
    ENGINE,
    HANDED,
    Floats,
    Integers,
    Memory,
    Rule,
    Words,
    draws,
    new_memory,
    write_rule,
)
from thrifty.errors import InvalidValue
from thrifty.jit import announce_compilation
from thrifty.policies import IndexPolicy, Policy

Moves = list[tuple[int, int]]
Prior = NDArray[np.float64]  # (K, 2): a mean and a weight for each arm


class Core:
    """The arms' statistics and indices, and who is chosen next."""

    def __init__(self, policy: Policy, rule: Rule, rng: Words, engine: str, priors: Prior | None) -> None:
        self.engine = engine
        self._policy = policy
        self._memory = new_memory(rule, rng, engine, priors=priors is not None)
        state = self._memory.state
        state.count[ENGINE] = decide.CODES[engine]
        if priors is not None:
            state.prior[:] = priors
        if priors is not None or rule.prior_weight > 0.0:
            state.count[HANDED] = rule.arms
        write_rule(state, rule)
        own = isinstance(policy, IndexPolicy)
        self._bind(decide.select_own(type(policy).index, rule.own) if own else decide.select)

    @classmethod
    def restored(cls, policy: Policy, memory: Memory, engine: str) -> "Core":
        """A core that goes on where a snapshot was taken."""
        core = cls.__new__(cls)
        core.engine, core._policy, core._memory = engine, policy, memory
        core._bind(decide.select)
        return core

    def _bind(self, select: Callable[..., int]) -> None:
        self._select = select
        announce_compilation([select, decide.update])

    @property
    def memory(self) -> Memory:
        return self._memory

    @property
    def has_priors(self) -> bool:
        """Whether each arm has a prior of its own."""
        return bool(self._memory.state.prior.size)

    @property
    def needs_pulls(self) -> bool:
        """Whether arms without rewards are pulled once, before anything is chosen."""
        return bool(self._memory.state.waiting[0])

    @property
    def pulls(self) -> Integers:
        return self._memory.state.pulls

    @property
    def sums(self) -> Floats:
        return self._memory.state.sums

    @property
    def draws(self) -> Integers:
        return draws(self._memory.state)

    @property
    def pending(self) -> Integers:
        return self._memory.state.pending[:, 0]

    def select(self, t: int, out: Integers) -> None:
        """Decisions number t and on, into ``out``."""
        made = self._select(self._memory.block, self._memory.offsets, t, out)
        if made < out.size:
            raise InvalidValue(f"the index of {self._policy!r} must be a number, got NaN in decision {t + made + 1}")

    def update(self, arms: Integers, rewards: Floats) -> None:
        decide.update(self._memory.block, self._memory.offsets, arms, rewards)

    def warm(self, pulls: Integers, sums: Floats) -> None:
        """Statistics of before: pulls of each arm and the sum of their rewards. Arms without any come last."""
        state = self._memory.state
        state.pulls[:] = pulls
        state.sums[:] = sums
        if state.waiting[0] > 0:
            state.waiting[0] = np.count_nonzero(pulls == 0)
            state.count[HANDED] = pulls.size - state.waiting[0]
        self.begin()

    def begin(self) -> None:
        """Make everything that is kept for an arm anew."""
        decide.begin(self._memory.block, self._memory.offsets)

    def follow(self, rule: Rule) -> None:
        """Another rule from now on, without making anything anew."""
        write_rule(self._memory.state, rule)

    def add(self, prior: tuple[float, float] | None) -> None:
        """One more arm, with the next number."""
        arms = int(self._memory.block[ARMS])
        if arms == self._memory.room:
            self._memory = self._memory.grown(2 * arms)
        mean, weight = prior or (0.0, 0.0)
        decide.add(self._memory.block, self._memory.offsets, mean, weight)

    def remove(self, arm: int) -> Moves:
        """An arm goes; returns which arms took over which numbers."""
        first, to, last, hole = decide.remove(self._memory.block, self._memory.offsets, arm)
        return [(first, to), (last, hole)]
