"""Sweeps that are killed, disturbed or told nonsense: the data files are always those of a quiet run."""

import contextlib
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import thrifty
from thrifty import storage
from thrifty.cli import main
from thrifty.errors import ThriftyError
from thrifty.simulation.spec import Spec
from thrifty.sweeps import chunks, estimate, grid, local, run
from thrifty.sweeps.chunks import Chunk
from thrifty.sweeps.estimate import seconds as measured
from thrifty.sweeps.local import Job, Played, Processes

TINY = """
horizon = [30, 60]
runs = 5
seed = 3
[[problem]]
kind = "bernoulli"
means = [0.9, 0.5, 0.4]
[[problem]]
kind = "gaussian"
means = [0.5, 0.0]
[[policies]]
name = "TSMA"
alpha = [0.0, 0.8]
"""
NAMES = ["bernoulli-1-T30", "bernoulli-1-T60", "gaussian-2-T30", "gaussian-2-T60"]
PATIENCE = 120.0  # seconds that anything here may take on a busy machine


class Here:
    """Chunks played by nobody else: no processes, so that a test takes no time."""

    workers = 1

    def __init__(self) -> None:
        self.played: list[Chunk] = []

    def play(self, jobs: Sequence[Job]) -> Played:
        for number, (spec, chunk) in enumerate(jobs):
            self.played.append(chunk)
            yield number, chunks.play(spec, chunk)


