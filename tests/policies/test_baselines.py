"""The baselines: their decisions by exact laws, their regret by formulas and by a second implementation."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

import thrifty
from tests.support.chance import SIGMAS, UNLUCKY, assert_mean, assert_share, assert_uniform
from tests.support.live import refused, warm
from thrifty import storage
from thrifty.online import snapshot
from thrifty.policies import POLICIES, Policy
from thrifty.policies.epsilon_decreasing import epsilon

FOUR = thrifty.Bernoulli([0.2, 0.5, 0.9, 0.4])
STUBBORN: list[Policy] = [thrifty.Uniform(), thrifty.FixedArm(2), thrifty.Oracle()]


def final(policy: Policy, problem: Any, horizon: int, runs: int, **more: Any) -> NDArray[np.float64]:
    return thrifty.simulate(policy, problem, horizon, runs, seed=1, checkpoints=[], **more).regret[0, :, -1]


def assert_law(policy: Policy, means: list[float], probabilities: list[float], size: int = 40_000) -> None:
    """Decisions with these means have these probabilities."""
    chosen = warm(policy, [50] * len(means), means, seed=3).select_many(size)
    counts = np.bincount(chosen, minlength=len(means))
    assert stats.chisquare(counts, size * np.array(probabilities)).pvalue > UNLUCKY


# Those that do not learn ----------------------------------------------------------------------------------


def test_uniform_pulls_every_arm_equally_often_from_the_first_round_on() -> None:
    first = thrifty.simulate(thrifty.Uniform(), FOUR, 1, runs=4000, seed=2).pulls[0].sum(axis=0)
    assert_uniform(first)
    assert_uniform(np.bincount(thrifty.Bandit(thrifty.Uniform(), 7, seed=2).select_many(30_000)))
    gaps = FOUR.gaps
    assert_mean(final(thrifty.Uniform(), FOUR, 500, 400), 500 * gaps.mean(), math.sqrt(500) * gaps.std())


@pytest.mark.parametrize("options", [{}, {"delay": 5}, {"prior": (0.5, 1.0)}], ids=str)
def test_a_fixed_arm_and_the_oracle_pull_no_other(options: dict[str, Any]) -> None:
    for policy, arm in ((thrifty.FixedArm(3), 3), (thrifty.FixedArm(), 0), (thrifty.Oracle(), 2)):
        result = thrifty.simulate(policy, FOUR, 100, runs=3, checkpoints=range(1, 101), **options)
        np.testing.assert_allclose(
            result.regret[0], np.outer(np.ones(3), np.arange(1, 101) * FOUR.gaps[arm]), atol=1e-9
        )
        assert not result.draws.any()
        if "delay" not in options:
            assert (result.pulls[0, :, arm] == 100).all()


def test_the_oracle_is_right_about_any_problem() -> None:
    for problem in (
        thrifty.Gaussian([-3.0, -1.0, -2.0, -1.0]),
        thrifty.Beta([1.0, 2.0], [2.0, 1.0]),
        thrifty.Poisson([0.0, 0.0]),
        thrifty.Bernoulli(np.linspace(0.0, 1.0, 500)),
    ):
        result = thrifty.simulate(thrifty.Oracle(), problem, 30, runs=2)
        assert not result.regret.any()
        assert (result.pulls[0, :, int(np.argmin(problem.gaps))] == 30).all()  # the first of the best


def test_who_does_not_try_all_arms_needs_no_rounds_for_it() -> None:
    result = thrifty.simulate(STUBBORN, FOUR, 2, runs=2)
    assert (result.pulls.sum(axis=2) == 2).all()
    with pytest.raises(thrifty.InvalidValue, match="horizon must be at least the number of arms, 4"):
        thrifty.simulate([*STUBBORN, thrifty.Greedy()], FOUR, 2)


def test_no_baseline_draws_from_a_posterior() -> None:
    every = [kind() for kind in POLICIES.values() if kind.group == "Baselines"]
    assert len(every) == 8
    assert not thrifty.simulate(every, FOUR, 100, runs=2, delay=3).draws.any()


def test_bad_parameters_are_named() -> None:
    for make, text in {
        lambda: thrifty.FixedArm(-1): "arm must be at least 0, got -1",
        lambda: thrifty.FixedArm("a"): "arm must be an integer, got 'a'",  # type: ignore[arg-type]
        lambda: thrifty.EpsilonGreedy(1.5): "epsilon must be in [0, 1], got 1.5",
        lambda: thrifty.EpsilonDecreasing(c=0.0): "c must be above 0, got 0.0",
        lambda: thrifty.EpsilonDecreasing(d=-0.1): "d must be above 0, got -0.1",
        lambda: thrifty.ExploreThenCommit(0): "pulls must be at least 1, got 0",
        lambda: thrifty.ExploreThenCommit(2.5): "pulls must be an integer, got 2.5",  # type: ignore[arg-type]
        lambda: thrifty.Softmax(0.0): "temperature must be above 0, got 0.0",
    }.items():
        with pytest.raises(thrifty.ThriftyError) as error:
            make()
        assert str(error.value) == text


def test_a_fixed_arm_must_be_there() -> None:
    for refuse in (
        lambda: thrifty.simulate(thrifty.FixedArm(4), FOUR, 10),
        lambda: thrifty.Bandit(thrifty.FixedArm(4), 4),
    ):
        with pytest.raises(thrifty.InvalidValue, match=r"FixedArm\(arm=4\) needs at least 5 arms, got 4"):
            refuse()


def test_the_oracle_plays_in_simulations_alone(tmp_path: Path) -> None:
    text = r"Oracle\(\) is told the problem, so it plays in simulate alone"
    with pytest.raises(thrifty.InvalidValue, match=text):
        thrifty.Bandit(thrifty.Oracle(), 3)
    log = {"arm": [0, 1], "reward": [0, 1], "propensity": [0.5, 0.5]}
    with pytest.raises(thrifty.InvalidValue, match=text):
        thrifty.replay(thrifty.Oracle(), log)
    thrifty.Bandit(thrifty.Uniform(), 3, seed=1).save(tmp_path / "bandit.npz")
    header, arrays = storage.read(tmp_path / "bandit.npz", "bandit")
    del header["format"], header["digest"]
    header["policy"] = {"name": "Oracle"}
    digest = {"digest": snapshot._digest(header, arrays)}
    storage.write(tmp_path / "edited.npz", header | digest, arrays, compressed=False)
    with pytest.raises(thrifty.FileError, match=text):
        thrifty.Bandit.load(tmp_path / "edited.npz")


def test_a_fixed_arm_is_replayed_by_its_number_in_the_log() -> None:
    """The estimate of the second arm's mean, in every run."""
    rng = np.random.default_rng(3)
    arm = rng.integers(3, size=3000)
    reward = (rng.random(3000) < np.array([0.2, 0.7, 0.4])[arm]).astype(float)
    log = {"arm": arm, "reward": reward, "propensity": np.full(3000, 1 / 3)}
    found = thrifty.replay(thrifty.FixedArm(1), log, arms=3, runs=4)
    assert found.value == pytest.approx(reward[arm == 1].mean(), rel=1e-12)


