"""Where the fields of a state lie."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty.engines.memory import FIELDS, LINE, PAGE, POSITIONS, Memory

COPIES: dict[str, Callable[[Memory], Memory]] = {
    "copy": Memory.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda memory: pickle.loads(pickle.dumps(memory)),
    "grown": lambda memory: memory.grown(2 * memory.capacity),
}


@pytest.mark.parametrize("engine", ["scan", "tournament"])
@pytest.mark.parametrize("copied", COPIES)
def test_large_fields_begin_with_a_line_in_copies_too(engine: str, copied: str) -> None:
    """They do not overlap, and say the same."""
    bandit = thrifty.Bandit(thrifty.TSMA(), PAGE + 1, 10**4, seed=1, engine=engine)
    for arm in bandit.select_many(3 * PAGE):
        bandit.update(arm, float(arm % 2))
    memory = bandit._player.core.memory  # type: ignore[union-attr]
    for _ in range(8):  # memory that the system gives may begin anywhere
        other = COPIES[copied](memory)
        used = np.zeros(other.block.size, np.int64)
        for name, field in FIELDS.items():
            start, rows, columns = other.block[POSITIONS[name] :][:3].tolist()
            if rows >= PAGE:
                assert other.field(name).ctypes.data % (LINE * 8) == 0
            used[start : start + rows * columns] += 1
            if field.saved and not callable(field.rows):
                same: Any = other.field(name)[: len(memory.field(name))]
                np.testing.assert_array_equal(same.view(np.int64), memory.field(name).view(np.int64))
        assert used.max() == 1
        memory = other if copied != "grown" else memory
