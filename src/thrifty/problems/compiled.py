"""The pull of a problem as kernels call it, by address: thrifty's own, or around the user's ``reward``."""

import math
from collections import namedtuple
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidValue
from thrifty.jit import GUARDS, address, bound, config, hot, kernel
from thrifty.state.calls import SIGNATURES
from thrifty.state.rows import array, readable
from thrifty.state.statistics import NO_REWARD

WORDS_FOR = {"binary": "0 or 1", "unit": "in [0, 1]", "non-negative": "at least 0", "any": "a finite number"}
RANGES = {
    "binary": (0.0, 1.0),
    "unit": (0.0, 1.0),
    "non-negative": (0.0, checks.LARGEST),
    "any": (-checks.LARGEST, checks.LARGEST),
}

formula: Any = None
inside: Any = None
LOW, HIGH, BINARY = 0.0, 1.0, False


@cache
def address_of(pull: Callable[..., float]) -> int:
    """Where the compiled form of a pull is. What Numba refuses is refused by name, with the reason."""
    kind = getattr(pull, "kind", None)
    try:
        return address(pull, SIGNATURES["pull"], cached=kind is None)
    except Exception as error:  # Numba's own errors, and those of the functions that it calls
        if kind is None:
            raise
        reasons = [line for line in str(error).splitlines() if not line.startswith("Failed in")]
        raise InvalidValue(
            f"the reward of {kind.__name__} cannot be compiled: {[*reasons, repr(error)][0]} (it may only "
            "compute, and must return a number; with compiled = False it is plain Python)"
        ) from error


def pull(state, i):
    """A reward of the user's own: one that is not what the problem says is a fault."""
    try:
        x = float(1.0 * formula(inside(state), int(state.arms[i, 0]), array(state.reward_rng)))
    except Exception:
        x = math.nan
    if not LOW <= x <= HIGH or (BINARY and x != 0.0 and x != 1.0):
        state.fault[0] = NO_REWARD
        return 0.0
    return x


def own_pull(problem: Any) -> Callable[..., float]:
    """The pull around the ``reward`` of a problem of the user's own."""
    shapes = tuple((field.name, _shape(getattr(problem, field.name))) for field in fields(problem))
    kind: Any = type(problem)
    return _own_pull(kind, kind.reward, problem.rewards, shapes)


@cache
def _own_pull(kind: Any, reward: Any, rewards: str, shapes: Any) -> Callable[..., float]:
    low, high = RANGES[rewards]
    checks.draws_from_rng(f"reward of {kind.__name__}", getattr(reward, "py_func", reward))
    compiled = kernel(getattr(reward, "py_func", reward), **GUARDS)
    known = {"formula": compiled, "inside": _inside(kind, shapes), "LOW": low, "HIGH": high}
    made = bound(pull, f"{kind.__name__}_reward", **known, BINARY=rewards == "binary")
    if config.DISABLE_JIT:
        made = np.errstate(all="ignore")(made)
    made.kind = kind  # type: ignore[attr-defined]
    return made


# Fields as kernels see them: packed into one array, first two or three words for each that say what it is or
# where it lies, then the numbers.

WORDS = 3


def _shape(value: Any) -> str:
    """What a field is to kernels."""
    if isinstance(value, tuple):
        return "rows" if any(isinstance(row, tuple) for row in value) else "row"
    kinds = {bool: "flag", int: "whole", float: "number"}
    return kinds.get(type(value), "")


PART = "array(state.values)[int(state.values[{0}]) : int(state.values[{1}])]"
SHAPES = {
    "flag": "state.values[{0}] != 0.0",
    "whole": "int(state.values[{0}])",
    "number": "state.values[{0}]",
    "row": f"readable({PART})",
    "rows": f"readable({PART}.reshape((-1, int(state.values[{{2}}]))))",
}


def packed(problem: Any) -> Floats:
    """The fields as kernels see them."""
    known = [(field.name, getattr(problem, field.name)) for field in fields(problem)]
    known = [(name, value) for name, value in known if _shape(value)]
    words, end = np.zeros(WORDS * len(known)), WORDS * len(known)
    parts = [words]
    for place, (name, value) in enumerate(known):
        if not isinstance(value, tuple):
            words[WORDS * place] = value
            continue
        widths = {len(row) for row in value if isinstance(row, tuple)} or {1}
        if len(widths) > 1:
            raise InvalidValue(f"{name} must have rows of one length, got {sorted(widths)}")
        width = widths.pop()
        if _shape(value) == "rows":  # None for an arm that is not there
            value = [(math.nan,) * width if row is None else row for row in value]
        numbers = np.array(value, float).ravel()
        words[WORDS * place :][:WORDS] = end, end + numbers.size, width
        parts.append(numbers)
        end += numbers.size
    return np.concatenate(parts)


def _inside(kind: type, shapes: Any) -> Any:
    """A kernel that makes what ``self`` is inside of ``reward``: the fields."""
    known = [(name, shape) for name, shape in shapes if shape]
    made = namedtuple(kind.__name__, [name for name, _ in known])  # type: ignore[misc]
    parts = [SHAPES[shape].format(*range(WORDS * k, WORDS * k + WORDS)) for k, (_, shape) in enumerate(known)]
    space = {"made": made, "array": array, "readable": readable}
    return hot(eval(f"lambda state: made({', '.join(parts)})", space))
