"""A bandit that is given the rewards of a simulated run makes its decisions, number for number."""

import os
import runpy
import subprocess
import sys
from collections import defaultdict, deque
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import thrifty
from tests.support.drive import new_run
from tests.support.live import EVERY, EVERYWHERE, Coins, Widening, assert_same_state, decide, delays_of, state
from thrifty.engines.memory import policy_stream, reward_stream
from thrifty.numerics import random
from thrifty.policies import POLICIES, Policy
from thrifty.simulation.result import Result

MEANS = [(7 * i % 64) / 64 for i in range(1, 21)]  # twenty different gaps, which add up exactly
PROBLEM = thrifty.Bernoulli(MEANS)
PRIORS = pytest.mark.parametrize("prior", [None, (0.5, 2.0)], ids=["pulls", "prior"])


def trajectory(result: Result) -> list[int]:
    """The arms that were pulled, known by their gaps."""
    gaps = PROBLEM.gaps.tolist()
    return [gaps.index(gap) for gap in np.diff(result.regret[0, 0], prepend=0.0).tolist()]


def simulated(policy: Policy, horizon: int, **options: object) -> Result:
    return thrifty.simulate(policy, PROBLEM, horizon, 1, checkpoints=range(1, horizon + 1), **options)


def assert_followed(bandit: thrifty.Bandit, chosen: list[int], result: Result) -> None:
    assert chosen == trajectory(result)
    assert bandit.engine == result.settings.engines[0]
    table = bandit.statistics()
    np.testing.assert_array_equal(table["draws"], result.draws[0, 0])
    np.testing.assert_array_equal(table["pulls"], result.pulls[0, 0])


def test_these_are_all_the_policies() -> None:
    assert {type(policy) for policy in EVERY} == {kind for kind in POLICIES.values() if not kind.told}
    assert len(set(PROBLEM.gaps.tolist())) == len(MEANS)


@PRIORS
@EVERYWHERE
def test_immediate_rewards(policy: Policy, engine: str, prior: tuple[float, float] | None) -> None:
    """Whatever an engine keeps is the same too: indices, laws, levels, and the random stream."""
    horizon, seed = 500, 3
    bandit = thrifty.Bandit(policy, len(MEANS), horizon, seed, prior, engine=engine, pending_for=None)
    chosen = decide(bandit, Coins(MEANS, seed), horizon)
    assert_followed(bandit, chosen, simulated(policy, horizon, seed=seed, prior=prior, engine=engine))
    run = new_run(policy, PROBLEM, horizon, engine=engine, prior=prior, seed=seed)
    run.play(0, horizon)
    assert_same_state(run.state, state(bandit))
    assert bandit.decisions == horizon
    assert not bandit.statistics()["pending"].any()


@pytest.mark.parametrize(
    "policy", [thrifty.ThompsonSampling(), thrifty.ThompsonSampling("beta"), thrifty.ExpTS()], ids=repr
)
def test_many_arms_that_sleep(policy: Policy) -> None:
    """With as many a bandit has a reserve, which a run has not: that changes no number."""
    means, horizon, seed = [i / 2048 for i in range(1, 1001)], 8000, 3
    problem = thrifty.Bernoulli(means)
    bandit = thrifty.Bandit(policy, len(means), horizon, seed, engine="sleepers", pending_for=None)
    chosen = decide(bandit, Coins(means, seed), horizon)
    result = thrifty.simulate(policy, problem, horizon, 1, seed=seed, engine="sleepers")
    assert np.bincount(chosen, minlength=len(means)).tolist() == result.pulls[0, 0].tolist()
    assert bandit.statistics()["draws"].tolist() == result.draws[0, 0].tolist()


@pytest.mark.parametrize("delay", [1, 7, 60])
@PRIORS
@EVERYWHERE
def test_rewards_that_are_held_back(
    policy: Policy, engine: str, prior: tuple[float, float] | None, delay: int
) -> None:
    horizon, seed = 200, 4
    bandit = thrifty.Bandit(policy, len(MEANS), horizon, seed, prior, engine=engine, pending_for=None)
    coins = Coins(MEANS, seed)
    chosen, held = [], deque()
    for _ in range(horizon):
        chosen.append(arm := bandit.select())
        held.append((arm, coins.toss(arm)))
        if len(held) > delay:
            bandit.update(*held.popleft())
    result = simulated(policy, horizon, seed=seed, prior=prior, engine=engine, delay=delay)
    assert_followed(bandit, chosen, result)
    assert bandit.statistics()["pending"].sum() == len(held) == delay


