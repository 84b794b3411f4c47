"""The work of a sweep, in chunks: some runs of one policy in one case. A finished chunk is a file.

The numbers of a run do not depend on how the work is cut.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from thrifty import checks, storage
from thrifty.errors import FileError
from thrifty.simulation.plan import Plan
from thrifty.simulation.progress import Advance
from thrifty.simulation.result import Result
from thrifty.simulation.run import Outcome, compile_for, empty, play_run, run_work, store
from thrifty.simulation.spec import Spec
from thrifty.sweeps import estimate
from thrifty.sweeps.grid import Case, digest

SHORTEST = 1e-9  # seconds that a run takes, at least
NAME = re.compile(r"(?P<case>.+)-(?P<policy>[0-9]{1,18})-(?P<first>[0-9]{1,18})-(?P<last>[0-9]{1,18})")


class Chunk(NamedTuple):
    """Runs ``first`` to ``last`` - 1 of one policy of one case."""

    case: int
    policy: int
    first: int
    last: int

    @property
    def runs(self) -> range:
        return range(self.first, self.last)


def whole(cases: Sequence[Case]) -> list[Chunk]:
    """All runs of each policy of each case."""
    return [
        Chunk(c, p, 0, case.spec.runs) for c, case in enumerate(cases) for p in range(len(case.spec.policies))
    ]


def work(cases: Sequence[Case]) -> Callable[[Chunk], int]:
    """How much a chunk is, in arms looked at."""
    plans = [case.spec.plan() for case in cases]
    return lambda chunk: len(chunk.runs) * run_work(plans[chunk.case], chunk.policy)


def cut(cases: Sequence[Case], left: Sequence[Chunk], seconds: float) -> list[Chunk]:
    """What is left, in chunks of so many seconds, as each policy is estimated, or of one run. Those of a case
    are together, first runs first."""
    seconds, pieces = checks.positive("chunk", seconds), []
    needed = {c: estimate.seconds(cases[c].spec) for c in dict.fromkeys(chunk.case for chunk in left)}
    for c, p, first, last in left:
        run = max(SHORTEST, needed[c][p] / cases[c].spec.runs)
        size = int(min(last - first, max(1.0, seconds / run)))
        pieces += [Chunk(c, p, start, min(start + size, last)) for start in range(first, last, size)]
    return sorted(pieces, key=lambda chunk: (chunk.case, chunk.first, chunk.policy))


@lru_cache(maxsize=4)
def _ready(spec: Spec) -> Plan:
    """The plan of a case, compiled: once for all of its chunks in this process."""
    ready = spec.plan()
    compile_for(ready)
    return ready


def play(spec: Spec, chunk: Chunk, advance: Advance = lambda done: None) -> list[Outcome]:
    """Do the work of a chunk: wherever this is called, the outcomes are the same."""
    ready = _ready(spec)
    outcomes = [play_run(ready, chunk.policy, run, advance) for run in chunk.runs]
    return [outcome for outcome in outcomes if outcome is not None]


def path(folder: Path, case: Case, chunk: Chunk) -> Path:
    return folder / "chunks" / f"{case.name}-{chunk.policy}-{chunk.first}-{chunk.last}.npz"


def found(folder: Path, cases: Sequence[Case]) -> list[Chunk]:
    """The finished chunks, in whatever way the work was cut when they were made. Files with other names are
    somebody else's."""
    numbers = {case.name: c for c, case in enumerate(cases)}
    finished = []
    for file in sorted((folder / "chunks").glob("*.npz")):
        name = NAME.fullmatch(file.stem)
        if name and name["case"] in numbers:
            chunk = Chunk(numbers[name["case"]], *map(int, name.group("policy", "first", "last")))
            case, policies = cases[chunk.case], len(cases[chunk.case].spec.policies)
            right = chunk.policy < policies and chunk.first < chunk.last <= case.spec.runs
            if right and path(folder, case, chunk) == file:
                finished.append(chunk)
    return finished


def missing(chunks: Iterable[Chunk], finished: Iterable[Chunk]) -> list[Chunk]:
    """What is left of these chunks without the runs of those that are finished."""
    known: dict[tuple[int, int], list[Chunk]] = {}
    for chunk in sorted(finished):
        known.setdefault((chunk.case, chunk.policy), []).append(chunk)
    left = []
    for case, policy, first, last in chunks:
        for done in known.get((case, policy), ()):
            if first < min(done.first, last):
                left.append(Chunk(case, policy, first, min(done.first, last)))
            first = max(first, done.last)
        if first < last:
            left.append(Chunk(case, policy, first, last))
    return left


def save(folder: Path, case: Case, chunk: Chunk, outcomes: Sequence[Outcome]) -> None:
    """Write a finished chunk, whole or not at all."""
    columns = {name: np.array([getattr(outcome, name) for outcome in outcomes]) for name in Outcome._fields}
    storage.write(path(folder, case, chunk), {"kind": "chunk", "of": digest(case)}, columns)


def assemble(folder: Path, case: Case, chunks: Iterable[Chunk]) -> tuple[Result, list[float]]:
    """The result of a case, from its finished chunks, and the seconds that each policy took."""
    ready = case.spec.plan()
    result = empty(ready)
    seconds = [0.0] * len(case.spec.policies)
    for chunk in chunks:
        for run, outcome in zip(chunk.runs, _load(folder, case, chunk, ready), strict=True):
            store(result, chunk.policy, run, outcome)
            seconds[chunk.policy] += outcome.seconds
    return result, seconds


def check(folder: Path, cases: Sequence[Case], chunks: Iterable[Chunk]) -> None:
    """Whether the files of these finished chunks are whole, and of their cases."""
    for c, together in itertools.groupby(chunks, lambda chunk: chunk.case):
        ready = cases[c].spec.plan()
        for chunk in together:
            _load(folder, cases[c], chunk, ready)


def _load(folder: Path, case: Case, chunk: Chunk, ready: Plan) -> list[Outcome]:
    """The outcomes of a chunk, which must be of this case."""
    source = path(folder, case, chunk)
    advice = "remove it, and it will be made again"
    try:
        header, columns = storage.read(source, "chunk")
    except FileError as error:
        raise FileError(f"{error}: {advice}") from None
    arms, runs = ready.settings.problem.size, len(chunk.runs)
    shapes = ((runs, ready.checkpoints.size), (runs, arms), (runs, arms), (runs,), (runs,))
    right = dict(zip(Outcome._fields, shapes, strict=True))
    whole = {name: array.shape for name, array in columns.items()} == right
    if not whole or header.get("of") != digest(case):
        raise FileError(f"{source} is not a chunk of this sweep: {advice}")
    rows = zip(*(columns[name] for name in Outcome._fields), strict=True)
    return [Outcome(regret, pulls, drawn, int(n), float(s)) for regret, pulls, drawn, n, s in rows]
