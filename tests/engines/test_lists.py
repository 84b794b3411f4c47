"""Policies that make lists, against their pseudo-code in plain Python and by what their state shows."""

import itertools
import math
from collections.abc import Generator

import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.support.chance import SIGMAS, assert_uniform
from tests.support.drive import Run, new_run
from thrifty.engines.memory import reward_stream
from thrifty.numerics import kl, random
from thrifty.policies import Policy
from thrifty.policies.dirichlet_sampling import VARIANTS
from thrifty.state.lists import LEFT

Pulls = Generator[int, float, None]  # arms to pull; their rewards are sent back
Sampled = thrifty.Bernoulli | thrifty.Discrete

VALUES = [0.0, 0.25, 0.5, 1.0]
PROBLEMS = [
    thrifty.Bernoulli([0.5]),
    thrifty.Bernoulli([0.9, 0.8]),
    thrifty.Bernoulli([0.2, 0.9, 0.5, 0.1, 0.85, 0.0]),
    thrifty.Bernoulli([0.0, 1.0, 1.0]),
    thrifty.Bernoulli([0.0, 0.0]),
    thrifty.Discrete(VALUES, [[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.0, 0.5, 0.5, 0.0]]),
]
EVERY_PROBLEM = pytest.mark.parametrize("problem", PROBLEMS, ids=["1", "2", "6", "sure", "zero", "discrete"])
PRIORS = pytest.mark.parametrize("prior", [None, (0.5, 2.0), (0.75, 0.3)], ids=["pulls", "prior", "light"])


class Arms:
    """Counts and means, the prior's pseudo-observations included."""

    def __init__(self, count: int, prior: tuple[float, float] | None) -> None:
        self.mean, self.weight = prior or (0.0, 0.0)
        self.count, self.t = count, 0
        self.pulls, self.sums = [0] * count, [0.0] * count

    def n(self, i: int) -> float:
        return self.pulls[i] + self.weight

    def m(self, i: int) -> float:
        return (self.sums[i] + self.mean * self.weight) / self.n(i)

    def pull(self, i: int) -> Pulls:
        self.sums[i] += yield i
        self.pulls[i] += 1
        self.t += 1

    def begin(self) -> Pulls:
        """Every arm once, unless a prior says something about all."""
        for i in range(self.count if self.weight == 0.0 else 0):
            yield from self.pull(i)


def dmed(arms: Arms, rule: str) -> Pulls:
    """Three lists: current, remaining, next."""
    yield from arms.begin()
    current, remaining, after = list(range(arms.count)), set(range(arms.count)), set()
    while True:
        for i in current:
            yield from arms.pull(i)
            remaining.remove(i)
            best = max(arms.m(j) for j in range(arms.count))
            for j in set(range(arms.count)) - remaining:
                n, divergence = arms.n(j), kl.bernoulli(arms.m(j), best)
                bound = math.log(arms.t) - (math.log(n) if rule == "original" else 0.0)
                if divergence == 0.0 or n * divergence <= bound:
                    after.add(j)
        current, remaining, after = sorted(after), after, set()


def ucb_improved(arms: Arms, horizon: int) -> Pulls:
    """Phases, in which arms are dropped; then those who are left, in turn."""
    yield from arms.begin()
    left = list(range(arms.count))
    for m in range(math.floor(0.5 * math.log2(horizon / math.e)) + 1):
        gap = 2.0**-m
        goal = math.ceil(2.0 * math.log(horizon * gap**2) / gap**2)
        for i in left:
            while arms.n(i) < goal:
                yield from arms.pull(i)
        w = math.sqrt(math.log(horizon * gap**2) / (2.0 * goal))
        best = max(arms.m(j) - w for j in left)
        left = [i for i in left if arms.m(i) + w >= best]
    while True:
        for i in left:
            yield from arms.pull(i)


def followed(pulls: Pulls, problem: Sampled, horizon: int, seed: int) -> list[int]:
    """The arms that are pulled, with the rewards of a simulated run."""
    rewards = reward_stream(seed, 0)
    chosen = [next(pulls)]
    while len(chosen) < horizon:
        u = random.uniform(rewards)
        if isinstance(problem, thrifty.Bernoulli):
            reward = float(u < problem.means[chosen[-1]])
        else:
            reward = VALUES[np.searchsorted(np.cumsum(problem.probabilities[chosen[-1]]), u, side="right")]
        chosen.append(pulls.send(reward))
    return chosen


