"""Decisions that have an id: each is closed once, by its reward, by cancelling it, or because it is old."""

import copy
import dataclasses
import gc
import math
import pickle
import threading
import time
from collections import Counter, deque
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import thrifty
from tests.support.crowd import FORKING, in_child
from tests.support.live import EVERYWHERE, Coins, everything, ledger, refused
from tests.support.own import Bell, Sampler
from thrifty.online.decisions import Decision, Decisions
from thrifty.policies import Policy

MEANS = [0.2, 0.5, 0.9, 0.7, 0.4]


def learned(policy: Policy | None = None, arms: Any = 5, **options: Any) -> thrifty.Bandit:
    """A bandit that has seen some rewards of every arm."""
    bandit = thrifty.Bandit(policy or thrifty.ThompsonSampling(), arms, seed=3, **options)
    bandit.update_many(bandit.arms * 4, np.arange(4 * len(bandit)) % 3 > 0)
    return bandit


def pending(bandit: thrifty.Bandit) -> int:
    return int(bandit.statistics()["pending"].sum())


# One decision --------------------------------------------------------------------------------------------


def test_a_decision_and_its_reward() -> None:
    bandit = learned(arms=["a", "b"])
    before = time.time()
    decision = bandit.decide()
    assert decision.arm in bandit
    assert before <= decision.time <= time.time()
    assert decision.control is False
    assert (pending(bandit), bandit.decisions) == (1, 1)
    assert bandit.reward(decision, 1.0) is True
    assert (pending(bandit), bandit.decisions) == (0, 1)
    assert bandit.statistics()["pulls"].sum() == 9
    with pytest.raises(dataclasses.FrozenInstanceError):
        decision.arm = "b"


def test_a_second_reward_changes_nothing() -> None:
    bandit = learned()
    decision = bandit.decide()
    assert bandit.reward(decision.id, 1.0)
    before = everything(bandit)
    assert not bandit.reward(decision.id, 0.0)
    assert not bandit.reward(decision, 0.0)
    assert not bandit.cancel(decision)
    assert not bandit.reward("nobody's", 0.0)
    assert bandit.expire(1e12) == 0
    assert everything(bandit) == before


@pytest.mark.parametrize("reward", [math.nan, 2.0, -0.5, "1", None])
def test_a_bad_reward_leaves_the_decision_open(reward: Any) -> None:
    bandit = learned()
    decision = bandit.decide()
    with refused(thrifty.ThriftyError, "reward must be", bandit):
        bandit.reward(decision, reward)
    assert bandit.reward(decision, 1.0)


@pytest.mark.parametrize("decision", [None, 3, b"id", ("a",), [], {}], ids=repr)
def test_what_is_no_decision(decision: Any) -> None:
    bandit = learned()
    with refused(thrifty.InvalidType, "decision must be a Decision or its id, a text, got", bandit):
        bandit.reward(decision, 1.0)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"count": 2, "rank": 2}, thrifty.InvalidValue, "count and rank must not both be given, got 2 and 2"),
        ({"count": -1}, thrifty.InvalidValue, "count must be at least 0"),
        ({"count": 1.5}, thrifty.InvalidType, "count must be an integer"),
        ({"rank": 0}, thrifty.InvalidValue, "rank must be at least 1"),
        ({"rank": "2"}, thrifty.InvalidType, "rank must be an integer"),
        (
            {"rank": 6},
            thrifty.InvalidValue,
            "rank must be at most 5 of 5 arms, as many as may be chosen, got 6$",
        ),
        ({"among": []}, thrifty.InvalidValue, "must be left to choose from"),
        ({"among": [7]}, thrifty.InvalidValue, r"among\[0\] must be one of the 5 arms, got 7"),
        ({"exclude": range(5)}, thrifty.InvalidValue, "must be left to choose from"),
        ({"now": math.inf}, thrifty.InvalidValue, "now must be finite"),
        ({"now": "noon"}, thrifty.InvalidType, "now must be a number"),
    ],
    ids=str,
)
def test_a_bad_question(options: dict[str, Any], error: type[Exception], match: str) -> None:
    bandit = learned()
    with refused(error, match, bandit):
        bandit.decide(**options)


