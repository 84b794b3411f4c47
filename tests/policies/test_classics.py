"""D-UCB, SW-UCB, dTS and SW-TS: their indices and laws by definition, with prompt and with late rewards, arms
that come and go, and their regret by a second implementation."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

import thrifty
from tests.support.chance import SIGMAS, UNLUCKY
from thrifty.policies import Policy

Floats = NDArray[np.float64]
FIVE = thrifty.Bernoulli([0.31, 0.52, 0.7, 0.43, 0.64])
UNIT = thrifty.Beta([1.0, 2.0, 3.0, 0.5], [2.0, 1.0, 1.5, 2.0])


class Books:
    """What a policy for means that change must know, written down naively: every reward, in order."""

    def __init__(self, policy: Any, prior: tuple[float, float] | None) -> None:
        self.policy, (self.mean, self.weight) = policy, prior or (0.0, 0.0)
        self.rewards: list[tuple[Any, float]] = []  # None for an arm that has gone
        self.ever, self.pending = Counter[Any](), Counter[Any]()

    def weights(self) -> list[float]:
        ages = range(len(self.rewards) - 1, -1, -1)
        if hasattr(self.policy, "gamma"):
            return [self.policy.gamma**age for age in ages]
        return [float(age < self.policy.tau) for age in ages]

    def evidence(self, arm: Any) -> tuple[float, float]:
        mine = [
            (w, w * r) for w, (whose, r) in zip(self.weights(), self.rewards, strict=True) if whose == arm
        ]
        n, s = (math.fsum(column) for column in zip(*mine, strict=True)) if mine else (0.0, 0.0)
        return n + self.weight, s + self.mean * self.weight

    def index(self, arm: Any, arms: list[Any]) -> float:
        (n, s), policy, pending = self.evidence(arm), self.policy, self.pending[arm]
        if n == 0.0:
            return -math.inf if pending else math.inf
        if isinstance(policy, thrifty.DiscountedUCB):
            total = sum(self.evidence(each)[0] - self.weight + self.pending[each] for each in arms)
            return s / n + 2.0 * math.sqrt(policy.xi * math.log(max(total, 1.0)) / (n + pending))
        t = min(max(sum(self.ever.values()) + sum(self.pending.values()), 1), policy.tau)
        return s / n + math.sqrt(policy.xi * math.log(t) / (n + pending))

    def assert_right(self, chosen: Any, arms: list[Any]) -> None:
        """An arm without a law goes first; else the largest index is chosen, up to roundings."""
        untried = [arm for arm in arms if not self.weight and not self.ever[arm] and not self.pending[arm]]
        if untried:
            assert chosen in untried
            return
        indices = {arm: self.index(arm, arms) for arm in arms if self.weight or self.ever[arm]}
        assert not indices or indices[chosen] >= max(indices.values()) - 1e-12

    def update(self, arm: Any, reward: float) -> None:
        self.rewards.append((arm, reward))
        self.ever[arm] += 1

    def remove(self, arm: Any) -> None:
        """t goes on counting its pulls; its rewards keep their places in the window."""
        self.rewards = [(None if whose == arm else whose, reward) for whose, reward in self.rewards]
        self.ever[None] += self.ever.pop(arm, 0) + self.pending.pop(arm, 0)


@pytest.mark.parametrize("steps", [150, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("prior", [None, (0.5, 2.0)], ids=str)
@pytest.mark.parametrize("late", [0, 9])
@pytest.mark.parametrize(
    "policy",
    [
        thrifty.DiscountedUCB(0.97),
        thrifty.DiscountedUCB(0.5, xi=1.5),
        thrifty.SlidingWindowUCB(50),
        thrifty.SlidingWindowUCB(4, xi=0.7),
        thrifty.SlidingWindowUCB(1),
    ],
    ids=lambda policy: policy.label,
)
def test_the_largest_index_is_chosen(
    policy: Policy, late: int, prior: tuple[float, float] | None, steps: int, tmp_path: Path
) -> None:
    """Rewards that are not whole; with ``late``, some are late, some cancelled, and arms come and go."""
    bandit, books = thrifty.Bandit(policy, [*"abcdef"], seed=3, prior=prior), Books(policy, prior)
    script, arms, waiting, new = np.random.default_rng(4), [*"abcdef"], [], [*"ghijk"]
    for step in range(steps):
        chosen = bandit.select()
        books.assert_right(chosen, arms)
        waiting.append(chosen)
        books.pending[chosen] += 1
        while len(waiting) > late * script.random():
            arm = waiting.pop(script.integers(len(waiting)))
            books.pending[arm] -= 1
            if late and script.random() < 0.05:
                bandit.cancel(arm)
            else:
                reward = float(script.random())
                bandit.update(arm, reward)
                books.update(arm, reward)
        if late and step % 60 == 30:
            arms.append(new.pop(0))
            bandit.add_arm(arms[-1])
        if late and step % 60 == 50:
            gone = arms.pop(script.integers(len(arms)))
            bandit.remove_arm(gone)
            books.remove(gone)
            waiting = [arm for arm in waiting if arm != gone]
        if step == 100:
            bandit.save(tmp_path / "bandit.npz")
            bandit = thrifty.Bandit.load(tmp_path / "bandit.npz")


def test_prompt_decisions_are_those_of_the_naive_policies_bit_for_bit() -> None:
    """The papers' programs: all weights times gamma in every round; sums over the last tau rewards, of
    quarters, which are exact. Whoever is chosen has the largest index, to the last bit."""
    discounted, window = thrifty.DiscountedUCB(0.99), thrifty.SlidingWindowUCB(100)
    for policy in (discounted, window):
        bandit, script = thrifty.Bandit(policy, 5, seed=1), np.random.default_rng(2)
        n, s, last = np.zeros(5), np.zeros(5), [(arm, 0.0) for arm in range(0)]
        for t in range(3000):
            chosen = bandit.select()
            if t >= 5:
                index = np.full(5, math.inf)
                for i in np.flatnonzero(n):
                    total = sum(n.tolist()) if policy is discounted else min(t, 100)
                    factor = 2.0 if policy is discounted else 1.0
                    index[i] = s[i] / n[i] + factor * math.sqrt(0.5 * math.log(total) / n[i])
                assert index[chosen] == index.max()
            reward = float(script.integers(5)) / 4.0 * (0.5 + chosen / 8.0 > script.random())
            bandit.update(chosen, reward)
            if policy is discounted:
                n, s = 0.99 * n, 0.99 * s
                n[chosen], s[chosen] = n[chosen] + 1.0, s[chosen] + reward
            else:
                last = [*last, (chosen, reward)][-100:]
                n = np.array([sum(arm == i for arm, _ in last) for i in range(5)], float)
                s = np.array([math.fsum(r for arm, r in last if arm == i) for i in range(5)])


@pytest.mark.parametrize("options", [{}, {"delay": 7}, {"prior": (0.5, 1.0)}], ids=str)
@pytest.mark.parametrize(
    ("forgetful", "plain"),
    [
        (thrifty.DiscountedUCB(1.0), thrifty.UCB1()),
        (thrifty.SlidingWindowUCB(500, xi=2.0), thrifty.UCB1()),
        (thrifty.DiscountedTS(1.0), thrifty.ThompsonSampling("beta")),
        (thrifty.SlidingWindowTS(500), thrifty.ThompsonSampling("beta")),
    ],
    ids=repr,
)
def test_who_forgets_nothing_decides_as_the_plain_policy(
    forgetful: Policy, plain: Policy, options: dict[str, Any]
) -> None:
    result = thrifty.simulate(
        [forgetful, plain], FIVE, 500, runs=4, seed=5, engine="scan", checkpoints=range(1, 501), **options
    )
    np.testing.assert_array_equal(result.regret[0], result.regret[1])
    np.testing.assert_array_equal(result.draws[0], result.draws[1])


def chances(shapes: list[tuple[float, float]]) -> Floats:
    """With which probability each of these Beta variables is the largest."""
    laws = [stats.beta(a, b) for a, b in shapes]
    return np.array(
        [
            integrate.quad(
                lambda x, i=i: laws[i].pdf(x) * math.prod(o.cdf(x) for o in laws[:i] + laws[i + 1 :]),
                0.0,
                1.0,
            )[0]
            for i in range(len(laws))
        ]
    )


@pytest.mark.parametrize("policy", [thrifty.DiscountedTS(0.9), thrifty.SlidingWindowTS(12)], ids=repr)
@pytest.mark.parametrize("prior", [None, (0.5, 2.0)], ids=str)
def test_the_law_of_decisions(policy: Policy, prior: tuple[float, float] | None) -> None:
    """By numerical integration, after 25 rewards of four arms, one of which has gone since and one of which
    has its rewards outside of the window. Pulls on their way, 40,000 of them, change nothing."""
    bandit = thrifty.Bandit(policy, [*"abcd"], seed=6, prior=prior, pending_for=None)
    books = Books(policy, prior)
    for i, arm in enumerate("ddd" + "abcab" * 4 + "aa"):
        reward = float(i % 3 > 0)
        bandit.update(arm, reward)
        books.update(arm, reward)
    bandit.remove_arm("c")
    books.remove("c")
    shapes = [(s + 1.0, n - s + 1.0) for n, s in map(books.evidence, "abd")]
    counts = Counter(bandit.select_many(40_000))
    expected = 40_000 * chances(shapes)
    assert (
        stats.chisquare([counts[arm] for arm in "abd"], expected / expected.sum() * 40_000).pvalue > UNLUCKY
    )
    assert shapes[2] != (1.0, 1.0) if isinstance(policy, thrifty.DiscountedTS) or prior else True


def test_a_window_has_no_roundings_of_rewards_that_left_it() -> None:
    """One that is 10^16 times as large as the others would leave some: of a naive sum nothing is left."""
    bandit = thrifty.Bandit(thrifty.SlidingWindowUCB(4), 2, seed=1)
    for reward in (1.0, *[1e-17] * 8):
        bandit.update(0, reward)
    recent = bandit._player.core.memory.field("recent")  # type: ignore[union-attr]
    assert recent[0].tolist() == [4.0, 4e-17]


def test_an_arm_outside_of_the_window_is_pulled_once_and_waits() -> None:
    bandit = thrifty.Bandit(thrifty.SlidingWindowUCB(3), 2, seed=1, pending_for=5)
    bandit.update_many([1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0])
    assert bandit.select_many(8) == [1, 0, 0, 0, 0, 0, 1, 0]  # until the pull is too old to count


def test_statistics_without_an_order_are_refused() -> None:
    """Which of the pulls was the last? So is a merge."""
    table = {"arm": [0, 1], "pulls": [5, 5], "mean": [0.2, 0.4]}
    for policy in (thrifty.DiscountedUCB(), thrifty.SlidingWindowTS()):
        with pytest.raises(thrifty.InvalidValue, match="which needs every reward"):
            thrifty.Bandit(policy, 2, statistics=table)
        with pytest.raises(thrifty.InvalidValue, match="which needs every reward"):
            thrifty.Bandit(policy, 2).merge(table)


def test_the_papers_parameters() -> None:
    """gamma = 1 - sqrt(C/T)/4 and tau = 2 sqrt(T ln T/C)."""
    assert thrifty.DiscountedUCB.for_changes(10_000, 1) == thrifty.DiscountedUCB(0.9975)
    assert thrifty.DiscountedUCB.for_changes(100, 0, xi=2.0) == thrifty.DiscountedUCB(1.0, 2.0)
    assert thrifty.SlidingWindowUCB.for_changes(10_000, 1) == thrifty.SlidingWindowUCB(607)
    assert thrifty.SlidingWindowUCB.for_changes(10_000, 0) == thrifty.SlidingWindowUCB(10_000)
    assert thrifty.SlidingWindowUCB.for_changes(1, 1) == thrifty.SlidingWindowUCB(1)
    assert thrifty.SlidingWindowUCB.for_changes(20, 1) == thrifty.SlidingWindowUCB(16)


def test_bad_parameters_are_named() -> None:
    for make, text in {
        lambda: thrifty.DiscountedUCB(0.0): "gamma must be in (0, 1], got 0.0",
        lambda: thrifty.DiscountedTS(1.01): "gamma must be in (0, 1], got 1.01",
        lambda: thrifty.DiscountedUCB(xi=0.0): "xi must be above 0, got 0.0",
        lambda: thrifty.SlidingWindowUCB(0): "tau must be at least 1, got 0",
        lambda: thrifty.SlidingWindowTS(2.5): "tau must be an integer, got 2.5",  # type: ignore[arg-type]
        lambda: thrifty.SlidingWindowTS(10**8): "tau must be at most 10000000, got 100000000",
        lambda: thrifty.DiscountedUCB.for_changes(0, 0): "horizon must be at least 1, got 0",
        lambda: thrifty.SlidingWindowUCB.for_changes(10, 11): "changes must be at most 10, got 11",
    }.items():
        with pytest.raises(thrifty.ThriftyError) as error:
            make()
        assert str(error.value) == text


# The regret on means that jump: Garivier and Moulines' problem, five times as short -----------------------

HORIZON, RUNS = 2000, 400
BEFORE, AFTER = [0.5, 0.3, 0.4], [0.5, 0.3, 0.9]
SWITCHING = thrifty.Changing(
    {1: thrifty.Bernoulli(BEFORE), 601: thrifty.Bernoulli(AFTER), 1001: thrifty.Bernoulli(BEFORE)}
)


def second(policy: Any, seed: int) -> Floats:
    """The regret of every run by another program: all runs at once."""
    rng, runs = np.random.default_rng(seed), np.arange(RUNS)
    n, s, regret = np.zeros((RUNS, 3)), np.zeros((RUNS, 3)), np.zeros(RUNS)
    arms, rewards = np.zeros((HORIZON, RUNS), int), np.zeros((HORIZON, RUNS))
    discounting, drawn = hasattr(policy, "gamma"), not hasattr(policy, "xi")
    for t in range(HORIZON):
        means = np.array(AFTER if 600 <= t < 1000 else BEFORE)
        with np.errstate(divide="ignore", invalid="ignore"):
            if t < 3:
                index = np.tile(np.arange(3) == t, (RUNS, 1)).astype(float)
            elif drawn:
                index = rng.beta(s + 1.0, n - s + 1.0)
            elif discounting:
                index = s / n + 2.0 * np.sqrt(policy.xi * np.log(n.sum(axis=1, keepdims=True)) / n)
            else:
                bonus = np.sqrt(policy.xi * math.log(min(t, policy.tau)) / n)
                index = np.where(n > 0, s / n + bonus, math.inf)
        ties = index == index.max(axis=1, keepdims=True)
        arm = np.argmax(ties * rng.random(ties.shape), axis=1)
        reward = (rng.random(RUNS) < means[arm]).astype(float)
        regret += means.max() - means[arm]
        if discounting:
            n, s = policy.gamma * n, policy.gamma * s
        arms[t], rewards[t] = arm, reward
        n[runs, arm] += 1.0
        s[runs, arm] += reward
        if not discounting and t >= policy.tau:
            n[runs, arms[t - policy.tau]] -= 1.0
            s[runs, arms[t - policy.tau]] -= rewards[t - policy.tau]
    return regret


@pytest.mark.parametrize(
    "policy",
    [
        thrifty.DiscountedUCB.for_changes(HORIZON, 2),
        thrifty.SlidingWindowUCB.for_changes(HORIZON, 2),
        thrifty.DiscountedTS(0.99),
        thrifty.SlidingWindowTS(150),
    ],
    ids=lambda policy: policy.label,
)
def test_the_regret_on_means_that_jump_by_a_second_program(policy: Policy) -> None:
    ours = thrifty.simulate(policy, SWITCHING, HORIZON, RUNS, seed=7, checkpoints=[]).regret[0, :, -1]
    theirs = second(policy, seed=8)
    error = math.hypot(ours.std(ddof=1), theirs.std(ddof=1)) / math.sqrt(RUNS)
    assert abs(ours.mean() - theirs.mean()) < SIGMAS * error
    assert stats.ks_2samp(ours, theirs).pvalue > UNLUCKY
    assert SIGMAS * error < 0.12 * ours.mean()
