"""What to simulate, checked: from the arguments of ``simulate`` to the settings and kernels of a run."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from thrifty import checks, delays
from thrifty import problems as known_problems
from thrifty.arrays import Integers
from thrifty.delays import Delay
from thrifty.engines.memory import Memory, Rule
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online.shares import read_options
from thrifty.policies import Policy, Posterior, Uniform, checked, described
from thrifty.policies.program import Program, program
from thrifty.problems import REWARDS, Problem, Timed
from thrifty.simulation import plain
from thrifty.simulation.plain import PlainPolicy
from thrifty.simulation.result import Settings
from thrifty.simulation.timeline import Timeline

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
    policies: tuple[Policy | PlainPolicy, ...]
    stages: tuple[list[tuple[int, Rule]], ...]

    def program(self, p: int) -> Program:
        """What plays a policy; of one in plain Python, what keeps its statistics."""
        if p not in self._programs:
            policy, engine = self.policies[p], self.settings.engines[p]
            keeper = (policy, engine) if isinstance(policy, Policy) else (Uniform(), "scan")
            self._programs[p] = program(*keeper)
        return self._programs[p]

    @cached_property
    def _programs(self) -> dict[int, Program]:
        return {}

    @cached_property
    def memories(self) -> dict[int, Memory]:
        """Of policies, by their numbers, before the first round: a run begins with a copy."""
        return {}

    def is_stepwise(self, p: int) -> bool:
        """Whether rounds are played one by one: the policy or the problem is plain Python."""
        return not isinstance(self.policies[p], Policy) or not self.settings.problem.compiled

    @cached_property
    def timeline(self) -> Timeline:
        """Which problem is in force when."""
        return Timeline(self.settings.problem, self.settings.horizon)


def plan(
    policies: Policy | PlainPolicy | Sequence[Policy | PlainPolicy],
    problem: Problem,
    horizon: int,
    runs: int = 20,
    seed: int = 0,
    prior: tuple[float, float] | None = None,
    engine: str = "auto",
    checkpoints: Sequence[int] | None = None,
    delay: int | Delay = 0,
    control: float = 0.0,
    control_arm: int | None = None,
    floor: float = 0.0,
    burn_in: int = 0,
) -> Plan:
    """Check the arguments of ``simulate`` and resolve them."""
    policies = _policies(policies)
    arms = _problem(problem).size
    horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.COUNT)
    prior = None if prior is None else checks.prior(prior)
    others = read_options(arms, control, control_arm, floor, burn_in)
    stages = tuple(_stages(policy, arms, horizon, prior, others["burn_in"]) for policy in policies)
    if prior is None and horizon < max(rules[0][1].initial for rules in stages):
        raise InvalidValue(
            f"horizon must be at least the number of arms, {arms}, unless a prior replaces the initial "
            f"pulls, got {horizon}"
        )
    for policy in policies:
        if isinstance(getattr(policy, "law", ""), Posterior):
            raise InvalidValue(f"a posterior of your own works in Bandit, not in simulate, got {policy!r}")
        if isinstance(policy, Policy):
            _check_rewards(policy, problem, prior)
    settings = Settings(
        policies=tuple(described(p) if isinstance(p, Policy) else plain.described(p) for p in policies),
        labels=_labels(policies),
        engines=tuple(
            policy.engine_for(arms, engine) if isinstance(policy, Policy) else plain.ENGINE
            for policy in policies
        ),
        problem=problem,
        horizon=horizon,
        runs=checks.integer("runs", runs, at_least=1, at_most=checks.COUNT),
        seed=checks.integer("seed", seed, at_least=0),
        prior=prior,
        delay=delays.clean(delay),
        **others,
    )
    return Plan(settings, _checkpoints(checkpoints, horizon), policies, stages)


def _stages(
    policy: Policy | PlainPolicy,
    arms: int,
    horizon: int,
    prior: tuple[float, float] | None,
    burn_in: int,
) -> list[tuple[int, Rule]]:
    """The rules that a policy follows, each with the round from which on."""
    if not isinstance(policy, Policy):
        return [(0, Rule(arms, horizon, first=False, burn_in=burn_in))]
    policy.check_arms(arms)
    policy.check_prior(given=prior is not None)
    mean, weight = prior or (0.0, 0.0)
    return [
        (start, rule._replace(prior_mean=mean, prior_weight=weight, burn_in=burn_in))
        for start, rule in policy.stages(arms, horizon)
    ]


def _policies(policies: Any) -> tuple[Policy | PlainPolicy, ...]:
    if isinstance(policies, Policy) or plain.is_plain(policies):
        policies = (policies,)
    if isinstance(policies, str) or not isinstance(policies, Iterable):
        raise InvalidType(f"policies must be policies such as ThompsonSampling(), got {_why(policies)}")
    listed = tuple(policies)
    if not listed:
        raise InvalidValue("policies must have at least one policy, got none")
    for i, policy in enumerate(listed):
        if not isinstance(policy, Policy) and not plain.is_plain(policy):
            raise InvalidType(f"policies[{i}] must be a policy such as TSMA(), got {_why(policy)}")
        if isinstance(policy, Policy):
            checked(f"policies[{i}]", policy)
    checks.distinct("policies", listed)
    return listed


def _why(policy: object) -> str:
    """What it is instead of a policy."""
    if isinstance(policy, type):
        return f"the class {policy.__name__}: make an object of it"
    lacks = [name for name in ("begin", "select", "update") if not hasattr(policy, name)]
    return checks.shown(policy) + (f", which lacks {', '.join(lacks)}" if 0 < len(lacks) < 3 else "")


def _problem(problem: object) -> Problem:
    """A problem that kernels know, with fields that are still what they were checked to be."""
    found = known_problems.checked("problem", problem)
    if not isinstance(found, Timed) and np.isnan(found.expectations).any():
        raise InvalidValue(
            "problem must have a mean for each arm, unless it is part of a Changing one, got "
            + checks.shown(found)
        )
    return found


def _labels(policies: Sequence[Policy | PlainPolicy]) -> tuple[str, ...]:
    labels = [policy.label if isinstance(policy, Policy) else plain.label(policy) for policy in policies]
    clear = [
        repr(policy) if labels.count(label) > 1 and isinstance(policy, Policy) else label
        for label, policy in zip(labels, policies, strict=True)
    ]
    seen: Counter[str] = Counter()
    numbered = []
    for label in clear:  # objects of one class, of which nothing tells them apart
        seen[label] += 1
        numbered.append(label if clear.count(label) == 1 else f"{label} #{seen[label]}")
    return tuple(numbered)


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
