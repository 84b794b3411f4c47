"""How kernels are compiled: ``kernel`` for the small ones, ``entry`` for those called from Python.

Only entries are cached on disk (``cache.py``), since what they call is compiled into them.
"""

import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from thrifty import cache
from thrifty.cache import config
from thrifty.linking import Linked

__all__ = ["compile_by", "config", "entry", "hot", "inlined", "kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])

cache.folder()  # settles for which processor Numba compiles, before it compiles anything

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


_decorating = threading.Lock()


def entry(function: Function) -> Function:
    """Compile a kernel that Python calls: cached on disk, and free of the GIL while it runs.

    Interpreted, it must not warn when the words of a generator wrap around: they are meant to.
    """
    if config.DISABLE_JIT:
        return np.errstate(over="ignore")(function)
    with _decorating:
        before = config.CACHE_LOCATOR_CLASSES
        config.CACHE_LOCATOR_CLASSES = f"{cache.__name__}.{cache.Locator.__name__}"
        try:
            return cast(Function, numba.njit(nogil=True, cache=cache.is_usable(), **UNCOUNTED)(function))
        finally:
            config.CACHE_LOCATOR_CLASSES = before


Call = tuple[Callable[..., Any], tuple[Any, ...]]  # an entry, and arguments with which it does nothing

# About how long an entry takes to compile, by the first part of its name, and whatever comes first besides:
# seconds of one core.
SECONDS = {"begin": 3, "select": 6, "update": 2, "play": 7}
BESIDES, OTHERS = 8, 2


compiling = threading.RLock()  # held meanwhile: a fork waits for it, or the child would for ever


def compile_by(calls: Iterable[Call]) -> None:
    """Compile entries, or load them from the cache, by calling them once. What there is to compile is said on
    standard error first, because silent seconds look like a fault."""
    with compiling:
        fresh = [call for call in calls if getattr(call[0], "signatures", True) == []]
        missing = [function for function, _ in fresh if not cache.has(function)]
        seconds = BESIDES + sum(SECONDS.get(function.__name__.split("_")[0], OTHERS) for function in missing)
        for function, arguments in fresh:
            if function in missing:
                step = f"step {missing.index(function) + 1} of {len(missing)}"
                _say(
                    f"compiling {function.__name__}, {step} (about {seconds} s in all, once on this machine)"
                )
            kept = cache.is_usable()
            try:
                function(*arguments)
            except OSError:  # it is compiled, but there is no place to keep it
                kept = False
            if not kept:
                _say(f"it is for this process alone: {cache.folder()} cannot be written")


def _say(text: str) -> None:
    print(f"thrifty: {text}", file=sys.stderr)