@EVERYWHERE
def test_the_same_decisions_as_by_select(policy: Policy, engine: str) -> None:
    """Number for number, with rewards that are late, and pulls that are cancelled."""
    bandits = [thrifty.Bandit(policy, 5, seed=4, engine=engine) for _ in range(2)]
    coins, flying = Coins(MEANS, 1), deque()
    for step in range(250):
        arm, decision = bandits[0].select(), bandits[1].decide()
        assert arm == decision.arm
        flying.append(decision)
        if len(flying) > 4:
            done = flying.popleft()
            if step % 9 == 0:
                bandits[0].cancel(done.arm)
                assert bandits[1].cancel(done)
            else:
                reward = coins.toss(done.arm)
                bandits[0].update(done.arm, reward)
                assert bandits[1].reward(done.id, reward)
    tables = [bandit.statistics() for bandit in bandits]
    for name in ("pulls", "mean", "draws", "pending"):
        np.testing.assert_array_equal(tables[0][name], tables[1][name])
    assert bandits[0].decisions == bandits[1].decisions


def test_the_same_decisions_with_a_posterior_of_your_own() -> None:
    bandits = [thrifty.Bandit(thrifty.TSTD(law=Bell(), phi=3), 4, seed=2) for _ in range(2)]  # type: ignore[arg-type]
    for step in range(60):
        arm, decision = bandits[0].select(), bandits[1].decide()
        assert arm == decision.arm
        bandits[0].update(arm, step % 2)
        assert bandits[1].reward(decision, step % 2)


def test_many_and_slates() -> None:
    bandit = learned()
    many, slate = bandit.decide(count=7), bandit.decide(rank=4, exclude=[2])
    assert (len(many), len({each.id for each in many})) == (7, 7)
    assert {each.arm for each in slate} == {0, 1, 3, 4}
    assert (pending(bandit), bandit.decisions) == (11, 11)
    assert len({each.time for each in many}) == 1
    assert bandit.decide(count=0) == []
    assert [each.arm for each in bandit.decide(rank=1, among=[3])] == [3]
    assert all(bandit.reward(each, 0.0) for each in slate + many)
    assert pending(bandit) == 1


def test_a_guessed_horizon_is_ahead_of_all_of_them() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 3, seed=1)
    bandit.update_many([0, 1, 2], [1, 0, 1])
    bandit.decide(count=1500)
    assert bandit.horizon == 2048
    for _ in range(300):
        bandit.decide(rank=2)
    assert bandit.horizon == 4096
    bandit.decide()


def test_a_reward_that_names_its_arm_closes_no_decision() -> None:
    """Nor does cancelling a pull of the arm, even if its id is that of a decision."""
    bandit = learned(arms=["a", "b"])
    decision = bandit.decide()
    bandit.update(decision.arm, 1.0)
    bandit.update_many([decision.arm] * 2, [1.0, 0.0])
    bandit.observe(decision.arm, 0.0)
    assert pending(bandit) == 1
    with refused(thrifty.InvalidValue, "arm must be one with a pending pull that has no id", bandit):
        bandit.cancel(decision.arm)
    bandit.add_arm(decision.id)
    with refused(thrifty.InvalidValue, "arm must be one with a pending pull that has no id", bandit):
        bandit.cancel(decision.id)
    assert bandit.reward(decision, 1.0)
    assert pending(bandit) == 0


def test_cancelled_pulls_do_not_count() -> None:
    bandit = learned()
    decisions = bandit.decide(count=4)
    assert bandit.cancel(decisions[1]) is True
    assert not bandit.reward(decisions[1], 1.0)
    assert (bandit.decisions, pending(bandit)) == (3, 3)
    arm = bandit.select()
    assert bandit.cancel(arm) is True


# Old ones ------------------------------------------------------------------------------------------------


def test_old_decisions_are_closed() -> None:
    bandit = learned()
    decisions = [bandit.decide(now=now) for now in (1.0, 2.0, 2.0, 3.0)]
    assert bandit.expire(1.0) == 0
    assert bandit.expire(2.0) == 1
    assert (bandit.decisions, pending(bandit)) == (3, 3)
    assert bandit.expire(before=2.5, reward=1.0) == 2
    assert (bandit.decisions, pending(bandit)) == (3, 1)
    assert [bandit.reward(each, 0.0) for each in decisions] == [False, False, False, True]
    assert bandit.statistics()["pulls"].sum() == 23


