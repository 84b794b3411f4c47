"""Replays of logs whose truth is known: estimates, their intervals, and what is refused."""

import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

import thrifty
from tests.support.chance import SIGMAS, UNLUCKY, assert_mean
from thrifty.cli import main
from thrifty.cli import replay as command
from thrifty.errors import ThriftyError
from thrifty.policies import POLICIES, Policy
from thrifty.replays import log as logs
from thrifty.replays import replay as replays

Floats = NDArray[np.float64]

MEANS = np.array([0.6, 0.4, 0.3, 0.5])
SHARES = np.array([0.1, 0.4, 0.3, 0.2])  # of the arms in a log: the best one is rare
BETA = thrifty.ThompsonSampling(law="beta")


def synthetic(seed: int, rows: int, means: Floats = MEANS) -> dict[str, Floats]:
    """A log of a policy that chooses at random, with these shares."""
    rng = np.random.default_rng([2025, seed])
    arm = rng.choice(SHARES.size, rows, p=SHARES)
    return {"arm": arm, "reward": (rng.random(rows) < means[arm]).astype(float), "propensity": SHARES[arm]}


class Witness(replays.Player):
    """A player that remembers which arms it chose, and which of those were pulled."""

    every: list["Witness"]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.horizon = arguments[2]
        self.chosen: list[Any] = []
        self.pulled: list[Any] = []
        self.every.append(self)

    @property
    def bandit(self) -> thrifty.Bandit:
        return self._bandit

    def decide(self) -> int:
        arm = super().decide()
        self.chosen.append(self._log.arms[arm])
        return arm

    def learn(self, arm: int, reward: float) -> None:
        self.pulled.append(self._log.arms[arm])
        super().learn(arm, reward)


@pytest.fixture
def witnesses(monkeypatch: pytest.MonkeyPatch) -> list[Witness]:
    monkeypatch.setattr(Witness, "every", [], raising=False)
    monkeypatch.setattr(replays, "Player", Witness)
    return Witness.every


def inside(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] <= truth <= interval[1]


def assert_at_least(hits: int, trials: int, probability: float) -> None:
    """A count is not surprisingly small."""
    assert stats.binomtest(hits, trials, probability, "less").pvalue > UNLUCKY


# Rejection -------------------------------------------------------------------------------------------------


def test_rejection_against_the_truth(witnesses: list[Witness]) -> None:
    """Over many logs: as many decisions as there should be, the mean reward that simulate has for so many,
    and intervals that hold for the decisions that were made."""
    rows, many = 1000, 200
    counts, values, fine = [], [], 0
    for seed in range(many):
        witnesses.clear()
        found = replays.replay(BETA, synthetic(seed, rows), runs=1, seed=seed)
        (player,) = witnesses
        assert found.decisions == len(player.pulled)
        counts.append(found.decisions)
        values.append(found.value)
        fine += inside(found.interval, float(MEANS[player.pulled].mean()))
    share = SHARES.min()
    assert_mean(np.array(counts), rows * share, math.sqrt(rows * share * (1.0 - share)))
    horizon = 3 * int(rows * share)
    every = thrifty.simulate(
        BETA, thrifty.Bernoulli(MEANS), horizon, runs=2000, checkpoints=range(1, horizon)
    )
    t = every.checkpoints
    weights = stats.binom.pmf(t, rows, share)
    truth = float(weights @ (MEANS.max() - every.regret[0].mean(axis=0) / t))
    known = float(weights @ (every.regret[0].std(axis=0) / t)) / math.sqrt(2000)
    error = math.hypot(np.std(values) / math.sqrt(many), known)
    assert abs(np.mean(values) - truth) < SIGMAS * error
    assert error < 0.005  # so that a bias of a few hundredths would show
    assert_at_least(fine, many, 0.95)


def test_initial_pulls_do_not_follow_the_log() -> None:
    """Of 80 arms, in the order in which they appear, each would be there as soon as it is wanted."""
    rng = np.random.default_rng(11)
    arm = rng.integers(80, size=4000)
    log = {"arm": arm, "reward": np.zeros(4000), "propensity": np.full(4000, 1 / 80)}
    for method in replays.METHODS:
        found = replays.replay(thrifty.UCB1(), log, method, runs=15)
        assert abs(found.decisions - 50.0) < SIGMAS * math.sqrt(50.0 / 15.0) * 2.0  # runs share the log


# Eleven rows of two arms with equal propensities: the only reward of the second one is behind a long gap.
TINY = {
    "arm": [0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1],
    "reward": [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1],
    "propensity": [0.5] * 11,
}


