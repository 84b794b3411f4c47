"""The work of a sweep, in chunks: some runs of one policy in one case. A finished chunk is a file.

The numbers of a run do not depend on how the work is cut.
"""

import itertools
from collections.abc import Iterable, Sequence
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
        size = int(min(runs, max(1.0, seconds * SECOND / run)))
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


def found(folder: Path, cases: Sequence[Case]) -> list[Chunk]:
    """The finished chunks, in whatever way the work was cut when they were made."""
    numbers = {case.name: c for c, case in enumerate(cases)}
    names = [file.stem.rsplit("-", 3) for file in sorted((folder / "chunks").glob("*.npz"))]
    return [Chunk(numbers[name], *map(int, rest)) for name, *rest in names if name in numbers]


def missing(chunks: Iterable[Chunk], finished: Iterable[Chunk]) -> list[Chunk]:
    """What is left of these chunks without the runs of those that are finished."""
    known = {(chunk.case, chunk.policy, run) for chunk in finished for run in chunk.runs}
    left = []
    for case, policy, first, last in chunks:
        runs = (run for run in range(first, last) if (case, policy, run) not in known)
        for _, together in itertools.groupby(enumerate(runs), lambda pair: pair[1] - pair[0]):
            group = [run for _, run in together]
            left.append(Chunk(case, policy, group[0], group[-1] + 1))
    return left


def save(target: Path, outcomes: Sequence[Outcome]) -> None:
    """Write a finished chunk, whole or not at all."""
    columns = {name: np.array([getattr(outcome, name) for outcome in outcomes]) for name in Outcome._fields}
    storage.write(target, {"kind": "chunk"}, columns)


def assemble(folder: Path, case: Case, chunks: Iterable[Chunk]) -> tuple[Result, list[float]]:
    """The result of a case, from its finished chunks, and the seconds that each policy took."""
    result = empty(case.spec.plan())
    seconds = [0.0] * len(case.spec.policies)
    for chunk in chunks:
        for run, outcome in zip(chunk.runs, _load(path(folder, case, chunk), chunk, result), strict=True):
            store(result, chunk.policy, run, outcome)
            seconds[chunk.policy] += outcome.seconds
    return result, seconds


def _load(source: Path, chunk: Chunk, result: Result) -> list[Outcome]:
    """The outcomes of a chunk that fits into this result."""
    advice = "remove it, and it will be made again"
    try:
        header, columns = storage.read(source, "chunk of a sweep")
    except FileError as error:
        raise FileError(f"{error}: {advice}") from None
    arms, runs = result.settings.problem.gaps.size, len(chunk.runs)
    shapes = ((runs, result.checkpoints.size), (runs, arms), (runs, arms), (runs,), (runs,))
    right = dict(zip(Outcome._fields, shapes, strict=True))
    if header.get("kind") != "chunk" or {name: array.shape for name, array in columns.items()} != right:
        raise FileError(f"{source} is not a chunk of this sweep: {advice}")
    rows = zip(*(columns[name] for name in Outcome._fields), strict=True)
    return [Outcome(regret, pulls, drawn, int(n), float(s)) for regret, pulls, drawn, n, s in rows]
