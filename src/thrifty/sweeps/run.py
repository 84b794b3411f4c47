"""Run a sweep, or go on with one: what is finished is in its folder, and everything else is done again.

DIR/sweep.json          what determines the numbers: a changed spec does not fit this folder any more
DIR/sweep.lock          locked by the process that works here
DIR/chunks/*.npz        finished chunks of cases that are not complete
DIR/CASE.npz, .json     the results of complete cases, and where they came from
"""

import contextlib
import difflib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from thrifty import checks, storage
from thrifty.errors import FileError, InvalidType, InvalidValue
from thrifty.problems import own
from thrifty.simulation.progress import bar, wanted
from thrifty.simulation.result import Result
from thrifty.simulation.run import cores, provenance
from thrifty.sweeps import chunks, grid
from thrifty.sweeps.chunks import Chunk
from thrifty.sweeps.cluster import Cluster
from thrifty.sweeps.grid import Case
from thrifty.sweeps.local import Processes

try:
    import fcntl
except ImportError:  # a system without it
    fcntl = None  # type: ignore[assignment]

BACKENDS = ("local", "dask")
CHUNK = 1.0  # seconds
DIFFERENCE = 20  # lines of it that an error shows


def sweep(
    spec: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str],
    workers: int | None = None,
    backend: str = "local",
    scheduler: str | None = None,
    chunk: float = CHUNK,
    progress: bool | None = None,
) -> dict[str, Result]:
    """Run a sweep into a folder, or go on with it; the result of each case.

    Parameters:
        spec: a TOML file, or a table with the keys of one, in which policies, problems and delays may be
            objects: ``{"policies": [TSMA(), UCB1()], "problem": Bernoulli([0.9, 0.8]), "horizon": 1e4}``.
        out: the folder for the results: a new one, or that of the sweep to go on with.
        workers: processes; by default one for each core.
        backend: "local" for processes on this machine, "dask" for a Dask cluster.
        scheduler: the address of the cluster's scheduler; by default the cluster of the current Dask client.
        chunk: about how many seconds of work go together.
        progress: show a bar with the time left, on a terminal or in a notebook; by default if there is work
            for more than two seconds.

    Only ``spec`` determines the numbers.
    """
    checks.choice("backend", backend, BACKENDS)
    wanted(progress)
    if backend == "local" and scheduler is not None:
        raise InvalidValue(f"scheduler must be None unless backend is 'dask', got {scheduler!r}")
    if backend == "dask" and workers is not None:
        raise InvalidValue(f"workers must be None if backend is 'dask', which has its own, got {workers!r}")
    if isinstance(spec, Mapping):
        cases = grid.given(spec)
    elif isinstance(spec, str | os.PathLike):
        cases = grid.load(Path(spec))
    else:
        raise InvalidType(f"spec must be a TOML file or a table with its keys, got {checks.shown(spec)}")
    with open_pool(workers, backend, scheduler) as pool:
        results = dict(run(cases, Path(out), pool, chunk, progress=progress))
    return {case.name: results[case.name] for case in cases}


@contextlib.contextmanager
def open_pool(workers: int | None, backend: str, scheduler: str | None) -> Iterator[Processes | Cluster]:
    """Who plays the chunks."""
    if backend == "local":
        yield Processes(cores() if workers is None else checks.integer("workers", workers, at_least=1))
        return
    with Cluster(scheduler) as cluster:
        yield cluster


def run(
    cases: Sequence[Case],
    folder: Path,
    pool: Processes | Cluster,
    chunk: float = CHUNK,
    *,
    progress: bool | None = False,
) -> Iterator[tuple[str, Result]]:
    """Finish what is not finished, in chunks of so many seconds. Yields each case and its result."""
    chunk = checks.positive("chunk", chunk)
    with _claimed(folder, cases):
        left = unfinished(folder, cases)
        unplayed = {one.case for one in left}
        # What is damaged is noticed now, and not after hours of work.
        chunks.check(folder, cases, (one for one in chunks.found(folder, cases) if one.case in unplayed))
        played = [c for c in range(len(cases)) if c not in unplayed]
        yield from _complete(folder, cases, played, pool.workers)
        todo = chunks.cut(cases, left, chunk)
        waiting = Counter(one.case for one in todo)
        work = chunks.work(cases)
        total, due = sum(map(work, chunks.whole(cases))), [work(one) for one in todo]
        with bar(total, "sweeping", shown=progress, done=total - sum(due)) as advance:
            jobs = [(cases[one.case].spec, one) for one in todo]
            for number, news in pool.play(jobs) if jobs else ():
                if isinstance(news, int):
                    advance(news)
                    due[number] -= news
                    continue
                one = todo[number]
                chunks.save(folder, cases[one.case], one, news)
                advance(due[number])  # also if a worker that died had told of some of it
                waiting[one.case] -= 1
                if not waiting[one.case]:
                    yield from _complete(folder, cases, [one.case], pool.workers)
        with contextlib.suppress(OSError):  # somebody else's files are in there
            (folder / "chunks").rmdir()


