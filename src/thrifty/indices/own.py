"""The index of a policy of the user's own, called by its address: so no engine is compiled anew for it.

Its parameters lie in an array, which is known by its address too.
"""

import ctypes
import itertools
import math
from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array
from numba.np.unsafe.ndarray import to_fixed_tuple

from thrifty.jit import config
from thrifty.numerics import random

# Of the parameters, arms, horizon, n, mean, t and rng.
SIGNATURE = types.float64(
    types.CPointer(types.float64), types.int64, types.int64, types.float64, types.float64, types.int64,
    types.CPointer(types.uint64),
)  # fmt: skip

_kept: dict[int, Any] = {}  # what has to live on behind an address; interpreted, the functions themselves
_numbers = itertools.count(1)


def address(index: Callable[..., float], inside: Any) -> int:
    """Compile an index, with ``inside(*parameters, arms, horizon)`` for self. One that raises an error is not
    a number."""
    size = len(inside._fields) - 2
    if config.DISABLE_JIT:
        number = next(_numbers)
        _kept[number] = (index, inside, size)
        return number
    formula: Any = index if hasattr(index, "py_func") else numba.njit(error_model="numpy")(index)

    @numba.cfunc(SIGNATURE)
    def call(own, arms, horizon, n, mean, t, rng):
        parameters = (*to_fixed_tuple(numba.carray(own, size), size), arms, horizon)
        itself, words = inside(*parameters), numba.carray(rng, random.WORDS)
        try:
            return 1.0 * formula(itself, n, mean, t, words)  # a text cannot be multiplied
        except Exception:
            return math.nan

    where = cast(int, call.address)
    _kept[where] = call
    return where


def index(function, own, arms, horizon, n, mean, t, rng):
    """The index at this address. Interpreted, its numbers are those of NumPy, which divide by zero."""
    formula, inside, size = _kept[function]
    parameters = map(np.float64, (ctypes.c_double * size).from_address(own))
    itself = inside(*parameters, np.int64(arms), np.int64(horizon))
    try:
        with np.errstate(all="ignore"):
            return float(1.0 * formula(itself, np.float64(n), np.float64(mean), np.int64(t), rng))
    except Exception:
        return math.nan


@intrinsic
def _call(typing, function, own, arms, horizon, n, mean, t, rng):
    signature = types.float64(
        types.int64, types.int64, types.int64, types.int64, types.float64, types.float64, types.int64, rng
    )

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where, own, *numbers, rng = arguments
        kinds = [context.get_value_type(kind) for kind in SIGNATURE.args]
        words = make_array(signature.args[-1])(context, builder, rng).data
        kind = ir.FunctionType(context.get_value_type(SIGNATURE.return_type), kinds)
        pointer = builder.inttoptr(where, kind.as_pointer())
        return builder.call(pointer, [builder.inttoptr(own, kinds[0]), *numbers, words])

    return signature, make


@overload(index)
def _index(function, own, arms, horizon, n, mean, t, rng):
    return lambda function, own, arms, horizon, n, mean, t, rng: _call(
        function, own, arms, horizon, n, mean, t, rng
    )