@cache
def exact(anew: bool) -> float:
    """The expected mean reward of a Beta Thompson sampling on that log, over the policy's own luck alone: all
    that may happen, row by row. A state has the pulls and rewards of both arms, and a held decision."""
    states = {(0, 0, 0, 0, -1): 1.0}
    for arm, reward in zip(TINY["arm"], TINY["reward"], strict=True):
        after: dict[tuple[int, ...], float] = {}
        for (n0, s0, n1, s1, held), mass in states.items():
            if held >= 0:
                chance = float(held == 1)
            elif n0 == 0 or n1 == 0:  # one that was not tried, each with the same probability
                chance = 0.5 if n0 == n1 else float(n1 == 0)
            else:
                chance = greater(s1, n1 - s1, s0, n0 - s0)
            for wanted, share in ((1, chance), (0, 1.0 - chance)):
                if wanted == arm:
                    gain = (0, 0, 1, int(reward)) if arm else (1, int(reward), 0, 0)
                    state = (n0 + gain[0], s0 + gain[1], n1 + gain[2], s1 + gain[3], -1)
                else:
                    keep = not anew and n0 > 0 and n1 > 0
                    state = (n0, s0, n1, s1, wanted if keep else -1)
                after[state] = after.get(state, 0.0) + mass * share
        states = after
    some = {state: mass for state, mass in states.items() if state[0] + state[2]}
    total = sum(mass * (s0 + s1) / (n0 + n1) for (n0, s0, n1, s1, _), mass in some.items())
    return total / sum(some.values())


@cache
def greater(a: float, b: float, c: float, d: float) -> float:
    """P(X > Y) where X ~ Beta(a + 1, b + 1), Y ~ Beta(c + 1, d + 1)."""
    x, y = stats.beta(a + 1, b + 1), stats.beta(c + 1, d + 1)
    points, weights = np.polynomial.legendre.leggauss(30)  # exact: polynomials of a small degree
    u = (points + 1.0) / 2.0
    return float((weights / 2.0) @ (x.pdf(u) * y.cdf(u)))


