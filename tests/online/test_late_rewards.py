"""Rewards that come late: what each policy does while they are pending, and how long they are away."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy import stats

import thrifty
from tests.support.chance import UNLUCKY, assert_share, assert_uniform
from tests.support.live import (
    EVERY,
    EVERYWHERE,
    PATIENT,
    Coins,
    Widening,
    column,
    delays_of,
    state,
    warm,
    wheel,
)
from thrifty import delays
from thrifty.delays import Delay
from thrifty.engines import late
from thrifty.laws import gaussian
from thrifty.numerics import random
from thrifty.policies import Policy, kl_ucb_plus_plus
from thrifty.state.header import opened

MEANS = [0.5, 0.3, 0.6, 0.55, 0.1, 0.9, 0.2, 0.62]
COMMITTED = [policy for policy in EVERY if "tournament" in policy.runs_on]
SEEDS = range(3)


# The rule of each schedule, once more: in Python, on the bandit's own random stream ----------------------


class Slow:
    """A policy with a committed Gaussian index and no tree: TS-MA, or TS-TD once phi draws were made."""

    def __init__(self, bandit: thrifty.Bandit) -> None:
        now = state(bandit)
        self.rng, self.params, self.draws = now.rng.copy(), now.params.copy(), now.draws.copy()
        self.index, self.spent = now.index.copy(), np.zeros(now.index.size, bool)
        self.phi = bandit.policy.resolve(len(bandit), bandit.horizon).phi
        self.duel = isinstance(bandit.policy, thrifty.TSTD)
        self.age = np.zeros(now.index.size)
        self.best = np.full(now.index.size, -math.inf)

    def maximum(self, arm: int) -> float:
        return gaussian.isf(*self.params[arm], -math.expm1(-random.exponential(self.rng) / self.phi))

    def learn(self, arm: int, params: tuple[float, float]) -> None:
        """A reward came: what was committed is made anew at once, or phase I begins again."""
        self.params[arm], self.spent[arm] = params, False
        self.age[arm], self.best[arm] = 0, -math.inf
        if not self.duel:
            self.index[arm] = self.maximum(arm)
            self.draws[arm] += 1

    def select(self) -> int:
        for arm in range(self.index.size) if self.duel else ():
            if self.age[arm] < self.phi:
                self.index[arm] = gaussian.draw(*self.params[arm], self.rng)
                self.best[arm] = max(self.best[arm], self.index[arm])
                self.draws[arm] += 1
                self.age[arm] += 1
            else:
                self.index[arm] = self.best[arm]
                self.age[arm] = math.inf
        while self.spent[arm := int(self.index.argmax())]:
            self.spent[arm] = False
            self.index[arm] = self.best[arm] = self.maximum(arm)
            self.draws[arm] += int(self.phi) if self.duel else 1
        self.spent[arm] = not self.duel or self.age[arm] > self.phi
        return arm


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("policy", "engine"),
    [
        (thrifty.TSMA(), "scan"),
        (thrifty.TSMA(alpha=0.9), "tournament"),
        (thrifty.TSTD(phi=1), "scan"),
        (thrifty.TSTD(phi=6), "scan"),
    ],
    ids=str,
)
def test_a_committed_index_is_spent_when_it_is_handed_out(policy: Policy, engine: str, seed: int) -> None:
    """And drawn anew only when it would be chosen again, with rewards that come now and then in any order."""
    bandit = warm(policy, [3, 9, 20, 2, 5, 7, 11, 30], MEANS, seed=seed, engine=engine)
    slow = Slow(bandit)
    rng = np.random.default_rng(seed)
    flying: list[int] = []
    for _ in range(300):
        arm = bandit.select()
        assert arm == slow.select()
        flying.append(arm)
        while flying and rng.random() < 0.3:
            back = flying.pop(rng.integers(len(flying)))
            bandit.update(back, float(rng.random() < MEANS[back]))
            slow.learn(back, tuple(state(bandit).params[back]))
    np.testing.assert_array_equal(bandit.statistics()["draws"], slow.draws)
    np.testing.assert_array_equal(state(bandit).rng, slow.rng)
    assert column(bandit, "pending") == {arm: flying.count(arm) for arm in range(len(MEANS))}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("engine", ["scan", "tournament"])
@pytest.mark.parametrize("prior", [None, (0.4, 1.5)], ids=["pulls", "prior"])
def test_kl_ucb_plus_plus_counts_pending_pulls_and_leaves_the_mean(
    engine: str, prior: tuple[float, float] | None, seed: int
) -> None:
    """An index is computed when it is needed; the choice is as if all had been computed before it."""
    horizon, arms = 400, len(MEANS)
    bandit = thrifty.Bandit(
        thrifty.KLUCBPlusPlus(), arms, horizon, seed, prior, engine=engine, pending_for=None
    )
    mean, weight = prior or (0.0, 0.0)
    pulls, sums, pending = np.full(arms, weight), np.full(arms, mean * weight), np.zeros(arms)
    rng = np.random.default_rng(seed)
    flying: list[int] = []
    for _ in range(horizon):
        arm = bandit.select()
        if prior is not None or pulls.all():
            counts = zip(pulls + pending, sums / pulls, strict=True)
            indices = [kl_ucb_plus_plus.index(n, m, arms, horizon) for n, m in counts]
            assert indices[arm] == max(indices)
        flying.append(arm)
        pending[arm] += 1
        while flying and rng.random() < 0.4:
            back = flying.pop(rng.integers(len(flying)))
            reward = float(rng.random() < MEANS[back])
            bandit.update(back, reward)
            pulls[back] += 1
            sums[back] += reward
            pending[back] -= 1
    assert pulls.all()


def test_an_index_of_your_own_counts_pending_pulls_too() -> None:
    """All arms are equal: without their rewards, they take turns."""
    bandit = warm(Widening(), [4] * 5, [0.5] * 5, seed=0)
    assert np.bincount(bandit.select_many(50)).tolist() == [10] * 5


@pytest.mark.parametrize(
    ("policy", "engine"),
    [
        (thrifty.TSMA(), "scan"),
        (thrifty.TSMA(), "tournament"),
        (thrifty.TSTD(phi=1), "scan"),
        (thrifty.TSTD(phi=1), "sleepers"),
    ],
    ids=str,
)
def test_a_thousand_requests_in_flight_do_not_all_get_one_arm(policy: Policy, engine: str) -> None:
    """Of 20 arms of which nobody knows which is best, all get some."""
    bandit = warm(policy, [10] * 20, [0.5] * 20, seed=1, engine=engine)
    counts = np.bincount(bandit.select_many(1000), minlength=20)
    assert 0 < counts.min() <= counts.max() < 333
    assert bandit.statistics()["pending"].tolist() == counts.tolist()
    assert set(bandit.statistics()["pulls"]) == {10}


# What all policies have in common ------------------------------------------------------------------------


@PATIENT
def test_initial_pulls_count_as_made_when_they_are_handed_out(policy: Policy, engine: str) -> None:
    """Then there is nothing to choose by, and all arms are equally good; until there is a reward."""
    bandit = thrifty.Bandit(policy, 6, seed=2, engine=engine, pending_for=None)
    assert bandit.select_many(6) == list(range(6))
    assert_uniform(np.bincount(bandit.select_many(6000)))
    assert not bandit.statistics()["draws"].any()
    bandit.update(4, 0.0)
    assert set(bandit.select_many(100)) == {4}
    bandit.update(1, 1.0)
    assert set(bandit.select_many(1000)) <= {1, 4}


@PATIENT
def test_an_arm_with_a_reward_is_not_pulled_for_its_first_one(policy: Policy, engine: str) -> None:
    bandit = thrifty.Bandit(policy, 6, seed=2, engine=engine, pending_for=None)
    bandit.update_many([0, 3], [1.0, 0.0])
    assert bandit.select_many(4) == [1, 2, 4, 5]
    assert column(bandit, "pending") == {0: 0, 1: 1, 2: 1, 3: 0, 4: 1, 5: 1}
    assert set(bandit.select_many(100)) <= {0, 3}


def test_pending_pulls_are_visible() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), ["a", "b"], seed=0)
    assert column(bandit, "pending") == {"a": 0, "b": 0}
    assert [bandit.select(), bandit.select()] == ["a", "b"]
    assert column(bandit, "pending") == {"a": 1, "b": 1}
    bandit.update("b", 1.0)
    bandit.update("b", 0.5)  # a pull that nobody asked for
    assert column(bandit, "pending") == {"a": 1, "b": 0}
    assert column(bandit, "pulls") == {"a": 0, "b": 2}
    assert math.isnan(column(bandit, "mean")["a"])
    assert column(bandit, "mean")["b"] == 0.75


@EVERYWHERE
def test_many_at_once_are_as_many_one_by_one(policy: Policy, engine: str) -> None:
    one, many = (thrifty.Bandit(policy, 6, 10**4, seed=3, engine=engine) for _ in range(2))
    coins = Coins([0.1, 0.3, 0.9, 0.5, 0.6, 0.2], 3)
    for size in (1, 0, 7, 40, 3, 100) * 2:
        arms = many.select_many(size)
        assert arms == [one.select() for _ in range(size)]
        rewards = [coins.toss(arm) for arm in arms]
        many.update_many(arms, rewards)
        for arm, reward in zip(arms, rewards, strict=True):
            one.update(arm, reward)
    np.testing.assert_array_equal(state(one).rng, state(many).rng)
    np.testing.assert_array_equal(one.statistics()["draws"], many.statistics()["draws"])


def test_many_at_once_across_a_doubling_of_the_horizon() -> None:
    one, many = (thrifty.Bandit(thrifty.TSMA(), 3, seed=3, prior=(0.5, 1.0)) for _ in range(2))
    assert many.select_many(5000) == [one.select() for _ in range(5000)]
    assert one.horizon == many.horizon == 8192


# Engines -------------------------------------------------------------------------------------------------

PROBLEM = thrifty.Bernoulli([0.5, 0.75, 0.625, 0.25, 0.7, 0.0, 1.0, 0.9])


@pytest.mark.parametrize("prior", [None, (0.5, 2.0)], ids=["pulls", "prior"])
@pytest.mark.parametrize("delay", [3, thrifty.UniformDelay(0, 40), thrifty.GeometricDelay(15.0)], ids=repr)
@pytest.mark.parametrize("policy", COMMITTED, ids=repr)
def test_tournament_follows_scan(
    policy: Policy, delay: Delay | int, prior: tuple[float, float] | None
) -> None:
    scan, tournament = (
        thrifty.simulate(policy, PROBLEM, 400, 5, 7, prior, engine=engine, delay=delay)
        for engine in policy.runs_on
    )
    for name in ("regret", "pulls", "draws", "evaluations"):
        np.testing.assert_array_equal(getattr(scan, name), getattr(tournament, name))


FRESH = [policy for policy in EVERY if "sleepers" in policy.runs_on]


@pytest.mark.parametrize("runs", [300, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("policy", FRESH, ids=repr)
def test_sleepers_have_the_law_of_scan(policy: Policy, runs: int) -> None:
    """The regret at several times, and the pulls and draws of each arm, over many runs."""
    problem, delay = thrifty.Bernoulli([0.5, 0.75, 0.625, 0.25, 0.7]), thrifty.GeometricDelay(15.0)
    moments = [10, 20, 40, 80]
    scan, sleepers = (
        thrifty.simulate(policy, problem, 150, runs, seed, engine=engine, checkpoints=moments, delay=delay)
        for seed, engine in ((1, "scan"), (2, "sleepers"))
    )
    pairs = [(scan.regret[0, :, j], sleepers.regret[0, :, j]) for j in range(len(moments) + 1)]
    pairs += [(scan.pulls[0, :, i], sleepers.pulls[0, :, i]) for i in range(5)]
    pairs += [(scan.draws[0, :, i], sleepers.draws[0, :, i]) for i in range(5)]
    assert min(stats.ks_2samp(*pair, method="asymp").pvalue for pair in pairs) > UNLUCKY / len(pairs)


def test_delays_meet_every_policy_alike() -> None:
    """Adding a policy changes nothing for the others, and the delays do not depend on the rewards' stream."""
    delay = thrifty.GeometricDelay(10.0)
    alone = thrifty.simulate(thrifty.TSMA(), PROBLEM, 200, 4, delay=delay)
    both = thrifty.simulate([thrifty.ThompsonSampling(), thrifty.TSMA()], PROBLEM, 200, 4, delay=delay)
    np.testing.assert_array_equal(alone.regret[0], both.regret[1])


