"""The levels that a bandit keeps once it was asked for a probability (``engines.levels``)."""

from functools import cache
from typing import Any

import numpy as np

from thrifty.arrays import Integers
from thrifty.engines import coming, levels
from thrifty.engines.memory import Memory
from thrifty.jit import address, bound, called
from thrifty.laws import Law
from thrifty.policies.compiled import law_hook
from thrifty.policies.program import Program
from thrifty.state.calls import SIGNATURES
from thrifty.state.levels import LEVELS, PARAMETERS, SF, SIZE, STALE

KINKS = 0.0, 1.0  # of laws that have atoms there, which are spread out


def kept(memory: Memory, playing: Program) -> Memory:
    """The same memory with levels, which are to be built."""
    if not memory.has(LEVELS):
        memory = memory.grown(memory.capacity, also=(LEVELS,))
        spoil(memory)
        attach(memory, playing)
    return memory


def attach(memory: Memory, playing: Program) -> None:
    """If there are levels: whenever an arm's law has new parameters, they learn of it."""
    if memory.has(LEVELS):
        law: Any = playing.policy.played.drawn_from
        numbers = memory.field("level_numbers")
        numbers[PARAMETERS], numbers[SF] = law_hook(law, "parameters"), law_hook(law, "sf_spread")
        memory.write(playing.hooks._replace(parameters=_learnt()))


@cache
def _learnt() -> int:
    return address(bound(levels.learnt, "levels_learnt"), SIGNATURES["parameters"])


def spoil(memory: Memory) -> None:
    """If there are levels, they have to be built anew."""
    if memory.has(LEVELS):
        memory.field("level_numbers")[STALE] = 1


def seat(memory: Memory, arm: int) -> None:
    """If there are levels: an arm was paused or resumed."""
    if memory.has(LEVELS):
        called(levels.seat, memory.block, arm)


def leave(memory: Memory, arm: int) -> None:
    """If there are levels: an arm is about to go."""
    if memory.has(LEVELS):
        called(levels.leave, memory.block, arm)


def ask(memory: Memory, arm: int, exclude: Integers, law: Law) -> float:
    """The probability of an arm, of all but those to ``exclude``; less than 0 if the levels cannot tell."""
    found = called(levels.ask, memory.block, arm, exclude)
    if found == levels.ANEW:
        who = np.empty(memory.arms, np.int64)
        who = who[: called(coming.lawful, memory.block, exclude[:0], exclude[:0], who)]
        us, heights, size = np.ones(SIZE), np.empty(SIZE), np.zeros(1, np.int64)
        kinks = np.array(KINKS if law.sf_spread else ())
        steps, isf = np.zeros(kinks.size, np.int64), law_hook(law, "isf_spread")
        called(levels.build, memory.block, isf, who, kinks, steps, us, heights, size)
        found = called(levels.ask, memory.block, arm, exclude)
    return float(found)
