"""Bandits whose policies keep every single reward: there is room for another one, and nothing is lost."""

from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.live import assert_same_state, column, lasting, state
from tests.support.live import kept as kept_by
from thrifty.online import core
from thrifty.policies import POLICIES, Policy, dirichlet_sampling
from thrifty.state.history import ROOM, SIZE, START, entries

KEEPING: list[Policy] = [
    thrifty.NPTS(),
    thrifty.MultinomialTS(),
    thrifty.IMED(family="bounded"),
    *(thrifty.DirichletSampling(variant) for variant in dirichlet_sampling.VARIANTS),
    thrifty.Binarised(thrifty.NPTS()),
]
KEEPING += [
    kind() for kind in POLICIES.values() if kind().keeps_rewards and kind not in set(map(type, KEEPING))
]
EVERY_POLICY = pytest.mark.parametrize("policy", KEEPING, ids=repr)
EXACT = [policy for policy in KEEPING if not policy.resolve(1, 1).grid]  # they keep rewards as they are


def kept(bandit: thrifty.Bandit) -> dict[Hashable, dict[float, float]]:
    """For each arm, how often each reward came."""
    now, books = state(bandit), {}
    for arm in bandit.statistics()["arm"]:
        values, times = kept_by(now, now.spans[bandit._ids.number(arm)]).T
        assert (np.diff(values) > 0.0).all()
        books[arm] = dict(zip(values.tolist(), times.tolist(), strict=True))
    return books


def assert_apart(bandit: thrifty.Bandit) -> None:
    """No two arms share an entry, and all are inside."""
    now = state(bandit)
    assert (now.spans[:, SIZE] <= now.spans[:, ROOM]).all()
    spans = now.spans[now.spans[:, ROOM] > 0]
    spans = spans[spans[:, START].argsort()]
    assert (spans[1:, START] >= spans[:-1, START] + spans[:-1, ROOM]).all()
    assert (spans[:, START] + spans[:, ROOM] <= len(now.history)).all()


def test_these_are_all_such_policies() -> None:
    assert all(policy.keeps_rewards for policy in KEEPING)


def test_what_removed_arms_leave_is_used_again() -> None:
    bandit = thrifty.Bandit(thrifty.NPTS(), arms=3, seed=1)
    for arm in range(3, 5000):
        bandit.add_arm(arm)
        bandit.update(arm, 0.5)
        bandit.update(arm, 0.25)
        bandit.remove_arm(arm)
    assert len(state(bandit).history) <= entries(3, core.FIRST_CAPACITY)