@pytest.mark.parametrize("anew", [True, False], ids=["drawn anew", "held"])
def test_a_drawn_decision_is_drawn_anew_at_every_row(anew: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against all that may happen on one tiny log. A decision that is held has another law there."""
    assert replays.draws_anew(BETA)
    monkeypatch.setattr(replays, "draws_anew", lambda policy: anew)
    runs = 1500
    found = replays.replay(BETA, TINY, runs=runs)
    tolerance = SIGMAS * 0.5 / math.sqrt(runs)  # means are in [0, 1]
    assert abs(found.value - exact(anew)) < tolerance
    assert abs(exact(True) - exact(False)) > tolerance


def test_given_the_log_every_row_has_the_same_chance() -> None:
    """A policy that learns nothing earns what the log has earned. Held decisions would find the rows behind
    long gaps: here the only ones with a reward."""
    log = {"arm": ([0] * 5 + [1] * 5) * 100, "reward": [0, 0, 0, 0, 0, 1, 0, 0, 0, 0] * 100}
    for policy in (thrifty.Uniform(), thrifty.EpsilonGreedy(epsilon=1.0)):
        found = replays.replay(policy, log | {"propensity": [0.5] * 1000}, runs=20)
        assert abs(found.value - 0.1) < SIGMAS * math.sqrt(0.09 / (20 * 500))


def test_a_fixed_arm_is_that_of_its_number() -> None:
    log = synthetic(14, 500)
    for method in replays.METHODS:
        found = replays.replay(thrifty.FixedArm(2), log, method, arms=4, runs=2)
        taken = log["reward"][log["arm"] == 2]
        right = taken.mean() if method == "rejection" else taken.sum() / SHARES[2] / 500
        assert abs(found.value - right) <= (SIGMAS * math.sqrt(0.25 / 50) if method == "rejection" else 1e-9)
        assert found.decisions > 20


def test_a_fixed_arm_has_no_number_where_arms_come_and_go() -> None:
    """The first arm that is there at the beginning is not the first of all."""
    log = {"arm": [1, 2] * 100 + [0, 1, 2] * 100, "reward": [0.0] * 500}
    log["propensity"] = [0.5] * 200 + [1 / 3] * 300
    spans = {0: (201, None)}
    with pytest.raises(
        thrifty.InvalidValue, match=r"FixedArm\(arm=0\) must be played on a log in which every"
    ):
        replays.replay(thrifty.FixedArm(0), log, arms=3, spans=spans)
    with pytest.raises(
        thrifty.InvalidValue, match=r"FixedArm\(arm=0\) must be played on a log in which every"
    ):
        thrifty.evaluate(log, policy=thrifty.FixedArm(0), arms=3, spans=spans)


@pytest.mark.slow
def test_several_runs_hold_for_the_policy_itself() -> None:
    """With its own luck averaged out, intervals are of what simulate has, and not only of these decisions."""
    rows, many = 800, 100
    truth = (
        thrifty.simulate(thrifty.UCB1(), thrifty.Bernoulli(MEANS), 80, runs=1000).regret[0, :, -1].mean() / 80
    )
    found = [replays.replay(thrifty.UCB1(), synthetic(seed, rows), runs=8) for seed in range(many)]
    fine = sum(inside(one.interval, MEANS.max() - truth) for one in found)
    assert_at_least(fine, many, 0.95)


@pytest.mark.slow
def test_rare_rewards(witnesses: list[Witness]) -> None:
    """Of one in a hundred, a replay of 100 decisions often has none: the interval must not be a point."""
    many, fine, none = 200, 0, 0
    means = np.full(4, 0.01)
    for seed in range(many):
        found = replays.replay(thrifty.UCB1(), synthetic(seed, 1000, means), runs=1, seed=seed)
        fine += inside(found.interval, 0.01)
        none += found.value == 0.0
        assert found.interval[1] > 0.02
    assert 40 < none < 110  # (1 - 0.01)^100 = 0.37 of them
    assert_at_least(fine, many, 0.95)


# Inverse propensity ----------------------------------------------------------------------------------------


def slowed(policy: Policy, rows: int, seed: int, shares: Floats) -> float:
    """The mean expected reward of decisions of which only some are carried out."""
    rng = np.random.default_rng([2026, seed])
    bandit = thrifty.Bandit(policy, shares.size, seed=seed)
    total, untried = 0.0, list(range(shares.size))
    for luck, coin in rng.random((rows, 2)).tolist():
        arm = untried[int(rng.integers(len(untried)))] if untried else bandit.select()
        total += MEANS[arm]
        if luck < shares[arm]:
            bandit.update(arm, float(coin < MEANS[arm]))
            untried = [other for other in untried if other != arm]
        elif not untried:
            bandit.cancel(arm)
    return total / rows


@pytest.mark.parametrize("arms", [4, 3], ids=["all arms", "one arm unknown"])
def test_inverse_propensity_against_the_truth(witnesses: list[Witness], arms: int) -> None:
    """Over many logs: the mean reward of the decisions, made by a policy that learns from some of them alone.

    If an arm is unknown, its rows count for the propensities all the same."""
    rows, many = 500, 200
    values, fine = [], 0
    for seed in range(many):
        witnesses.clear()
        found = replays.replay(BETA, synthetic(seed, rows), "ips", arms=arms, runs=1, seed=seed)
        (player,) = witnesses
        assert len(player.chosen) == found.rows == rows - found.bad
        assert found.decisions == len(player.pulled)
        values.append(found.value)
        fine += inside(found.interval, float(MEANS[player.chosen].mean()))
    truths = [slowed(BETA, rows, seed, SHARES[:arms]) for seed in range(many)]
    error = math.hypot(np.std(values), np.std(truths)) / math.sqrt(many)
    assert abs(np.mean(values) - np.mean(truths)) < SIGMAS * error
    assert error < 0.01
    assert_at_least(fine, many, 0.95)


@pytest.mark.slow
def test_small_propensities_make_wide_intervals(witnesses: list[Witness]) -> None:
    """A reward of a rare arm would count a hundred times, and has mostly not been seen: without that in mind,
    half of the intervals would be wrong."""
    shares = np.array([0.5, 0.25, 0.12, 0.06, 0.03, 0.02, 0.01, 0.01])
    means = np.array([0.01, 0.02, 0.03, 0.02, 0.02, 0.01, 0.03, 0.02])
    many, fine, normal = 100, 0, 0
    for seed in range(many):
        witnesses.clear()
        rng = np.random.default_rng([12, seed])
        arm = rng.choice(8, 1500, p=shares)
        log = {"arm": arm, "reward": rng.random(1500) < means[arm], "propensity": shares[arm]}
        found = replays.replay(BETA, log, "ips", arms=8, runs=1, seed=seed)
        truth = float(means[witnesses[0].chosen].mean())
        fine += inside(found.interval, truth)
        normal += abs(found.value - truth) < 1.96 * found.error
    assert_at_least(fine, many, 0.95)
    assert stats.binomtest(normal, many, 0.95, "less").pvalue < UNLUCKY


def test_what_inverse_propensity_counts(witnesses: list[Witness]) -> None:
    """Row by row: the reward over the propensity where the log has the policy's arm, and 0 elsewhere."""
    log = synthetic(0, 300)
    found = replays.replay(thrifty.TSMA(), log, "ips", runs=2)
    values = []
    for player in witnesses:
        same = np.array(player.chosen) == log["arm"]
        assert player.pulled == log["arm"][same].tolist()
        values.append(float((log["reward"] / log["propensity"])[same].sum()) / 300)
        assert player.bandit.statistics()["pending"].sum() == 0
    assert found.value == pytest.approx(np.mean(values))
    assert found.decisions == np.mean([len(player.pulled) for player in witnesses])


# Intervals -------------------------------------------------------------------------------------------------


def one_arm(rewards: list[float], propensity: float = 1.0) -> dict[str, list[Any]]:
    return {"arm": ["a"] * len(rewards), "reward": rewards, "propensity": [propensity] * len(rewards)}


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("hits", "n"), [(0, 1), (0, 125), (1, 125), (60, 125), (125, 125)])
def test_intervals_of_zeros_and_ones_are_wilsons(hits: int, n: int, level: float) -> None:
    log = one_arm([1.0] * hits + [0.0] * (n - hits))
    theirs = stats.binomtest(hits, n).proportion_ci(level, method="wilson")
    for method in replays.METHODS:
        found = replays.replay(thrifty.UCB1(), log, method, runs=2, level=level)
        assert (found.decisions, found.value) == (n, hits / n)
        for interval in (found.interval, found.logged_interval):
            assert interval == pytest.approx((theirs.low, theirs.high), abs=1e-12)
        assert found.error == pytest.approx(math.sqrt(hits * (n - hits) / n**3))


