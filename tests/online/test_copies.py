"""Copies of a bandit: they share nothing that changes, and decide alike until they are reseeded."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.live import Coins, decide, refused, state
from tests.support.own import Bell
from thrifty.policies import Policy


@pytest.mark.parametrize("copy_of", [copy.deepcopy, copy.copy])
def test_a_copy_has_a_posterior_of_its_own(copy_of: Callable[[thrifty.Bandit], thrifty.Bandit]) -> None:
    """And the same ids: objects that equal nothing but themselves are still ids of it."""
    ids, posterior = [object(), object()], Bell()
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=posterior), ids, seed=1)  # type: ignore[arg-type]
    bandit.update_many(ids, [0.0, 1.0])
    other = copy_of(bandit)
    other.update(ids[0], 0.5)
    other.add_arm("new")
    assert posterior.known == {ids[0]: (1, 0.0), ids[1]: (1, 1.0)}
    assert other.policy.law.known[ids[0]] == (2, 0.5)  # type: ignore[attr-defined]
    assert (len(bandit), len(other)) == (2, 3)
    bandit.update(ids[0], 0.5)
    other.remove_arm("new")
    assert [bandit.select() for _ in range(20)] == [other.select() for _ in range(20)]


@pytest.mark.parametrize("policy", [thrifty.ThompsonSampling(), thrifty.TSMA(), thrifty.NPTS()], ids=repr)
def test_copies_from_one_file_that_differ(policy: Policy, tmp_path: Path) -> None:
    """With a seed each, or with none that anybody knows; statistics and indices stay what they were."""
    bandit = thrifty.Bandit(policy, 20, seed=1)
    bandit.update_many(range(20), np.arange(20) % 2)
    file = tmp_path / "bandit.npz"
    bandit.save(file)
    same, one, again, two = (thrifty.Bandit.load(file, seed=seed) for seed in (None, 5, 5, 6))
    reseeded, unknown = thrifty.Bandit.load(file), thrifty.Bandit.load(file)
    reseeded.reseed(6)
    unknown.reseed()
    assert state(unknown).index.tobytes() == state(bandit).index.tobytes()
    chosen = []
    for each in (bandit, same, one, again, two, reseeded, unknown):
        coins = Coins([0.5] * 20, 1)
        chosen.append(tuple(decide(each, coins, 60)))
    assert chosen[0] == chosen[1]
    assert chosen[2] == chosen[3]
    assert chosen[4] == chosen[5]
    assert len(set(chosen)) == 4


@pytest.mark.parametrize("seed", [-1, 0.5, "one"])
def test_a_seed_that_is_none(seed: Any, tmp_path: Path) -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 2, seed=1)
    bandit.save(tmp_path / "bandit.npz")
    with refused(thrifty.ThriftyError, "seed must be", bandit):
        bandit.reseed(seed)
    with pytest.raises(thrifty.ThriftyError, match="seed must be"):
        thrifty.Bandit.load(tmp_path / "bandit.npz", seed=seed)
