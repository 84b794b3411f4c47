"""Binarised policies at work: rewards in [0, 1] become coins, and nothing else changes."""

from pathlib import Path

import numpy as np
import pytest

import thrifty
from tests.support.chance import assert_share
from tests.support.live import column, lasting, refused, state
from thrifty.numerics import random
from thrifty.policies import Policy

COINS: list[tuple[Policy, str]] = [
    (thrifty.Binarised(), "scan"),
    (thrifty.Binarised(), "sleepers"),
    (thrifty.Binarised(thrifty.TSMA(alpha=0.5, law="beta", anytime=True)), "tournament"),
    (thrifty.Binarised(thrifty.TSTD(law="beta", phi=4)), "sleepers"),
    (thrifty.Binarised(thrifty.KLUCB()), "kinetic"),
    (thrifty.Binarised(thrifty.DMED()), "scan"),
]
EVERY_ENGINE = pytest.mark.parametrize(("policy", "engine"), COINS, ids=str)


@EVERY_ENGINE
def test_a_reward_is_the_chance_of_a_1(policy: Policy, engine: str) -> None:
    bandit = thrifty.Bandit(policy, 3, seed=1, engine=engine)
    n = 20_000
    bandit.update_many(np.repeat([0, 1, 2], n), np.repeat([0.3, 0.0, 1.0], n))
    sums = state(bandit).sums
    assert sums[1:].tolist() == [0.0, n]
    assert sums[0] == round(sums[0])
    assert_share(sums[0], n, 0.3)
    assert column(bandit, "mean") == {0: sums[0] / n, 1: 0.0, 2: 1.0}


def test_a_reward_in_another_unit() -> None:
    """Of the range from -2 to 8, 1 is 3 in 10; means are shown in that unit too."""
    bandit = thrifty.Bandit(thrifty.Binarised(), 2, seed=2, reward_range=(-2.0, 8.0))
    bandit.update_many([0] * 10_000, [1.0] * 10_000)
    assert_share(state(bandit).sums[0], 10_000, 0.3)
    assert column(bandit, "mean")[0] == pytest.approx(-2.0 + 10.0 * state(bandit).sums[0] / 10_000)
    for reward in (-2.5, 9.0):
        with refused(thrifty.InvalidValue, r"reward must be in \[-2\.0, 8\.0\], got", bandit):
            bandit.update(0, reward)
    with pytest.raises(thrifty.InvalidValue, match=r"reward_range must be \(low, high\) for Binarised\("):
        thrifty.Bandit(thrifty.Binarised(), 2, reward_range=None)


@EVERY_ENGINE
def test_after_the_coin_it_is_the_policy_inside(policy: Policy, engine: str) -> None:
    """Given the same coins, and the random numbers that are left, its decisions are the same."""
    assert isinstance(policy, thrifty.Binarised)
    coins = thrifty.Bandit(policy, 5, 2000, seed=3, engine=engine)
    plain = thrifty.Bandit(policy.policy, 5, 2000, seed=3, engine=engine)
    rng = np.random.default_rng(3)
    for _ in range(400):
        arm = coins.select()
        assert plain.select() == arm
        before = state(coins).sums.copy()
        words = random_after_a_coin(state(coins).rng)
        coins.update(arm, rng.random())
        state(plain).rng[:] = words
        plain.update(arm, float((state(coins).sums - before).sum()))
        np.testing.assert_array_equal(state(coins).rng, state(plain).rng)
    np.testing.assert_array_equal(state(coins).sums, state(plain).sums)
    np.testing.assert_array_equal(state(coins).params, state(plain).params)


def random_after_a_coin(words: np.ndarray) -> np.ndarray:
    """The generator after one uniform."""
    later = words.copy()
    random.uniform(later)
    return later


@EVERY_ENGINE
def test_a_snapshot_goes_on_alike(policy: Policy, engine: str, tmp_path: Path) -> None:
    bandit, rng = thrifty.Bandit(policy, ["x", "y", "z"], seed=4, engine=engine), np.random.default_rng(4)
    for _ in range(50):
        bandit.update(bandit.select(), rng.random())
    bandit.select_many(3)
    bandit.save(tmp_path / "bandit.npz")
    pair = [bandit, thrifty.Bandit.load(tmp_path / "bandit.npz")]
    assert pair[1].policy == policy
    assert pair[1].engine == engine
    for _ in range(1500):
        first, second = (each.select() for each in pair)
        assert first == second
        reward = rng.random()
        for each in pair:
            each.update(first, reward)
    assert lasting(pair[0]) == lasting(pair[1])
    assert pair[0].horizon == (2048 if policy.needs_horizon else None)