@pytest.mark.parametrize("hits", [0, 3])
def test_inverse_propensity_widens_wilsons_interval(hits: int) -> None:
    """One arm of eight, 50 rows of 400: the counts are 8 or 0, as those of Wilson are 1 or 0."""
    n, share = 400, 0.125
    reward = [float(i % 8 == 0 and i < 8 * hits) for i in range(n)]
    log = {"arm": list("abcdefgh") * 50, "reward": reward, "propensity": [share] * n}
    theirs = stats.binomtest(hits, n).proportion_ci(method="wilson")
    found = replays.replay(thrifty.UCB1(), log, "ips", arms=["a"], runs=1)
    assert found.interval == pytest.approx((theirs.low / share, theirs.high / share), abs=1e-12)


def test_the_interval_of_other_rewards_solves_its_equation() -> None:
    rewards = np.random.default_rng(3).beta(0.5, 2.0, 60)
    found = replays.replay(thrifty.UCB1(), one_arm(rewards.tolist()), runs=1)
    v, b, z = rewards.mean(), ((rewards**2).sum() + 1.0) / (rewards.sum() + 1.0), stats.norm.ppf(0.975)

    def excess(m: float) -> float:
        return float((v - m) ** 2 - z**2 * (b * m - m**2) / 60)

    roots = optimize.brentq(excess, 0.0, v), optimize.brentq(excess, v, 1.0)
    assert found.interval == pytest.approx(roots)
    error = rewards.std() / math.sqrt(60)
    assert found.interval == pytest.approx(
        (v - z * error, v + z * error), rel=0.15
    )  # it is nearly the normal one


def test_a_small_reward_does_not_hide_that_large_ones_may_come() -> None:
    nothing, little = (
        replays.replay(thrifty.UCB1(), one_arm([0.0] * 99 + [last]), runs=1).interval for last in (0.0, 0.001)
    )
    assert little[1] == pytest.approx(nothing[1], rel=0.01)


def test_intervals_hold_where_large_rewards_are_rare() -> None:
    """1 in one of 500 rows, and next to nothing else: most logs of 200 rows have no 1 in them."""
    truth, fine = 0.002 + 0.998 * 0.005, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rewards = np.where(rng.random(200) < 0.002, 1.0, 0.01 * rng.random(200))
        fine += inside(replays.replay(thrifty.UCB1(), one_arm(rewards.tolist()), runs=1).interval, truth)
    assert fine >= 190 - 4.0 * math.sqrt(200 * 0.95 * 0.05)


