"""Compiled kernels are kept on disk, found again by later processes and other checkouts, and never stale."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import thrifty
from thrifty import cache
from thrifty.cli import main
from thrifty.policies import program

PACKAGE = Path(thrifty.__file__).parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package to edit."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "thrifty", ignore=shutil.ignore_patterns("__pycache__")))


def run(*arguments: str, cache: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Another process of this interpreter, with its kernels in a folder."""
    variables = os.environ | {"NUMBA_CACHE_DIR": cache} | environment
    return subprocess.run(
        [sys.executable, *arguments], env=variables, capture_output=True, text=True, check=True
    )


def test_a_copy_of_the_package_has_the_same_name(package: Path) -> None:
    assert cache.digest(package) == cache.digest(PACKAGE) == cache.kernels()
    assert cache.kernels() in cache.folder().parts


@pytest.mark.parametrize(
    "file",
    [
        "numerics/kl.py",
        "laws/beta.py",
        "engines/entries.py",
        "engines/sleepers/line.py",
        "policies/ucb1.py",
        "problems/empirical.py",
    ],
)
def test_an_edited_kernel_has_another_folder_and_a_comment_has_not(package: Path, file: str) -> None:
    path = package / file
    path.write_text("# A comment.\n" + path.read_text().replace('"""', '"""Indeed: ', 1) + "\n\n")
    assert cache.digest(package) == cache.kernels()
    path.write_text(path.read_text() + "LAST = 1\n")
    assert cache.digest(package) != cache.kernels()


def test_the_name_is_kept_and_what_is_no_name_is_not_believed(tmp_path: Path) -> None:
    program = "from thrifty import cache; print(cache.kernels())"
    home = tmp_path / "thrifty"
    for kept in (b"", b"../../somewhere", b"\xff"):
        assert run("-c", program, cache=str(tmp_path)).stdout.strip() == cache.kernels()
        (file,) = home.glob("*.txt")
        assert file.read_text() == cache.kernels()
        file.write_bytes(kept)
    assert run("-c", program, cache=str(tmp_path)).stdout.strip() == cache.kernels()


def test_what_was_not_used_for_long_goes(tmp_path: Path, script: str) -> None:
    run(script, cache=str(tmp_path / "cache"))
    (home,) = (tmp_path / "cache" / "thrifty").glob(cache.kernels())
    old, recent = home.with_name("old"), home.with_name("recent")
    for folder in (old, recent):
        (folder / "part").mkdir(parents=True)
    long_ago = time.time() - cache.KEPT - 3600.0
    for folder in (old, home):
        os.utime(folder, (long_ago, long_ago))
    shutil.rmtree(next(home.iterdir()))
    run(script, cache=str(tmp_path / "cache"))
    assert not old.exists()
    assert recent.exists()
    assert home.exists()


def test_every_kernel_is_among_the_sources() -> None:
    """A kernel in a file that the folder's name does not depend on could go stale."""
    listed = {path for pattern in cache.KERNELS for path in PACKAGE.glob(pattern)}
    kernels = {
        path
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^@(kernel|hot|inlined|entry)$", path.read_text(), re.M)
    }
    assert kernels <= listed


TINY = """
from inner import STEP
from thrifty.jit import compile_by, entry

@entry
def tiny(x):
    return x + STEP

@entry
def small(x):
    return x - STEP

compile_by([(tiny, (1,)), (small, (1,))])
compile_by([(tiny, (1,)), (small, (1,))])
print(tiny(1), sum(tiny.stats.cache_hits.values()))
"""
MESSAGE = "thrifty: compiling, which takes a few seconds, once on this machine\n"


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "tiny.py"
    path.write_text(TINY)
    (tmp_path / "inner.py").write_text("STEP = 1\n")
    return str(path)


def test_compilation_is_announced_once(tmp_path: Path, script: str) -> None:
    """The first process says what it compiles; the second finds it on disk."""
    first, second = (run(script, cache=str(tmp_path / "cache")) for _ in range(2))
    assert first.stderr == MESSAGE
    assert first.stdout == "2 0\n"
    assert second.stderr == ""
    assert second.stdout == "2 1\n"