@pytest.mark.parametrize("rule", ["original", "log-t"])
@PRIORS
@EVERY_PROBLEM
def test_dmed(problem: Sampled, prior: tuple[float, float] | None, rule: str) -> None:
    for seed in range(3):
        by_hand = followed(dmed(Arms(problem.gaps.size, prior), rule), problem, 400, seed)
        run = new_run(thrifty.DMED(rule), problem, 400, prior=prior, seed=seed)
        assert run.play_all().tolist() == by_hand


@pytest.mark.parametrize("horizon", [1, 2, 3, 173, 700])
@PRIORS
@EVERY_PROBLEM
def test_ucb_improved(problem: Sampled, prior: tuple[float, float] | None, horizon: int) -> None:
    """With T = 173 and two arms that are equally good, all phases end after 154 rounds."""
    by_hand = followed(ucb_improved(Arms(problem.gaps.size, prior), horizon), problem, horizon, 7)
    run = new_run(thrifty.UCBImproved(), problem, horizon, prior=prior, seed=7)
    assert run.play_all().tolist() == by_hand


def test_phases_of_a_longer_horizon() -> None:
    """Those who are left are pulled in turn; a doubled horizon adds a phase, in which none is passed over."""
    run = new_run(thrifty.UCBImproved(), thrifty.Bernoulli([1.0, 1.0]), 400)
    short = run._replace(rule=run.rule._replace(horizon=173))
    short.play(0, 154)
    assert run.state.pulls.tolist() == [77, 77]
    short.play(154, 173)
    assert run.state.pulls.tolist() == [87, 86]
    run.play(173, 173 + 148)  # to ceil(2 ln(400/64) 64) = 235 pulls
    assert run.state.pulls.tolist() == [235, 86]
    run.play(173 + 148, 400)
    assert run.state.pulls.tolist() == [235, 165]


def test_no_arm_goes_because_of_rewards_that_are_not_there() -> None:
    """T = 10^4: of 19 pulls in phase 0 and 63 in phase 1, one reward each has come. The phases do not end."""
    bandit = thrifty.Bandit(thrifty.UCBImproved(), 2, 10**4, seed=0, pending_for=None)
    assert bandit.select_many(2) == [0, 1]
    bandit.update_many([0, 1], [1.0, 0.0])
    handed = bandit.select_many(500)
    assert handed[:36] == [0] * 18 + [1] * 18
    assert handed[36:] == [0, 1] * 232  # in turn, until they are known
    bandit.update_many(handed, [1.0 - arm for arm in handed])
    assert set(bandit.select_many(200)) == {0}


@pytest.mark.parametrize(("rounds", "behind"), [(18, 18), (100, 206)])
def test_an_arm_whose_first_reward_is_late_catches_up(rounds: int, behind: int) -> None:
    """T = 10^4: to 19 pulls in phase 0, or to 207 in phase 2; it was not there when the others ended."""
    bandit = thrifty.Bandit(thrifty.UCBImproved(), 2, 10**4, seed=0, pending_for=None)
    assert bandit.select_many(2) == [0, 1]
    bandit.update(1, 1.0)
    for _ in range(rounds):
        assert bandit.select() == 1
        bandit.update(1, 1.0)
    bandit.update(0, 0.0)
    assert bandit.select_many(behind) == [0] * behind


@pytest.mark.parametrize(("rounds", "horizon"), [(10, 10**4), (60, 10**4), (400, 10**4), (170, 173)])
def test_when_the_best_are_removed_the_others_return(rounds: int, horizon: int) -> None:
    """Even after the last phase: there is always somebody to pull, and the worse of those who return goes
    again."""
    bandit = thrifty.Bandit(thrifty.UCBImproved(), 3, horizon, seed=0)
    for _ in range(rounds):
        arm = bandit.select()
        bandit.update(arm, [0.0, 0.5, 1.0][arm])
    bandit.remove_arm(2)
    for _ in range(1000):
        arm = bandit.select()
        bandit.update(arm, [0.0, 0.5][arm])
    assert set(bandit.select_many(100)) == {1}
    bandit.remove_arm(1)
    bandit.add_arm("new")
    assert set(bandit.select_many(20)) == {"new", 0}


# Dirichlet Sampling