def test_a_level_next_to_1_is_a_level() -> None:
    found = replays.replay(thrifty.UCB1(), one_arm([0.0, 1.0] * 50), runs=1, level=1.0 - 2.0**-53)
    assert 0.0 <= found.interval[0] < 0.3
    assert 0.7 < found.interval[1] <= 1.0


def test_a_range_of_rewards_is_a_unit_for_rejection() -> None:
    log = synthetic(4, 500)
    unit = replays.replay(BETA, log, seed=5)
    other = log | {"reward": 10.0 * log["reward"] - 4.0}
    found = replays.replay(BETA, other, seed=5, reward_range=(-4.0, 6.0))
    assert found.value == pytest.approx(10.0 * unit.value - 4.0)
    assert found.interval == pytest.approx([10.0 * end - 4.0 for end in unit.interval])
    assert found.logged_interval == pytest.approx([10.0 * end - 4.0 for end in unit.logged_interval])


def test_rewards_of_any_size_have_normal_intervals() -> None:
    rewards = [-1.0, 2.5, 0.5, 7.0]
    found = replays.replay(thrifty.ThompsonSampling(), one_arm(rewards), runs=1, reward_range=None)
    reach = 1.959964 * np.std(rewards) / 2.0
    assert found.interval == pytest.approx((2.25 - reach, 2.25 + reach), rel=1e-6)


def test_a_log_that_allows_hardly_any_decision() -> None:
    """Its one row of a rare arm is taken if that is what the policy begins with. Runs without a decision are
    not counted, and if there are none with one, nothing is known."""
    log = {"arm": ["a", "b"], "reward": [1.0, 1.0], "propensity": [1.0 - 1e-12, 1e-12]}
    found = {
        one.decisions: one
        for one in (replays.replay(thrifty.UCB1(), log, runs=2, seed=s, trust=True) for s in range(9))
    }
    assert set(found) == {0.0, 0.5, 1.0}
    nothing = found[0.0]
    assert math.isnan(nothing.value)
    assert math.isnan(nothing.error)
    assert nothing.interval == (0.0, 1.0)
    assert nothing.logged == 1.0
    assert str(nothing).splitlines()[2].split() == ["UCB1", "-", "-", "0.00000", "1.00000", "0"]
    assert found[0.5].value == found[1.0].value == 1.0
    assert found[0.5].interval == found[1.0].interval


def test_no_decisions_by_inverse_propensity() -> None:
    """They used to be 0.00000 ± 0.00000."""
    both = {"arm": ["a", "b"], "reward": [1.0, 1.0], "propensity": [0.5, 0.5]}
    none = [replays.replay(BETA, both, "ips", runs=1, seed=seed) for seed in range(20)]
    nothing = next(one for one in none if not one.decisions)
    assert math.isnan(nothing.value)
    assert nothing.interval == (0.0, 1.0)
    assert str(nothing).splitlines()[2].split() == ["TS", "(Beta)", "-", "-", "0.00000", "1.00000", "0"]


def test_intervals_stay_in_the_range_of_rewards() -> None:
    """A click rate used to be up to 1.9, or 321."""
    rng = np.random.default_rng(5)
    shares = np.array([0.97, 0.01, 0.01, 0.01])
    arm = rng.choice(4, 300, p=shares)
    log = {"arm": arm, "reward": rng.random(300) < 0.5, "propensity": shares[arm]}
    for method in replays.METHODS:
        for low, high in ((0.0, 1.0), (-3.0, 2.0)):
            scaled = log | {"reward": low + (high - low) * log["reward"]}
            for runs in (1, 5):
                found = replays.replay(BETA, scaled, method, arms=4, runs=runs, reward_range=(low, high))
                assert low <= found.interval[0] < found.interval[1] <= high


# What the policy is given ----------------------------------------------------------------------------------


def test_the_horizon_is_about_how_many_rewards_there_will_be(witnesses: list[Witness]) -> None:
    """Rows of unknown arms are rows, too."""
    log = synthetic(6, 1000)
    for arms, method, horizon in ((4, "rejection", 100), (3, "rejection", 100), (4, "ips", 250)):
        replays.replay(thrifty.TSMA(), log, method, arms=arms, runs=1)
        assert witnesses[-1].horizon == horizon
        assert abs(len(witnesses[-1].pulled) - horizon) < horizon / 2