def test_times_need_not_come_in_order() -> None:
    bandit = learned()
    for now in (5, -3.5, 8, 1, 2, 7):
        bandit.decide(now=now)
    assert bandit.expire(2) == 2
    bandit.decide(now=0)
    assert bandit.expire(6) == 3
    assert [found.time for _, found in bandit._ledger.open.items()] == [7.0, 8.0]
    assert bandit.expire(9) == 2
    bandit.decide(now=1)
    assert bandit.expire(2) == 1
    bandit.decide(now=1e300)
    assert (bandit.expire(-1e300), bandit.expire(math.inf)) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((math.nan,), "before must be a time, or infinite for all decisions, got nan"),
        ((-math.inf,), "before must be a time, or infinite for all decisions, got -inf"),
        (("now",), "before must be a number"),
        ((9.0, 2.0), "reward must be in"),
        ((9.0, "1"), "reward must be a number"),
    ],
    ids=repr,
)
def test_a_bad_end(arguments: Any, match: str) -> None:
    bandit = learned()
    bandit.decide(now=1.0)
    with refused(thrifty.ThriftyError, match, bandit):
        bandit.expire(*arguments)


class Counted(float):
    """A time that counts how often it is looked at."""

    looks = 0

    def __ge__(self, other: float) -> bool:
        Counted.looks += 1
        return super().__ge__(other)


def test_to_close_old_ones_costs_by_their_number() -> None:
    """Whatever is open, and however many were closed before."""
    table = Decisions()
    made: list[Decision] = []
    for now in range(1000):
        table.add("a", Counted(now), False, 0.0, None, made)
    for each in made[:500]:
        table.close(each.id)
    Counted.looks = 0
    assert len(table.due(510.0)) == 10
    assert Counted.looks == 11


def test_what_is_closed_leaves_nothing_behind() -> None:
    bandit = learned(arms=50)
    for _ in range(20):
        decisions = bandit.decide(count=30) + bandit.decide(rank=5)
        for each in decisions[::2]:
            bandit.reward(each, 1.0)
        bandit.expire(1e12)
    gc.collect()
    table = bandit._ledger.open
    assert (len(table), len(table._arms)) == (0, 0)


# Arms that go --------------------------------------------------------------------------------------------


def test_a_reward_for_an_arm_that_is_gone() -> None:
    """Its decision is closed, and a later arm of the same id does not learn from it."""
    bandit = learned(arms=["a", "b", "c"])
    first = [bandit.decide(among=["b"], now=now) for now in range(5)]
    bandit.remove_arm("b")
    before = bandit.statistics()
    assert bandit.reward(first[0], 1.0) is False
    assert bandit.cancel(first[1]) is True
    bandit.add_arm("b")
    again = bandit.decide(among=["b"], now=9)
    assert bandit.reward(first[2], 1.0) is False
    assert bandit.expire(8, reward=1.0) == 2
    assert len(bandit._ledger.open) == 1
    after = bandit.statistics()
    assert after["pulls"].tolist() == [*before["pulls"], 0]
    assert after["pending"].tolist() == [0, 0, 1]
    assert bandit.reward(again, 1.0)
    assert bandit.statistics()["pulls"].tolist() == [*before["pulls"], 1]


def test_arms_that_take_over_a_number_keep_their_decisions() -> None:
    bandit = learned(arms=["a", "b", "c", "d"])
    decisions = {arm: bandit.decide(among=[arm]) for arm in "abcd"}
    bandit.remove_arm("a")
    assert [bandit.reward(decisions[arm], 1.0) for arm in "dcba"] == [True, True, True, False]
    table = bandit.statistics()
    assert dict(zip(table["arm"], table["pulls"].tolist(), strict=True)) == {"b": 5, "c": 5, "d": 5}
    assert pending(bandit) == 0


# Ids are unique ------------------------------------------------------------------------------------------


