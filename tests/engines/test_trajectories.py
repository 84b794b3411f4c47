"""Engines, slices and interpretation change nothing: the same arms, statistics and random numbers."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from drive import Run, new_run

import thrifty
from thrifty.engines.play import play_kinetic, play_scan, play_sleepers, play_tournament
from thrifty.engines.state import draws
from thrifty.policies import POLICIES, Policy
from thrifty.problems import PROBLEMS, REWARDS, Problem

CLOCKED = [
    thrifty.UCB1(),
    thrifty.UCB1Tuned(),
    thrifty.UCBV(),
    thrifty.KLUCB(),
    thrifty.KLUCB(c=3.0),
    thrifty.BayesUCB(),
]
COMMITTED = [
    thrifty.MOSS(),
    thrifty.TSMA(alpha=0.5),
    thrifty.TSMA(law="beta"),
    thrifty.TSMA(alpha=0.9, phi=5, sampling="batch"),
    thrifty.TSMA(law="beta", phi=4.5, sampling="batch"),
    thrifty.KLUCBPlusPlus(),
]
EVERY = [
    thrifty.ThompsonSampling(),
    thrifty.ThompsonSampling(law="beta"),
    thrifty.EpsilonTS(),
    thrifty.EpsilonTS(law="beta", epsilon=0.5),
    thrifty.ExpTS(),
    thrifty.ExpTS(family="gaussian"),
    thrifty.ExpTSPlus(),
    thrifty.ThompsonSampling(law="gamma"),
    thrifty.ThompsonSampling(law="inverse-gamma"),
    thrifty.EpsilonTS(law="inverse-gamma-flat"),
    thrifty.TSTD(alpha=0.3, phi=3),
    thrifty.TSTD(law="beta"),
    thrifty.MOTS(),
    thrifty.MOTSJ(),
    thrifty.MaillardSampling(),
    thrifty.MaillardSampling(plus=True),
    thrifty.KLMS(),
    thrifty.AdaUCB(),
    thrifty.IMED(),
    *CLOCKED,
    *COMMITTED,
]
FRESH = [policy for policy in EVERY if "sleepers" in policy.runs_on]
PROBLEM = thrifty.Bernoulli([0.5, 0.2, 0.9, 1.0, 0.0])


def assert_equal(first: Run, second: Run) -> None:
    """Everything that a run leaves behind, but for the tree that only one engine has."""
    for name in ("pulls", "sums", "means", "params", "evaluations", "rng"):
        np.testing.assert_array_equal(getattr(first.state, name), getattr(second.state, name))
    np.testing.assert_array_equal(draws(first.state), draws(second.state))
    np.testing.assert_array_equal(first.trace.regret, second.trace.regret)
    np.testing.assert_array_equal(first.rewards, second.rewards)


def test_these_are_all_the_policies() -> None:
    assert {type(policy) for policy in EVERY} == set(POLICIES.values())
    assert {type(policy) for policy in COMMITTED} == {
        policy for policy in POLICIES.values() if "tournament" in policy.engines
    }


@pytest.mark.parametrize("prior", [None, (0.5, 2.0)], ids=["pulls", "prior"])
@pytest.mark.parametrize(
    "means", [[0.5] * 13, [0.0] * 8, [1.0] * 6, [1.0, 0.0] * 5, [0.9, 0.8, 0.8], [0.4]], ids=str
)
@pytest.mark.parametrize("policy", COMMITTED, ids=repr)
def test_tournament_follows_scan(
    policy: Policy, means: list[float], prior: tuple[float, float] | None
) -> None:
    """With many ties too: KL-UCB++ on equal means, and rewards that never vary."""
    runs = [
        new_run(policy, thrifty.Bernoulli(means), 150, engine=engine, prior=prior)
        for engine in ("scan", "tournament")
    ]
    first, second = (run.play_all() for run in runs)
    assert second.tolist() == first.tolist()
    assert_equal(*runs)
    np.testing.assert_array_equal(runs[0].state.index, runs[1].state.index)


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize("prior", [None, (0.5, 2.0)], ids=["pulls", "prior"])
@pytest.mark.parametrize(
    "means", [[0.5] * 50, [0.0] * 8, [1.0] * 6, [1.0, 0.0] * 5, [0.9, 0.8, 0.8], [0.4]], ids=str
)
@pytest.mark.parametrize("policy", CLOCKED, ids=repr)
def test_kinetic_follows_scan(
    policy: Policy, means: list[float], prior: tuple[float, float] | None, delay: int
) -> None:
    """With ties that last, ties that come and go, and pulls whose rewards are on their way."""
    runs = [
        new_run(policy, thrifty.Bernoulli(means), 1000, engine=engine, prior=prior, delay=delay)
        for engine in ("scan", "kinetic")
    ]
    first, second = (run.play_all() for run in runs)
    assert second.tolist() == first.tolist()
    assert_equal(*runs)


@pytest.mark.parametrize("engine", ["scan", "tournament"])
def test_a_single_arm_and_a_horizon_of_the_initial_pulls(engine: str) -> None:
    for means, horizon in (([0.7], 20), ([0.2, 0.9, 0.4], 3)):
        run = new_run(thrifty.TSMA(), thrifty.Bernoulli(means), horizon, engine=engine)
        run.play(0, horizon)
        assert run.state.pulls.tolist() == [horizon // len(means)] * len(means)


@pytest.mark.parametrize("prior", [None, (0.5, 2.0)], ids=["pulls", "prior"])
@pytest.mark.parametrize("policy", EVERY, ids=repr)
def test_where_a_run_is_cut_changes_nothing(policy: Policy, prior: tuple[float, float] | None) -> None:
    for engine in policy.runs_on:
        whole, cut = (new_run(policy, PROBLEM, 300, engine=engine, prior=prior) for _ in range(2))
        whole.play(0, 300)
        for start, stop in ((0, 1), (1, 4), (4, 6), (6, 6), (6, 299), (299, 300)):
            cut.play(start, stop)
        assert_equal(whole, cut)
        assert whole.state.pulls.sum() == 300


ARRAYS = ("regret", "pulls", "draws", "evaluations")
TINY = """
import sys
import numpy as np
from thrifty import *