def test_runs_have_streams_of_their_own(witnesses: list[Witness]) -> None:
    log = synthetic(7, 300)
    first = replays.replay(BETA, log, runs=5, seed=0)
    assert replays.replay(BETA, log, runs=5, seed=0) == first
    replays.replay(BETA, log, runs=5, seed=1)
    pulled = [tuple(player.pulled) for player in witnesses]
    assert pulled[:5] == pulled[5:10]
    assert len(set(pulled)) == 10


def test_a_prior_of_each_arm_is_that_arms() -> None:
    """It used to be given to the arms in another order. With so much weight the policy always has its arm."""
    log = synthetic(13, 2000)
    for best in range(4):
        means = [0.9 if arm == best else 0.1 for arm in (3, 1, 0, 2)]
        rewards = log["reward"][log["arm"] == best]
        for weight in (1e9, [1e9] * 4):
            for method in replays.METHODS:
                found = replays.replay(
                    thrifty.UCB1(), log, method, arms=[3, 1, 0, 2], prior=(means, weight), runs=2
                )
                right = rewards.mean() if method == "rejection" else rewards.sum() / SHARES[best] / 2000
                error = math.sqrt(0.25 / found.decisions) if method == "rejection" else 0.0
                assert abs(found.value - right) <= SIGMAS * error + 1e-9


# Arms that come and go -------------------------------------------------------------------------------------


def late(seed: int = 0, rows: int = 10_000) -> dict[str, Any]:
    """Five arms with equal propensities, of which one begins in the middle and another one ends there."""
    rng = np.random.default_rng([17, seed])
    half = rows // 2
    arm = np.r_[rng.integers(4, size=half), 1 + rng.integers(4, size=rows - half)]
    means = np.array([0.3, 0.35, 0.4, 0.45, 0.5])
    return {"arm": arm, "reward": (rng.random(rows) < means[arm]) * 1.0, "propensity": np.full(rows, 0.25)}


def test_an_arm_that_begins_late_is_refused_unless_it_is_said() -> None:
    """It used to be a confident wrong answer, as the policy waited for the arm's first pull: 0.0126, from
    0.0093 to 0.0170, where the means are 0.3 to 0.5."""
    log = late()
    for method in replays.METHODS:
        with pytest.raises(thrifty.InvalidValue) as caught:
            replays.replay(BETA, log, method)
        text = str(caught.value)
        assert "the mean of 1/propensity is 4, and should be 5, the number of arms" in text
        assert re.search(r"5,0\d\d rows without arm [04], .* chance of one like that is below 1e-300", text)
        assert "spans={id: (first, last)}" in text
        found = replays.replay(BETA, log, method, runs=2, spans={0: (None, 5000), 4: (5001, None)})
        assert 0.3 < found.interval[0] < found.value < found.interval[1] < 0.6
        assert found.decisions > 2000
        trusted = replays.replay(BETA, log, method, runs=1, trust=True)
        assert "should be 5" in trusted.checks


def test_arms_that_come_and_go_against_a_bandit_by_hand() -> None:
    """A policy without chance and with a prior: the same decisions, row by row, and the same rewards."""
    log, policy = late(1, 400), thrifty.UCB1()
    on = [{0, 1, 2, 3} if row < 200 else {1, 2, 3, 4} for row in range(400)]
    priors = {arm: (0.3 + 0.1 * arm, 1.5) for arm in range(5)}
    for method in replays.METHODS:
        bandit = thrifty.Bandit(policy, [0, 1, 2, 3], prior=([priors[i][0] for i in range(4)], 1.5))
        counts: list[float] = []
        for row, (arm, reward) in enumerate(zip(log["arm"].tolist(), log["reward"].tolist(), strict=True)):
            if row == 200:
                bandit.add_arm(4, priors[4])
                bandit.remove_arm(0)
            wanted = bandit.select()
            if wanted == arm:
                bandit.update(arm, reward)
            else:
                bandit.cancel(wanted)
            if wanted == arm or method == "ips":
                counts.append((wanted == arm) * reward / (0.25 if method == "ips" else 1.0))
        prior = ([priors[i][0] for i in range(5)], 1.5)
        found = replays.replay(policy, {**log, "available": on}, method, arms=5, prior=prior, runs=2)
        assert found.value == pytest.approx(np.mean(counts), abs=1e-12)


def test_an_arm_that_comes_back() -> None:
    log = {"arm": list("abab"), "reward": [1] * 4, "propensity": [0.5, 0.5, 1, 0.5]}
    with pytest.raises(thrifty.InvalidValue) as caught:
        replays.replay(BETA, log | {"available": ["a|b", "a|b", "a", "a|b"]})
    assert str(caught.value) == (
        "an arm must come once and go once in a replay, got 'b', which is gone in line 3 and back in line 4: "
        "if it is a new arm then, give it another id"
    )