def unfinished(folder: Path, cases: Sequence[Case]) -> list[Chunk]:
    """What still has to be played."""
    open_ = [chunk for chunk in chunks.whole(cases) if not _final(folder, cases[chunk.case]).exists()]
    return chunks.missing(open_, chunks.found(folder, cases))


def check(folder: Path, cases: Sequence[Case]) -> None:
    """Whether the folder is free, or has what was done of this very sweep."""
    note = folder / "sweep.json"
    if not note.exists():
        if any((folder / "chunks").glob("*.npz")):
            raise FileError(f"{folder} has chunks, and no {note.name} that says of which sweep: remove them")
        return
    before, now = note.read_text(errors="replace"), grid.written(cases)
    if before != now:
        lines = list(
            difflib.unified_diff(before.splitlines(), now.splitlines(), "before", "now", n=1, lineterm="")
        )
        shown = "\n  ".join(lines[2 : 2 + DIFFERENCE])
        raise FileError(f"{folder} has another sweep: choose another folder, or undo the change\n  {shown}")


def _final(folder: Path, case: Case) -> Path:
    return folder / f"{case.name}.npz"


@contextlib.contextmanager
def _claimed(folder: Path, cases: Sequence[Case]) -> Iterator[None]:
    """The folder is for this sweep and, as long as this process lives, for nobody else."""
    check(folder, cases)
    storage.writable(folder / "chunks")
    with (folder / "sweep.lock").open("ab") as lock:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FileError(f"{folder} is in use: another process is at this sweep") from None
        check(folder, cases)  # again: somebody may have been here in between
        note, text = folder / "sweep.json", grid.written(cases)
        if not note.exists():
            storage.replace(note, lambda file: file.write(text.encode()))
        for part in _left_behind(folder, cases):
            part.unlink()
        yield


def _left_behind(folder: Path, cases: Sequence[Case]) -> list[Path]:
    """What a death left half-written, of the files that a sweep makes."""
    own = {"sweep.json"} | {f"{case.name}.{kind}" for case in cases for kind in ("npz", "json")}
    parts = [part for part in folder.glob("*.part") if part.name[: -len("12345678.part")] in own]
    names = tuple(f"{case.name}-" for case in cases)
    return parts + [part for part in (folder / "chunks").glob("*.npz*.part") if part.name.startswith(names)]


def _complete(
    folder: Path, cases: Sequence[Case], some: Iterable[int], workers: int
) -> Iterator[tuple[str, Result]]:
    """The cases with these numbers, whose runs are all there, and their results."""
    mine: dict[int, list[Chunk]] = {c: [] for c in some}
    for chunk in chunks.found(folder, cases):
        mine.get(chunk.case, []).append(chunk)
    for c, finished in mine.items():
        yield cases[c].name, _result(folder, c, cases[c], finished, workers)


def _result(folder: Path, c: int, case: Case, finished: Sequence[Chunk], workers: int) -> Result:
    """The result of a case. Its chunks go when it is written, and not before.

    If all of them are still there, they are put together once more: who knows how far that got.
    """
    target = _final(folder, case)
    everything = (Chunk(c, p, 0, case.spec.runs) for p in range(len(case.spec.policies)))
    if not chunks.missing(everything, finished):
        result, seconds = chunks.assemble(folder, case, finished)
        result.provenance.update(provenance(seconds, workers))
        result.save(target)
    result, ready = Result.load(target, own(case.spec.problem)), case.spec.plan()
    if result.settings != ready.settings or not np.array_equal(result.checkpoints, ready.checkpoints):
        raise FileError(f"{target} is of another experiment: remove it, and it will be made again")
    for chunk in finished:
        chunks.path(folder, case, chunk).unlink()
    return result