def test_kernels_for_any_processor_are_found_by_themselves(tmp_path: Path, script: str) -> None:
    folder = str(tmp_path / "cache")
    first = run(script, cache=folder, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    assert first.stderr == MESSAGE
    second = run(script, cache=folder)
    assert second.stderr == ""
    assert second.stdout == "2 1\n"


def test_with_no_place_to_write_nothing_is_kept_and_nothing_is_stale(tmp_path: Path, script: str) -> None:
    """Not even where Numba would keep it, beside the sources, where an edit of another file goes unseen."""
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "cache")
    place = run("-c", "from thrifty import cache; print(cache.folder())", cache=nowhere).stdout.strip()
    first = run(script, cache=nowhere)
    assert first.stdout == "2 0\n"
    compiling, alone = first.stderr.splitlines()
    assert f"{compiling}\n" == MESSAGE
    assert alone == f"thrifty: what is compiled is for this process alone: {place} cannot be written"
    (tmp_path / "inner.py").write_text("STEP = 2\n")
    assert run(script, cache=nowhere).stdout == "3 0\n"
    assert not list(tmp_path.rglob("*.nb?"))


READ_ONLY = """
import errno, os, runpy, sys
from thrifty import cache

def refuse(self):
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))

cache.Locator.ensure_cache_path = refuse
sys.path.insert(0, os.path.dirname(sys.argv[1]))
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def test_a_read_only_folder_is_used(tmp_path: Path, script: str) -> None:
    folder = str(tmp_path / "cache")
    run(script, cache=folder)
    second = run("-c", READ_ONLY, script, cache=folder)
    assert second.stderr == ""
    assert second.stdout == "2 1\n"
    shutil.rmtree(folder)
    Path(folder).mkdir()
    third = run("-c", READ_ONLY, script, cache=folder)
    assert "cannot be written" in third.stderr
    assert third.stdout == "2 0\n"


SIMULATE = """
import thrifty
from thrifty.policies.program import program

problem = thrifty.Bernoulli([0.6, 0.4])
for engine in ("scan", "tournament"):
    thrifty.simulate(thrifty.TSMA(), problem, horizon=100, runs=2, engine=engine)
    play = program(thrifty.TSMA(), engine).entry("play")
    print(len(play.signatures), sum(play.stats.cache_hits.values()), sum(play.stats.cache_misses.values()))
"""


def test_another_checkout_simulates_without_compiling(package: Path) -> None:
    problem = thrifty.Bernoulli([0.6, 0.4])
    for engine in ("scan", "tournament"):  # this process has the kernels, or compiles and keeps them
        thrifty.simulate(thrifty.TSMA(), problem, horizon=10, runs=1, engine=engine)
    second = run("-c", SIMULATE, cache=os.environ["NUMBA_CACHE_DIR"], PYTHONPATH=str(package.parent))
    assert second.stderr == ""
    assert second.stdout == "1 1 0\n" * 2


def test_everything_can_be_compiled_ahead(capfd: pytest.CaptureFixture[str]) -> None:
    main(["compile"])
    printed = capfd.readouterr().out
    assert printed.startswith("The kernels are in ")
    names = [path.name for path in Path(printed.removeprefix("The kernels are in ").strip()).glob("*.nbi")]
    for engine in program.MODULES:
        assert [name for name in names if f".play_{engine.replace('-', '_')}-" in name]
        assert [name for name in names if f".{engine}_choose-" in name]
    for entry in program.CALLED.keys() - {"play"}:
        assert [name for name in names if f"entries.{entry}-" in name]
    for law in ("Gaussian", "Beta", "Gamma", "InverseGamma"):
        assert [name for name in names if f".{law}_draw-" in name]
    for kind in ("UCB1", "KLUCB", "IMED", "NPTS", "DMED"):
        assert [name for name in names if f".{kind}_" in name]


def test_a_folder_that_cannot_be_written_is_no_success(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["compile", "--folder", str(tmp_path / "file" / "kernels")]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"thrifty: results need a folder, and {tmp_path / 'file'} is a file\n")
    assert said.err.endswith("thrifty: error: the kernels could not be compiled and kept: see above\n")


def test_a_process_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    monkeypatch.setattr(Path, "home", homeless)
    assert Path(os.devnull) in cache._base().parents