def test_a_fixed_arm_stays_the_same_when_arms_come_and_go(tmp_path: Path) -> None:
    bandit = thrifty.Bandit(thrifty.FixedArm(4), [*"abcde"], seed=1)
    bandit.remove_arm("b")
    bandit.add_arms([*"fg"])
    bandit.remove_arm("a")
    assert bandit.select_many(3) == [*"eee"]
    bandit.save(tmp_path / "bandit.npz")
    bandit = thrifty.Bandit.load(tmp_path / "bandit.npz")
    assert bandit.select_many(3) == [*"eee"]
    bandit.remove_arm("e")
    other = bandit.arms[0]
    assert bandit.select_many(3) == [other] * 3
    bandit.remove_arm(other)
    assert bandit.select_many(2) == [bandit.arms[0]] * 2


# Greedy ones ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["scan", "tournament"])
def test_greedy_breaks_ties_evenly_whatever_is_pending(engine: str) -> None:
    """A pull that was handed out changes no mean, and so no chance of the next one."""
    bandit = warm(thrifty.Greedy(), [10] * 5, [0.5, 0.7, 0.7, 0.2, 0.7], seed=2, engine=engine)
    after_one = 0
    for _ in range(3000):
        arm = bandit.select()
        after_one += bandit.select() == arm
        assert arm in (1, 2, 4)
    assert_share(after_one, 3000, 1 / 3)


def test_greedy_gets_stuck() -> None:
    """Gaussian arms: the first pull of the better one is the lower one in Φ(-gap/√2) of the runs, and then it
    is pulled again only if the mean of the other falls below it."""
    regret = final(thrifty.Greedy(), thrifty.Gaussian([1.0, 0.0]), 2000, 2000)
    stuck = int((regret > 1000).sum())
    assert 0 < stuck < stats.binom.isf(UNLUCKY, 2000, stats.norm.sf(1 / math.sqrt(2)))


def test_epsilon_greedy_explores_with_probability_epsilon() -> None:
    assert_law(thrifty.EpsilonGreedy(0.3), [0.2, 0.9, 0.9, 0.4, 0.1], [0.06, 0.41, 0.41, 0.06, 0.06])
    assert_law(thrifty.EpsilonGreedy(1.0), [0.2, 0.9, 0.4], [1 / 3] * 3)
    assert set(warm(thrifty.EpsilonGreedy(0.0), [5] * 3, [0.2, 0.9, 0.4], seed=1).select_many(500)) == {1}