@EVERYWHERE
def test_shares(policy: Policy, engine: str) -> None:
    """Control, a floor and burn-in throw their coins in the same order."""
    horizon, seed = 150, 4
    for delay, options in (
        (0, {"control": 0.2, "floor": 0.01, "burn_in": 2}),
        (7, {"control": 0.2, "control_arm": 7, "floor": 0.01}),
    ):
        bandit = thrifty.Bandit(policy, len(MEANS), horizon, seed, engine=engine, pending_for=None, **options)
        coins = Coins(MEANS, seed)
        chosen, held = [], deque()
        for _ in range(horizon):
            decision = bandit.decide()
            chosen.append(decision.arm)
            held.append((decision, coins.toss(decision.arm)))
            if len(held) > delay:
                bandit.reward(*held.popleft())
        result = simulated(policy, horizon, seed=seed, engine=engine, delay=delay, **options)
        assert_followed(bandit, chosen, result)


@pytest.mark.parametrize(
    "delay", [thrifty.UniformDelay(2, 30), thrifty.GeometricDelay(8.0), thrifty.ConstantDelay(0)], ids=repr
)
@pytest.mark.parametrize(
    "policy", [thrifty.ThompsonSampling(), thrifty.TSMA(), thrifty.TSTD(phi=4)], ids=repr
)
def test_random_delays(policy: Policy, delay: thrifty.UniformDelay | thrifty.GeometricDelay) -> None:
    """A delay is drawn for each reward, from a stream of its own; of those that arrive together, the last
    one sent comes first."""
    horizon, seed = 300, 5
    bandit = thrifty.Bandit(policy, len(MEANS), horizon, seed, engine="scan", pending_for=None)
    coins, late = Coins(MEANS, seed), delays_of(delay, horizon, seed)
    chosen, due = [], defaultdict(list)
    for t in range(horizon):
        chosen.append(arm := bandit.select())
        due[t + late[t]].append((arm, coins.toss(arm)))
        for late_reward in reversed(due.pop(t, [])):
            bandit.update(*late_reward)
    assert_followed(bandit, chosen, simulated(policy, horizon, seed=seed, delay=delay, engine="scan"))


@pytest.mark.parametrize("arms", [20, 300])
@pytest.mark.parametrize(
    "policy",
    [thrifty.TSMA(), thrifty.TSMA(alpha=0.8), thrifty.TSTD(alpha=0.9), thrifty.KLUCBPlusPlus()],
    ids=repr,
)
def test_an_unknown_horizon(policy: Policy, arms: int) -> None:
    """The guess is doubled at the same moments: 1024, 2048, 4096. Anytime, a given horizon is not used."""
    horizon, seed = 4200, 6
    anytime = type(policy)(**{**vars(policy), "anytime": True})
    means = (MEANS * 15)[:arms]
    problem = thrifty.Bernoulli(means)
    result = thrifty.simulate(anytime, problem, horizon, 1, seed, checkpoints=range(1, horizon + 1))
    for bandit in (thrifty.Bandit(policy, arms, seed=seed), thrifty.Bandit(anytime, arms, 50, seed=seed)):
        regret = np.cumsum(problem.gaps[decide(bandit, Coins(means, seed), horizon)])
        np.testing.assert_array_equal(regret, result.regret[0, 0])
        np.testing.assert_array_equal(bandit.statistics()["pulls"], result.pulls[0, 0])
        np.testing.assert_array_equal(bandit.statistics()["draws"], result.draws[0, 0])
        assert bandit.horizon == 8192


