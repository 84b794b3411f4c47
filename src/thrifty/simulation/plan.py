"""What to simulate, checked: from the arguments of ``simulate`` to the settings and kernels of a run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from thrifty import checks, delays
from thrifty.arrays import Integers
from thrifty.delays import Delay
from thrifty.engines.memory import Rule
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies import Policy, Posterior, checked, described
from thrifty.policies.program import Program, program
from thrifty.problems import PROBLEMS, REWARDS, Problem
from thrifty.simulation.result import Settings

NEEDED = {
    "binary": "rewards of 0 or 1",
    "unit": "rewards in [0, 1]",
    "non-negative": "rewards of at least 0",
}


@dataclass(frozen=True)
class Plan:
    """Everything that determines the numbers; for each policy its rules, by stages."""

    settings: Settings
    checkpoints: Integers
    policies: tuple[Policy, ...]
    stages: tuple[list[tuple[int, Rule]], ...]

    def program(self, p: int) -> Program:
        """What plays a policy."""
        return program(self.policies[p], self.settings.engines[p])


def plan(
    policies: Policy | Sequence[Policy],
    problem: Problem,
    horizon: int,
    runs: int = 20,
    seed: int = 0,
    prior: tuple[float, float] | None = None,
    engine: str = "auto",
    checkpoints: Sequence[int] | None = None,
    delay: int | Delay = 0,
) -> Plan:
    """Check the arguments of ``simulate`` and resolve them."""
    policies = _policies(policies)
    arms = _problem(problem).gaps.size
    horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.COUNT)
    prior = None if prior is None else checks.prior(prior)
    if prior is None and horizon < arms:
        raise InvalidValue(
            f"horizon must be at least the number of arms, {arms}, unless a prior replaces the initial "
            f"pulls, got {horizon}"
        )
    for policy in policies:
        if isinstance(getattr(policy, "law", ""), Posterior):
            raise InvalidValue(f"a posterior of your own works in Bandit, not in simulate, got {policy!r}")
        _check_rewards(policy, problem, prior)
    engines = tuple(policy.engine_for(arms, engine) for policy in policies)
    mean, weight = prior or (0.0, 0.0)
    stages = tuple(
        [
            (start, rule._replace(prior_mean=mean, prior_weight=weight))
            for start, rule in policy.stages(arms, horizon)
        ]
        for policy in policies
    )
    settings = Settings(
        policies=tuple(described(p) for p in policies),
        labels=_labels(policies),
        engines=engines,
        problem=problem,
        horizon=horizon,
        runs=checks.integer("runs", runs, at_least=1, at_most=checks.COUNT),
        seed=checks.integer("seed", seed, at_least=0),
        prior=prior,
        delay=delays.clean(delay),
    )
    return Plan(settings, _checkpoints(checkpoints, horizon), policies, stages)


def _policies(policies: Policy | Sequence[Policy]) -> tuple[Policy, ...]:
    if isinstance(policies, Policy):
        return (checked("policies", policies),)
    if not isinstance(policies, Iterable):
        raise InvalidType(f"policies must be policies such as ThompsonSampling(), got {policies!r}")
    listed = tuple(policies)
    if not listed:
        raise InvalidValue("policies must have at least one policy, got none")
    for i, policy in enumerate(listed):
        checked(f"policies[{i}]", policy)
    checks.distinct("policies", listed)
    return listed


def _problem(problem: object) -> Problem:
    """A problem that kernels know, with fields that are still what they were checked to be."""
    if not isinstance(problem, Problem):
        raise InvalidType(f"problem must be a problem such as Bernoulli([0.9, 0.8]), got {problem!r}")
    if type(problem) not in PROBLEMS.values():
        raise InvalidType(
            f"problem must be one of {', '.join(kind.__name__ for kind in PROBLEMS.values())}, got "
            f"{type(problem).__name__}: problems of your own come with a later version, until then use Bandit"
        )
    checks.again(type(problem), problem)
    return problem


def _labels(policies: Sequence[Policy]) -> tuple[str, ...]:
    labels = [policy.label for policy in policies]
    return tuple(
        label if labels.count(label) == 1 else repr(policy)
        for label, policy in zip(labels, policies, strict=True)
    )


def _check_rewards(policy: Policy, problem: Problem, prior: tuple[float, float] | None) -> None:
    checks.choice(f"rewards of {policy!r}", policy.rewards, REWARDS)
    if REWARDS.index(problem.rewards) > REWARDS.index(policy.rewards):
        raise InvalidValue(
            f"{policy!r} needs {NEEDED[policy.rewards]}, and those of a {problem.kind} problem are not"
        )
    if prior is None or policy.rewards == "any":
        return
    if policy.rewards == "non-negative":
        if prior[0] < 0.0:
            raise InvalidValue(f"prior mean must be at least 0 for {policy!r}, got {prior[0]!r}")
    elif not 0.0 <= prior[0] <= 1.0:
        raise InvalidValue(f"prior mean must be in [0, 1] for {policy!r}, got {prior[0]!r}")


def _checkpoints(checkpoints: Sequence[int] | None, horizon: int) -> Integers:
    if checkpoints is None:
        return np.unique(np.geomspace(1, horizon, 100).round().astype(np.int64))
    if not isinstance(checkpoints, Iterable):
        raise InvalidType(f"checkpoints must be None or a sequence of rounds, got {checkpoints!r}")
    moments = [checks.integer(f"checkpoints[{i}]", t, at_least=1) for i, t in enumerate(checkpoints)]
    if sorted(set(moments)) != moments or (moments and moments[-1] > horizon):
        raise InvalidValue(
            f"checkpoints must increase and not exceed the horizon {horizon}, got {checkpoints!r}"
        )
    return np.array([*moments, horizon] if horizon not in moments[-1:] else moments, np.int64)
