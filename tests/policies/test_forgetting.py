"""``Forgetting``: turns spread over a cycle, as in a second implementation in plain Python; engines; what is
refused."""

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty import Bandit, Forgetting
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies import Policy
from thrifty.simulation.spec import Spec

BETA = thrifty.ThompsonSampling("beta")


@pytest.mark.parametrize("half_life", [0.01, 1.0, 68.0, 69.0, 137.9, 1000.0, 12345.6, 1e6, 1e100])
def test_a_cycle_is_as_long_as_a_step_allows(half_life: float) -> None:
    rule = Forgetting(BETA, half_life).resolve(10, 100)
    assert rule.cycle >= 1
    if half_life < 1e15:
        assert rule.keep == pytest.approx(2.0 ** (-rule.cycle / half_life), rel=1e-15)
        assert rule.keep >= 0.99 or rule.cycle == 1
        assert 2.0 ** (-(rule.cycle + 1) / half_life) < 0.99
    assert 0.0 <= rule.keep <= 1.0


class Model:
    """What is left of the pulls of each arm, by its id: in plain Python."""

    def __init__(self, bandit: Bandit, half_life: float) -> None:
        self.bandit, self.left = bandit, dict.fromkeys(bandit.arms, 0.0)
        self.cycle = max(1, math.floor(half_life * math.log2(1.0 / 0.99)))
        self.keep = 2.0 ** (-self.cycle / half_life)
        self.waiting = [*bandit.arms]  # for their turn in this cycle, in the order of their numbers
        self.made = 0

    def decide(self) -> None:
        """Before a decision: as many have had their turn as the time of the cycle that is over says."""
        self.made += 1
        arms = self.bandit.arms
        due = int(len(arms) * (self.made / self.cycle))
        for arm in arms[:due]:
            self._turn(arm)
        if self.made == self.cycle:
            assert not self.waiting
            self.made, self.waiting = 0, [*arms]

    def _turn(self, arm: Any) -> None:
        if arm in self.waiting:
            self.waiting.remove(arm)
            self.left[arm] *= self.keep

    def remove(self, arm: Any) -> None:
        arms = self.bandit.arms
        before = [each for each in arms if each in self.waiting]
        self.bandit.remove_arm(arm)
        del self.left[arm]
        if arm in self.waiting:
            self.waiting.remove(arm)
        first = arms.index(before[0]) if before else len(arms)
        for each in self.bandit.arms[:first]:  # a number whose turn is over
            self._turn(each)

    def add(self, arm: Any) -> None:
        self.bandit.add_arm(arm)
        self.left[arm] = 0.0
        self.waiting.append(arm)


@pytest.mark.parametrize("rounds", [250, pytest.param(600, marks=pytest.mark.slow)])
@pytest.mark.parametrize("half_life", [3.0, 100.0, 1000.0, 5000.0])
@pytest.mark.parametrize("policy", [BETA, thrifty.UCB1(), thrifty.Greedy(), thrifty.EpsilonTS("beta")])
def test_turns_are_those_of_plain_python(policy: Policy, half_life: float, rounds: int) -> None:
    """With arms that come and go, rewards that come late, and rewards that nobody asked for."""
    rng, engine = np.random.default_rng(4), policy.runs_on[1]
    bandit = Bandit(Forgetting(policy, half_life), [f"a{i}" for i in range(23)], seed=2, engine=engine)
    model, late, new = Model(bandit, half_life), [], 23
    for _ in range(rounds):
        what = rng.random()
        if what < 0.8:
            model.decide()
            late.append(bandit.select())
        elif what < 0.83 and len(bandit) > 2:
            model.remove(bandit.arms[int(rng.integers(len(bandit)))])
            late = [arm for arm in late if arm in bandit]
        elif what < 0.84 and len(bandit) > 5:
            for _ in range(3):
                model.decide()
            late += bandit.rank(3, exclude=bandit.arms[:1])
        elif what < 0.86:
            model.add(f"a{new}")
            new += 1
        elif what < 0.88:
            arm = bandit.arms[int(rng.integers(len(bandit)))]
            if arm not in late:
                model.decide()
                bandit.update(arm, 1.0)
                model.left[arm] += 1.0
        while late and rng.random() < 0.5:
            arm = late.pop(int(rng.integers(len(late))))
            bandit.update(arm, float(rng.random() < 0.5))
            model.left[arm] += 1.0
        statistics = bandit.statistics()
        expected = [model.left[arm] for arm in statistics["arm"]]
        np.testing.assert_allclose(statistics["weight"], expected, rtol=1e-12)


