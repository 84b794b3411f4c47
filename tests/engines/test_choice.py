"""Scan and tournament choose the same arm with the same random numbers, and break ties uniformly."""

import math

import numpy as np
import pytest
from numba import njit

from tests.support.chance import assert_uniform
from thrifty.engines import scan, tournament
from thrifty.numerics import random

SIZES = [1, 2, 3, 5, 16, 17, 64, 65, 300]


def empty_tree(arms: int) -> np.ndarray:
    return tournament.built(np.full(arms, -math.inf), arms)


def tied_indices(arms: int, levels: int, seed: int) -> np.ndarray:
    """Indices on few levels, -inf among them: most choices are between several arms."""
    return np.append(np.arange(1.0, levels), -math.inf)[
        np.random.default_rng(seed).integers(levels, size=arms)
    ]


@njit
def choices(index, tree, rng, counts):
    """How often each arm is chosen, by scan (row 0) and by tournament (row 1)."""
    for _ in range(100_000):
        counts[0, scan.largest(index, rng)] += 1
        counts[1, tournament.largest(tree, index, rng)] += 1


@pytest.mark.parametrize("arms", SIZES)
def test_a_built_tree_chooses_like_a_scan(arms: int) -> None:
    tree = empty_tree(arms)
    for trial in range(200):
        index = tied_indices(arms, levels=2 + trial % 4, seed=trial)
        tournament.build(tree, index)
        by_scan, by_tree = random.generator(trial), random.generator(trial)
        chosen = scan.largest(index, by_scan)
        assert index[chosen] == index.max()
        assert tournament.largest(tree, index, by_tree) == chosen
        assert by_tree.tolist() == by_scan.tolist()


@pytest.mark.parametrize("arms", SIZES)
def test_a_repaired_tree_is_a_built_one(arms: int) -> None:
    """Arms change one by one, up, down and to where they were."""
    repaired, built = empty_tree(arms), empty_tree(arms)
    index = tied_indices(arms, 4, seed=arms)
    for i in range(arms):  # as after the initial pulls
        tournament.repair(repaired, index, i)
    changes = np.random.default_rng(arms)
    for _ in range(300):
        tournament.build(built, index)
        np.testing.assert_array_equal(repaired, built)
        i = changes.integers(arms)
        index[i] = changes.choice([-math.inf, 0.0, 1.0, 2.0])
        tournament.repair(repaired, index, i)


@pytest.mark.parametrize(
    ("index", "best"),
    [
        ([2.0, 5.0, 5.0, 1.0, 5.0, 5.0, 5.0], [1, 2, 4, 5, 6]),
        ([-math.inf] * 5, [0, 1, 2, 3, 4]),
        ([0.5] * 100, list(range(100))),
        ([math.inf, 1.0, math.inf], [0, 2]),
        ([-0.0, 0.0, -1.0], [0, 1]),
    ],
)
def test_ties_are_broken_uniformly(index: list[float], best: list[int]) -> None:
    tree, counts = empty_tree(len(index)), np.zeros((2, len(index)), np.int64)
    tournament.build(tree, np.array(index))
    choices(np.array(index), tree, random.generator(31), counts)
    assert counts[:, best].sum() == 200_000
    for row in counts:
        assert_uniform(row[best])


def test_only_a_tie_costs_a_random_number() -> None:
    for index, moves in (([1.0, 3.0, 2.0], False), ([3.0, 3.0, 2.0], True)):
        rng = random.generator(32)
        scan.largest(np.array(index), rng)
        assert (rng.tolist() != random.generator(32).tolist()) == moves
