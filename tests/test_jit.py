"""Compiled kernels are kept on disk, found again by later processes and other checkouts, and never stale."""

import ast
import functools
import gc
import os
import re
import shutil
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import thrifty
from thrifty import cache
from thrifty.cli import main
from thrifty.engines import entries
from thrifty.jit import _without_collector, straight
from thrifty.policies import program

PACKAGE = Path(thrifty.__file__).parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package to edit."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "thrifty", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture(autouse=True, scope="module")
def _every_file_is_parsed_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "_code", functools.cache(cache._code))
        yield


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


def test_kernels_have_no_assertions_as_their_name_would_not_tell() -> None:
    files = [path for pattern in cache.KERNELS for path in PACKAGE.glob(pattern)]
    assert len(files) > 80
    for path in files:
        assert not any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(path.read_bytes()))), path


def test_the_name_is_kept_and_what_is_no_name_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path))
    digests: list[Path] = []
    monkeypatch.setattr(cache, "digest", lambda package: digests.append(package) or "0123456789abcdef")
    for kept in (b"", b"../../somewhere", b"\xff"):
        digests.clear()
        assert [cache.kernels.__wrapped__() for _ in range(2)] == 2 * ["0123456789abcdef"]
        assert digests == [PACKAGE]
        (file,) = (tmp_path / "thrifty").glob("*.txt")
        assert file.read_text() == "0123456789abcdef"
        file.write_bytes(kept)
    assert cache.kernels.__wrapped__() == "0123456789abcdef"
    assert digests == 2 * [PACKAGE]


def test_what_was_not_used_for_long_goes(kept: Path, script: str) -> None:
    (home,) = (kept / "thrifty").glob(cache.kernels())
    old, recent = home.with_name("old"), home.with_name("recent")
    for folder in (old, recent):
        (folder / "part").mkdir(parents=True)
    long_ago = time.time() - cache.KEPT - 3600.0
    for folder in (old, home):
        os.utime(folder, (long_ago, long_ago))
    shutil.rmtree(next(home.iterdir()))
    run(script, cache=str(kept))
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


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("script") / "tiny.py"
    path.write_text(TINY)
    path.with_name("inner.py").write_text("STEP = 1\n")
    return str(path)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, script: str) -> tuple[Path, str, str]:
    """What the first process leaves in its folder, prints and says."""
    folder = tmp_path_factory.mktemp("first")
    done = run(script, cache=str(folder))
    return folder, done.stdout, done.stderr


@pytest.fixture
def kept(tmp_path: Path, first: tuple[Path, str, str]) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(first[0], tmp_path / "cache"))


def test_compilation_is_announced_once(first: tuple[Path, str, str], script: str) -> None:
    """The first process says what it compiles; the second finds it on disk."""
    folder, *said = first
    assert said == ["2 0\n", MESSAGE]
    second = run(script, cache=str(folder))
    assert second.stderr == ""
    assert second.stdout == "2 1\n"


def test_kernels_for_any_processor_are_found_by_themselves(tmp_path: Path, script: str) -> None:
    folder = str(tmp_path)
    first = run(script, cache=folder, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    assert first.stderr == MESSAGE
    second = run(script, cache=folder)
    assert second.stderr == ""
    assert second.stdout == "2 1\n"


def test_with_no_place_to_write_nothing_is_kept_and_nothing_is_stale(tmp_path: Path, script: str) -> None:
    """Not even where Numba would keep it, beside the sources, where an edit of another file goes unseen."""
    for file in Path(script).parent.glob("*.py"):
        shutil.copy(file, tmp_path)
    script = str(tmp_path / "tiny.py")
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "cache")
    place = Path(nowhere) / cache.folder().relative_to(cache.config.CACHE_DIR)
    first = run(script, cache=nowhere)
    assert first.stdout == "2 0\n"
    compiling, alone = first.stderr.splitlines()
    assert f"{compiling}\n" == MESSAGE
    assert alone == f"thrifty: what is compiled is for this process alone: {place} cannot be written"
    # Longer than it was: an edit of the same length in the same second is one that Python does not see.
    (tmp_path / "inner.py").write_text("STEP = 1 + 1\n")
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


def test_a_read_only_folder_is_used(kept: Path, script: str) -> None:
    second = run("-c", READ_ONLY, script, cache=str(kept))
    assert second.stderr == ""
    assert second.stdout == "2 1\n"
    shutil.rmtree(kept)
    kept.mkdir()
    third = run("-c", READ_ONLY, script, cache=str(kept))
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


HOLDING = """
import sys
from pathlib import Path
from thrifty import cache
def index(): pass
cache.folder = lambda: Path(sys.argv[1])
with cache.alone(index):
    print("held", flush=True)
    input()
"""


def test_a_straight_call_does_what_the_entry_does() -> None:
    """And what is no block is refused."""
    core = thrifty.Bandit(thrifty.TSMA(), 20, 1000, seed=1, prior=(0.5, 1.0))._player.core
    entry, block = entries.select, core.memory.block  # type: ignore[union-attr]
    copy = block.copy()
    made = straight(entry)
    assert made is not entry
    assert [made(block, t) for t in range(100)] == [entry(copy, t) for t in range(100)]
    assert (block == copy).all()
    for wrong in ((block.tolist(), 1), (block,), (None, None)):
        with pytest.raises(TypeError):
            made(*wrong)
    assert (block == copy).all()


def test_nobody_looks_through_what_a_compiler_made_and_what_somebody_froze_stays_frozen() -> None:
    frozen, looks = gc.get_freeze_count(), []
    gc.unfreeze()
    gc.collect()
    gc.callbacks.append(lambda phase, info: looks.append(phase))
    try:
        with _without_collector():
            assert not gc.isenabled()
            made: list[list[int]] = [[] for _ in range(10 * gc.get_threshold()[0])]
        assert gc.isenabled()
        assert [[] for _ in range(2)] == [[], []]  # objects by which a collector would wake up
        assert not looks
        assert gc.get_freeze_count() == 0
        gc.freeze()
        with _without_collector():
            pass
        assert gc.get_freeze_count() > len(made)
    finally:
        gc.callbacks.pop()
        if not frozen:
            gc.unfreeze()


def test_garbage_of_functions_of_ones_own_is_found() -> None:
    """There may be any number of them, and half of what a compiler makes is garbage."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    try:
        with _without_collector(ours=False):
            circle: Any = type("Circle", (), {})()
            circle.itself, watched = circle, weakref.ref(circle)
            del circle
        gc.collect(0)
        assert watched() is None
    finally:
        if frozen:
            gc.freeze()


def test_one_process_at_a_time_compiles_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others wait for it, for a while, and nobody waits for the dead."""
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    waits: list[float] = []
    monkeypatch.setattr(cache.time, "sleep", waits.append)

    def index() -> None: ...
    def other() -> None: ...

    index.__module__ = other.__module__ = "__main__"
    holding = [sys.executable, "-c", HOLDING, str(tmp_path)]
    with subprocess.Popen(holding, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with cache.alone(other):
            assert waits == []
        monkeypatch.setattr(cache, "PATIENCE", 0.1)
        with cache.alone(index):
            assert len(waits) > 3
        process.kill()
    waits.clear()
    with cache.alone(index):
        assert waits == []
