"""Simulate policies on a problem: seeds, workers and slices around the compiled loop."""

import dataclasses
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from thrifty import checks
from thrifty.engines import ENGINES, TOURNAMENT_FROM
from thrifty.engines.play import play_custom, play_scan, play_tournament
from thrifty.engines.state import Integers, Rule, new_state, new_trace, policy_stream, reward_stream
from thrifty.errors import InvalidType, InvalidValue
from thrifty.jit import announce_compilation
from thrifty.policies import IndexPolicy, Policy
from thrifty.problems import REWARDS, Problem
from thrifty.simulation import progress as progress_bar
from thrifty.simulation.result import Result, Settings

SLICE = 3_000_000  # arms looked at between two looks at the clock: some hundredths of a second


def simulate(
    policies: Policy | Sequence[Policy],
    problem: Problem,
    horizon: int,
    runs: int = 20,
    seed: int = 0,
    prior: tuple[float, float] | None = None,
    workers: int | None = None,
    engine: str = "auto",
    checkpoints: Sequence[int] | None = None,
    progress: bool = False,
) -> Result:
    """Play each policy ``runs`` times for ``horizon`` rounds.

    Each run has one random stream for the rewards and one for the policy, of (seed, run) alone: the numbers
    do not depend on the workers, nor on the company of other policies. ``prior=(mean, weight)`` gives every
    arm pseudo-observations instead of the initial pull. ``checkpoints`` are the rounds at which regret is
    recorded (about 100, evenly spaced in the logarithm, unless given); the horizon is always the last.

    >>> import thrifty
    >>> problem = thrifty.Bernoulli([0.9, 0.1])
    >>> result = thrifty.simulate(thrifty.KLUCBPlusPlus(), problem, horizon=1000, runs=10)
    >>> print(f"{result.regret[0, :, -1].mean():.2f}")
    5.7
    """
    policies = _policies(policies)
    if not isinstance(problem, Problem):
        raise InvalidType(f"problem must be a problem such as Bernoulli([0.9, 0.8]), got {problem!r}")
    arms = problem.gaps.size
    horizon = checks.integer("horizon", horizon, at_least=1)
    runs = checks.integer("runs", runs, at_least=1)
    seed = checks.integer("seed", seed, at_least=0)
    workers = _cores() if workers is None else checks.integer("workers", workers, at_least=1)
    prior = _prior(prior)
    if prior is None and horizon < arms:
        raise InvalidValue(
            f"horizon must be at least the number of arms, {arms}, unless a prior replaces the initial "
            f"pulls, got {horizon}"
        )
    for policy in policies:
        _check_rewards(policy, problem, prior)
    moments = _checkpoints(checkpoints, horizon)
    engines = tuple(_engine(policy, engine, arms) for policy in policies)
    plays = [_play(policy, name) for policy, name in zip(policies, engines, strict=True)]
    rules = [policy.rule(arms, horizon) for policy in policies]
    if prior is not None:
        rules = [rule._replace(prior_mean=prior[0], prior_weight=prior[1]) for rule in rules]

    shape = (len(policies), runs)
    result = Result(
        settings=Settings(
            policies=tuple({"name": type(p).__name__} | dataclasses.asdict(p) for p in policies),
            labels=_labels(policies),
            engines=engines,
            problem=problem,
            horizon=horizon,
            runs=runs,
            seed=seed,
            prior=prior,
        ),
        checkpoints=moments,
        regret=np.empty((*shape, moments.size)),
        pulls=np.empty((*shape, arms), np.int64),
        draws=np.empty((*shape, arms), np.int64),
        evaluations=np.empty(shape, np.int64),
    )
    seconds = np.zeros(shape)
    kernel = problem.kernel()
    stop = threading.Event()

    def play_run(p: int, run: int) -> None:
        """One run of one policy, in slices, so that progress shows and an interruption is heeded."""
        began = time.thread_time()
        state = new_state(rules[p], policy_stream(seed, run), tree=engines[p] == "tournament")
        trace = new_trace(moments)
        rewards = reward_stream(seed, run)
        slice_ = _slice(rules[p], engines[p])
        with np.errstate(over="ignore"):  # the generator's words wrap around, also when interpreted
            for start in range(0, horizon, slice_):
                if stop.is_set():
                    return
                end = min(start + slice_, horizon)
                plays[p](rules[p], state, kernel, rewards, trace, start, end)
                advance(end - start)
        result.regret[p, run] = trace.regret
        result.pulls[p, run] = state.pulls
        result.draws[p, run] = state.draws
        result.evaluations[p, run] = state.evaluations[0]
        seconds[p, run] = time.thread_time() - began

    announce_compilation(plays)
    rounds = runs * len(policies) * horizon
    with (
        progress_bar.bar(rounds, "simulating", shown=progress) as advance,
        ThreadPoolExecutor(workers) as pool,
    ):
        # Run by run, all policies: the mix of slow and fast ones stays even, so the time left is honest.
        jobs = [pool.submit(play_run, p, run) for run in range(runs) for p in range(len(policies))]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            stop.set()
            raise
    result.provenance.update(_provenance(seconds.sum(axis=1).tolist(), workers))
    return result