@pytest.mark.parametrize("policy", EVERY, ids=repr)
def test_delays_of_nothing(policy: Policy) -> None:
    """Rewards on the wheel that leave it in the same round are as good as immediate ones."""
    prompt = thrifty.simulate(policy, PROBLEM, 200, 3)
    for delay in (0, thrifty.ConstantDelay(0), thrifty.UniformDelay(0, 0), thrifty.GeometricDelay(0.0)):
        wheel = thrifty.simulate(policy, PROBLEM, 200, 3, delay=delay)
        np.testing.assert_array_equal(prompt.regret, wheel.regret)
        np.testing.assert_array_equal(prompt.draws, wheel.draws)


# Delays --------------------------------------------------------------------------------------------------


@njit
def run(block, arrived, rounds):
    """Reward t is sent in round t; when it arrives."""
    now, count = opened(block), 0
    for t in range(rounds):
        late.send(now, t, t + 7, t + 0.5)
        entry = late.arrive(now, t)
        while entry >= 0:
            count += 1
            if now.late_reward[entry] != now.late_arm[entry] - 6.5:
                return -1
            arrived[now.late_arm[entry] - 7] = t
            entry = late.arrive(now, t)
    return count


def test_uniform_delays() -> None:
    drawn = delays_of(thrifty.UniformDelay(3, 9), 100_000)
    assert drawn.min() == 3
    assert drawn.max() == 9
    assert_uniform(np.bincount(drawn - 3))


