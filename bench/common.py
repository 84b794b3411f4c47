"""What the benchmarks share: problems, a run that is played in slices, plain C, and how figures are shown."""

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import thrifty
from thrifty.engines.memory import policy_stream, reward_stream
from thrifty.policies import Policy
from thrifty.problems import Problem
from thrifty.simulation.game import Game
from thrifty.simulation.plan import plan
from thrifty.state.statistics import CLOCK
from thrifty.table import aligned

HERE = Path(__file__).parent
FLAGS = ["-O3", "-march=native", "-ffp-contract=off"]  # the last: the same rounding as the kernels
PRIOR = (0.5, 1.0)  # no initial pulls: a million of them would be a benchmark of their own

Row = dict[str, Any]


def equal(arms: int) -> thrifty.Bernoulli:
    """All means equal but one."""
    return thrifty.Bernoulli([0.9] + [0.8] * (arms - 1))


def spread(arms: int) -> thrifty.Bernoulli:
    """Means uniform in [0, 0.9], and one at 0.9."""
    means = np.random.default_rng(0).uniform(0.0, 0.9, arms)
    means[arms // 2] = 0.9
    return thrifty.Bernoulli(means)


class Run:
    """One run that is played on and on, a slice at a time."""

    def __init__(
        self,
        policy: Policy,
        problem: Problem,
        engine: str,
        *,
        horizon: int,
        prior: tuple[float, float] | None = PRIOR,
        seed: int = 0,
    ) -> None:
        ready = plan(policy, problem, horizon=horizon, seed=seed, prior=prior, engine=engine)
        self.rule, self.engine = ready.stages[0][0][1], ready.settings.engines[0]
        self.program = ready.program(0)
        game = Game(ready, 0, run=0)
        game.enter(next(iter(ready.timeline)))
        self.memory = game.memory
        self.state = self.memory.state
        self.t = 0
        self._play = self.program.entry("play")

    def begin(self) -> None:
        """Make all that is kept for the arms anew, from their statistics."""
        self._advance(0, anew=True)

    def play(self, rounds: int) -> float:
        """The nanoseconds of processor time that a round took, on average."""
        began = time.thread_time_ns()
        self._advance(rounds, anew=False)
        return (time.thread_time_ns() - began) / rounds

    def _advance(self, rounds: int, anew: bool) -> None:
        self._play(self.memory.block, self.t, self.t + rounds, anew)
        self.t += rounds

    @property
    def regret(self) -> float:
        return float(self.state.total[0])

    @property
    def evaluations(self) -> int:
        return int(self.state.evaluations[0])

    def adopt(self, other: "Run") -> None:
        """Go on, on scan, from where a run on sleepers is: its rounds are of the same age then."""
        mine, its = self.state, other.state
        mine.pulls[:], mine.sums[:] = its.pulls, its.sums
        self.begin()
        if self.program.policy.schedule == "duel":
            committed = its.place < 0
            ages = its.count[CLOCK] - its.start
            mine.age[:] = np.where(committed, int(self.rule.phi) + 1, ages)
            mine.best[:] = np.where(committed, its.index, its.best)


def steady(plays: Sequence[Callable[[int], float]], seconds: float, repeats: int) -> list[float]:
    """The median of slices of about so many seconds for each of some contestants, by turns.

    Each plays so many rounds as it is told, and says how many nanoseconds one of them took.
    """
    slices = []
    for play in plays:
        rounds = 16
        while (ns := play(rounds)) * rounds < 0.5e9 * seconds:
            rounds *= 2
        slices.append(partial(play, max(1, int(1e9 * seconds / ns))))
    return [statistics.median(found) for found in interleaved(slices, repeats)]


def interleaved(contestants: Sequence[Callable[[], float]], repeats: int) -> list[list[float]]:
    """A B A B ...: what disturbs the machine for a while disturbs all of them."""
    figures: list[list[float]] = [[] for _ in contestants]
    for _ in range(repeats):
        for measure, found in zip(contestants, figures, strict=True):
            found.append(measure())
    return figures


def keeping_bytecode() -> dict[str, str]:
    """An environment in which processes keep their bytecode, as they do wherever nobody forbids it."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def compiler() -> str:
    found = shutil.which("cc")
    if found is None:
        sys.exit(
            "the benchmarks need a C compiler named cc, and there is none "
            "(Debian: apt install gcc libc6-dev; macOS: xcode-select --install)"
        )
    return found


def compiled_c(folder: Path, name: str = "dense") -> Path:
    program = folder / name
    subprocess.run([compiler(), *FLAGS, "-o", program, HERE / f"{name}.c", "-lm"], check=True)
    return program


def play_c(program: Path, arms: int, rounds: int) -> tuple[float, float]:
    """Gaussian Thompson sampling in C, after its initial pulls: ns per posterior draw, and the regret."""
    words = [str(word) for stream in (policy_stream, reward_stream) for word in stream(0, 0)]
    command = [str(program), str(arms), str(arms + rounds), *words]
    ns, regret = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(ns), float(regret)


def machine() -> Row:
    names = [line for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": names[0].split(": ")[1] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(pages / 2**30, 1),
        "system": platform.system(),
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def versions() -> dict[str, str]:
    said = subprocess.run([compiler(), "--version"], check=True, capture_output=True, text=True).stdout
    packages = ("thrifty", "numba", "llvmlite", "numpy", "scipy")
    return {"python": platform.python_version(), "cc": said.splitlines()[0]} | {
        p: version(p) for p in packages
    }


def progress(text: str) -> None:
    print(f"{datetime.now(UTC):%H:%M:%S} {text}", file=sys.stderr, flush=True)


def show(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]], *notes: str) -> None:
    print(f"\n{title}\n\n{aligned(heading, rows)}\n", *notes, sep="\n", flush=True)


def goal(text: str, met: bool) -> str:
    return f"Goal: {text}: {'met' if met else 'MISSED'}."


def write(name: str, figures: Row) -> None:
    target = HERE / "results" / f"{name}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(figures, indent=1) + "\n")
    print(f"Figures: {os.path.relpath(target)}")