@pytest.fixture(autouse=True)
def speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round takes 30 ns, so that the work is always cut in the same way."""

    def needed(spec: Spec) -> tuple[float, ...]:
        return (spec.runs * spec.horizon * 3e-8,) * len(spec.policies)

    monkeypatch.setattr(estimate, "seconds", needed)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.toml"
    path.write_text(TINY)
    return path


def sweep(spec: Path, folder: Path, pool: Any = None, seconds: float = 2e-6) -> dict[str, thrifty.Result]:
    return dict(run.run(grid.load(spec), folder, pool or Here(), seconds))


def data(folder: Path) -> dict[str, bytes]:
    """The data files, by name."""
    return {path.stem: path.read_bytes() for path in folder.glob("*.npz")}


def simulated(spec: Path, folder: Path) -> dict[str, bytes]:
    """What the data files must be: those of thrifty.simulate, case by case."""
    folder.mkdir()
    for case in grid.load(spec):
        case.spec.simulate(workers=1).save(folder / f"{case.name}.npz")
    return data(folder)


@pytest.fixture
def expected(spec: Path, tmp_path: Path) -> dict[str, bytes]:
    return simulated(spec, tmp_path / "expected")


def assert_finished(folder: Path, expected: dict[str, bytes]) -> None:
    """The right data, where they came from, and nothing else."""
    assert data(folder) == expected
    files = {f"{name}{suffix}" for name in expected for suffix in (".npz", ".json")}
    assert {path.name for path in folder.iterdir()} == files | {"sweep.json", "sweep.lock"}


# Results ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [1e-9, 2.5e-6, 1.0])
def test_results_are_those_of_simulate_however_the_work_is_cut(
    spec: Path, tmp_path: Path, expected: dict[str, bytes], seconds: float
) -> None:
    assert sorted(expected) == NAMES
    results = sweep(spec, tmp_path / "out", seconds=seconds)
    assert_finished(tmp_path / "out", expected)
    assert list(results) == NAMES
    for case in grid.load(spec):
        same = case.spec.simulate(workers=1)
        for name in ("regret", "pulls", "draws", "evaluations"):
            np.testing.assert_array_equal(getattr(results[case.name], name), getattr(same, name))
        assert results[case.name].provenance["seconds"] == pytest.approx([0.0, 0.0], abs=1.0)
        assert min(results[case.name].provenance["seconds"]) > 0.0


def test_what_is_finished_is_not_done_again(spec: Path, tmp_path: Path) -> None:
    first, second = Here(), Here()
    before = sweep(spec, tmp_path / "out", first)
    after = sweep(spec, tmp_path / "out", second, seconds=1.0)
    assert sum(len(chunk.runs) for chunk in first.played) == 4 * 2 * 5
    assert second.played == []
    assert [r.provenance for r in after.values()] == [r.provenance for r in before.values()]


def test_from_python_on_processes(spec: Path, tmp_path: Path, expected: dict[str, bytes]) -> None:
    results = thrifty.sweep(spec, tmp_path / "deep" / "out", workers=2, chunk=1e-5)
    assert_finished(tmp_path / "deep" / "out", expected)
    assert list(results) == NAMES
    assert results[NAMES[0]].provenance["workers"] == 2
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers must be at least 1, got 0"),
        ({"backend": "slurm"}, "backend must be one of local, dask, got 'slurm'"),
        ({"scheduler": "tcp://1.2.3.4:1"},
         "scheduler must be None unless backend is 'dask', got 'tcp://1.2.3.4:1'"),
        ({"chunk": 0.0}, "chunk must be above 0, got 0.0"),
        ({"workers": 4, "backend": "dask"},
         "workers must be None if backend is 'dask', which has its own, got 4"),
    ],
)  # fmt: skip
def test_arguments(spec: Path, tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(thrifty.InvalidValue) as caught:
        thrifty.sweep(spec, tmp_path / "out", **options)
    assert str(caught.value) == message
    assert not (tmp_path / "out").exists()


# Death at every step ---------------------------------------------------------------------------------------


class Killed(BaseException):
    """What a process does not survive."""


@pytest.fixture
def mortal(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], list[str]]:
    """Let the process die at its n-th step in the file system: from then on nothing is done any more, and
    nothing is cleaned up. Returns the steps that were done."""
    steps: list[str] = []
    last = float("inf")

    def watch(name: str) -> None:
        original = getattr(Path, name)

        def step(self: Path, *arguments: Any, **options: Any) -> Any:
            if len(steps) >= last:
                raise Killed
            steps.append(f"{name} {self.name}")
            return original(self, *arguments, **options)

        monkeypatch.setattr(Path, name, step)

    for name in ("replace", "unlink", "rmdir"):
        watch(name)

    def set_last(n: float) -> list[str]:
        nonlocal last
        last = n
        steps.clear()
        return steps

    return set_last


@pytest.mark.parametrize("seconds", [(1e-9, 1e-9), (1e-9, 1.0), (1.0, 1e-9)], ids=str)
def test_death_at_every_step(spec: Path, tmp_path: Path, mortal: Any, seconds: tuple[float, float]) -> None:
    """And the next one, which may cut the work in another way, goes on with what was finished before."""
    spec.write_text(
        """
        horizon = [30, 60]
        runs = 3
        problem = {kind = "bernoulli", means = [0.9, 0.5]}
        policies = [{name = "TSMA"}]
        """
    )
    expected, (first, second) = simulated(spec, tmp_path / "expected"), seconds
    steps = mortal(float("inf"))
    sweep(spec, tmp_path / "quiet", seconds=first)
    count, pieces = len(steps), 2 if first == 1.0 else 6
    assert (
        count == 1 + pieces + 2 * 2 + pieces + 1
    )  # the note, chunks, results with their provenance, and tidying
    for last in range(count):
        folder, before, after = tmp_path / str(last), Here(), Here()
        mortal(last)
        with pytest.raises(Killed):
            sweep(spec, folder, before, first)
        finished = data(folder)
        kept = sum(
            int(b) - int(a)
            for *name, _, a, b in (path.stem.split("-") for path in folder.glob("chunks/*.npz"))
            if "-".join(name) not in finished
        )
        mortal(float("inf"))
        sweep(spec, folder, after, second)
        assert_finished(folder, expected)
        assert sum(len(chunk.runs) for chunk in after.played) == 6 - 3 * len(finished) - kept
        shutil.rmtree(folder)


# Files that are not what they should be --------------------------------------------------------------------


class Disordered(Here):
    """Three chunks of the second case, then those of the first, then nothing."""

    def play(self, jobs: Sequence[Job]) -> Played:
        order = [i for i, (_, chunk) in enumerate(jobs) if chunk.case == 1][:3]
        order += [i for i, (_, chunk) in enumerate(jobs) if chunk.case == 0]
        for number, outcomes in super().play([jobs[i] for i in order]):
            yield order[number], outcomes


@pytest.fixture
def half(spec: Path, tmp_path: Path, mortal: Any) -> Path:
    """A sweep that was killed when all chunks of one case were finished, and three of another."""
    mortal(10)
    with pytest.raises(Killed):
        sweep(spec, tmp_path / "half", Disordered())
    mortal(float("inf"))
    assert len(list((tmp_path / "half" / "chunks").glob("*.npz"))) == 9
    return tmp_path / "half"


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def flip(file: Path) -> None:
    """One bit of the compressed regret."""
    with zipfile.ZipFile(file) as archive:
        place = archive.getinfo("regret.npy").header_offset + 100
    raw = bytearray(file.read_bytes())
    raw[place] ^= 1
    file.write_bytes(raw)


def rewrite(change: Callable[[Any, Any], None]) -> Callable[[Path], None]:
    def tamper(file: Path) -> None:
        header, arrays = storage.read(file, "chunk")
        change(header, arrays)
        storage.write(file, header, arrays)

    return tamper


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (cut_off, "is not a whole chunk of a sweep of thrifty (.npz)"),
        (empty, "is not a whole chunk of a sweep of thrifty (.npz)"),
        (flip, "is not a whole chunk of a sweep of thrifty (.npz)"),
        (rewrite(lambda header, arrays: header.clear()),
         "is not a chunk of a sweep: it is a result file, which Result.load reads"),
        (rewrite(lambda header, arrays: arrays.pop("draws")), "is not a chunk of this sweep"),
        (rewrite(lambda header, arrays: arrays.update(regret=arrays["regret"][:, :1])),
         "is not a chunk of this sweep"),
        (rewrite(lambda header, arrays: arrays.update(pulls=arrays["pulls"][:0])),
         "is not a chunk of this sweep"),
        (rewrite(lambda header, arrays: arrays.update(seconds=np.zeros(()))), "is not a chunk of this sweep"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("number", [4, 7], ids=["of a case that is finished", "of one that is not"])
def test_a_corrupt_chunk(
    half: Path,
    spec: Path,
    expected: dict[str, bytes],
    tamper: Callable[[Path], None],
    message: str,
    number: int,
) -> None:
    """It is noticed before anything is played."""
    file = sorted((half / "chunks").glob("*.npz"))[number]
    tamper(file)
    pool = Here()
    with pytest.raises(thrifty.FileError) as caught:
        sweep(spec, half, pool)
    assert pool.played == []
    assert str(caught.value) == f"{file} {message}: remove it, and it will be made again"
    file.unlink()
    sweep(spec, half)
    assert_finished(half, expected)


def test_a_chunk_of_another_experiment(
    half: Path, spec: Path, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    """It has the right name and the right shape."""
    other = tmp_path / "other.toml"
    other.write_text(TINY.replace("seed = 3", "seed = 4"))
    case, chunk = grid.load(other)[1], next(iter(chunks.found(half, grid.load(spec))[-1:]))
    assert chunk.case == 1
    chunks.save(half, case, chunk, chunks.play(case.spec, chunk))
    file = chunks.path(half, case, chunk)
    with pytest.raises(thrifty.FileError, match=f"{file.name} is not a chunk of this sweep: remove it, and"):
        sweep(spec, half)
    file.unlink()
    sweep(spec, half)
    assert_finished(half, expected)


def test_a_damaged_result_costs_no_chunks(half: Path, spec: Path, expected: dict[str, bytes]) -> None:
    """Those that are still there are needed to make it again."""
    result = half / f"{NAMES[1]}.npz"
    result.write_bytes(b"")
    there = sorted((half / "chunks").glob(f"{NAMES[1]}-*"))
    with pytest.raises(thrifty.FileError, match=rf"{NAMES[1]}\.npz is not a whole result"):
        sweep(spec, half)
    assert there
    assert sorted((half / "chunks").glob(f"{NAMES[1]}-*")) == there
    result.unlink()
    sweep(spec, half)
    assert_finished(half, expected)


def test_a_case_has_its_result_when_its_runs_are_there(spec: Path, tmp_path: Path) -> None:
    class Looking(Here):
        def play(self, jobs: Sequence[Job]) -> Played:
            for number, outcomes in super().play(jobs):
                done = NAMES[: jobs[number][1].case]  # all cases before this one
                assert sorted(data(tmp_path / "out")) == done
                yield number, outcomes

    sweep(spec, tmp_path / "out", Looking())
    assert sorted(data(tmp_path / "out")) == NAMES


def test_what_others_have_half_written_stays(spec: Path, tmp_path: Path, expected: dict[str, bytes]) -> None:
    folder = tmp_path / "out"
    (folder / "chunks").mkdir(parents=True)
    strays = [folder / "data.csv.part", folder / "x.npz12345678.part", folder / "chunks" / "notes.part"]
    own = [
        f"{NAMES[0]}.npz12345678.part",
        "sweep.json12345678.part",
        f"chunks/{NAMES[1]}-0-0-1.npz12345678.part",
    ]
    for file in (*strays, *(folder / name for name in own)):
        file.write_text("half")
    sweep(spec, folder)
    assert data(folder) == expected
    assert sorted(folder.rglob("*.part")) == sorted(strays)


def test_a_result_of_another_experiment(
    half: Path, spec: Path, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    other = tmp_path / "other.toml"
    other.write_text(TINY.replace("seed = 3", "seed = 4"))
    sweep(other, tmp_path / "other")
    shutil.copy(tmp_path / "other" / f"{NAMES[1]}.npz", half)
    pool = Here()
    with pytest.raises(thrifty.FileError, match=f"{NAMES[1]}.npz is of another experiment: remove it, and"):
        sweep(spec, half, pool)
    assert pool.played == []
    (half / f"{NAMES[1]}.npz").unlink()
    sweep(spec, half)
    assert_finished(half, expected)


def test_files_that_are_no_chunks_stay_where_they_are(
    half: Path, spec: Path, expected: dict[str, bytes]
) -> None:
    numbers = ["", "-a-b-c", "-0-1", "-2-0-1", "-0-4-6", "-0-3-3", "-0-00-1", "-0--1-2", "-0-0-" + "9" * 99]
    names = ["x", f"other-{NAMES[0]}-0-0-1", *(NAMES[0] + rest for rest in numbers)]
    strays = {half / "chunks" / f"{name}.npz" for name in names}
    for stray in strays:
        stray.write_bytes(b"something else")
    sweep(spec, half)
    assert data(half) == expected
    assert set((half / "chunks").iterdir()) == strays


def test_chunks_of_a_forgotten_sweep(half: Path, spec: Path) -> None:
    (half / "sweep.json").unlink()
    with pytest.raises(thrifty.FileError, match=r"half has chunks, and no sweep\.json that says of which"):
        sweep(spec, half)


def test_a_folder_that_is_a_file(spec: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(thrifty.FileError, match=r"results need a folder, and .*out is a file"):
        sweep(spec, tmp_path / "out")


def test_one_sweep_at_a_time(spec: Path, tmp_path: Path, expected: dict[str, bytes]) -> None:
    class Twice(Here):
        def play(self, jobs: Sequence[Job]) -> Played:
            yield from super().play(jobs[:3])
            with pytest.raises(thrifty.FileError, match=r"out is in use: another process is at this sweep"):
                sweep(spec, tmp_path / "out")
            for number, outcomes in super().play(jobs[3:]):
                yield number + 3, outcomes

    sweep(spec, tmp_path / "out", Twice())
    assert_finished(tmp_path / "out", expected)


def test_two_that_start_at_once(
    spec: Path, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one comes when the first has looked at the folder, and found it free."""
    real, folder = storage.writable, tmp_path / "out"

    def slow(path: Path) -> Path:
        monkeypatch.setattr(storage, "writable", real)
        sweep(spec, folder, Second())
        return real(path)

    class Second(Here):
        def play(self, jobs: Sequence[Job]) -> Played:
            with pytest.raises(thrifty.FileError, match="out is in use"):
                sweep(spec, folder)
            yield from super().play(jobs)

    monkeypatch.setattr(storage, "writable", slow)
    first = Here()
    sweep(spec, folder, first)
    assert first.played == []
    assert_finished(folder, expected)