def test_rewards_of_any_size() -> None:
    problem = thrifty.Gaussian([-40.0, -39.0, -41.5], sd=0.7)
    for policy in (thrifty.ThompsonSampling(), thrifty.TSMA(), thrifty.TSTD(), thrifty.EpsilonTS()):
        result = thrifty.simulate(policy, problem, 300, runs=1, seed=8)
        bandit, rewards = thrifty.Bandit(policy, 3, 300, 8, reward_range=None), reward_stream(8, 0)
        for _ in range(300):
            arm = bandit.select()
            bandit.update(arm, problem.means[arm] + 0.7 * random.normal(rewards))
        np.testing.assert_array_equal(bandit.statistics()["pulls"], result.pulls[0, 0])


@pytest.mark.parametrize(
    "policy", [policy for policy in EVERY if policy.rewards in ("unit", "any")], ids=repr
)
def test_rewards_in_between(policy: Policy) -> None:
    """Where rewards are rounded at random, or every one of them is kept: the same numbers too."""
    problem = thrifty.ClippedGaussian([0.2, 0.5, 0.55, 0.9, 0.4], sd=0.3)
    for engine in policy.runs_on:
        result = thrifty.simulate(policy, problem, 200, runs=1, seed=8, engine=engine)
        bandit, rewards = thrifty.Bandit(policy, 5, 200, 8, engine=engine), reward_stream(8, 0)
        for _ in range(200):
            arm = bandit.select()
            bandit.update(arm, min(1.0, max(0.0, problem.means[arm] + 0.3 * random.normal(rewards))))
        np.testing.assert_array_equal(bandit.statistics()["pulls"], result.pulls[0, 0])
        np.testing.assert_array_equal(bandit.statistics()["draws"], result.draws[0, 0])


@PRIORS
def test_an_index_of_your_own(prior: tuple[float, float] | None) -> None:
    """Against the loop written out."""
    horizon, seed = 400, 9
    bandit = thrifty.Bandit(Widening(), len(MEANS), horizon, seed, prior)
    chosen = decide(bandit, Coins(MEANS, seed), horizon)
    inside = SimpleNamespace(**asdict(Widening()), arms=len(MEANS), horizon=horizon)
    rng, coins = policy_stream(seed, 0), Coins(MEANS, seed)
    mean, weight = prior or (0.0, 0.0)
    pulls, sums = np.full(len(MEANS), weight), np.full(len(MEANS), mean * weight)
    for t, arm in enumerate(chosen):
        if t >= len(MEANS) or prior is not None:
            indices = [Widening.index(inside, n, s / n, t, rng) for n, s in zip(pulls, sums, strict=True)]
            assert arm == np.argmax(indices)
        pulls[arm] += 1.0
        sums[arm] += coins.toss(arm)


def test_the_stream_is_that_of_run_0() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 3, seed=12)
    assert state(bandit).rng.tolist() == policy_stream(12, 0).tolist()


SCRIPT = """
import sys
import numpy as np
from thrifty import *

chosen, tables = [], []
for policy in {policies}:
    for engine in policy.runs_on:
        bandit = Bandit(policy, 6, seed=3, engine=engine, prior=(0.4, 1.0) if engine == "scan" else None)
        for t in range(40):
            arms = bandit.select_many(3)
            bandit.update_many(arms[1:], [t % 2, 1 - t % 3 // 2])
            if t % 10 == 5:
                bandit.add_arm(f"new {{t}}")
                bandit.remove_arm(arms[0])
        assert set(map(type, bandit.arms)) <= set([str, int])  # or it could not be saved
        chosen.append([str(arm) for arm in bandit.select_many(20)])
        tables.append(bandit.statistics()["draws"])
np.savez(sys.argv[1], chosen=chosen, draws=tables)
"""


def test_interpreted_kernels_decide_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled in this process, interpreted in another one."""
    script, files = tmp_path / "live.py", [tmp_path / "compiled.npz", tmp_path / "interpreted.npz"]
    script.write_text(SCRIPT.format(policies=EVERY))
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", script, files[1]], env=environment, check=True)
    monkeypatch.setattr(sys, "argv", [str(script), str(files[0])])
    runpy.run_path(str(script))
    with np.load(files[0]) as compiled, np.load(files[1]) as interpreted:
        for name in ("chosen", "draws"):
            np.testing.assert_array_equal(compiled[name], interpreted[name])
