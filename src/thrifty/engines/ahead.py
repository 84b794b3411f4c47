"""Compile before anything is decided: the entries of an engine, each called so that it does nothing.

The order is part of it: once ``begin`` is compiled, Numba makes the others in a fraction of the time, and of
the size.
"""

from functools import cache

import numpy as np

from thrifty.engines import ENGINES, decide
from thrifty.engines.late import PROMPT, new_late
from thrifty.engines.play import PLAYS
from thrifty.engines.state import (
    ENGINE,
    FRESH,
    Memory,
    Rule,
    delay_stream,
    new_memory,
    new_trace,
    policy_stream,
    reward_stream,
)
from thrifty.jit import Call, compile_by
from thrifty.problems import Bernoulli


@cache
def compile_bandit(engine: str) -> None:
    """What every bandit needs."""
    compile_by(_bandit(engine))


@cache
def compile_change(name: str) -> None:
    """``cancel``, ``renew``, ``add`` or ``remove``, which not every bandit needs."""
    compile_by([_changes()[name]])


@cache
def compile_simulation(engine: str) -> None:
    """The loop of a simulated run."""
    compile_by(_simulation(engine))


def compile_all() -> None:
    """Everything that there is."""
    calls = [call for engine in ENGINES for call in _bandit(engine) + _simulation(engine)]
    compile_by([*calls, *_changes().values()])


@cache
def _idle(engine: str) -> Memory:
    """Two arms of which nothing is known."""
    memory = new_memory(Rule(schedule=FRESH, arms=2, horizon=2), policy_stream(0, 0), engine)
    memory.state.count[ENGINE] = ENGINES.index(engine)
    return memory


def _bandit(engine: str) -> list[Call]:
    header, kernels = _idle(engine).header, decide.KERNELS[engine]
    nobody, nothing = np.empty(0, np.int64), np.empty(0)
    return [
        (kernels.begin, (header,)),
        (kernels.select, (header, 0, nobody)),
        (kernels.update, (header, nobody, nothing)),
    ]


def _changes() -> dict[str, Call]:
    header = _idle("scan").header
    return {
        "cancel": (decide.cancel, (header, 0)),
        "renew": (decide.renew, (header, np.empty(0, np.int64))),
        "add": (decide.add, (header, np.empty((0, 2)))),
        "remove": (decide.remove, (header, 1)),
    }


def _simulation(engine: str) -> list[Call]:
    late, trace = new_late(PROMPT, 0, 0, 0.0, delay_stream(0, 0)), new_trace(np.array([1]))
    arms = Bernoulli([0.5, 0.5]).arms()
    return [(PLAYS[engine], (_idle(engine).header, arms, reward_stream(0, 0), late, trace, 1, 1, False))]
