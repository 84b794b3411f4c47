"""Where compiled kernels are kept on disk, so that a process finds what another one has compiled.

A folder of kernels is named by all that they depend on: a hash of their code, the versions of Python and
Numba, and the processor. So a changed kernel can never meet a stale result, a file that is there fits, and
checkouts and environments with the same code share their kernels.
"""

import ast
import hashlib
import marshal
import os
import re
import shutil
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding

from thrifty.supported import check_numba

check_numba(numba.__version__)
config: Any = numba.config  # its attributes are made at run time, unseen by type checkers

PACKAGE = Path(__file__).parent

# Where kernels, the constants compiled into them and the options of compilation live.
KERNELS = (
    "numerics/*.py",
    "laws/*.py",
    "state/*.py",
    "schedules/*.py",
    "engines/**/*.py",
    "policies/*.py",
    "problems/standard.py",
    "problems/empirical.py",
    "problems/compiled.py",
    "jit.py",
)

GENERIC = "generic"  # any processor of this architecture
KEPT = 90 * 86_400.0  # seconds since the last use
LOCKS, PATIENCE = "compiling.lock", 60.0  # a byte for each function; seconds


def digest(package: Path) -> str:
    """A name for the state of a package's kernels: another one as soon as the code of any of them changes, be
    it a letter; comments and docstrings apart."""
    code = (_code(path.read_bytes()) for pattern in KERNELS for path in sorted(package.glob(pattern)))
    return hashlib.sha256(b"\0".join(code)).hexdigest()[:16]


def _code(source: bytes) -> bytes:
    """A file as Python compiles it, without comments and docstrings, as if all of it stood in one place: from
    3.13 on a class knows its line. (Assertions are left out too: kernels have none.)"""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            vars(node).update(lineno=1, end_lineno=1, col_offset=0, end_col_offset=0)
    return marshal.dumps(compile(tree, "", "exec", dont_inherit=True, optimize=2), 2)


def _base() -> Path:
    """Where all kernels are: NUMBA_CACHE_DIR, or the user's folder for such things."""
    if config.CACHE_DIR:
        folder = Path(config.CACHE_DIR)
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = _home() / "Library" / "Caches"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache")
    return folder / "thrifty"


def _home() -> Path:
    """The user's home, or a place where nothing can be kept: a process in a container may have none."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull)


@cache
def kernels() -> str:
    """The digest of this package. To read all code takes a while, so it is kept for these very sources."""
    sources = (path.read_bytes() for pattern in KERNELS for path in sorted(PACKAGE.glob(pattern)))
    kept = _base() / (hashlib.sha256(b"\0".join(sources)).hexdigest()[:16] + ".txt")
    with suppress(OSError, UnicodeDecodeError):
        if re.fullmatch("[0-9a-f]{16}", text := kept.read_text()):
            return text
    found = digest(PACKAGE)
    with suppress(OSError):  # where it cannot be written, it is computed again the next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(found)
    return found


@cache
def folder() -> Path:
    """Where the kernels for this process are. If there are none for this very processor, but some for any of
    its architecture, as ``thrifty compile --cpu generic`` makes them, Numba compiles for any from now on."""
    versions = f"python-{sys.version_info.major}.{sys.version_info.minor}-numba-{numba.__version__}"
    home = _base() / kernels()
    with suppress(OSError):
        os.utime(home)  # it is in use
    generic = home / f"{versions}-{_architecture()}-{GENERIC}"
    if config.CPU_NAME is None:
        name, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
        host = hashlib.sha256(features.encode()).hexdigest()[:8]
        own = home / f"{versions}-{_architecture()}-{name}-{host}"
        if _is_filled(own) or not _is_filled(generic):
            return own
        config.CPU_NAME, config.CPU_FEATURES = GENERIC, ""  # heeded before the first compilation only
    return generic if config.CPU_NAME == GENERIC else generic.with_name(f"{versions}-{config.CPU_NAME}")


def _is_filled(folder: Path) -> bool:
    try:
        return any(folder.glob("*.nbi"))
    except OSError:  # not ours to read
        return False


@cache
def is_usable() -> bool:
    """Whether kernels can be read there, or kept. If they can be read only, so be it."""
    try:
        if folder().exists():
            return os.access(folder(), os.R_OK | os.X_OK)
        first = next(parent for parent in folder().parents if parent.exists())
        return first.is_dir() and os.access(first, os.W_OK | os.X_OK)
    except OSError:
        return False


def _architecture() -> str:
    return str(binding.get_process_triple()).replace(os.sep, "-")


class Locator:
    """Tells Numba's cache where a function's machine code is. Numba asks a class of this shape, and would
    otherwise fall back to ``__pycache__``, which knows nothing of edits in other files."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._module = function.__module__
        ours = Path(file).is_relative_to(PACKAGE)
        self._source = kernels() if ours else hashlib.sha256(Path(file).read_bytes()).hexdigest()

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "Locator":
        return cls(function, file)

    def get_cache_path(self) -> str:
        return str(folder())

    def ensure_cache_path(self) -> None:
        """Before something is written. What was not used for a long time goes."""
        folder().mkdir(parents=True, exist_ok=True)
        _clean()

    def get_source_stamp(self) -> str:
        return self._source

    def get_disambiguator(self) -> str:
        return self._module


@cache
def _clean() -> None:
    for path in _base().iterdir():
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > KEPT:
                path.unlink() if path.is_file() else shutil.rmtree(path)


def has(function: Callable[..., Any]) -> bool:
    """Whether the machine code of a function is there."""
    return is_usable() and any(folder().glob(f"*.{function.__name__}-{function.__module__}.py*.nbi"))


@contextmanager
def alone(function: Callable[..., Any]) -> Iterator[None]:
    """To compile a function: processes that want the same one wait, and find it in the cache. A lock dies
    with its process, and nobody waits for more than a minute."""
    place = zlib.crc32(f"{function.__module__}.{function.__name__}".encode())
    try:
        import fcntl

        folder().mkdir(parents=True, exist_ok=True)
        file = (folder() / LOCKS).open("a")
    except (ImportError, OSError):  # without such locks, or a place for them, everybody compiles
        yield
        return
    with file:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                break
            except OSError:
                time.sleep(0.02)
        yield
