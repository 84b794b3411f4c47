"""Simulate policies on a problem: workers and slices around the compiled loop."""

import functools
import itertools
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.delays import Delay
from thrifty.policies import Policy
from thrifty.problems import Problem
from thrifty.simulation.game import Game
from thrifty.simulation.plain import PlainPolicy
from thrifty.simulation.plan import Plan, plan
from thrifty.simulation.progress import Advance, bar, wanted
from thrifty.simulation.result import Result
from thrifty.slices import FIRST, cost, slices

STEP = 4000  # what a round in plain Python costs, in arms looked at
PATIENCE = 0.2  # seconds of waiting without a look at the keyboard, where waiting is deaf


def simulate(
    policies: Policy | PlainPolicy | Sequence[Policy | PlainPolicy],
    problem: Problem,
    horizon: int,
    runs: int = 20,
    seed: int = 0,
    prior: tuple[float, float] | None = None,
    workers: int | None = None,
    engine: str = "auto",
    checkpoints: Sequence[int] | None = None,
    delay: int | Delay = 0,
    progress: bool | None = None,
    *,
    control: float = 0.0,
    control_arm: int | None = None,
    floor: float = 0.0,
    burn_in: int = 0,
) -> Result:
    """Play each policy ``runs`` times for ``horizon`` rounds.

    Parameters:
        policies: one policy, or several, such as ``TSMA()``.
        problem: what the arms pay, such as ``Bernoulli([0.9, 0.8])``.
        horizon: how many rounds a run has.
        runs: how often each policy is played.
        seed: of the random streams. Each run has one for the rewards and one for the policy, of (seed, run)
            alone: the numbers do not depend on the workers, nor on the company of other policies.
        prior: ``(mean, weight)`` of pseudo-observations that every arm has instead of its initial pull.
        workers: threads; by default one for each core.
        engine: how the best arm is found: "scan", "tournament", "kinetic" or "sleepers", if it runs the
            policy. "auto" picks the fastest.
        checkpoints: the rounds at which regret is recorded, to which the horizon is added; by default about
            100, evenly spaced in the logarithm.
        delay: how many more decisions are made before a reward arrives: 100, or ``GeometricDelay(100)``.
        progress: show a bar with the time left, on a terminal or in a notebook; by default if there is work
            for more than two seconds.
        control: the share of decisions that are made at random, as in ``Bandit``.
        control_arm: control pulls the arm with this number, and not one at random.
        floor: every arm has at least this probability in every decision; at most 1/K.
        burn_in: an arm with fewer pulls than this goes before the policy's choice.

    >>> import thrifty
    >>> problem = thrifty.Bernoulli([0.9, 0.1])
    >>> result = thrifty.simulate(thrifty.KLUCBPlusPlus(), problem, horizon=1000, runs=10)
    >>> print(f"{result.regret[0, :, -1].mean():.2f}")
    3.36
    """
    others = control, control_arm, floor, burn_in
    ready = plan(policies, problem, horizon, runs, seed, prior, engine, checkpoints, delay, *others)
    workers = cores() if workers is None else checks.integer("workers", workers, at_least=1)
    wanted(progress)
    compile_for(ready)  # before the clock of the bar runs
    with bar(work(ready), "simulating", shown=progress) as advance:
        return execute(ready, workers, advance)


def work(ready: Plan) -> int:
    """How much there is to do, in the unit of ``advance``: arms looked at."""
    return sum(run_work(ready, p) for p in range(len(ready.policies))) * ready.settings.runs


def run_work(ready: Plan, p: int) -> int:
    """The same for one run of one policy."""
    return ready.settings.horizon * _cost(ready, p)


def _cost(ready: Plan, p: int) -> int:
    if ready.is_stepwise(p):
        return STEP
    return cost(ready.stages[p][-1][1], looks_at_all=ready.settings.engines[p] == "scan")


class Outcome(NamedTuple):
    """What one run of one policy leaves behind."""

    regret: Floats
    pulls: Integers
    draws: Integers
    evaluations: int
    seconds: float  # of processor time


