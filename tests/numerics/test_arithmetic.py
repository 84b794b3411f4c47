"""Operations on plain numbers are typed by rules of thrifty's own: they must give what Python gives, in the
types that Numba would choose."""

import math
import operator
from itertools import product
from typing import Any

import numba
import numpy as np
import pytest
from numba import types

from thrifty.jit import entry
from thrifty.numerics.arithmetic import NUMBERS, PAIRS

FLOATS = (0.0, -0.0, 1.5, -2.25, 1e300, math.inf, -math.inf, math.nan)
INTEGERS = (0, 1, -1, 7, -13, 2**53 + 1, -(2**62))
VALUES = {types.int64: INTEGERS, types.float64: FLOATS}
ARITHMETIC = ("add", "sub", "mul", "iadd", "isub", "imul")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


@entry
def sums(a, b):  # type: ignore[no-untyped-def]
    x, y, z = a, a, a
    x += b
    y -= b
    z *= b
    return a + b, a - b, a * b, x, y, z


@entry
def comparisons(a, b):  # type: ignore[no-untyped-def]
    return a < b, a <= b, a > b, a >= b, a == b, a != b


@entry
def extremes(a, b):  # type: ignore[no-untyped-def]
    return min(a, b), max(a, b)


@entry
def quotient(a, b):  # type: ignore[no-untyped-def]
    x = a
    x /= b
    return a / b, x


@entry
def alone(a):  # type: ignore[no-untyped-def]
    return int(a), bool(a)


def same(value: Any, expected: Any) -> bool:
    """Of one type and value, the sign of zero and NaN included."""
    if isinstance(expected, float):
        return isinstance(value, float) and repr(value) == repr(expected)
    return type(value) is type(expected) and value == expected


def wrapped(value: Any) -> Any:
    """Integers have 64 bits."""
    return (value + 2**63) % 2**64 - 2**63 if type(value) is int else value


@pytest.mark.parametrize(("left", "right", "kind"), PAIRS)
def test_two_numbers(left: Any, right: Any, kind: Any) -> None:
    convert: Any = int if kind == types.int64 else float
    with np.errstate(all="ignore"):
        for a, b in product(VALUES[left], VALUES[right]):
            x, y = convert(a), convert(b)  # what is compared or added is of one type
            expected = [wrapped(getattr(operator, name)(x, y)) for name in ARITHMETIC]
            assert all(map(same, sums(a, b), expected)), (a, b)
            expected = [getattr(operator, name)(x, y) for name in COMPARISONS]
            assert all(map(same, comparisons(a, b), expected)), (a, b)
            assert all(map(same, extremes(a, b), (min(x, y), max(x, y)))), (a, b)
            if kind == types.float64:
                expected = [float(np.float64(x) / np.float64(y))] * 2
                assert all(map(same, quotient(a, b), expected)), (a, b)


@pytest.mark.parametrize("kind", NUMBERS)
def test_one_number(kind: Any) -> None:
    for a in VALUES[kind]:
        whole, truth = alone(a)
        assert truth is bool(a)
        if math.isfinite(a) and abs(a) < 2**63:
            assert same(whole, int(a))


def test_other_types_are_left_to_numba() -> None:
    assert sums(np.float32(0.5), np.float32(0.25))[0] == 0.75
    assert sums.signatures[-1] == (types.float32, types.float32)  # type: ignore[attr-defined]
    assert sums.overloads[sums.signatures[-1]].signature.return_type.dtype == types.float32  # type: ignore[attr-defined]
    assert quotient(7, 2) == (3.5, 3.5)
    assert extremes(True, False) == (False, True)


@numba.njit
def one_more(a):  # type: ignore[no-untyped-def]
    """``x`` may be None."""
    x = None
    if a > 0:
        x = a
    return None if x is None else (x + 1, x * 2.5, x < 2, x == 1, min(x, 3))


def test_what_may_be_none_is_left_to_numba() -> None:
    assert one_more(1) == (2, 2.5, True, True, 1)
    assert one_more(1.5) == (2.5, 3.75, True, False, 1.5)
    assert one_more(-1) is None


@numba.njit
def by_key(a, b):  # type: ignore[no-untyped-def]
    return min(a, b, key=abs)


def test_a_keyword_is_not_overlooked() -> None:
    with pytest.raises(numba.TypingError):
        by_key(1, -2)