@EVERY_POLICY
def test_the_room_of_the_beginning_changes_nothing(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for one reward grows when 600 different ones come, alone and in batches."""
    pair = []
    for few in (1, 5000):
        monkeypatch.setattr(core, "FIRST_CAPACITY", few)
        pair.append(thrifty.Bandit(policy, 3, 5000, seed=1))
    before, rng = [len(state(bandit).history) for bandit in pair], np.random.default_rng(1)
    for size in [1] * 300 + [3, 40, 7, 250]:
        first, second = (bandit.select_many(size) for bandit in pair)
        assert first == second
        rewards = rng.random(size).tolist()
        for bandit in pair:
            bandit.update_many(first, rewards)
    small, large = pair
    assert len(state(large).history) == before[1]
    if policy in EXACT:
        assert len(state(small).history) > 20 * before[0]
    assert kept(small) == kept(large)
    assert_apart(small)
    np.testing.assert_array_equal(state(small).rng, state(large).rng)


@pytest.mark.parametrize("policy", EXACT, ids=repr)
def test_equal_rewards_take_one_entry(policy: Policy) -> None:
    bandit = thrifty.Bandit(policy, 2, seed=2)
    before = len(state(bandit).history)
    for _ in range(200):
        for arm, reward in ((0, 1.0), (1, 0.0), (0, 0.25), (1, 1.0)):
            bandit.update(arm, reward)
    assert kept(bandit) == {0: {0.25: 200.0, 1.0: 200.0}, 1: {0.0: 200.0, 1.0: 200.0}}
    assert len(state(bandit).history) == before


@EVERY_POLICY
def test_whatever_comes_and_goes(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewards in any order, arms that come, go and come back: the books are those of a dictionary."""
    monkeypatch.setattr(core, "FIRST_CAPACITY", 1)
    rng = np.random.default_rng(3)
    bandit = thrifty.Bandit(policy, ["a", "b", "c"], seed=3)
    books: dict[Hashable, list[float]] = {"a": [], "b": [], "c": []}
    for step in range(400):
        for arm in bandit.select_many(int(rng.integers(4))):
            assert arm in books
        arms = rng.choice(np.array(list(books)), rng.integers(6)).tolist()
        rewards = rng.choice([0.0, 0.5, 1.0, *rng.random(2)], len(arms)).tolist()
        bandit.update_many(arms, rewards)
        for arm, reward in zip(arms, rewards, strict=True):
            books[arm].append(reward)
        if step % 7 == 0:
            new = f"arm {step % 56}"
            if new in books:
                bandit.remove_arm(new)
                del books[new]
            bandit.add_arm(new)
            books[new] = []
        if step % 11 == 5 and len(books) > 2:
            gone = list(books)[rng.integers(len(books))]
            bandit.remove_arm(gone)
            del books[gone]
        if step % 10 == 0:
            assert_apart(bandit)
            assert column(bandit, "pulls") == {arm: len(rewards) for arm, rewards in books.items()}
            if policy in EXACT:
                assert kept(bandit) == {arm: dict(Counter(rewards)) for arm, rewards in books.items()}
    assert sum(map(len, books.values())) > 50


@pytest.mark.parametrize("prior", [(0.5, 1.5), ([0.25, 0.5, 0.75], [1.0, 2.0, 0.5])], ids=["one", "each"])
@pytest.mark.parametrize("policy", EXACT, ids=repr)
def test_priors_are_rewards_of_that_weight(policy: Policy, prior: Any) -> None:
    """Also those of arms that come later; a reward that equals the prior's mean joins it."""
    bandit = thrifty.Bandit(policy, 3, seed=4, prior=prior)
    means, weights = np.broadcast_to(prior[0], 3).tolist(), np.broadcast_to(prior[1], 3).tolist()
    expected = {arm: {means[arm]: weights[arm]} for arm in range(3)}
    assert kept(bandit) == expected
    bandit.add_arm("new", *([(0.875, 3.0)] if np.ndim(prior[0]) else []))
    expected["new"] = {0.875: 3.0} if np.ndim(prior[0]) else {0.5: 1.5}
    bandit.update_many([0, 0, 1, "new"], [1.0, means[0], 0.125, 0.5])
    for arm, reward in ((0, 1.0), (0, means[0]), (1, 0.125), ("new", 0.5)):
        expected[arm][reward] = expected[arm].get(reward, 0.0) + 1.0
    assert kept(bandit) == expected
    assert set(bandit.select_many(50)) <= {0, 1, 2, "new"}


@EVERY_POLICY
def test_a_snapshot_goes_on_alike(policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saved after the room has grown and arms have gone; it grows on in both."""
    monkeypatch.setattr(core, "FIRST_CAPACITY", 1)
    rng = np.random.default_rng(5)
    bandit = thrifty.Bandit(policy, 4, seed=5)
    for _ in range(100):
        arms = bandit.select_many(3)
        bandit.update_many(arms[1:], rng.random(2))
    bandit.add_arm("new")
    bandit.remove_arm(2)
    bandit.save(tmp_path / "bandit.npz")
    pair = [bandit, thrifty.Bandit.load(tmp_path / "bandit.npz")]
    assert lasting(pair[0]) == lasting(pair[1])
    for _ in range(200):
        first, second = (each.select() for each in pair)
        assert first == second
        reward = rng.random()
        for each in pair:
            each.update(first, reward)
    for each in pair:
        each.add_arm("last")
    assert pair[0].select_many(30) == pair[1].select_many(30)
    assert_same_state(*map(state, pair))


@EVERY_POLICY
def test_a_table_of_means_is_not_enough(policy: Policy) -> None:
    old = thrifty.Bandit(policy, 2)
    old.update_many([0, 1], [0.25, 0.75])
    with pytest.raises(thrifty.InvalidValue) as error:
        thrifty.Bandit(policy, 2, statistics=old.statistics())
    assert str(error.value) == (
        f"statistics must not be given to {policy!r}, which needs every reward: use update_many"
    )