class Counting:
    """A posterior of one's own that knows how much it was told."""

    def __init__(self) -> None:
        self.told = 0

    def observe(self, arm: Any, reward: float) -> None:
        self.told += 1

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Floats:
        return rng.random(size)


def test_a_posterior_of_ones_own_begins_anew_in_every_run(witnesses: list[Witness]) -> None:
    posterior: Any = Counting()
    replays.replay(thrifty.ThompsonSampling(law=posterior), synthetic(8, 200), runs=3)
    assert posterior.told == 0
    for player in witnesses:
        assert player.bandit.policy.law.told == len(player.pulled) > 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [name for name, kind in POLICIES.items() if not kind.told])
def test_every_policy_can_be_replayed(name: str) -> None:
    log = synthetic(9, 300)
    for method in replays.METHODS:
        found = replays.replay(POLICIES[name](), log, method, arms=4, runs=2)
        assert 0.0 < found.value < 1.5
        assert found.decisions > 10


# Mistakes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "dr"}, "method must be one of rejection, ips, got 'dr'"),
        ({"runs": 0}, "runs must be at least 1, got 0"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"level": 1.0}, "level must be in (0, 1), got 1.0"),
        ({"level": 95}, "level must be in (0, 1), got 95"),
        ({"policy": "TSMA"}, "policy must be a policy such as TSMA(), got 'TSMA'"),
        ({"arms": ["a", "b", *"cdefgh"]},
         "every arm must have rows in the log, and 6 of 8 have none: 'c', 'd', 'e', 'f', 'g', ..."),
        ({"arms": ["a", "b", "c"]}, "every arm must have rows in the log, and 1 of 3 have none: 'c'"),
        ({"reward_range": (0.0, 0.5)}, "the reward in line 3 must be in [0.0, 0.5], got 1.0"),
        ({"policy": BETA, "reward_range": (0.0, 2.0)},
         "the reward in line 3 must be 0.0 or 2.0 for this policy, got 1.0"),
        ({"strict": True},
         "the log must have no bad rows, got\n1 row left out: reward is not a number (line 2)"),
        ({"log": logs.read(one_arm([1.0])), "strict": True},
         "strict must be given to read_log if the log is read by it"),
        ({"trust": 1}, "trust must be True or False, got 1"),
        ({"prior": ([0.5, 0.5], 1.0)},
         "prior with an entry for each arm must come with arms, in whose order they are"),
        ({"prior": ([0.5], 1.0), "arms": ["a", "b"]},
         "prior mean must have an entry for each of the 2 arms, got 1"),
        ({"log": 3}, "log must be a file or a table with columns, got int"),
    ],
)  # fmt: skip
def test_mistakes(options: dict[str, Any], message: str) -> None:
    log = {"arm": ["a", "a", "b"], "reward": [0.0, None, 1.0], "propensity": [0.5, 0.5, 0.5]}
    with pytest.raises(ThriftyError) as caught:
        thrifty.replay(**{"policy": thrifty.UCB1(), "log": log} | options)
    assert str(caught.value) == message


