"""Engines, slices and interpretation change nothing: the same arms, statistics and random numbers."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.drive import Run, new_run
from tests.support.own import Sampler, Spiked
from thrifty.delays import Delay
from thrifty.engines import ENGINES
from thrifty.engines.entries import play_on
from thrifty.engines.modules import MODULES
from thrifty.jit import entry
from thrifty.numerics import families
from thrifty.policies import POLICIES, Policy, dirichlet_sampling
from thrifty.problems import PROBLEMS, REWARDS, Problem
from thrifty.state import calls
from thrifty.state.header import opened

CLOCKED: list[Policy] = [
    thrifty.UCB1(),
    thrifty.UCB1Tuned(),
    thrifty.UCBV(),
    *(thrifty.KLUCB(family=family) for family in families.CODES),
    thrifty.KLUCB(c=3.0),
    thrifty.BayesUCB(),
    thrifty.BayesUCB(c=3.0),
]
COMMITTED: list[Policy] = [
    thrifty.MOSS(),
    thrifty.TSMA(alpha=0.5),
    thrifty.TSMA(law="beta"),
    thrifty.TSMA(law="gamma"),
    thrifty.TSMA(alpha=0.9, phi=5, sampling="batch"),
    thrifty.TSMA(law="beta", phi=4.5, sampling="batch"),
    thrifty.KLUCBPlusPlus(),
]
EVERY: list[Policy] = [
    thrifty.ThompsonSampling(),
    thrifty.ThompsonSampling(law="beta"),
    thrifty.ThompsonSampling(law="gamma"),
    thrifty.ThompsonSampling(law="inverse-gamma"),
    thrifty.EpsilonTS(),
    thrifty.EpsilonTS(law="beta", epsilon=0.5),
    thrifty.EpsilonTS(law="inverse-gamma-flat"),
    *(thrifty.ExpTS(family=family) for family in families.CODES),
    thrifty.ExpTSPlus(),
    thrifty.TSTD(alpha=0.3, phi=3),
    thrifty.TSTD(law="beta"),
    thrifty.MOTS(),
    thrifty.MOTSJ(),
    thrifty.NPTS(),
    thrifty.MultinomialTS(),
    thrifty.MaillardSampling(),
    thrifty.MaillardSampling(plus=True),
    thrifty.KLMS(),
    thrifty.AdaUCB(),
    *(thrifty.IMED(family=family) for family in (*families.CODES, "bounded")),
    thrifty.DMED(),
    thrifty.DMED(rule="log-t"),
    thrifty.UCBImproved(),
    *(thrifty.DirichletSampling(variant) for variant in dirichlet_sampling.VARIANTS),
    thrifty.Binarised(),
    thrifty.Binarised(thrifty.KLUCB()),
    thrifty.Binarised(thrifty.TSMA(law="beta")),
    *CLOCKED,
    *COMMITTED,
]
NEW = [kind() for kind in POLICIES.values() if kind not in set(map(type, EVERY))]  # later ones follow
COMMITTED += [policy for policy in NEW if "tournament" in policy.runs_on]
CLOCKED += [policy for policy in NEW if "kinetic" in policy.runs_on]
EVERY += NEW
FRESH = [policy for policy in EVERY if "sleepers" in policy.runs_on]
PROBLEM = thrifty.Bernoulli([0.5, 0.2, 0.9, 1.0, 0.0])
ANY = [policy for policy in EVERY if policy.rewards == "any"]
COUNTS = [policy for policy in EVERY if policy.rewards in ("any", "non-negative")]
UNIT = [policy for policy in EVERY if policy.rewards == "unit"]


def assert_equal(first: Run, second: Run) -> None:
    """Everything that a run leaves behind, but for the tree that only one engine has."""
    for name in ("pulls", "sums", "means", "params", "evaluations", "rng", "regret", "reward_rng"):
        np.testing.assert_array_equal(getattr(first.state, name), getattr(second.state, name))
    np.testing.assert_array_equal(first.draws, second.draws)


# Arms that are all alike, certain or not, or all different; the ties last, or come and go.
MEANS = {
    "alike": lambda arms: [0.5] * arms,
    "dead": lambda arms: [0.0] * arms,
    "certain": lambda arms: [1.0, 0.0] * (arms // 2) + [1.0] * (arms % 2),
    "different": lambda arms: np.linspace(0.1, 0.9, arms).tolist(),
}
EVERY_SIZE = pytest.mark.parametrize(
    ("arms", "means"),
    [
        (1, "alike"),
        *((arms, name) for arms in (2, 3, 20) for name in MEANS),
        (300, "alike"),
        (300, "different"),
    ],
)
SETTINGS: list[tuple[tuple[float, float] | None, int | Delay]] = [
    (None, 0),
    (None, thrifty.GeometricDelay(9.0)),
    ((0.5, 2.0), 0),
    ((0.3, 0.7), 7),
]


def assert_followed(policy: Policy, engine: str, problem: Problem, horizon: int) -> None:
    """The engine makes the choices of scan, and leaves everything as scan does; also with a prior, and with
    pulls whose rewards are on their way."""
    for prior, delay in SETTINGS:
        runs = [
            new_run(policy, problem, horizon, engine=name, prior=prior, delay=delay)
            for name in ("scan", engine)
        ]
        first, second = (run.play_all() for run in runs)
        assert second.tolist() == first.tolist()
        assert_equal(*runs)
        if engine == "tournament":
            np.testing.assert_array_equal(runs[0].state.index, runs[1].state.index)


@EVERY_SIZE
@pytest.mark.parametrize("policy", COMMITTED, ids=repr)
def test_tournament_follows_scan(policy: Policy, arms: int, means: str) -> None:
    """With many ties too: KL-UCB++ on equal means, and rewards that never vary."""
    assert_followed(policy, "tournament", thrifty.Bernoulli(MEANS[means](arms)), arms + 200)


@EVERY_SIZE
@pytest.mark.parametrize("policy", CLOCKED, ids=repr)
def test_kinetic_follows_scan(policy: Policy, arms: int, means: str) -> None:
    """With ties that last, and ties that come and go."""
    assert_followed(policy, "kinetic", thrifty.Bernoulli(MEANS[means](arms)), arms + 400)


@pytest.mark.parametrize("c", [0.0, 3.0])
@pytest.mark.parametrize(
    "problem", [thrifty.Gaussian, thrifty.Poisson, thrifty.Exponential], ids=lambda problem: problem.family
)
def test_kinetic_follows_scan_on_rewards_of_other_families(problem: Any, c: float) -> None:
    policy = thrifty.KLUCB(c, problem.family)
    assert_followed(policy, "kinetic", problem(np.linspace(0.2, 1.5, 40)), 1500)


@pytest.mark.parametrize("policy", CLOCKED, ids=repr)
def test_kinetic_follows_scan_when_many_arms_always_pay(policy: Policy) -> None:
    """With KL-UCB all of them are at 1 for ever, however often they were pulled."""
    assert_followed(policy, "kinetic", thrifty.Bernoulli([1.0] * 20 + [0.5] * 13), 1500)


@pytest.mark.parametrize("policy", [policy for policy in CLOCKED if policy.rewards == "unit"], ids=repr)
def test_kinetic_follows_scan_on_rewards_in_between(policy: Policy) -> None:
    """Where the variance that was seen is not that of the mean."""
    shapes = np.linspace(0.5, 3.0, 40)
    assert_followed(policy, "kinetic", thrifty.Beta(shapes, shapes[::-1]), 1500)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_single_arm_and_a_horizon_of_the_initial_pulls(engine: str) -> None:
    for means, horizon in (([0.7], 20), ([0.2, 0.9, 0.4], 3)):
        for policy in (policy for policy in EVERY if engine in policy.runs_on):
            if len(means) > 1 and not policy.resolve(3, 3).first:
                continue
            run = new_run(policy, thrifty.Bernoulli(means), horizon, engine=engine)
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
CASES: dict[str, tuple[str, list[Policy], Problem, tuple[float, float] | None]] = {
    "scan": ("scan", EVERY, PROBLEM, None),
    "gaussian rewards": ("scan", ANY, thrifty.Gaussian([0.0, -1.0, 0.5]), (0.0, 0.5)),
    "counts": ("scan", COUNTS, thrifty.Poisson([0.0, 2.5, 0.5]), None),
    "rewards in between": ("scan", UNIT, thrifty.Beta([0.5, 2.0, 3.0], [1.0, 2.0, 0.7]), (0.4, 0.5)),
    "tournament": ("tournament", COMMITTED, PROBLEM, (0.4, 1.0)),
    "kinetic": ("kinetic", CLOCKED, PROBLEM, None),
    "kinetic with a prior": ("kinetic", CLOCKED, PROBLEM, (0.4, 1.0)),
    "sleepers": ("sleepers", FRESH, PROBLEM, None),
    "sleepers with a prior": ("sleepers", FRESH, PROBLEM, (0.4, 1.0)),
    "your own": ("scan", [Sampler(), Spiked()], PROBLEM, None),
}
SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from tests.support.own import *
from thrifty import *

for name, (engine, policies, problem, prior) in {cases}.items():
    result = simulate(policies, problem, horizon=60, runs=2, seed=3, prior=prior, engine=engine)
    np.savez(Path(sys.argv[1], name + ".npz"), **{{array: getattr(result, array) for array in {arrays}}})
"""


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the interpreted kernels gave for each case."""
    folder = tmp_path_factory.mktemp("interpreted")
    script = folder / "script.py"
    script.write_text(SCRIPT.format(cases=CASES, arrays=ARRAYS))
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-W", "error", script, folder], env=environment, check=True)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_interpreted_kernels_give_the_same_numbers(name: str, interpreted: Path) -> None:
    engine, policies, problem, prior = CASES[name]
    compiled = thrifty.simulate(policies, problem, horizon=60, runs=2, seed=3, prior=prior, engine=engine)
    with np.load(interpreted / f"{name}.npz") as arrays:
        for array in ARRAYS:
            np.testing.assert_array_equal(arrays[array], getattr(compiled, array))


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
        thrifty.Empirical([[0.5], [0.2, 0.7]]),
        thrifty.Changing({1: PROBLEM, 5: PROBLEM}),
        thrifty.Changing.along(thrifty.Poisson([0.5, 2.0]), thrifty.Poisson([0.5, 2.0]), 5),
        thrifty.Changing.of(lambda t: thrifty.Gaussian([1.0, t]), 2),
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
    for name, engine in MODULES.items():
        assert len(play_on(name.replace("-", "_"), engine).signatures) == 1


@entry
def refreshed(block, t):
    state = opened(block)
    return calls.refresh(state.hooks.refresh, (state, t))


def test_whoever_makes_every_index_tells_the_largest() -> None:
    """On scan: while arms wait for their first reward, and later. An arm that has it would not be found."""
    asked = 0
    for policy in EVERY:
        run = new_run(policy, PROBLEM, 60)
        if run.state.hooks.refresh:
            asked += 1
            for start, stop in ((0, 2), (2, 60)):
                run.play(start, stop)
                assert refreshed(run.memory.block, stop) == run.state.index.max(), policy
                assert run.state.index.max() > -np.inf
    assert asked > 20
