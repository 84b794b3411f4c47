"""The work of a sweep, in chunks: some runs of one policy in one case. A finished chunk is a file.

The numbers of a run do not depend on how the work is cut.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from thrifty import checks, storage
from thrifty.errors import FileError
from thrifty.simulation.plan import Plan
from thrifty.simulation.result import Result
from thrifty.simulation.run import Outcome, compile_for, empty, play_run, store, work
from thrifty.simulation.spec import Spec
from thrifty.sweeps.grid import Case

SECOND = 100_000_000  # arms that can be looked at in a second, roughly
ARRAYS = ("regret", "pulls", "draws", "evaluations", "seconds")


class Chunk(NamedTuple):
    """Runs ``first`` to ``last`` - 1 of one policy of one case."""

    case: int
    policy: int
    first: int
    last: int

    @property
    def runs(self) -> range:
        return range(self.first, self.last)


def cut(cases: Sequence[Case], seconds: float) -> list[Chunk]:
    """All chunks, of so many seconds roughly, or one run. Those of a case are together, first runs first."""
    seconds, chunks = checks.positive("chunk", seconds), []
    for c, case in enumerate(cases):
        policies, runs = len(case.spec.policies), case.spec.runs
        run = max(1, work(case.spec.plan()) // (policies * runs))
        size = min(runs, max(1, int(seconds * SECOND / run)))
        chunks += [
            Chunk(c, p, first, min(first + size, runs))
            for first in range(0, runs, size)
            for p in range(policies)
        ]
    return chunks


@lru_cache(maxsize=4)
def _ready(spec: Spec) -> Plan:
    """The plan of a case, compiled: once for all of its chunks in this process."""
    ready = spec.plan()
    compile_for(ready, spec.problem.kernel())
    return ready


def play(spec: Spec, chunk: Chunk) -> list[Outcome]:
    """Do the work of a chunk: wherever this is called, the outcomes are the same."""
    ready, kernel = _ready(spec), spec.problem.kernel()
    outcomes = [play_run(ready, kernel, chunk.policy, run) for run in chunk.runs]
    return [outcome for outcome in outcomes if outcome is not None]


def path(folder: Path, case: Case, chunk: Chunk) -> Path:
    return folder / "chunks" / f"{case.name}-{chunk.policy}-{chunk.first}-{chunk.last}.npz"


def save(target: Path, outcomes: Sequence[Outcome]) -> None:
    """Write a finished chunk, whole or not at all."""
    columns = {name: np.array([getattr(outcome, name) for outcome in outcomes]) for name in ARRAYS}
    storage.write(target, {"kind": "chunk"}, columns)


def load(source: Path) -> list[Outcome]:
    header, columns = storage.read(source, "chunk of a sweep")
    if header.get("kind") != "chunk" or set(columns) != set(ARRAYS):
        raise FileError(f"{source} is not a chunk of a sweep: remove it, and it will be made again")
    rows = zip(*(columns[name] for name in ARRAYS), strict=True)
    return [Outcome(regret, pulls, drawn, int(n), float(s)) for regret, pulls, drawn, n, s in rows]


def assemble(folder: Path, case: Case, chunks: Sequence[Chunk]) -> tuple[Result, list[float]]:
    """The result of a case, from its finished chunks, and the seconds that each policy took."""
    result = empty(case.spec.plan())
    seconds = [0.0] * len(case.spec.policies)
    for chunk in chunks:
        for run, outcome in zip(chunk.runs, load(path(folder, case, chunk)), strict=True):
            store(result, chunk.policy, run, outcome)
            seconds[chunk.policy] += outcome.seconds
    return result, seconds
