"""Fields as kernels see them do what NumPy's arrays do; kernels can be called from Python too."""

from typing import Any

import numba
import numpy as np
import pytest

from thrifty.engines.memory import Hooks, Memory, Rule, new_memory
from thrifty.jit import Kernel, entry, kernel
from thrifty.numerics import random
from thrifty.state.header import opened
from thrifty.state.rows import array, fetch, readable

ARMS = 7


@kernel
def total(rows):
    found = 0.0
    for i in range(len(rows)):
        found += rows[i]
    return found


@entry
def read(block, i, out):
    """What kernels can do with a field of one column, and one of two."""
    state = opened(block)
    means, params = state.means, state.params
    fetch(means, i)  # changes nothing, and may be asked for what is not there
    fetch(params, 10**6)
    out[0], out[1], out[2] = means[i], means[2], total(means)
    out[3], out[4], out[5] = means.size, len(means), means.shape[0]
    out[6], out[7] = params[i, 0], params[i, 1]
    out[8], out[9], out[10], out[11] = params.size, len(params), params.shape[0], params.shape[1]
    part = means[2:i]
    out[12], out[13], out[14] = part.size, total(part), part[0]
    out[15], out[16], out[17] = total(means[i:]), total(means[:i]), means[1:100].size
    out[18], out[19] = means[i:2].size, params[3:6][1, 1]
    out[20], out[21] = array(means).sum(), readable(params)[i, 1]
    out[22], out[23] = array(params).shape[1], array(means[3:])[1]


@entry
def write(block, i):
    state = opened(block)
    state.means[i] = 5  # a whole number, into a field of others
    state.means[1] += 0.5
    state.params[i, 1] = state.params[i, 0] = -1.0
    state.pulls[i] += 2
    state.means[3:][1] = 9.0


@pytest.fixture
def memory() -> Memory:
    from thrifty.state import statistics

    made = new_memory(Rule(ARMS, 10), Hooks(), [statistics.LAW], np.ones(4, np.uint64))
    rng = np.random.default_rng(1)
    made.field("means")[:] = rng.random(ARMS)
    made.field("params")[:] = rng.random((ARMS, 2))
    return made


def test_elements_sizes_and_slices(memory: Memory) -> None:
    out, means, params = np.full(24, np.nan), memory.field("means"), memory.field("params")
    read(memory.block, 5, out)
    wanted: list[Any] = [means[5], means[2], means.sum(), ARMS, ARMS, ARMS]
    wanted += [*params[5], 2 * ARMS, ARMS, ARMS, 2, 3, means[2:5].sum(), means[2]]
    wanted += [means[5:].sum(), means[:5].sum(), ARMS - 1, 0, params[4, 1]]
    wanted += [means.sum(), params[5, 1], 2, means[4]]
    np.testing.assert_allclose(out, wanted, rtol=1e-15)


def test_elements_are_written_and_nothing_else_is(memory: Memory) -> None:
    before = {name: memory.field(name).copy() for name in ("means", "params", "pulls", "sums", "index")}
    write(memory.block, 5)
    before["means"][[5, 4]] = 5.0, 9.0
    before["means"][1] += 0.5
    before["params"][5] = -1.0
    before["pulls"][5] += 2
    for name, values in before.items():
        np.testing.assert_array_equal(memory.field(name), values)


def test_a_kernel_is_compiled_for_python_if_python_calls_it() -> None:
    """Numba itself would end the process: the function that it calls is not there."""
    rng = random.generator(1, 2, 3)
    again = rng.copy()
    interpreted = getattr(random.uniform, "py_func", random.uniform)
    with np.errstate(over="ignore"):  # words of a generator are meant to wrap around
        assert 0.0 <= random.uniform(rng) < 1.0
        interpreted(again)
        assert random.uniform(rng) == random.uniform(again)
    assert repr(total).startswith(("Kernel(<function total", "<function total"))


@kernel
def doubled(number):
    return 2 * number


def test_a_kernel_is_compiled_once_for_all_constants() -> None:
    assert numba.njit(lambda number: doubled(1) + doubled(2) + doubled(number))(3) == 12
    if isinstance(doubled, Kernel):
        assert len(doubled.dispatcher.signatures) == 1
