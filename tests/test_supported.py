"""Another Numba than those that were tried is refused, and nothing in the package needs Linux."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from thrifty import supported
from thrifty.errors import Unsupported

ROOT = Path(__file__).parent.parent
TRIED = "numba>=0.62,<0.69"


@pytest.mark.parametrize("version", ["0.62.0", "0.62.1", "0.63.0rc1", "0.68.1", "0.68.2.dev0+g1234"])
def test_a_numba_that_was_tried_is_accepted(version: str) -> None:
    supported.check_numba(version)


@pytest.mark.parametrize("version", ["0.61.2", "0.69.0", "0.69.0rc1", "0.100.0", "1.62.0", "unknown"])
def test_another_numba_is_refused_by_name(version: str) -> None:
    with pytest.raises(Unsupported) as caught:
        supported.check_numba(version)
    assert str(caught.value) == f"Numba {version} was not tried with this thrifty: pip install '{TRIED}'"


def test_the_range_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert TRIED in project["project"]["dependencies"]


def test_the_command_line_says_so_in_one_line() -> None:
    program = """
import sys, numba
numba.__version__ = "0.69.0"
from thrifty.cli import main
sys.exit(main(["policies"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    said = f"thrifty: error: Numba 0.69.0 was not tried with this thrifty: pip install '{TRIED}'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


ELSEWHERE = """
import os, sys
import numba, numpy
sys.modules["fcntl"] = sys.modules["resource"] = None
for name in ("fork", "register_at_fork", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
import thrifty
thrifty.sweep, thrifty.replay
thrifty.simulate([thrifty.UCB1(), thrifty.TSMA()], thrifty.Bernoulli([0.6, 0.4]), horizon=20, runs=2)
bandit = thrifty.Bandit(thrifty.TSMA(), 3, seed=1)
bandit.update(bandit.select(), 1.0)
bandit.save("bandit.npz")
thrifty.Bandit.load("bandit.npz").select()
"""


def test_what_linux_alone_has_is_not_needed(tmp_path: Path) -> None:
    interpreted = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=tmp_path, env=interpreted, check=True)