def test_bad_rows_are_reported_by_the_outcome(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,reward,propensity\n" + "0,1,0.5\n1,0,0.5\n" * 20 + "1,nan,0.5\n5,1,0.5\n")
    found = thrifty.replay(thrifty.UCB1(), path, arms=2)
    assert (found.rows, found.bad, found.arms) == (40, 2, 2)
    assert found.report.splitlines() == [
        "1 row left out: reward is not a number (line 42)",
        "1 row left out: unknown arm (line 43)",
    ]
    assert str(found) == f"{found.report}\n\n{replays.table([found])}\n\n{found.checks}"
    fine = thrifty.replay(thrifty.UCB1(), one_arm([1.0, 0.0]))
    assert fine.report == ""
    assert str(fine) == f"{replays.table([fine])}\n\n{fine.checks}"


# The command line ------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = zip(*(column.tolist() for column in synthetic(10, 500).values()), strict=True)
    text = "".join(f"{'abcd'[int(arm)]},{reward:g},{share:g}\n" for arm, reward, share in rows)
    path = tmp_path / "log.csv"
    path.write_text("arm,reward,propensity\n" + text + "a,nan,0.1\nb,1,0\n")
    return path


def test_policies_are_replayed_and_bad_rows_reported(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--policy",
        "TSMA(alpha=0.5)",
        "--policy",
        "UCB1",
        "--method",
        "ips",
        "--runs",
        "2",
        "--seed",
        "3",
    ]
    assert main(["replay", str(file), *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "1 row left out: reward is not a number (line 502)",
        "1 row left out: propensity is not in (0, 1] (line 503)",
        "",
    ]
    policies = thrifty.TSMA(alpha=0.5), thrifty.UCB1()
    found = [thrifty.replay(policy, file, "ips", runs=2, seed=3) for policy in policies]
    assert "\n".join(lines[3:-5]) == replays.table(found)
    assert lines[-5:] == ["", *found[0].checks.splitlines(), "500 rows, 4 arms, ips, 2 runs each"]
    assert lines[-6].split()[:2] == ["the", "log"]


def test_arms_and_ranges(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    polars.DataFrame(synthetic(10, 500)).write_parquet(tmp_path / "log.parquet")
    count = file.read_text().count("\nc,")
    for path, arms in ((file, "d,b,a"), (tmp_path / "log.parquet", "3,1,0")):
        command_line = ["replay", str(path), "--policy", "UCB1()", "--arms", arms, "--range", "0,2"]
        assert main([*command_line, "--runs", "1"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith(f"{count} rows left out: unknown arm (line ")
        assert lines[-1] == f"{500 - count} rows, 3 arms, rejection, 1 runs each"
    assert main(["replay", str(tmp_path / "log.parquet"), "--policy", "UCB1()", "--arms=--5,0"]) == 2
    assert capsys.readouterr().err.endswith(
        "every arm must have rows in the log, and 1 of 2 have none: '--5'\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "UCB1()", "--strict"],
         "log.csv must have no bad rows, got\n1 row left out: reward is not a number (line 502)\n"
         "1 row left out: propensity is not in (0, 1] (line 503)\n"),
        (["--policy", "UCB1()", "--arms", "a,e"],
         "every arm must have rows in the log, and 1 of 2 have none: 'e'\n"),
        (["--policy", "TSMA(alpha=2)"],
         "must be written like TSMA(alpha=0.5), got 'TSMA(alpha=2)': alpha must be in [0, 1], got 2\n"),
        (["--policy", "TSMA(beta=2)"], "unexpected keyword argument 'beta'\n"),
        (["--policy", "TSMA(**{'alpha': 0.5})"], "parameters must have names, each once\n"),
        (["--policy", "TSMA(alpha=0.1, alpha=0.9)"], "parameters must have names, each once\n"),
        (["--policy", "TSMA("], "got 'TSMA(': '(' was never closed (<unknown>, line 1)\n"),
        (["--policy", "exit()"], "got 'exit()': exit() is neither a policy nor a value\n"),
        (["--policy", "'UCB1'"], "policy must be one of those of thrifty policies, got \"'UCB1'\"\n"),
        (["--policy", "UCB1()", "--range", "0"], "reward_range must be None or (low, high), got (0.0,)\n"),
    ],
)  # fmt: skip
def test_mistakes_on_the_command_line(
    file: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(file), *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith("thrifty: error: ")
    assert err.endswith(message)


@pytest.mark.parametrize("policy", [kind() for kind in POLICIES.values()], ids=str)
def test_policies_are_written_as_in_python(policy: Policy) -> None:
    assert command.policy(repr(policy)) == policy
    if type(policy) is not thrifty.Binarised:
        assert command.policy(type(policy).__name__) == policy


def test_a_fixed_arm_has_a_number_only_where_arms_are_stated() -> None:
    log = {"arm": [1, 0] * 50, "reward": [1, 0] * 50, "propensity": [0.5] * 100}
    with pytest.raises(thrifty.InvalidValue, match=r"arms must be stated for FixedArm\(arm=0\)"):
        thrifty.replay(thrifty.FixedArm(0), log, runs=1)
    assert thrifty.replay(thrifty.FixedArm(0), log, arms=2, runs=1).value == 0.0


def test_a_log_most_of_whose_rewards_are_blank_is_refused() -> None:
    log = {"arm": [0, 1] * 50, "reward": [1, None, None, 1, None] * 20, "propensity": [0.5] * 100}
    with pytest.raises(thrifty.InvalidValue, match="most rows of the log must be whole, got 60 of 100"):
        thrifty.replay(thrifty.UCB1(), log, runs=1)
    assert thrifty.replay(thrifty.UCB1(), log, runs=1, trust=True).value == 1.0