def test_copies_and_loads_have_ids_of_their_own(tmp_path: Path) -> None:
    bandit = learned(arms=["a", "b", "c"], control=0.5)
    first = bandit.decide(count=3) + bandit.decide(rank=2)
    bandit.remove_arm(first[0].arm)
    bandit.control = 0.0
    bandit.save(tmp_path / "bandit.npz")
    load = thrifty.Bandit.load
    others = [
        copy.copy(bandit),
        copy.deepcopy(bandit),
        pickle.loads(pickle.dumps(bandit)),
        load(tmp_path / "bandit.npz"),
        load(tmp_path / "bandit.npz", seed=5),
    ]
    assert all(ledger(other) == ledger(bandit) for other in others)
    decisions = [other.decide(count=20) for other in (bandit, *others)]
    assert len({each.id for made in decisions for each in made} | {each.id for each in first}) == 6 * 20 + 5
    assert [each.arm for each in decisions[0]] == [each.arm for each in decisions[3]]
    for other in others:
        there = [each.arm != first[0].arm for each in first]
        assert [other.reward(each.id, 1.0) for each in first] == there
    assert [bandit.reward(each, 1.0) for each in first] == there


def test_a_seed_does_not_make_ids() -> None:
    one, other = (thrifty.Bandit(thrifty.TSMA(), 3, seed=1) for _ in range(2))
    assert one.decide().id != other.decide().id
    one.reseed(7)
    other.reseed(7)
    assert one.decide().id != other.decide().id


@FORKING
@pytest.mark.parametrize("law", ["gaussian", "own"])
def test_forks_have_ids_of_their_own(law: str) -> None:
    bandit = learned(thrifty.ThompsonSampling(law=Bell() if law == "own" else law))  # type: ignore[arg-type]
    first = bandit.decide()

    def child() -> str:
        made = bandit.decide().id
        return f"{made} {bandit.reward(first, 1.0)}"

    found = [in_child(child).split() for _ in range(2)]
    assert len({first.id, bandit.decide().id, *(made for made, _ in found)}) == 4
    assert [counted for _, counted in found] == ["True", "True"]
    assert bandit.reward(first, 1.0)


def test_threads() -> None:
    """Every decision is closed by exactly one of those who try."""
    bandit, made, errors = learned(arms=30), [[] for _ in range(4)], []
    counted: Counter[str] = Counter()

    def work(mine: list[Any]) -> None:
        try:
            for step in range(300):
                mine += bandit.decide(count=2) if step % 3 else [bandit.decide()]
                for each in [other[-1] for other in made if other]:
                    counted[threading.current_thread().name] += bandit.reward(each, 1.0)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    decisions = [each for mine in made for each in mine]
    assert len({each.id for each in decisions}) == len(decisions) == 4 * 500
    assert bandit.statistics()["pulls"].sum() == 120 + sum(counted.values())
    assert pending(bandit) == len(bandit._ledger.open) == 2000 - sum(counted.values())


# What fails changes nothing ------------------------------------------------------------------------------


def test_an_index_of_your_own_that_is_no_number() -> None:
    bandit = thrifty.Bandit(Sampler(until=12), 3, seed=1, floor=0.1)
    decisions = [bandit.decide(now=now) for now in range(8)]
    for each in decisions[:6]:
        bandit.reward(each, 1.0)
    with refused(thrifty.InvalidValue, "the index of Sampler.* must be a number", bandit):
        bandit.decide(count=9)
    with refused(thrifty.InvalidValue, "the index of Sampler.* must be a number", bandit):
        bandit.preview(count=9)
    assert len(bandit.decide(count=2)) == 2


class Refusing(Bell):
    """A posterior that does not want some rewards, and then does not draw."""

    broken = False

    def observe(self, arm: Any, reward: float) -> None:
        if reward == 0.5:
            raise ValueError("not this one")
        super().observe(arm, reward)

    def draw(self, arm: Any, size: int, rng: Any) -> Any:
        if self.broken:
            raise ValueError("not now")
        return super().draw(arm, size, rng)


def test_a_posterior_that_refuses() -> None:
    posterior = Refusing()
    bandit = learned(thrifty.ThompsonSampling(law=posterior), control=0.5)  # type: ignore[arg-type]
    decision = bandit.decide()
    with refused(ValueError, "not this one", bandit):
        bandit.reward(decision, 0.5)
    assert bandit.reward(decision, 1.0)
    posterior.broken = True
    with refused(ValueError, "not now", bandit):
        bandit.decide(count=30)
    with refused(ValueError, "not now", bandit):
        bandit.preview(count=30)


