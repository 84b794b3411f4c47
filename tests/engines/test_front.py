"""The front of a tournament: always the arms with the largest keys, in order, whatever happens to them."""

import math

import numpy as np
import pytest

import thrifty
from tests.support.lives import life
from thrifty.engines import front, tournament

POLICIES = [
    thrifty.TSMA(),
    thrifty.TSMA(law="beta", phi=3),
    thrifty.KLUCBPlusPlus(),
    thrifty.MOSS(),
    thrifty.Greedy(),
]


def front_of(bandit):
    """Its arms, their keys, and where it ends."""
    memory = bandit._player.core.memory
    size = memory.field("front_size")[front.SIZE]
    return memory.field("front")[:size], memory.field("heights")[:size], memory.field("front_end")[0]


def waiting(bandit):
    """For how many more decisions it is not filled."""
    return int(bandit._player.core.memory.field("front_size")[front.WAIT])


def check(bandit):
    """What is promised of the front. Returns how many arms it has."""
    arms, heights, end = front_of(bandit)
    keys = bandit._player.core.memory.field("keys")
    assert sorted(arms) == np.flatnonzero(keys > end).tolist()
    assert heights.tolist() == keys[arms].tolist() == sorted(heights)
    return len(arms)


def looked(policy, seed, **how):
    """How long the front is after each step of a life, and who was chosen."""
    sizes = []
    return sizes, life(policy, "tournament", seed, look=lambda bandit: sizes.append(check(bandit)), **how)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 30), marks=pytest.mark.slow)], ids=str)
def test_it_is_what_scan_would_choose(policy, seeds):
    """Without ties; with them, only the first place is as on scan."""
    for seed in seeds:
        for how in ({"slates": True}, {"slates": False, "tied": True}):
            sizes, on_front = looked(policy, seed, **how)
            assert on_front == life(policy, "scan", seed, **how)
            assert max(sizes) >= 30, "it was never asked for"
            assert min(sizes) == 0


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 30), marks=pytest.mark.slow)], ids=str)
def test_it_stays_in_order_where_arms_are_tied(policy, seeds):
    for seed in seeds:
        life(policy, "tournament", seed, slates=True, tied=True, count=33 + 7 * seed, look=check)


def known(means):
    return {"arm": range(len(means)), "pulls": [10] * len(means), "mean": means}


def greedy(means, **others):
    return thrifty.Bandit(thrifty.Greedy(), len(means), seed=1, statistics=known(means), **others)


def test_nobody_pays_for_it_who_does_not_ask():
    bandit = greedy(np.linspace(0.0, 0.9, 1000))
    for _ in range(100):
        bandit.update(bandit.select(), 0.0)
    assert check(bandit) == 0
    assert front_of(bandit)[2] == math.inf


def test_one_that_gets_too_long_loses_its_lower_half():
    """Arm after arm gets the largest mean of all."""
    bandit, sizes = greedy(np.linspace(0.0, 0.5, 1000), engine="tournament"), []
    bandit.rank(2)
    for arm in range(300):
        for _ in range(40 + arm % 5):
            bandit.update(arm, 1.0)
        sizes.append(check(bandit))
    assert max(sizes) == front.ROOM
    assert front.ROOM // 2 - 5 <= min(sizes[150:]) <= front.ROOM // 2 + 1
    assert bandit.preview(rank=3) == [arm for arm in range(299, 0, -1) if arm % 5 == 4][:3]


def test_one_that_is_full_of_equals_is_begun_anew():
    bandit = greedy([0.1 + arm / 1e6 for arm in range(1000)], engine="tournament")
    bandit.rank(2)
    sizes = []
    for arm in range(300):
        for _ in range(10):
            bandit.update(arm, 1.0)
        sizes.append(check(bandit))
    assert front.ROOM in sizes


