"""Kernels are linked into what calls them, and Python may call them too."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.dispatcher import Dispatcher

from thrifty.jit import hot, kernel
from thrifty.linking import Linked, _Library
from thrifty.numerics import normal


@kernel
def halved(x):
    return 0.5 * x


@hot
def quartered(x):
    return halved(halved(x))


@kernel
def inverse(x):
    if x < 0.0:
        raise ValueError("a negative number")
    return 1.0 / x


def called(linked) -> bool:
    """Whether a kernel was compiled for Python."""
    return "_called" in vars(linked)


def test_a_loop_calls_what_is_linked_into_it() -> None:
    @njit
    def total(values):
        found = 0.0
        for value in values:
            found += quartered(value)
        return found

    assert total(np.array([4.0, 8.0])) == 3.0
    for linked in (halved, quartered):
        assert [type(result.library) for result in linked.overloads.values()] == [_Library]
        assert not called(linked)


def test_each_type_of_argument_has_its_code() -> None:
    @kernel
    def twice(x):
        return x + x

    @njit
    def both(x):
        return twice(x), twice(float(x))

    assert both(2**62 - 1) == (2**63 - 2, 2.0**63)
    assert len(twice.nopython_signatures) == 2


def test_python_may_call_a_kernel() -> None:
    @kernel
    def thrice(x):
        return x + x + x

    assert isinstance(thrice, Linked)
    assert thrice(2) == 6
    assert thrice(x=2.5) == 7.5
    assert called(thrice)
    assert isinstance(thrice._called, Dispatcher)
    assert thrice.__name__ == "thrice"


def test_other_processes_have_their_own() -> None:
    """A policy of one's own that is sent there may have kernels with it."""
    sent = pickle.dumps(normal.isf)
    assert pickle.loads(sent) is normal.isf
    command = f"import pickle; print(pickle.loads({sent!r})(0.5))"
    there = subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, text=True)
    assert there.stdout == "0.0\n"


def test_errors_come_through() -> None:
    @njit
    def loop(x):
        return inverse(x) + 1.0

    assert loop(2.0) == 1.5
    with pytest.raises(ValueError, match="a negative number"):
        loop(-1.0)
    with pytest.raises(ZeroDivisionError):
        loop(0.0)


def test_a_kernel_is_the_same_in_a_loop_and_from_python() -> None:
    @njit
    def loop(p, x):
        for i in range(p.size):
            x[i] = normal.isf(p[i])

    p = np.concatenate([np.linspace(0.0, 1.0, 1001), 10.0 ** np.linspace(-300.0, -1.0, 300), [math.nan]])
    found = np.empty_like(p)
    loop(p, found)
    np.testing.assert_array_equal(found, [normal.isf(value) for value in p])
    np.testing.assert_array_equal(found, [normal.isf.py_func(value) for value in p])