def execute(ready: Plan, workers: int, advance: Advance) -> Result:
    """Play every run of the plan on some threads; the kernels release the GIL."""
    settings, policies = ready.settings, len(ready.policies)
    result, seconds = empty(ready), np.zeros((policies, settings.runs))
    # Run by run, all policies: the mix of slow and fast ones stays even, so the time left is honest.
    todo = itertools.product(range(settings.runs), range(policies))
    stop = threading.Event()
    failures: dict[tuple[int, int], BaseException] = {}

    def play() -> None:
        for run, p in todo:  # each goes to one thread
            try:
                outcome = play_run(ready, p, run, advance, stop.is_set)
            except BaseException as error:
                failures[run, p] = error
            if failures or outcome is None:
                return
            store(result, p, run, outcome)
            seconds[p, run] = outcome.seconds

    compile_for(ready)
    # Plain threads: Ctrl-C amid the work of an executor can leave its locks locked, and then nobody goes on.
    threads = [threading.Thread(target=play) for _ in range(min(workers, settings.runs * policies))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(PATIENCE)  # and not for ever: on Windows, Ctrl-C would not be heard
    finally:
        stop.set()
        for thread in threads:
            if thread.is_alive():
                thread.join()
    if failures:
        raise failures[min(failures)]  # the first in order, whichever came first
    result.provenance.update(provenance(seconds.sum(axis=1).tolist(), workers))
    return result


def empty(ready: Plan) -> Result:
    """A result that is to be filled."""
    settings = ready.settings
    policies, runs, arms = len(ready.policies), settings.runs, settings.problem.size
    if policies * runs * max(arms, ready.checkpoints.size) > sys.maxsize // 8:
        raise MemoryError(f"for {policies} policies, {runs:,} runs and {arms:,} arms")
    return Result(
        settings=settings,
        checkpoints=ready.checkpoints,
        regret=np.empty((policies, runs, ready.checkpoints.size)),
        pulls=np.empty((policies, runs, arms), np.int64),
        draws=np.empty((policies, runs, arms), np.int64),
        evaluations=np.empty((policies, runs), np.int64),
    )


def store(result: Result, p: int, run: int, outcome: Outcome) -> None:
    result.regret[p, run] = outcome.regret
    result.pulls[p, run] = outcome.pulls
    result.draws[p, run] = outcome.draws
    result.evaluations[p, run] = outcome.evaluations


def play_run(
    ready: Plan,
    p: int,
    run: int,
    advance: Advance = lambda done: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Outcome | None:
    """One run of one policy, in slices, so that progress shows and an interruption is heeded: then, None."""
    began, settings, rules = time.thread_time(), ready.settings, dict(ready.stages[p])
    game = Game(ready, p, run)
    kept = (lambda: int(game.memory.field("used")[0])) if game.memory.field("used").size else None
    initial = rules[0].initial if settings.prior is None else 0  # rounds without a choice
    each = unit = _cost(ready, p)
    simple = cost(ready.stages[p][-1][1], looks_at_all=False)
    if game.stepwise:  # a round of the user's own may take seconds: slices begin with one
        each = simple = FIRST
    with np.errstate(over="ignore"):  # the generator's words wrap around, also when interpreted
        for stretch in ready.timeline:
            game.enter(stretch)
            inside = (t for t in (*rules, initial) if stretch.start < t < stretch.stop)
            for first, last in itertools.pairwise(sorted({stretch.start, *inside, stretch.stop})):
                if first in rules:
                    game.follow(rules[first])
                for start, end in slices(first, last, simple if first < initial else each, kept):
                    if stopped():
                        return None
                    anew = start in rules and (start > 0 or settings.prior is not None)
                    game.play(start, end, anew=anew)
                    advance(unit * (end - start))
    spent = time.thread_time() - began
    return Outcome(game.regret, game.pulls, game.draws, game.evaluations, spent)


def compile_for(ready: Plan) -> None:
    """Compile, or load from the cache, what will be played."""
    for p in range(len(ready.policies)):
        game = Game(ready, p, 0)
        game.enter(next(iter(ready.timeline)))


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def provenance(seconds: list[float], workers: int) -> dict[str, Any]:
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(sys.argv),
        "seconds": seconds,
        "workers": workers,
        "machine": {
            "cores": cores(),
            "processor": platform.machine(),
            "system": platform.system(),
        },
        "versions": {"python": platform.python_version()} | _versions(),
    }


@functools.cache
def _versions() -> dict[str, str]:
    """Of the packages: each is read from a file, which takes longer than a small simulation."""
    return {name: version(name) for name in ("thrifty", "numpy", "numba", "scipy")}
