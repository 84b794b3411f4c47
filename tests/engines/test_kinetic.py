"""Kinetic: what its tree says of arms and of times is true, whatever happens to them."""

import math

import numpy as np
import pytest

import thrifty
from tests.support.lives import life
from thrifty.engines import kinetic
from thrifty.engines.kinetic import HOLDS, LEADER, TIES, UNTIL

POLICIES = [
    thrifty.UCB1(),
    thrifty.UCB1Tuned(),
    thrifty.UCBV(),
    thrifty.KLUCB(),
    thrifty.BayesUCB(),
    thrifty.Forgetting(thrifty.UCB1(), half_life=5000),
]
SEEDS = pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 30), marks=pytest.mark.slow)], ids=str
)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@SEEDS
def test_it_is_what_scan_would_choose(policy, seeds):
    """Without ties; with them, only the first place is as on scan. Some indices of KL-UCB and Bayes-UCB are
    tied close to 1."""
    apart = type(policy) not in (thrifty.KLUCB, thrifty.BayesUCB)
    for seed in seeds:
        for how in ({"slates": apart}, {"slates": False, "tied": True}):
            on_kinetic, on_scan = (life(policy, engine, seed, **how) for engine in ("kinetic", "scan"))
            assert on_kinetic == on_scan


def indices(bandit, t):
    """UCB1's, from the statistics that the bandit has; -inf for who is not there, or paused."""
    memory = bandit._player.core.memory
    prior = memory.field("prior")
    on_their_way = memory.field("pending")[:, 0] - memory.field("expired")[:, 0]
    n = memory.field("pulls") + prior[:, 1] + on_their_way
    found = memory.field("means") + np.sqrt(2.0 * math.log(max(t, 1.0)) / n)
    found[memory.field("barred") > 0] = -math.inf
    return found


def check(bandit):
    """Each slot of a tree in which everything was just compared: who leads below it, how many are tied, and
    that comparisons which are said to hold come out as they did. Returns how many hold."""
    bandit.preview()  # compares what is open
    memory = bandit._player.core.memory
    t, tree = float(memory.field("count")[kinetic.CLOCK]), memory.field("races")
    x = indices(bandit, t)
    leaves, held = len(tree) // 2, 0
    top, ties = np.full(2 * leaves, -math.inf), np.zeros(2 * leaves)
    top[leaves : leaves + x.size] = x
    ties[leaves:] = top[leaves:] > -math.inf
    for slot in range(leaves - 1, 0, -1):
        left, right = 2 * slot, 2 * slot + 1
        top[slot] = max(top[left], top[right])
        ties[slot] = ties[left] * (top[left] == top[slot]) + ties[right] * (top[right] == top[slot])
        if top[slot] == -math.inf:
            assert tree[slot, LEADER] < 0
            continue
        assert tree[slot, TIES] == ties[slot]
        assert x[int(tree[slot, LEADER])] == top[slot]
        assert tree[slot, UNTIL] > t
        assert tree[slot, UNTIL] <= min(tree[left, UNTIL], tree[right, UNTIL])
        if min(top[left], top[right]) > -math.inf and tree[slot, HOLDS] != 0.0:
            held += 1
            assert tree[slot, UNTIL] <= max(abs(tree[slot, HOLDS]), t + 1)
            assert (tree[slot, HOLDS] < 0.0) == (top[left] == top[right])
    return held


@SEEDS
@pytest.mark.parametrize("tied", [False, True])
def test_its_tree_is_true(seeds, tied):
    for seed in seeds:
        assert min(looked(seed, tied)) > 200


def looked(seed, tied):
    """How many comparisons hold after each step of a life."""
    held = []
    life(thrifty.UCB1(), "kinetic", seed, slates=True, tied=tied, look=lambda each: held.append(check(each)))
    return held


@pytest.mark.parametrize("many", [kinetic.FEW - 1, kinetic.FEW, kinetic.FEW + 1, 1000])
def test_more_arms_change_at_once_than_it_lists(many):
    """The rest is found in the tree."""
    rng = np.random.default_rng(1)
    prior = rng.random(1000), np.full(1000, 5.0)
    bandits = [
        thrifty.Bandit(thrifty.UCB1(), 1000, seed=1, engine=e, prior=prior) for e in ("kinetic", "scan")
    ]
    for _ in range(20):
        arms, rewards = rng.permutation(1000)[:many].tolist(), rng.random(many).tolist()
        for bandit in bandits:
            bandit.update_many(arms, rewards)
        assert bandits[0].rank(5) == bandits[1].rank(5)
        assert bandits[0].select() == bandits[1].select()


def test_an_arm_that_rests_learns_and_wakes_without_a_decision_in_between():
    """What it was compared with before says nothing of it."""
    bandits = [
        thrifty.Bandit(thrifty.UCB1(), 64, seed=1, engine=engine, prior=(np.linspace(0.1, 0.9, 64), 5.0))
        for engine in ("kinetic", "scan")
    ]
    for _ in range(50):
        chosen = [bandit.select() for bandit in bandits]
        assert chosen[0] == chosen[1]
        for bandit, arm in zip(bandits, chosen, strict=True):
            bandit.pause(arm)
            bandit.update(arm, 0.0)
            bandit.resume(arm)
            for worst in range(3):
                bandit.pause(worst)
                bandit.observe(worst, 1.0)
                bandit.resume(worst)