def arms_of(run: Run) -> tuple[np.ndarray, ...]:
    """Copies of pulls, means, draws and who has won a duel, and how many of those wait for their pull."""
    state = run.state
    return *(a.copy() for a in (state.pulls, state.means, state.draws, state.marks)), state.lists[LEFT].copy()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("problem", [PROBLEMS[2], PROBLEMS[3], PROBLEMS[5]], ids=["6", "sure", "discrete"])
def test_rounds_of_dirichlet_sampling(problem: Sampled, variant: str) -> None:
    run = new_run(thrifty.DirichletSampling(variant), problem, 500, seed=3)
    k = problem.gaps.size
    run.play(0, k)
    duels = 0
    for t in range(k, 500):
        pulls, means, draws, marks, left = arms_of(run)
        run.play(t, t + 1)
        pulls_now, _, draws_now, marks_now, left_now = arms_of(run)
        (arm,) = np.flatnonzero(pulls_now - pulls)
        if left > 0:  # somebody who has won is pulled, and once
            assert marks[arm] == 1
            assert marks_now.tolist() == [mark and i != arm for i, mark in enumerate(marks)]
            np.testing.assert_array_equal(draws_now, draws)
        else:
            duels += 1
            assert not marks.any()
            assert_a_duel(pulls, means, draws_now - draws, {int(arm), *np.flatnonzero(marks_now).tolist()})
        assert left_now == marks_now.sum()
    assert duels > 50


def assert_a_duel(pulls: np.ndarray, means: np.ndarray, drawn: np.ndarray, winners: set[int]) -> None:
    """The leader has most pulls, and of those with most the largest mean. Challengers with a mean that is not
    below its win, all others draw once, and the leader wins if nobody else does."""
    top = means[pulls == pulls.max()].max()
    leaders = set(np.flatnonzero((pulls == pulls.max()) & (means == top)).tolist())
    assert drawn.tolist() == (means < top).astype(int).tolist()
    if winners == leaders and len(leaders) == 1:
        assert np.count_nonzero(means >= top) == 1
        return
    (leader,) = leaders - winners  # those that are equal to it win
    assert set(np.flatnonzero(means >= top).tolist()) - {leader} <= winners


def test_the_leader_and_the_order_of_winners_are_random() -> None:
    """Four arms alike: one leads, the other three win and are pulled in any order."""
    orders = list(itertools.permutations(range(4)))
    counts = np.zeros(len(orders), int)
    policy, problem = thrifty.DirichletSampling(), thrifty.Bernoulli([1.0] * 4)
    for seed in range(50 * len(orders)):
        run = new_run(policy, problem, 7, seed=seed)
        run.play(0, 4)
        order = []
        for t in range(4, 7):
            run.play(t, t + 1)
            order.append(next(i for i in range(4) if run.state.pulls[i] == 2 and i not in order))
        (leader,) = set(range(4)) - set(order)
        counts[orders.index((leader, *order))] += 1
    assert_uniform(counts)


def test_how_often_challengers_win() -> None:
    """Rewards of 0 and 1 and the bound 1: their index is Beta(S + 1, n - S), or 1, and must reach m."""
    run = new_run(thrifty.DirichletSampling(), thrifty.Bernoulli([0.5, 0.45, 0.4, 0.5]), 3000, seed=5)
    run.play(0, 4)
    surplus, variance = 0.0, 0.0
    for t in range(4, 3000):
        left, pulls, means = run.state.lists[LEFT], run.state.pulls.copy(), run.state.means.copy()
        sums = run.state.sums.copy()
        run.play(t, t + 1)
        if left == 0:
            m = means[pulls == pulls.max()].max()
            below = (means < m) & (sums < pulls)
            won = (run.state.marks == 1) | (run.state.pulls > pulls)
            p = stats.beta.sf(m, sums[below] + 1.0, pulls[below] - sums[below])
            surplus += (won[below] - p).sum()
            variance += (p * (1.0 - p)).sum()
    assert variance > 100.0
    assert abs(surplus) < SIGMAS * math.sqrt(variance)


@pytest.mark.parametrize(
    "policy", [thrifty.DMED(), thrifty.UCBImproved(), thrifty.DirichletSampling()], ids=repr
)
def test_before_any_reward_arms_are_chosen_at_random(policy: Policy) -> None:
    bandit = thrifty.Bandit(policy, 3, 10**5, seed=4)
    handed = bandit.select_many(9003)
    assert handed[:3] == [0, 1, 2]
    assert_uniform(np.bincount(handed[3:]))