def test_the_regret_of_epsilon_greedy_grows_by_epsilon_times_the_mean_gap() -> None:
    """With sure rewards nothing else is pulled wrongly after the first pulls: a binomial number."""
    problem = thrifty.Discrete([0.0, 1.0], [[0.0, 1.0], *3 * [[1.0, 0.0]]])
    regret = final(thrifty.EpsilonGreedy(0.2), problem, 1004, 300)
    p = 0.2 * 3 / 4
    assert_mean(regret, 3 + 1000 * p, math.sqrt(1000 * p * (1 - p)))


def test_epsilon_decreases_as_the_paper_says() -> None:
    problem, rounds = thrifty.Bernoulli([1.0, 0.0, 0.0, 0.0]), np.arange(5, 2001)
    p = np.minimum(1.0, 0.2 * 4 / (0.1**2 * rounds)) * 3 / 4
    regret = final(thrifty.EpsilonDecreasing(0.2, 0.1), problem, 2000, 300)
    assert_mean(regret, 3 + p.sum(), math.sqrt((p * (1 - p)).sum()))
    assert epsilon(79, 4, 0.2, 0.1) == pytest.approx(1.0)
    assert epsilon(159, 4, 0.2, 0.1) == pytest.approx(0.5)


def test_softmax_has_the_probabilities_of_its_weights() -> None:
    means = [0.2, 0.9, 0.85, 0.4]
    for temperature in (0.1, 1.0):
        weights = special.softmax(np.array(means) / temperature)
        assert_law(thrifty.Softmax(temperature), means, weights.tolist())
    cold = warm(thrifty.Softmax(1e-9), [5] * 3, [0.2, 0.9, 0.4], seed=1)
    assert set(cold.select_many(500)) == {1}


# Explore-then-commit --------------------------------------------------------------------------------------


def test_explore_then_commit_has_the_regret_of_the_book() -> None:
    """Two normal arms: the wrong one wins with probability Φ(-gap √(m/2)) (chapter 6)."""
    m, gap, horizon, runs = 8, 0.5, 400, 4000
    regret = final(thrifty.ExploreThenCommit(m), thrifty.Gaussian([gap, 0.0]), horizon, runs)
    right, wrong = m * gap, (horizon - m) * gap
    assert set(regret.round(9)) == {right, wrong}
    assert_share(int((regret > right + 1e-9).sum()), runs, stats.norm.sf(gap * math.sqrt(m / 2)))


def test_the_exploration_is_in_turn_and_the_commitment_for_ever() -> None:
    """Whatever the rewards are afterwards."""
    bandit = thrifty.Bandit(thrifty.ExploreThenCommit(3), [*"abc"], seed=1)
    for t, reward in enumerate([0.0, 1.0, 0.5] * 3):
        assert bandit.select() == "abc"[t % 3]
        bandit.update("abc"[t % 3], reward)
    for _ in range(100):
        assert bandit.select() == "b"
        bandit.update("b", 0.0)
    bandit.update_many(["a"] * 50, [1.0] * 50)
    assert set(bandit.select_many(50)) == {"b"}


def test_ties_at_the_commitment_are_broken_at_random() -> None:
    pulls = thrifty.simulate(
        thrifty.ExploreThenCommit(2), thrifty.Bernoulli([0.0, 1.0, 1.0, 1.0]), 50, runs=900, seed=4
    ).pulls[0]
    assert (np.sort(pulls, axis=1) == [2, 2, 2, 44]).all()
    assert_uniform(np.bincount(pulls.argmax(axis=1), minlength=4)[1:])


@pytest.mark.parametrize("delay", [0, 3, 40])
@pytest.mark.parametrize("prior", [None, (0.5, 2.0)], ids=str)
def test_every_arm_is_explored_before_the_commitment(delay: int, prior: tuple[float, float] | None) -> None:
    """While the last rewards are on their way it pulls who is best until then, and commits after that."""
    result = thrifty.simulate(
        thrifty.ExploreThenCommit(5), FOUR, 300, runs=20, seed=3, delay=delay, prior=prior
    )
    pulls = np.sort(result.pulls[0], axis=1)
    assert (pulls[:, 0] >= 5).all()
    assert (pulls[:, :-1].sum(axis=1) <= 15 + delay + 1).all()


def test_a_pull_that_is_cancelled_is_made_again() -> None:
    bandit = thrifty.Bandit(thrifty.ExploreThenCommit(2), [*"abc"], seed=1)
    assert bandit.select_many(4) == [*"abca"]
    for arm, reward in zip("abc", (0.0, 0.5, 1.0), strict=True):
        bandit.update(arm, reward)
    bandit.cancel("a")
    assert sorted(bandit.select_many(3)) == [*"abc"]
    bandit.update_many([*"abc"], [0.0, 0.5, 1.0])
    assert set(bandit.select_many(20)) == {"c"}


