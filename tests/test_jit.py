"""Compiled kernels are kept on disk, found again by later processes, and never stale."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import thrifty
from thrifty import jit

PACKAGE = Path(thrifty.__file__).parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package to edit."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "thrifty", ignore=shutil.ignore_patterns("__pycache__")))


def run(*arguments: str, cache: str) -> subprocess.CompletedProcess[str]:
    """Another process of this interpreter, with its kernels in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True
    )


def test_the_folder_is_named_by_the_sources(package: Path) -> None:
    assert jit.CACHE_FOLDER.name == jit._digest(PACKAGE) == jit._digest(package)


@pytest.mark.parametrize("file", ["numerics/kl.py", "laws/beta.py", "engines/play.py", "problems.py"])
def test_an_edited_kernel_has_another_folder(package: Path, file: str) -> None:
    before = jit._digest(package)
    path = package / file
    path.write_text(path.read_text() + "\n")
    assert jit._digest(package) != before


def test_every_kernel_is_among_the_sources() -> None:
    """A kernel in a file that the folder's name does not depend on could go stale."""
    listed = {path for pattern in jit.KERNELS for path in PACKAGE.glob(pattern)}
    kernels = {
        path
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^@(kernel|hot|inlined|entry)$", path.read_text(), re.M)
    }
    assert kernels <= listed


TINY = """
from thrifty.jit import announce_compilation, entry

@entry
def tiny(x):
    return x + 1

announce_compilation([tiny])
tiny(1)
announce_compilation([tiny])
"""


def test_compilation_is_announced_once(tmp_path: Path) -> None:
    """The first process says so, once; the second finds the kernel on disk."""
    script = tmp_path / "tiny.py"
    script.write_text(TINY)
    first, second = (run(str(script), cache=str(tmp_path / "cache")) for _ in range(2))
    assert first.stderr == "thrifty: compiling tiny (once on this machine, half a minute)\n"
    assert second.stderr == ""


SIMULATE = """
import thrifty
from thrifty.engines.play import play_scan, play_tournament

problem = thrifty.Bernoulli([0.6, 0.4])
for engine in ("scan", "tournament"):
    thrifty.simulate(thrifty.TSMA(), problem, horizon=100, runs=2, engine=engine)
for play in (play_scan, play_tournament):
    print(len(play.signatures), sum(play.stats.cache_hits.values()), sum(play.stats.cache_misses.values()))
"""


def test_a_second_process_simulates_without_compiling() -> None:
    problem = thrifty.Bernoulli([0.6, 0.4])
    for engine in ("scan", "tournament"):  # this process has the kernels, or compiles and keeps them
        thrifty.simulate(thrifty.TSMA(), problem, horizon=100, runs=2, engine=engine)
    second = run("-c", SIMULATE, cache=os.environ["NUMBA_CACHE_DIR"])
    assert second.stderr == ""
    assert second.stdout == "1 1 0\n" * 2