@pytest.mark.parametrize("call", ["reward", "cancel", "expire"])
def test_an_interruption_that_is_heard_after_a_decision_was_closed(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while a kernel runs is raised when it returns: then the reward counts, once."""
    bandit = learned(control=0.3)
    slate = bandit.decide(rank=3, now=1)
    name = "redeem" if call == "reward" else "cancel"
    work = getattr(type(bandit._player.core), name)

    def interrupted(*arguments: Any, **options: Any) -> None:
        work(*arguments, **options)
        raise KeyboardInterrupt

    arguments = {"reward": (slate[1], 1.0), "cancel": (slate[1],), "expire": (2.0,)}[call]
    with monkeypatch.context() as patch:
        patch.setattr(type(bandit._player.core), name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            getattr(bandit, call)(*arguments)
    assert len(bandit._ledger.open) == pending(bandit) == 2
    assert bandit._ledger.sides.policy.rewards + bandit._ledger.sides.control.rewards == (call == "reward")
    bandit.save(tmp_path / "bandit.npz")
    again = thrifty.Bandit.load(tmp_path / "bandit.npz")
    assert [again.reward(each, 1.0) for each in slate] == [bandit.reward(each, 1.0) for each in slate]
    assert ledger(again) == ledger(bandit)


def test_an_interruption_while_decisions_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody was told of them: none is open, and no pull is pending."""
    bandit = learned()
    first, add, left = bandit.decide(now=0.0), Decisions.add, 5

    def interrupted(*arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt
        return add(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Decisions, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bandit.decide(count=9, now=1.0)
        left = 2
        with pytest.raises(KeyboardInterrupt):
            bandit.decide(rank=3, now=1.0)
    assert (bandit.decisions, pending(bandit), len(bandit._ledger.open)) == (1, 1, 1)
    bandit.save(tmp_path / "bandit.npz")
    assert thrifty.Bandit.load(tmp_path / "bandit.npz").reward(first, 1.0)


# Shadow --------------------------------------------------------------------------------------------------


@EVERYWHERE
def test_observing_somebody_else(policy: Policy, engine: str) -> None:
    """The reward counts as one that nobody asked for, also where pulls are pending."""
    bandit = thrifty.Bandit(policy, 5, seed=4, engine=engine)
    bandit.update_many(range(5), [0.0, 1.0, 1.0, 0.0, 1.0])
    chosen = [bandit.select() for _ in range(3)] + [each.arm for each in bandit.decide(count=3)]
    before = bandit.statistics()
    for arm in (*chosen, 0, 1, 2, 3, 4):
        bandit.observe(arm, 1.0)
    after = bandit.statistics()
    assert after["pending"].tolist() == before["pending"].tolist()
    assert after["pulls"].sum() == before["pulls"].sum() + 11
    assert bandit.decisions == 6
    with refused(thrifty.ThriftyError, "arm must be one of the 5 arms", bandit):
        bandit.observe("nobody", 1.0)
    with refused(thrifty.ThriftyError, "reward must be", bandit):
        bandit.observe(1, math.nan)


@EVERYWHERE
def test_a_preview_leaves_nothing_pending(policy: Policy, engine: str) -> None:
    bandit = thrifty.Bandit(policy, 5, seed=4, engine=engine)
    assert len(bandit.preview(count=7)) == 7
    bandit.update_many(range(5), [0.0, 1.0, 1.0, 0.0, 1.0])
    before = bandit.statistics()
    assert bandit.preview() in bandit
    ahead = bandit.preview(count=30)
    if policy.ranks:
        assert sorted(bandit.preview(rank=5)) == [0, 1, 2, 3, 4]
        assert bandit.preview(among=[2, 3], exclude=[3]) == 2
    assert bandit.statistics()["pulls"].tolist() == before["pulls"].tolist()
    assert (pending(bandit), bandit.decisions, len(bandit._ledger.open)) == (0, 0, 0)
    assert len(ahead) == 30


@pytest.mark.parametrize(
    "policy", [thrifty.ThompsonSampling(), thrifty.TSMA(), thrifty.UCB1(), Sampler()], ids=repr
)
def test_many_previews_are_what_would_be_decided(policy: Policy) -> None:
    """Each of them knows that the others are pending."""
    bandit = learned(policy)
    other = copy.deepcopy(bandit)
    assert bandit.preview(count=2000) == [each.arm for each in other.decide(count=2000)]


@pytest.mark.parametrize(
    "policy", [thrifty.ThompsonSampling(), thrifty.TSTD(), thrifty.DMED(), Sampler()], ids=repr
)
@pytest.mark.parametrize("count", [None, 3])
def test_previews_do_not_meet_the_same_random_numbers_again(policy: Policy, count: int | None) -> None:
    """With a floor of 1/K each is uniform, and tells nothing of the next: chi-square at 1 in 10^6, of 1,000
    pairs of which no two share a preview."""
    bandit = thrifty.Bandit(policy, 5, seed=1, floor=0.2)
    arms = [bandit.preview(count=count) for _ in range(2000)]
    if count is not None:
        arms = [first for first, *_ in arms]
    pairs = Counter(zip(arms[::2], arms[1::2], strict=True))
    assert sum((pairs[two] - 40) ** 2 / 40 for two in product(range(5), repeat=2)) < chi2.isf(1e-6, 24)


def test_the_id_of_an_arm_is_not_taken_for_that_of_a_decision() -> None:
    """Its rewards would be lost without a word. Another id may be of a decision that was closed."""
    bandit = learned(arms=["red", "green"])
    with refused(thrifty.InvalidValue, "decision must be .* got the arm 'red': call update$", bandit):
        bandit.reward("red", 1.0)
    assert bandit.reward("blue", 1.0) is False


@pytest.mark.parametrize("policy", [thrifty.TSMA(), thrifty.KLUCBPlusPlus()], ids=repr)
@pytest.mark.parametrize("what", [{}, {"rank": 3}, {"count": 2}], ids=str)
def test_a_preview_at_the_end_of_a_guessed_horizon_does_not_double_it(policy: Policy, what: Any) -> None:
    bandit = thrifty.Bandit(policy, 5, seed=1)
    bandit.update_many(np.arange(1024) % 5, np.arange(1024) % 3 / 2)
    bandit.reseed(1)
    before = everything(bandit)
    assert bandit.preview(**what) is not None
    bandit.reseed(1)
    assert everything(bandit) == before
    bandit.select()
    assert bandit.horizon == 2048


@pytest.mark.parametrize("policy", [thrifty.UCB1(), thrifty.ThompsonSampling(), thrifty.TSMA()], ids=repr)
def test_what_was_compiled_for_a_preview_is_there_after_it(policy: Policy) -> None:
    """It goes back to the memory of before, which says where functions are."""
    bandit = thrifty.Bandit(policy, 100, seed=1, prior=(0.5, 1.0))
    assert {*bandit.preview(count=3, among=[1, 2])} <= {1, 2}
    assert bandit.select(among=[1, 2]) in (1, 2)
    assert bandit.rank(99, exclude=[1]).count(1) == 0


def test_a_slate_that_a_list_cannot_make_is_refused_ahead_too() -> None:
    bandit = thrifty.Bandit(thrifty.DMED(), 4, seed=1)
    with refused(thrifty.InvalidValue, "no index to choose by", bandit):
        bandit.preview(rank=2)


@pytest.mark.parametrize("engine", ["scan", "sleepers"])
def test_a_preview_is_no_round_of_a_duel(engine: str) -> None:
    """Phase I counts rounds: three hundred previews would bring it to its end."""
    bandit = thrifty.Bandit(thrifty.TSTD(phi=50), 30, 1000, seed=1, prior=(0.5, 1.0), engine=engine)
    other = thrifty.Bandit(thrifty.TSTD(phi=50), 30, 1000, seed=1, prior=(0.5, 1.0), engine=engine)
    bandit.select()
    other.select()
    for _ in range(100):
        bandit.preview()
        bandit.preview(rank=3)
        bandit.preview(among=[1, 2])
    for each in (bandit, other):
        each.reseed(7)
    assert [bandit.select() for _ in range(100)] == [other.select() for _ in range(100)]
    assert bandit.statistics()["draws"].tolist() == other.statistics()["draws"].tolist()


def test_a_refusal_does_not_look_at_what_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be millions."""
    bandit = learned()
    bandit.decide(count=100)
    monkeypatch.setattr(Decisions, "items", None)
    with pytest.raises(thrifty.InvalidValue, match="rank must be at most 5"):
        bandit.decide(rank=6)
    assert pending(bandit) == 100