def test_new_arms_are_explored_and_a_lost_one_is_replaced(tmp_path: Path) -> None:
    bandit = thrifty.Bandit(thrifty.ExploreThenCommit(2), [*"abc"], seed=1)
    worth = {"a": 0.4, "b": 0.9, "c": 0.2, "d": 1.0, "e": 0.0}

    def live(rounds: int) -> str:
        chosen = []
        for _ in range(rounds):
            chosen.append(bandit.select())
            bandit.update(chosen[-1], worth[chosen[-1]])
        return "".join(chosen)

    assert live(10) == "abcabcbbbb"
    bandit.remove_arm("a")  # of others, or who has which number: the commitment stays
    assert live(3) == "bbb"
    bandit.add_arms([*"de"])
    assert sorted(live(4)) == [*"ddee"]
    assert live(4) == "dddd"
    bandit.save(tmp_path / "bandit.npz")
    bandit = thrifty.Bandit.load(tmp_path / "bandit.npz")
    assert live(4) == "dddd"
    bandit.remove_arm("d")
    assert live(4) == "bbbb"


def test_earlier_pulls_count_as_exploration() -> None:
    """Many of them at once, too."""
    bandit = warm(thrifty.ExploreThenCommit(10**9), [10**9, 10**9, 10**9 - 2], [0.2, 0.5, 0.4], seed=1)
    assert bandit.select_many(2) == [2, 2]
    bandit.update_many([2, 2], [0.0, 0.0])
    assert bandit.select_many(3) == [1, 1, 1]
    with refused(thrifty.InvalidValue, "arm must be one of", bandit):
        bandit.update(7, 1.0)


# A second implementation ----------------------------------------------------------------------------------

Chooser = Callable[[int, NDArray[Any], NDArray[Any], np.random.Generator], NDArray[np.int64]]


def largest(values: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """In each row, ties at random."""
    tied = values == values.max(axis=1, keepdims=True)
    return np.argmax(tied * rng.uniform(0.5, 1.0, values.shape), axis=1)


def exploring(rate: Callable[[int, int], float]) -> Chooser:
    def choose(
        t: int, pulls: NDArray[Any], means: NDArray[Any], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        runs, arms = means.shape
        explores = rng.random(runs) < rate(t, arms)
        return np.where(explores, rng.integers(arms, size=runs), largest(means, rng))

    return choose


def boltzmann(
    t: int, pulls: NDArray[Any], means: NDArray[Any], rng: np.random.Generator
) -> NDArray[np.int64]:
    shares = np.cumsum(special.softmax(means / 0.1, axis=1), axis=1)
    return (shares < rng.random((len(means), 1))).sum(axis=1)


class Committing:
    """Six pulls of each arm."""

    def __call__(
        self, t: int, pulls: NDArray[Any], means: NDArray[Any], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        runs, arms = means.shape
        if t < 6 * arms:
            return np.full(runs, t % arms)
        if t == 6 * arms:
            self.arm = largest(means, rng)
        return self.arm


SECOND: list[tuple[Policy, Chooser]] = [
    (thrifty.Greedy(), exploring(lambda t, arms: 0.0)),
    (thrifty.EpsilonGreedy(0.1), exploring(lambda t, arms: 0.1)),
    (
        thrifty.EpsilonDecreasing(0.15, 0.5),
        exploring(lambda t, arms: min(1.0, 0.15 * arms / (0.25 * (t + 1)))),
    ),
    (thrifty.ExploreThenCommit(6), Committing()),
    (thrifty.Softmax(0.1), boltzmann),
]


@pytest.mark.parametrize(("policy", "chooser"), SECOND, ids=lambda case: getattr(case, "label", ""))
def test_the_regret_is_that_of_another_implementation(policy: Policy, chooser: Chooser) -> None:
    """Written for all runs at once, in NumPy."""
    truth, horizon, runs = np.array([0.3, 0.6, 0.5, 0.55]), 300, 2000
    rng = np.random.default_rng(7)
    pulls, sums, rows = np.zeros((runs, 4)), np.zeros((runs, 4)), np.arange(runs)
    for t in range(horizon):
        arm = np.full(runs, t) if t < 4 else chooser(t, pulls, sums / pulls, rng)
        sums[rows, arm] += rng.random(runs) < truth[arm]
        pulls[rows, arm] += 1
    theirs = pulls @ (truth.max() - truth)
    ours = final(policy, thrifty.Bernoulli(truth), horizon, runs)
    error = math.hypot(ours.std(), theirs.std()) / math.sqrt(runs)
    assert abs(ours.mean() - theirs.mean()) < SIGMAS * error
    assert error < 0.05 * theirs.mean()
