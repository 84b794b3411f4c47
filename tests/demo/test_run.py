"""The real command: it ends with a summary that the store agrees with, and leaves nothing behind."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from thrifty.cli import main
from thrifty.demo.traffic import Report
from thrifty.demo.truth import MOST, Truths
from thrifty.serve.audit import audit
from thrifty.serve.store import Store

PROGRAM = "import sys; from thrifty.cli import main; sys.exit(main())"
KEEPING = f"""
import contextlib, tempfile
tempfile.TemporaryDirectory = lambda prefix: contextlib.nullcontext(tempfile.mkdtemp(prefix=prefix))
{PROGRAM}
"""
DECISIONS = 800  # of the shop
PATIENCE = 60.0  # seconds: machines are slow


class Demo:
    """``thrifty demo``, with its temporary store in a folder."""

    def __init__(self, folder: Path, *options: str, program: str = PROGRAM) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, "demo", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(folder)},
            start_new_session=True,
        )
        self.said: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if found := re.search(r"Open (http://\S+)", line):
                self.url = found[1]
                return
        raise AssertionError(self.process.communicate())

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return json.load(answer)

    def wait_for(self, decisions: int, product: str) -> None:
        while self.get(f"/v1/experiments/{product}")["decisions"] < decisions:
            time.sleep(0.05)

    def others(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def end(self, number: int) -> tuple[int, str, str]:
        """The code, and what was said. A signal is for all of the group, as in a terminal."""
        os.killpg(self.process.pid, number)
        rest, faults = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, "".join(self.said) + rest, faults


@contextmanager
def running(folder: Path, *options: str, program: str = PROGRAM) -> Iterator[Demo]:
    demo = Demo(folder, *options, program=program)
    try:
        yield demo
    finally:
        if demo.process.poll() is None:
            demo.process.kill()
            demo.process.communicate()


def lines(said: str) -> list[str]:
    """Of the table in the summary."""
    return said[re.search(r"^ +ad +news +shop$", said, re.MULTILINE).start() :].split("\n\n")[0].splitlines()  # type: ignore[union-attr]


def table(said: str) -> dict[str, list[float]]:
    """The numbers of the summary, by product; NaN where there is none."""
    names, _, *rows = (re.split(r" {2,}", line.strip()) for line in lines(said))
    cells = [[float(cell.replace(",", "").replace("–", "nan")) for cell in row[1:]] for row in rows]
    return {name: list(column) for name, *column in zip(names, *cells, strict=True)}


def test_ctrl_c_ends_with_a_summary_that_the_store_agrees_with(tmp_path: Path) -> None:
    """With so many decisions of the shop, dense sampling lost at most 0.79 times as much as a uniform choice,
    in 2,500 simulated runs."""
    with running(tmp_path, "--port", "0", program=KEEPING) as demo:
        demo.wait_for(DECISIONS, "shop")
        others = demo.others()
        code, said, faults = demo.end(signal.SIGINT)
    assert (code, faults) == (0, "")
    assert psutil.wait_procs(others, timeout=PATIENCE)[1] == []
    found = table(said)
    assert [*found] == ["ad", "news", "shop"]
    (file,) = tmp_path.glob("thrifty-demo-*/thrifty.db")
    store = Store(f"sqlite:///{file}")
    fold, wrong = audit(store)
    names = {number: name for number, _, name in store.experiments()}
    store.close()
    assert wrong == []
    for number, tally in fold.tallies.items():
        decisions, rewards, mean, thrifty, dense, uniform, *_ = found[names[number]]
        assert (decisions, rewards) == (tally.decided.sum(), tally.pulls.sum())
        assert mean == pytest.approx(tally.sums.sum() / tally.pulls.sum(), abs=1e-4)
        assert min(thrifty, dense, uniform) > 0.0
    thrifty, dense, uniform = found["shop"][3:6]
    assert max(thrifty, dense) < uniform
    assert found["news"][6] < 0.1 * found["news"][7]  # draws, of 10,000 arms


def test_a_kill_leaves_nothing_behind(tmp_path: Path) -> None:
    with running(tmp_path, "--port", "0") as demo:
        demo.wait_for(1, "ad")
        others = demo.others()
        assert any("thrifty.demo.traffic" in " ".join(one.cmdline()) for one in others)
        assert [*tmp_path.glob("thrifty-demo-*")]
        demo.end(signal.SIGKILL)
        assert psutil.wait_procs(others, timeout=PATIENCE)[1] == []
        assert not [*tmp_path.iterdir()]


def test_a_port_that_is_taken_is_another_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["demo", "--port", port]) == 2
    said = capsys.readouterr().err
    assert re.search(rf"--port must be one that is free .*, got {port}: Address already in use", said)
    assert main(["demo", "--port", "70000"]) == 2
    assert "--port must be from 0 to 65535, got 70000" in capsys.readouterr().err


def test_it_ends_by_itself(tmp_path: Path) -> None:
    with running(tmp_path, "--seconds", "1") as demo:
        rest, faults = demo.process.communicate(timeout=PATIENCE)
    assert (demo.process.returncode, faults) == (0, "")
    assert [*table(rest)] == ["ad", "news", "shop"]
    assert len({len(line) for line in lines(rest)}) == 1  # it lines up
    assert not [*tmp_path.iterdir()]


def test_curves_stay_short() -> None:
    truths = Truths()
    assert truths("shop") is None
    for second in range(10 * MOST):
        truths.add(Report("shop", float(second), lost={"thrifty": 2.0 * second, "uniform": 3.0 * second}))
    found = truths("shop")
    assert found is not None
    assert MOST / 2 <= len(found.times) <= MOST
    assert found.times[-1] >= 10 * MOST - 32
    assert found.curves == {
        name: [k * t for t in found.times] for name, k in (("thrifty", 2), ("uniform", 3))
    }
    assert truths.last["shop"].seconds == 10 * MOST - 1
