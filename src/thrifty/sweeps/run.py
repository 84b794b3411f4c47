"""Run a sweep, or go on with one: what is finished is in its folder, and everything else is done again.

DIR/sweep.json          what determines the numbers: a changed spec does not fit this folder any more
DIR/chunks/*.npz        finished chunks of cases that are not complete
DIR/CASE.npz, .json     the results of complete cases, and where they came from
"""

import difflib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from thrifty import checks, storage
from thrifty.errors import FileError, InvalidValue
from thrifty.simulation.progress import bar
from thrifty.simulation.result import Result
from thrifty.simulation.run import Outcome, compile_for, cores, provenance
from thrifty.sweeps import chunks, cluster, grid, local
from thrifty.sweeps.chunks import Chunk
from thrifty.sweeps.grid import Case

BACKENDS = ("local", "dask")
CHUNK = 1.0  # seconds
DIFFERENCE = 20  # lines of it that an error shows


def sweep(
    spec: str | os.PathLike[str],
    out: str | os.PathLike[str],
    workers: int | None = None,
    backend: str = "local",
    scheduler: str | None = None,
    chunk: float = CHUNK,
    progress: bool = False,
) -> dict[str, Result]:
    """Run the sweep of a TOML file into a folder, or go on with it; the result of each case.

    Workers are processes, one for each core unless said otherwise. ``backend="dask"`` sends the chunks to the
    Dask cluster whose ``scheduler`` has this address. ``chunk`` is how many seconds of work go together,
    roughly. Nothing of this changes the numbers.
    """
    checks.choice("backend", backend, BACKENDS)
    if (backend == "dask") != (scheduler is not None):
        raise InvalidValue(
            f"scheduler must be given with backend='dask' and with it alone, got {scheduler!r}"
        )
    workers = cores() if workers is None else checks.integer("workers", workers, at_least=1)
    cases = grid.load(Path(spec))
    everything = chunks.cut(cases, chunk)
    return run(cases, everything, Path(out), workers, scheduler, progress=progress)


def run(
    cases: Sequence[Case],
    everything: Sequence[Chunk],
    folder: Path,
    workers: int,
    scheduler: str | None = None,
    *,
    progress: bool = False,
) -> dict[str, Result]:
    """Finish what is not finished."""
    _claim(folder, cases)
    todo = unfinished(folder, cases, everything)
    for case in {chunk.case for chunk in todo}:  # in this process, once, and not in each worker
        compile_for(cases[case].spec.plan(), cases[case].spec.problem.kernel())
    with bar(len(everything), "sweeping", shown=progress) as advance:
        advance(len(everything) - len(todo))
        for chunk, outcomes in _played(cases, todo, workers, scheduler):
            chunks.save(chunks.path(folder, cases[chunk.case], chunk), outcomes)
            advance(1)
    return {case.name: _complete(folder, c, case, everything, workers) for c, case in enumerate(cases)}


def unfinished(folder: Path, cases: Sequence[Case], everything: Sequence[Chunk]) -> list[Chunk]:
    """The chunks that still have to be played."""
    return [
        chunk
        for chunk in everything
        if not _final(folder, cases[chunk.case]).exists()
        and not chunks.path(folder, cases[chunk.case], chunk).exists()
    ]


def _played(
    cases: Sequence[Case], todo: Sequence[Chunk], workers: int, scheduler: str | None
) -> Iterator[tuple[Chunk, list[Outcome]]]:
    jobs = [(cases[chunk.case].spec, chunk) for chunk in todo]
    if not jobs:
        return
    ended = local.play(jobs, workers) if scheduler is None else cluster.play(jobs, scheduler)
    for number, outcomes in ended:
        yield todo[number], outcomes


def _final(folder: Path, case: Case) -> Path:
    return folder / f"{case.name}.npz"


def _claim(folder: Path, cases: Sequence[Case]) -> None:
    """Note what the folder is for, or make sure that it is for this."""
    storage.writable(folder / "chunks")
    note, text = folder / "sweep.json", grid.written(list(cases))
    if not note.exists():
        storage.replace(note, lambda file: file.write(text.encode()))
        return
    before = note.read_text()
    if before != text:
        lines = list(
            difflib.unified_diff(before.splitlines(), text.splitlines(), "before", "now", n=1, lineterm="")
        )
        shown = "\n  ".join(lines[2 : 2 + DIFFERENCE])
        raise FileError(f"{folder} has another sweep: choose another folder, or undo the change\n  {shown}")


def _complete(folder: Path, c: int, case: Case, everything: Sequence[Chunk], workers: int) -> Result:
    """The result of a case. Its chunks go when it is written, and not before."""
    target, mine = _final(folder, case), [chunk for chunk in everything if chunk.case == c]
    if not target.exists():
        result, seconds = chunks.assemble(folder, case, mine)
        result.provenance.update(provenance(seconds, workers))
        result.save(target)
    for file in (folder / "chunks").glob(f"{case.name}-*.npz"):
        file.unlink(missing_ok=True)
    return Result.load(target)
