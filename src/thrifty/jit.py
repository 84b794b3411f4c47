"""How kernels are compiled: ``kernel`` for the small ones, ``entry`` for those called from Python.

Only entries are cached on disk, since what they call is compiled into them. Numba's cache does not see
edits in other files, so the cache folder is named by a hash of the kernels' sources: a changed kernel
can never meet a stale result, and nobody has to clear anything.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.errors import NumbaError as CompilationError

from thrifty.linking import Linked

__all__ = ["CompilationError", "announce_compilation", "config", "entry", "hot", "inlined", "kernel"]

config: Any = numba.config  # its attributes are made at run time, unseen by type checkers

Function = TypeVar("Function", bound=Callable[..., Any])


# Where kernels, the constants compiled into them and the options of compilation live.
KERNELS = (
    "numerics/*.py",
    "laws/*.py",
    "schedules/*.py",
    "indices/*.py",
    "engines/*.py",
    "problems.py",
    "jit.py",
    "linking.py",
)


def _digest(package: Path) -> str:
    """A name for the state of a package's kernels: another one as soon as any of them is edited."""
    sources = sorted(path for pattern in KERNELS for path in package.glob(pattern))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]


def _cache_folder() -> Path:
    if config.CACHE_DIR:
        base = Path(config.CACHE_DIR)
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "thrifty" / _digest(Path(__file__).parent)


CACHE_FOLDER = _cache_folder()


# Kernels work on arrays that they are given and own none. Counting references to those is a waste, and a
# large one (with it, a round of TS-MA at K = 20 takes three times as long), so it is switched off.
UNCOUNTED: dict[str, Any] = {"_nrt": False}


def kernel(function: Function, **options: Any) -> Function:
    """Compile a function that other kernels call: it is linked into them."""
    if config.DISABLE_JIT:
        return function
    return cast(Function, Linked(function, **UNCOUNTED, **options))


def hot(function: Function) -> Function:
    """A small kernel of every round, or a loop over the arms: it is compiled into its callers."""
    return kernel(function, forceinline=True)


def inlined(function: Function) -> Function:
    """A kernel that is copied into each caller: one that takes other kernels as arguments."""
    return cast(Function, numba.njit(inline="always", **UNCOUNTED)(function))


def entry(function: Function) -> Function:
    """Compile a kernel that Python calls: cached on disk, and free of the GIL while it runs.

    Interpreted, it must not warn when the words of a generator wrap around: they are meant to.
    """
    if config.DISABLE_JIT:
        return np.errstate(over="ignore")(function)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        return cast(Function, numba.njit(nogil=True, cache=True, **UNCOUNTED)(function))
    finally:
        config.CACHE_DIR = before


def announce_compilation(functions: Iterable[Callable[..., Any]]) -> None:
    """Say on standard error that calling these will compile them: silent seconds look like a fault."""
    for function in dict.fromkeys(functions):
        if getattr(function, "signatures", True) == []:
            name = function.__name__
            if not any(CACHE_FOLDER.rglob(f"*.{name}-*.nbi")):
                print(f"thrifty: compiling {name} (once on this machine, half a minute)", file=sys.stderr)