def test_constant_delays() -> None:
    assert set(delays_of(thrifty.ConstantDelay(12), 1000)) == {12}
    assert set(delays_of(thrifty.UniformDelay(12, 12), 1000)) == {12}


@pytest.mark.parametrize("mean", [0.01, 0.5, 1.0, 7.0, 1000.0])
def test_geometric_delays(mean: float) -> None:
    """P(delay >= d) = (mean / (mean + 1))^d, for small means too, whose delays are hardly ever 2 or more."""
    drawn = delays_of(thrifty.GeometricDelay(mean), 300_000)
    for d in (1, 2, 3, math.ceil(mean), math.ceil(3 * mean)):
        assert_share((drawn >= d).sum(), drawn.size, (mean / (mean + 1.0)) ** d)
    assert thrifty.GeometricDelay(mean).late().high > 39.0 * mean


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 9), st.integers(1, 200))
@settings(max_examples=100)
def test_the_wheel_loses_nothing(low: int, more: int, seed: int, rounds: int) -> None:
    """Every reward arrives once, in its round; those that are due later are still on their way."""
    for delay in (thrifty.UniformDelay(low, low + more), thrifty.GeometricDelay(low + more / 31)):
        due = np.arange(rounds) + delays_of(delay, rounds, seed)
        arrived = np.full(rounds, -1, np.int64)
        count = run(wheel(delay, seed), arrived, rounds)
        np.testing.assert_array_equal(arrived, np.where(due < rounds, due, -1))
        assert count == (due < rounds).sum()