result = simulate({policies}, {problem}, horizon=60, runs=2, seed=3, prior={prior}, engine={engine!r})
np.savez(sys.argv[1], **{{name: getattr(result, name) for name in {names}}})
"""


@pytest.mark.parametrize(
    ("engine", "policies", "problem", "prior"),
    [
        ("scan", EVERY, PROBLEM, None),
        ("scan", [EVERY[0], EVERY[2], EVERY[6]], thrifty.Gaussian([0.0, -1.0, 0.5]), (0.0, 0.5)),
        ("tournament", COMMITTED, PROBLEM, (0.4, 1.0)),
        ("kinetic", CLOCKED, PROBLEM, None),
        ("kinetic", CLOCKED, PROBLEM, (0.4, 1.0)),
        ("sleepers", FRESH, PROBLEM, None),
        ("sleepers", FRESH, PROBLEM, (0.4, 1.0)),
    ],
    ids=[
        "scan",
        "gaussian rewards",
        "tournament",
        "kinetic",
        "kinetic with a prior",
        "sleepers",
        "sleepers with a prior",
    ],
)
def test_interpreted_kernels_give_the_same_numbers(
    engine: str, policies: list[Policy], problem: Problem, prior: tuple[float, float] | None, tmp_path: Path
) -> None:
    script, file = tmp_path / "tiny.py", tmp_path / "tiny.npz"
    script.write_text(
        TINY.format(policies=policies, problem=problem, prior=prior, engine=engine, names=ARRAYS)
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", script, file], env=environment, check=True)
    compiled = thrifty.simulate(policies, problem, horizon=60, runs=2, seed=3, prior=prior, engine=engine)
    with np.load(file) as interpreted:
        for name in ARRAYS:
            np.testing.assert_array_equal(interpreted[name], getattr(compiled, name))


def test_every_engine_is_compiled_once() -> None:
    """All policies, all problems that they can play, with and without a prior: one signature each."""
    problems: list[Problem] = [
        PROBLEM,
        thrifty.Gaussian([1.0, 2.0]),
        thrifty.Beta([1.0, 2.0], [2.0, 1.0]),
        thrifty.ClippedGaussian([0.3, 0.6], sd=0.1),
        thrifty.Discrete([0.0, 0.5, 1.0], [[0.2, 0.3, 0.5], [0.5, 0.5, 0.0]]),
        thrifty.Poisson([0.5, 2.0]),
        thrifty.Exponential([0.5, 2.0]),
    ]
    assert {type(problem) for problem in problems} == set(PROBLEMS.values())
    for problem in problems:
        able = [policy for policy in EVERY if problem.rewards in REWARDS[: REWARDS.index(policy.rewards) + 1]]
        for prior in (None, (0, 1)):
            thrifty.simulate(able, problem, horizon=10, runs=1, prior=prior, engine="scan")
            for engine in ("tournament", "sleepers", "kinetic"):
                some = [policy for policy in able if engine in policy.runs_on]
                for delay in (0, thrifty.GeometricDelay(3.0)):
                    thrifty.simulate(
                        some, problem, horizon=10, runs=1, prior=prior, engine=engine, delay=delay
                    )
    assert len(play_scan.signatures) == 1
    assert len(play_tournament.signatures) == 1
    assert len(play_sleepers.signatures) == 1
    assert len(play_kinetic.signatures) == 1