def _policies(policies: Policy | Sequence[Policy]) -> tuple[Policy, ...]:
    listed = (policies,) if isinstance(policies, Policy) else tuple(policies)
    if not listed:
        raise InvalidValue("policies must have at least one policy, got none")
    for i, policy in enumerate(listed):
        if not isinstance(policy, Policy):
            raise InvalidType(f"policies[{i}] must be a policy such as ThompsonSampling(), got {policy!r}")
        if policy in listed[:i]:
            raise InvalidValue(f"policies must be different from each other, got {policy!r} twice")
    return listed


def _labels(policies: Sequence[Policy]) -> tuple[str, ...]:
    labels = [policy.label for policy in policies]
    return tuple(
        label if labels.count(label) == 1 else repr(policy)
        for label, policy in zip(labels, policies, strict=True)
    )


def _prior(prior: object) -> tuple[float, float] | None:
    if prior is None:
        return None
    if not isinstance(prior, Sequence) or len(prior) != 2:
        raise InvalidType(f"prior must be None or a pair (mean, weight), got {prior!r}")
    return checks.number("prior mean", prior[0]), checks.positive("prior weight", prior[1])


def _check_rewards(policy: Policy, problem: Problem, prior: tuple[float, float] | None) -> None:
    if REWARDS.index(problem.rewards) > REWARDS.index(policy.rewards):
        needed = {"binary": "rewards of 0 or 1", "unit": "rewards in [0, 1]"}[policy.rewards]
        raise InvalidValue(f"{policy!r} needs {needed}, and those of a {problem.kind} problem are not")
    if policy.rewards != "any" and prior is not None and not 0.0 <= prior[0] <= 1.0:
        raise InvalidValue(f"prior mean must be in [0, 1] for {policy!r}, got {prior[0]!r}")


def _checkpoints(checkpoints: Sequence[int] | None, horizon: int) -> Integers:
    if checkpoints is None:
        return np.unique(np.geomspace(1, horizon, 100).round().astype(np.int64))
    moments = [checks.integer(f"checkpoints[{i}]", t, at_least=1) for i, t in enumerate(checkpoints)]
    if sorted(set(moments)) != moments or (moments and moments[-1] > horizon):
        raise InvalidValue(
            f"checkpoints must increase and not exceed the horizon {horizon}, got {checkpoints!r}"
        )
    return np.array([*moments, horizon] if horizon not in moments[-1:] else moments, np.int64)


def _engine(policy: Policy, engine: str, arms: int) -> str:
    """The engine for one policy: a constant of the code, never of the machine."""
    checks.choice("engine", engine, ("auto", *ENGINES))
    if engine == "auto":
        return "tournament" if "tournament" in policy.engines and arms >= TOURNAMENT_FROM else "scan"
    if engine not in policy.engines:
        raise InvalidValue(
            f"engine must be one of {', '.join(policy.engines)} for {policy!r}, got {engine!r}"
        )
    return engine


def _play(policy: Policy, engine: str) -> Callable[..., None]:
    if isinstance(policy, IndexPolicy):
        return play_custom(type(policy).index)
    return {"scan": play_scan, "tournament": play_tournament}[engine]


def _slice(rule: Rule, engine: str) -> int:
    cost = rule.arms if engine == "scan" else 20
    return int(max(1, SLICE // (cost + (rule.phi if rule.batch else 0.0))))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _provenance(seconds: list[float], workers: int) -> dict[str, Any]:
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(sys.argv),
        "seconds": seconds,
        "workers": workers,
        "machine": {
            "cores": _cores(),
            "processor": platform.machine(),
            "system": platform.system(),
        },
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("thrifty", "numpy", "numba", "scipy")},
    }
