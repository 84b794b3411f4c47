"""Sweeps on a real Dask cluster of processes, on this machine."""

import importlib
import os
import signal
import socket
import sys
import time
from asyncio import CancelledError
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from dask import distributed

import thrifty
from thrifty.cli import main
from thrifty.errors import ThriftyError
from thrifty.sweeps import chunks, cluster, grid, run

SPEC = """
horizon = [20000, 30000]
runs = 12
seed = 5
[problem]
kind = "bernoulli"
means = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6]
[[policies]]
name = "ThompsonSampling"
[[policies]]
name = "TSMA"
alpha = [0.0, 0.8]
"""


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    """Two worker processes with a thread each, and a scheduler in this one."""
    # Nothing listens but on loopback, and there is no dashboard.
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        worker_dashboard_address=None,
    ) as workers:
        yield workers


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spec") / "spec.toml"
    path.write_text(SPEC)
    return path


@pytest.fixture(scope="module")
def expected(spec: Path) -> dict[str, bytes]:
    """The data files that thrifty.simulate writes."""
    for case in grid.load(spec):
        case.spec.simulate().save(spec.parent / f"{case.name}.npz")
    return data(spec.parent)


def data(folder: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in folder.glob("*.npz")}


def test_results_are_those_of_simulate(
    workers: Any, spec: Path, expected: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = workers.scheduler_address
    assert address.startswith("tcp://127.0.0.1:")
    out = tmp_path / "out"
    assert main(["sweep", str(spec), "--out", str(out), "--scheduler", address, "--chunk", "0.02"]) == 0
    assert data(out) == expected
    assert capsys.readouterr().out.splitlines()[-1] == f"wrote 2 results to {out}"
    assert thrifty.Result.load(out / "bernoulli-T20000.npz").provenance["workers"] == 2


def test_the_client_that_there_is(
    workers: Any, spec: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    with distributed.Client(workers) as client:
        thrifty.sweep(spec, tmp_path, backend="dask", chunk=1.0)
        assert client.status == "running"
    assert data(tmp_path) == expected


def test_a_worker_that_is_killed_costs_its_chunk_alone(
    workers: Any, spec: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    """What it played is done again by others, and perhaps what it had not delivered yet, and nothing else."""
    cases = grid.load(spec)
    scheduler = workers.scheduler
    scheduler.transition_log.clear()
    with cluster.Cluster(workers.scheduler_address) as pool:
        killing = KillingOne(pool, scheduler, after=7)
        dict(run.run(cases, tmp_path, killing, 1e-9))  # type: ignore[arg-type]
    assert data(tmp_path) == expected
    begun = Counter(key for key, _, end, *_ in scheduler.transition_log if end == "processing")
    assert len(begun) == len(chunks.whole(cases)) * 12
    again = {key for key, count in begun.items() if count > 1}
    assert killing.playing <= again <= killing.playing | killing.undelivered
    assert 0 < len(killing.playing) <= 2  # the next one was there already


class KillingOne:
    """A pool of which one worker is killed, kill -9, after so many chunks, in the midst of another one."""

    def __init__(self, pool: cluster.Cluster, scheduler: Any, after: int) -> None:
        self._pool, self._scheduler, self._after = pool, scheduler, after
        self.workers = pool.workers
        self.playing: set[str] = set()
        self.undelivered: set[str] = set()

    def play(self, jobs: Any) -> Any:
        for count, played in enumerate(self._pool.play(jobs), 1):
            if count == self._after:
                pids = self._pool._client.run(os.getpid)
                one = next(worker for worker in self._scheduler.workers.values() if worker.processing)
                os.kill(pids[one.address], signal.SIGSTOP)
                time.sleep(0.2)  # what it has said is heard
                self.playing = {task.key for task in one.processing}
                self.undelivered = {task.key for task in one.has_what}
                os.kill(pids[one.address], signal.SIGKILL)
            yield played


def test_an_interrupted_sweep_gives_its_chunks_back(workers: Any, spec: Path) -> None:
    """Though the traceback, which a notebook keeps, still has the futures."""
    (case, _) = grid.load(spec)
    with distributed.Client(workers), cluster.Cluster(None) as pool:
        played = pool.play([(case.spec, chunks.Chunk(0, 0, run, run + 1)) for run in range(12)])
        next(played)
        assert workers.scheduler.tasks
        with pytest.raises(KeyboardInterrupt) as caught:
            played.throw(KeyboardInterrupt)  # type: ignore[attr-defined]
        began = time.monotonic()
        while workers.scheduler.tasks:
            assert time.monotonic() - began < 60.0
            time.sleep(0.01)
        assert caught.tb is not None


def test_a_mistake_in_a_worker(workers: Any, spec: Path) -> None:
    (case, _) = grid.load(spec)
    with cluster.Cluster(workers.scheduler_address) as pool, pytest.raises(IndexError):
        list(pool.play([(case.spec, chunks.Chunk(0, 7, 0, 1))]))


class Poison:
    """A spec that kills whoever plays it."""

    def plan(self) -> None:
        os._exit(1)


def test_a_chunk_whose_workers_all_die(workers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers.scheduler, "allowed_failures", 0)
    jobs: Any = [(Poison(), chunks.Chunk(0, 0, 0, 1))]
    given_up = pytest.raises(ThriftyError, match=r"^a chunk was given up, since its workers died: .*play")
    with cluster.Cluster(workers.scheduler_address) as pool, given_up:
        list(pool.play(jobs))


# Without a cluster -----------------------------------------------------------------------------------------


def test_no_scheduler_at_this_address(spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert main(["sweep", str(spec), "--out", str(tmp_path / "out"), "--scheduler", address]) == 2
    assert f"thrifty: error: cannot reach a Dask scheduler at {address}: " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_no_address(spec: Path, tmp_path: Path) -> None:
    right = "the address of a Dask scheduler, or a dask.distributed.Client must be there"
    right = f"scheduler must be {right}, got "
    with pytest.raises(thrifty.InvalidValue) as caught:
        thrifty.sweep(spec, tmp_path / "out", backend="dask")
    assert str(caught.value).startswith(right + "None (")
    with pytest.raises(thrifty.InvalidValue) as caught:
        thrifty.sweep(spec, tmp_path / "out", backend="dask", scheduler="nonsense")
    assert str(caught.value).startswith(right + "'nonsense' (")
    assert not (tmp_path / "out").exists()


def test_without_dask(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)  # as if it were not installed
    with pytest.raises(ImportError):
        importlib.import_module("dask.distributed")
    with pytest.raises(thrifty.MissingExtra) as caught:
        thrifty.sweep(spec, tmp_path / "out", backend="dask", scheduler="tcp://127.0.0.1:1")
    assert str(caught.value) == "a cluster needs Dask: pip install 'thrifty[dask]'"
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_is_lost(spec: Path) -> None:
    """Its client cancels everything, and says so by results that are errors."""
    (case, _) = grid.load(spec)

    def cancelled(futures: Any, with_results: bool) -> Any:
        return ((future, CancelledError(future.key)) for future in futures)

    pool = object.__new__(cluster.Cluster)
    pool._dask = SimpleNamespace(as_completed=cancelled, KilledWorker=KeyError)
    pool._client = SimpleNamespace(
        submit=lambda *job, pure: SimpleNamespace(key="a chunk", release=lambda: None)
    )
    with pytest.raises(ThriftyError, match=r"^lost the Dask scheduler; once it is back, the same command"):
        list(pool.play([(case.spec, chunks.Chunk(0, 0, 0, 1))]))