def test_a_delay_is_a_number_or_one_of_the_classes() -> None:
    assert delays.clean(5) == thrifty.ConstantDelay(5)
    assert delays.clean(thrifty.UniformDelay(1, 2)) == thrifty.UniformDelay(1, 2)
    assert type(thrifty.ConstantDelay(np.int64(4)).rounds) is int
    assert type(thrifty.UniformDelay(np.int64(4), np.int64(5)).high) is int


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: delays.clean(-1), thrifty.InvalidValue, "delay must be at least 0, got -1"),
        (
            lambda: delays.clean(1.5),
            thrifty.InvalidType,
            r"delay must be a number of decisions or .* got 1.5",
        ),
        (lambda: delays.clean("3"), thrifty.InvalidType, "delay must be a number .* got '3'"),
        (lambda: delays.clean(True), thrifty.InvalidType, "delay must be a number .* got True"),
        (lambda: delays.clean(thrifty.GeometricDelay), thrifty.InvalidType, "delay must be a number"),
        (lambda: delays.clean(10**8), thrifty.InvalidValue, "delay must be at most 10000000, got 100000000"),
        (lambda: thrifty.ConstantDelay(-1), thrifty.InvalidValue, "rounds must be at least 0, got -1"),
        (lambda: thrifty.ConstantDelay(2.5), thrifty.InvalidType, "rounds must be an integer, got 2.5"),
        (lambda: thrifty.UniformDelay(-1, 3), thrifty.InvalidValue, "low must be at least 0, got -1"),
        (lambda: thrifty.UniformDelay(4, 3), thrifty.InvalidValue, "low must be at most high, 3, got 4"),
        (lambda: thrifty.UniformDelay(0, None), thrifty.InvalidType, "high must be an integer, got None"),
        (lambda: thrifty.UniformDelay(0, 10**9), thrifty.InvalidValue, "high must be at most 10000000"),
        (lambda: thrifty.GeometricDelay(-0.5), thrifty.InvalidValue, "mean must be at least 0, got -0.5"),
        (lambda: thrifty.GeometricDelay(math.nan), thrifty.InvalidValue, "mean must be finite, got nan"),
        (lambda: thrifty.GeometricDelay(1e7), thrifty.InvalidValue, "mean must be at most 250000, got"),
        (lambda: thrifty.GeometricDelay("1"), thrifty.InvalidType, "mean must be a number, got '1'"),
    ],
)
def test_bad_delays(make, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        make()