def test_what_is_left_is_the_sum_of_halves_within_one_step() -> None:
    """A reward that was seen d decisions ago counts 2^(-d/h), but for what a step may be early or late."""
    half_life, arms = 2000.0, 5
    bandit = Bandit(Forgetting(BETA, half_life), arms, seed=1)
    ages: list[list[int]] = [[] for _ in range(arms)]
    for t in range(6000):
        arm = bandit.select()
        bandit.update(arm, 1.0)
        ages[arm].append(t)
    exact = np.array([sum(2.0 ** (-(6000 - t) / half_life) for t in seen) for seen in ages])
    assert (abs(bandit.statistics()["weight"] / exact - 1.0) < 1.0 / 0.99 - 1.0).all()


@pytest.mark.parametrize("half_life", [0.5, 40.0, 400.0, 1e4])
@pytest.mark.parametrize(
    "policy",
    [
        thrifty.UCB1(),
        thrifty.UCB1Tuned(),
        thrifty.UCBV(),
        thrifty.BayesUCB(),
        *(thrifty.KLUCB(c, family) for c in (0.0, 3.0) for family in ("bernoulli", "gaussian", "poisson")),
        thrifty.KLUCB(family="exponential"),
        thrifty.Greedy(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("prior", [None, (0.6, 0.5)], ids=["first", "prior"])
def test_the_same_trajectory_on_every_engine(policy: Policy, half_life: float, prior: Any) -> None:
    problem = thrifty.Bernoulli(np.linspace(0.0, 1.0, 40))
    pulls = []
    for engine in policy.runs_on:
        result = thrifty.simulate(
            Forgetting(policy, half_life), problem, 400, runs=1, seed=8, prior=prior, engine=engine, workers=1
        )
        pulls.append((result.pulls.tolist(), result.regret.tolist()))
    assert pulls[0] == pulls[1]


@pytest.mark.parametrize("family", ["bernoulli", "exponential"])
def test_kinetic_where_most_indices_are_at_their_end(family: str) -> None:
    """With a small n the index of KL-UCB is 1 in digits, or a few digits below it, or infinite."""
    problem, pulls = thrifty.Bernoulli(np.linspace(0.0, 1.0, 300)), []
    for engine in ("scan", "kinetic"):
        result = thrifty.simulate(
            Forgetting(thrifty.KLUCB(family=family), 300.0), problem, 3000, 1, 8, engine=engine, workers=1
        )
        pulls.append((result.pulls.tolist(), result.regret.tolist()))
    assert pulls[0] == pulls[1]


@pytest.mark.parametrize(
    ("policy", "prior"),
    [
        (thrifty.ThompsonSampling(), (0.5, 1.0)),
        (BETA, None),
        (thrifty.ExpTS(), None),
        (thrifty.EpsilonTS("beta", epsilon=0.1), None),
    ],
    ids=repr,
)
@pytest.mark.parametrize("runs", [250, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_same_law_on_sleepers(policy: Policy, prior: Any, runs: int) -> None:
    """The mean pulls of the best arm, whose mean falls in the middle, on either engine: their difference is
    within 4.5 standard errors."""
    before, after = [0.9, *[0.6] * 14], [0.2, *[0.6] * 14]
    problem = thrifty.Changing([(1, thrifty.Bernoulli(before)), (151, thrifty.Bernoulli(after))])
    best = []
    for engine in ("scan", "sleepers"):
        result = thrifty.simulate(
            Forgetting(policy, 80.0), problem, 300, runs, seed=3, prior=prior, engine=engine
        )
        best.append(np.asarray(result.pulls)[0, :, 0].astype(float))
    scan, sleepers = best
    error = math.sqrt(scan.var() / scan.size + sleepers.var() / sleepers.size)
    assert abs(scan.mean() - sleepers.mean()) < 4.5 * error


def test_it_plays_as_the_policy_while_nothing_is_forgotten() -> None:
    problem = thrifty.Bernoulli([0.3, 0.5, 0.7])
    plain, around = (
        thrifty.simulate(policy, problem, 500, runs=2, seed=1, workers=1).regret.tolist()
        for policy in (thrifty.UCB1(), Forgetting(thrifty.UCB1(), 1e12))
    )
    assert plain[0] == around[0]


def test_a_bandit_follows_simulate() -> None:
    """The same decisions by the same seed: simulated rounds and a bandit take the same turns."""
    policy = Forgetting(thrifty.KLUCB(), 200.0)
    problem = thrifty.Bernoulli([1.0, 0.0, 1.0, 0.0])  # rewards without chance
    result = thrifty.simulate(policy, problem, 300, runs=1, seed=6, engine="scan", workers=1)
    bandit = Bandit(policy, 4, seed=6, engine="scan")
    for _ in range(300):
        arm = bandit.select()
        bandit.update(arm, float(arm in (0, 2)))
    assert np.asarray(result.pulls)[0, 0].tolist() == bandit.statistics()["pulls"].tolist()


def test_it_finds_what_has_become_the_best() -> None:
    """After a change TS alone stays where it is for long, and with forgetting it does not."""
    first, then = thrifty.Bernoulli([0.9, 0.5]), thrifty.Bernoulli([0.1, 0.5])
    problem = thrifty.Changing([(1, first), (5001, then)])
    plain, around = (
        float(np.asarray(thrifty.simulate(policy, problem, 6000, runs=20, seed=1).regret)[..., -1].mean())
        for policy in (BETA, Forgetting(BETA, 200.0))
    )
    assert around < 0.5 * plain


# Files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["scan", "kinetic"])
def test_snapshots_and_copies_take_the_next_turn(engine: str, tmp_path: Path) -> None:
    bandit = Bandit(Forgetting(thrifty.UCB1(), 500.0), 30, seed=1, engine=engine)
    for _ in range(203):
        bandit.update(bandit.select(), 1.0)
    bandit.save(tmp_path / "a.npz")
    others = [Bandit.load(tmp_path / "a.npz"), copy.copy(bandit)]
    for _ in range(100):
        arm = bandit.select()
        bandit.update(arm, 0.0)
        for other in others:
            assert other.select() == arm
            other.update(arm, 0.0)
    for other in others:
        assert other.statistics()["weight"].tolist() == bandit.statistics()["weight"].tolist()
        assert other.policy == bandit.policy


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        'horizon = 200\nruns = 2\n[problem]\nkind = "bernoulli"\nmeans = [0.9, 0.8]\n'
        '[[policies]]\nname = "Forgetting"\nhalf_life = 50\n[policies.policy]\nname = "UCB1"\n'
    )
    spec = Spec.load(path)
    assert spec.policies == (Forgetting(thrifty.UCB1(), 50.0),)
    assert spec.simulate(workers=1).labels == ("UCB1, half-life 50",)


# What is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("half_life", [0, -1.0, float("inf"), float("nan"), 1e101])
def test_a_half_life_is_above_0_and_finite(half_life: float) -> None:
    with pytest.raises(InvalidValue, match="half_life must be"):
        Forgetting(BETA, half_life)


@pytest.mark.parametrize("half_life", [True, "x", None])
def test_a_half_life_is_a_number(half_life: Any) -> None:
    with pytest.raises(InvalidType, match="half_life must be a number"):
        Forgetting(BETA, half_life)


def test_the_policy_is_one_that_forgets_nothing_yet() -> None:
    with pytest.raises(InvalidType, match="policy must be a policy such as UCB1"):
        Forgetting("UCB1")  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="does not forget yet"):
        Forgetting(Forgetting(BETA))
    with pytest.raises(InvalidValue, match="must not be around another one"):
        thrifty.Binarised(Forgetting(BETA))
    assert Forgetting(thrifty.Binarised(BETA)).played == BETA


def test_a_law_without_a_prior_needs_one() -> None:
    policy = Forgetting(thrifty.ThompsonSampling(), 100.0)
    with pytest.raises(InvalidValue, match="prior must be"):
        Bandit(policy, 3)
    with pytest.raises(InvalidValue, match="prior must be"):
        thrifty.simulate(policy, thrifty.Bernoulli([0.5, 0.4]), 100)
    Bandit(policy, 3, prior=(0.5, 1.0)).forget(0.5)
    Bandit(policy, 3, prior=([0.5, 0.4, 0.3], 1.0)).select()


def test_a_replay_holds_a_decision_until_the_log_has_it() -> None:
    """Declined decisions would let it forget at each row of the log."""
    from thrifty.replays.player import draws_anew

    assert draws_anew(BETA)
    assert not draws_anew(Forgetting(BETA))