@pytest.mark.parametrize(
    "shape",
    [
        lambda x: x,
        lambda x: x**50,  # where it should end is guessed too low
        lambda x: x**0.02,  # and too high
        lambda x: np.round(x, 4),  # some are tied
    ],
)
@pytest.mark.parametrize("many", [10, 64])
def test_it_is_filled_again_with_about_as_many(shape, many):
    """Wherever it should end: the best leave it, so many at a time."""
    means = 0.9 * shape(np.random.default_rng(1).random(20_000))
    bandit, before, filled = greedy(means, engine="tournament"), 0, []
    tied = np.unique(means).size < means.size
    for _ in range(200):
        slate = bandit.rank(many)
        size = check(bandit)
        assert tied or waiting(bandit) == 0, "it had too few"
        if size > before:
            filled.append(size)
        for arm in slate:
            for _ in range(30):
                bandit.update(arm, 0.0)
        before = check(bandit)
    assert len(filled) > 10
    assert tournament.FEW // 2 <= min(filled) <= max(filled) <= 2 * tournament.FEW


@pytest.mark.parametrize("policy", [thrifty.MOSS(), thrifty.KLUCBPlusPlus()], ids=repr)
def test_an_arm_that_is_tied_with_one_left_out_is_the_best_though_its_index_was_handed_out(policy):
    """Made anew, it is what it was."""
    known = {"arm": range(64), "pulls": [100] * 64, "mean": [0.9, 0.9, *np.linspace(0.5, 0.1, 62)]}
    for call, answer in (
        (lambda bandit: bandit.select(exclude=[1]), 0),
        (lambda bandit: bandit.rank(2, exclude=[1]), [0, 2]),
    ):
        bandit = thrifty.Bandit(policy, 64, horizon=6400, seed=1, statistics=known, engine="tournament")
        assert [call(bandit) for _ in range(6)] == [answer] * 6


def test_an_arm_has_its_turn_to_forget_in_a_decision_that_leaves_it_out():
    """It is there again afterwards."""
    policy = thrifty.Forgetting(thrifty.Greedy(), half_life=1e4)
    for call in (
        lambda bandit: bandit.select(exclude=[0]),
        lambda bandit: bandit.rank(1, exclude=[0])[0],
        lambda bandit: bandit.select(among=[1, 2], exclude=[0]),
        lambda bandit: bandit.decide(exclude=[0]),
    ):
        bandit = thrifty.Bandit(
            policy,
            100,
            seed=1,
            engine="tournament",
            statistics=known(np.linspace(0.9, 0.1, 100)),
            floor=0.001,
        )
        for _ in range(200):
            bandit.cancel(call(bandit))
        bandit.floor = 0.0
        assert bandit.preview(rank=3) == [0, 1, 2]


@pytest.mark.parametrize("policy", [thrifty.MOSS(), thrifty.KLUCBPlusPlus()], ids=repr)
def test_arms_follow_a_doubled_horizon_in_decisions_that_leave_them_out(policy):
    rng = np.random.default_rng(1)
    bandit = thrifty.Bandit(
        policy, 20_000, seed=1, engine="tournament", prior=(rng.random(20_000), np.full(20_000, 5.0))
    )
    bandit.update_many(np.arange(bandit.horizon - 3) % 100, np.zeros(bandit.horizon - 3))
    for step in range(20):
        bandit.select(exclude=range(1000 * step, 1000 * (step + 1)))
    memory = bandit._player.core.memory
    assert bandit.horizon == 80_000
    assert memory.field("keys").tolist() == memory.field("index").tolist()


def test_where_all_are_tied_it_is_not_tried_each_time():
    """The best thousand are tied, so that nobody is clearly in front."""
    bandit = greedy([0.5] * 1000 + [0.1] * 1000, engine="tournament")
    waits = []
    for _ in range(3 * front.PATIENCE):
        assert max(bandit.rank(10)) < 1000
        assert check(bandit) == 0
        waits.append(waiting(bandit))
    assert waits.count(front.PATIENCE) == 3