# The command line ------------------------------------------------------------------------------------------


def test_a_dry_run_prints_the_plan_and_writes_nothing(
    half: Path, spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, done in (
        (tmp_path / "new", ["0 of 10"] * 4),
        (half, ["10 of 10", "3 of 10", "0 of 10", "0 of 10"]),
    ):
        before = sorted(tmp_path.rglob("*"))
        assert main(["sweep", str(spec), "--out", str(folder), "--dry-run", "--workers", "3"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert re.split(r"\s{2,}", lines[0]) == [
            "case", "arms", "policies", "runs of each", "runs done", "computing left"
        ]  # fmt: skip
        rows = [re.split(r"\s{2,}", line) for line in lines[2:6]]
        expected = [[n, a, "2", "5", d, "0 s"] for n, a, d in zip(NAMES, "3322", done, strict=True)]
        assert rows == expected
        assert lines[6:] == ["", "in all about 0 s of computing, 0 s on 3 processes"]
        assert sorted(tmp_path.rglob("*")) == before


def test_workers_are_either_here_or_elsewhere(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--out", str(tmp_path / "out"), "--workers", "4", "--scheduler", "tcp://127.0.0.1:1"]
    assert main(["sweep", str(spec), *options]) == 2
    message = "--workers is for this machine, and --scheduler has its own, got 4"
    assert capsys.readouterr().err == f"thrifty: error: {message}\n"


def test_a_changed_spec_in_the_same_folder(
    half: Path, spec: Path, expected: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    spec.write_text(TINY.replace("0.8]", "0.7]").replace("seed = 3", "seed = 4"))
    before = {path: path.read_bytes() for path in half.rglob("*") if path.is_file()}
    for option in ([], ["--dry-run"]):
        assert main(["sweep", str(spec), "--out", str(half), *option]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        first, *difference = err.splitlines()
        said = "has another sweep: choose another folder, or undo the change"
        assert first == f"thrifty: error: {half} {said}"
        assert '  -     "alpha": 0.8,' in difference
        assert '  +     "alpha": 0.7,' in difference
        assert '  -   "seed": 3' in difference
        assert '  +   "seed": 4' in difference
    assert {path: path.read_bytes() for path in half.rglob("*") if path.is_file()} == before
    spec.write_text(TINY.replace("runs = 5", "runs = 5.0  # the same"))
    sweep(spec, half)
    assert_finished(half, expected)


def test_the_estimate_is_of_the_right_size() -> None:
    """A factor of twenty is what a busy machine may be wrong by; a wrong unit is wrong by more."""
    spec = grid.read(
        {
            "horizon": 60_000,
            "problem": {"kind": "bernoulli", "means": [0.5] * 20},
            "policies": [{"name": "ThompsonSampling"}, {"name": "TSMA"}],
            "runs": 4,
        }
    )[0].spec
    taken = spec.simulate(workers=1).provenance["seconds"]
    for guess, truth in zip(measured(spec), taken, strict=True):
        assert truth / 20.0 < guess < truth * 20.0


# Processes -------------------------------------------------------------------------------------------------


def wait_for(happens: Callable[[], object]) -> None:
    began = time.monotonic()
    while not happens():
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.002)


def test_the_death_of_a_worker_costs_its_chunk_alone(tmp_path: Path) -> None:
    """The other one goes on undisturbed, and so does whoever replaces it."""
    (case,) = grid.read(
        {
            "horizon": 100_000,
            "problem": {"kind": "bernoulli", "means": [0.5] * 50},
            "policies": [{"name": "ThompsonSampling"}],
            "runs": 24,
        }
    )
    jobs = [(case.spec, Chunk(0, 0, run, run + 1)) for run in range(24)]
    rng, played, pids = random.Random(5), {}, []
    for number, outcomes in Processes(2).play(jobs):
        if isinstance(outcomes, int):  # it tells how far it is
            continue
        assert number not in played
        played[number] = outcomes
        alive = {child.pid for child in multiprocessing.active_children()}
        if len(played) in (3, 9):
            pids.append(alive)
            time.sleep(0.02 * rng.random())
            os.kill(rng.choice(sorted(alive)), signal.SIGKILL)
    pids.append(alive)
    assert [len(some) for some in pids] == [2, 2, 2]
    assert len(pids[0] & pids[1]) == len(pids[1] & pids[2]) == 1
    assert sorted(played) == list(range(24))
    whole = case.spec.simulate(workers=2)
    for number, (outcome,) in played.items():
        np.testing.assert_array_equal(outcome.regret, whole.regret[0, number])
    assert multiprocessing.active_children() == []


def test_progress_moves_within_a_run(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker tells how far it is, and what it told before it died is taken back."""
    (case,) = grid.read({"horizon": 2 * 10**6, "problem": {"kind": "bernoulli", "means": [0.5] * 50},
                         "policies": [{"name": "ThompsonSampling"}], "runs": 1})  # fmt: skip
    *told, last = [news for _, news in Processes(1).play([(case.spec, Chunk(0, 0, 0, 1))])]
    assert isinstance(last, list)
    assert told
    assert all(isinstance(news, int) and news > 0 for news in told)
    assert sum(news for news in told if isinstance(news, int)) <= chunks.work([case])(Chunk(0, 0, 0, 1))

    class Telling(Here):
        def play(self, jobs: Sequence[Job]) -> Played:
            for number, outcomes in super().play(jobs):
                yield from [(number, 20), (number, 10**6), (number, 30), (number, outcomes)]

    advances: list[int] = []

    @contextlib.contextmanager
    def bar(total: int, description: str, *, shown: bool, done: int) -> Iterator[Callable[[int], None]]:
        advances.append(done)
        yield advances.append
        assert sum(advances) == total

    monkeypatch.setattr(run, "bar", bar)
    pool = Telling()
    sweep(spec, tmp_path / "out", pool)
    assert advances.count(10**6) == len(pool.played)
    advances.clear()
    sweep(spec, tmp_path / "out", Telling())
    assert len(advances) == 1


class Poison:
    """A spec that kills whoever unpacks it."""

    problem: Any = None

    def plan(self) -> None: ...

    def __reduce__(self) -> Any:
        return os._exit, (1,)


def test_workers_that_always_die_and_mistakes_in_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Poison, "problem", thrifty.Bernoulli([0.5]))
    monkeypatch.setattr(local, "compile_for", lambda *_: None)
    poison: Any = Poison()
    with pytest.raises(ThriftyError, match=r"^3 workers in a row died before they finished anything: "):
        list(Processes(2).play([(poison, Chunk(0, 0, 0, 1))] * 2))
    (case,) = grid.read({"horizon": 9, "problem": {"kind": "bernoulli", "means": [0.5]},
                         "policies": [{"name": "TSMA"}]})  # fmt: skip
    with pytest.raises(IndexError):
        list(Processes(1).play([(case.spec, Chunk(0, 7, 0, 1))]))
    assert multiprocessing.active_children() == []


# Kill -9 ---------------------------------------------------------------------------------------------------

LONGER = """
horizon = [20000, 30000]
runs = 16
seed = 11
[problem]
kind = "bernoulli"
means = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6]
[[policies]]
name = "ThompsonSampling"
[[policies]]
name = "TSMA"
alpha = [0.0, 0.8]
"""


@contextlib.contextmanager
def started(spec: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The command, in a session of its own, which is ended whatever happens to the test."""
    command = [Path(sys.executable).parent / "thrifty", "sweep", spec, "--out", folder, "--chunk", "1e-9"]
    process = subprocess.Popen(
        [*command, "--workers", "2"],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def finished_chunks(folder: Path) -> int:
    return len(list((folder / "chunks").glob("*.npz"))) + 100 * len(data(folder))


def descendants(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def is_worker(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return "spawn_main" in " ".join(process.cmdline())
    return False


@pytest.mark.parametrize(
    ("seed", "kills"), [(2024, 1), *(pytest.param(seed, 3, marks=pytest.mark.slow) for seed in range(5))]
)
def test_killed_at_random_moments_of_a_real_life(tmp_path: Path, seed: int, kills: int) -> None:
    """The parent by kill -9 and by ctrl-C, workers by kill -9: in the end the files are those of simulate,
    and nobody is left behind."""
    spec, folder, rng = tmp_path / "spec.toml", tmp_path / "out", random.Random(seed)
    spec.write_text(LONGER)
    moments = sorted(rng.sample(range(60), kills + 1))
    everybody: list[psutil.Process] = []
    for moment, blow in zip(moments, [*[signal.SIGKILL] * kills, signal.SIGINT], strict=True):
        with started(spec, folder) as process:
            wait_for(lambda: any(map(is_worker, descendants(process))))
            wait_for(lambda: finished_chunks(folder) >= moment)  # noqa: B023
            time.sleep(0.05 * rng.random())
            everybody += descendants(process)
            if blow == signal.SIGINT:
                os.killpg(process.pid, blow)  # as a terminal does
                assert process.wait(PATIENCE) == 130
                assert process.stderr is not None
                assert process.stderr.read().splitlines()[-1] == "thrifty: interrupted"
            else:
                process.kill()
                assert process.wait(PATIENCE) == -signal.SIGKILL
    assert data(folder).keys() < {"bernoulli-T20000", "bernoulli-T30000"}
    with started(spec, folder) as process:
        for _ in range(min(kills, 2)):  # a sweep gives up after three in a row
            wait_for(lambda: sum(map(is_worker, descendants(process))) == 2)
            time.sleep(0.2 * rng.random())
            workers = [child for child in descendants(process) if is_worker(child)]
            everybody += workers
            rng.choice(workers).kill()
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
    assert out.splitlines()[-1] == f"wrote 2 results to {folder}"
    assert_finished(folder, simulated(spec, tmp_path / "expected"))
    psutil.wait_procs(everybody, timeout=PATIENCE)
    assert [one for one in everybody if one.is_running()] == []
