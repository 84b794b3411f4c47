"""Ctrl-C while a kernel is at work: real signals to real processes, with work that would take hours.

Processes say when they are at work: a signal is sent then, and not before. How long a slice takes is tested
with a clock of its own (test_slices); here a limit is only for a test that would never end.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from thrifty import storage

PATIENCE = 200.0  # seconds on a busy machine, of which most are for imports and perhaps compilation

# Six calls, one after the other. Each says that it has begun when some slices were played, and how it ended.
CALLS = """
import itertools, sys, threading, time
import numpy as np
import thrifty
from thrifty.online import bandit, core
from thrifty.simulation import run

def say(*words):
    print(*words, flush=True)

def telling(original):
    def cut(*arguments):
        for part in original(*arguments):
            if next(slices) == 20:
                say("begun")
            yield part
    return cut

run.slices, core.slices = telling(run.slices), telling(core.slices)

def replay(policy):
    class Telling(bandit.Bandit):
        def select(self):
            if next(slices) == 300:
                say("begun")
            return super().select()
    from thrifty.replays import player as module
    module.Bandit = Telling
    rng = np.random.default_rng(0)
    log = {"arm": rng.integers(2, size=10**5), "reward": rng.random(10**5), "propensity": np.full(10**5, 0.5)}
    thrifty.replay(policy, log, runs=10**6)

def select_many(policy):
    bandit = thrifty.Bandit(policy, 20, seed=1)
    bandit.update_many(list(range(20)) * 500, np.random.default_rng(0).random(10**4))
    try:
        bandit.select_many(10**9)
    finally:
        assert bandit.decisions == 0 and bandit.statistics()["pending"].sum() == 0

def simulate(policy):
    thrifty.simulate(policy, thrifty.Beta([2.0] * 20, [1.0] * 20), 10**7, runs=10**4, workers=3)

for policy in (thrifty.NPTS(), thrifty.ThompsonSampling()):
    for call in (simulate, replay, select_many):
        slices = itertools.count()  # or decisions, where these are made one by one
        try:
            call(policy)
        except KeyboardInterrupt:
            while threading.active_count() > 1:  # one that was just being started
                time.sleep(0.01)
            say("interrupted")
"""


@contextlib.contextmanager
def started(*command: object) -> Iterator[subprocess.Popen[str]]:
    """A process in a session of its own, which is ended whatever happens to the test."""
    process = subprocess.Popen(
        list(map(str, command)),
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    limit = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
    limit.start()
    try:
        yield process
    finally:
        limit.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_in_python() -> None:
    """The slowest policy, whose rounds take longer and longer, and the fastest."""
    with started(sys.executable, "-c", CALLS) as process:
        assert process.stdout is not None
        heard = []
        for line in process.stdout:
            heard.append(line.strip())
            if heard[-1] == "begun":
                process.send_signal(signal.SIGINT)
        assert heard == ["begun", "interrupted"] * 6
        assert process.wait(PATIENCE) == 0


# As the commands, but for a word when the work has begun.
COMMAND = """
import itertools, sys
from thrifty.cli import main
from thrifty.simulation import run

def telling(*arguments, original=run.slices, slices=itertools.count()):
    for part in original(*arguments):
        if next(slices) == 20:
            print("begun", flush=True)
        yield part

if __name__ == "__main__":
    run.slices = telling
    sys.exit(main(sys.argv[1:]))
"""
SPEC = """
horizon = {horizon}
runs = 4
problem = {{kind = "beta", a = [2.0, 1.5], b = [1.0, 1.0]}}
policies = [{{name = "NPTS"}}]
"""


def test_on_the_command_line(tmp_path: Path) -> None:
    """One line, 130, and no file."""
    (tmp_path / "spec.toml").write_text(SPEC.format(horizon=10**7))
    arguments = ("simulate", tmp_path / "spec.toml", "--out", tmp_path / "out")
    with started(sys.executable, "-c", COMMAND, *arguments) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        assert process.wait(PATIENCE) == 130
        assert process.stderr.read().splitlines()[-1] == "thrifty: interrupted"
    assert list((tmp_path / "out").iterdir()) == []


def test_a_sweep(tmp_path: Path) -> None:
    """Workers are gone without a word, also those that are being started, and what was finished is kept."""
    (tmp_path / "spec.toml").write_text(SPEC.format(horizon=[500, 10**7]))
    folder, result = tmp_path / "out", tmp_path / "out" / "beta-T500.npz"
    command = Path(sys.executable).parent / "thrifty", "sweep", tmp_path / "spec.toml", "--out", folder

    def is_finished(workers: list[psutil.Process]) -> bool:
        return result.exists() and not [*folder.glob("chunks/beta-T500-*")]

    for moment in (bool, is_finished):
        with started(*command, "--workers", 2) as process:
            while not moment(workers := spawned(process)):
                assert process.poll() is None
                time.sleep(0.02)
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(PATIENCE) == 130
            assert process.stderr is not None
            said = process.stderr.read()
            assert said.splitlines()[-1] == "thrifty: interrupted"
            assert "Traceback" not in said
        psutil.wait_procs(workers, timeout=PATIENCE)
        assert [one for one in workers if one.is_running()] == []
    assert len(workers) == 2
    left = {path.name for path in folder.rglob("*") if path.is_file()}
    assert left == {"sweep.json", "sweep.lock", "beta-T500.npz", "beta-T500.json"}


def spawned(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Its workers, from the first moment on."""
    with contextlib.suppress(psutil.Error):  # one was gone meanwhile
        children = psutil.Process(process.pid).children()
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    return []


def test_a_file_that_is_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's clean-up of a zip file in which an entry is open raises a ValueError of its own."""
    opened = zipfile.ZipFile.open

    def interrupted(*arguments: Any, **options: Any) -> Any:
        entry = opened(*arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return entry

    storage.write(tmp_path / "a.npz", {}, {"one": np.arange(3)})
    before = (tmp_path / "a.npz").read_bytes()
    monkeypatch.setattr(zipfile.ZipFile, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        storage.write(tmp_path / "a.npz", {}, {"one": np.arange(4)})
    assert [*tmp_path.iterdir()] == [tmp_path / "a.npz"]
    assert (tmp_path / "a.npz").read_bytes() == before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
