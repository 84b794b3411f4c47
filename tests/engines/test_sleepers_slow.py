"""Runs on sleepers and on scan have one law: the full table of policies, problems, priors and delays."""

import pytest

import thrifty
from tests.engines.test_sleepers import Setting, assert_same_law_of_runs
from thrifty.policies import Policy
from thrifty.problems import Problem

POLICIES = [
    thrifty.ThompsonSampling(),
    thrifty.ThompsonSampling(law="beta"),
    thrifty.EpsilonTS(),
    thrifty.EpsilonTS(law="beta", epsilon=0.5),
    thrifty.ExpTS(),
    thrifty.ExpTSPlus(),
    thrifty.TSTD(alpha=0.3, phi=3),
    thrifty.TSTD(alpha=0.8),
    thrifty.TSTD(law="beta", phi=40),
]
PROBLEMS = {
    "two arms": thrifty.Bernoulli([0.6, 0.5]),
    "1 and 0": thrifty.Bernoulli([1.0, 0.0]),
    "0 and 0": thrifty.Bernoulli([0.0, 0.0]),
    "three arms": thrifty.Bernoulli([0.9, 0.8, 0.8]),
    "1, 0 and 1": thrifty.Bernoulli([1.0, 0.0, 1.0]),
    "20, one good": thrifty.Bernoulli([0.9] + [0.8] * 19),
    "20, all equal": thrifty.Bernoulli([0.5] * 20),
    "20, most never good": thrifty.Bernoulli([0.85, 0.9] + [0.05] * 18),
    "20, 0 or 1": thrifty.Bernoulli([1.0, 0.0, 0.0, 0.0] * 5),
    "500, one good": thrifty.Bernoulli([0.9] + [0.5] * 499),
    "500, most never good": thrifty.Bernoulli([0.6, 0.5] * 5 + [0.05] * 490),
}
GAUSSIAN = thrifty.Gaussian([0.0, -1.0, 0.5, 0.5])  # for the policies that take any rewards
LENGTHS = {2: 300, 3: 300, 4: 300, 20: 600, 500: 1500}


def setting(policy: Policy, problem: Problem, prior: tuple[float, float] | None, delay: int) -> Setting:
    return Setting(policy, problem, LENGTHS[problem.gaps.size], prior, delay)


SETTINGS = [
    setting(policy, problem, prior, 0)
    for prior in (None, (0.5, 1.0))
    for policy in POLICIES
    for problem in [*PROBLEMS.values(), *([GAUSSIAN] if policy.rewards == "any" else [])]
] + [
    setting(policy, PROBLEMS[name], prior, delay)
    for prior in (None, (0.3, 0.5))
    for policy in POLICIES
    for name, delay in (("three arms", 7), ("20, one good", 100))
]


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_runs_have_the_law_of_scan(setting: Setting) -> None:
    """One false alarm in a million, for the whole table."""
    runs = 200 if setting.problem.gaps.size == 500 else 500
    assert_same_law_of_runs((setting, "scan"), (setting, "sleepers"), runs, unlucky=1e-6 / len(SETTINGS))
