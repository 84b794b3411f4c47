"""How kernels are compiled, called from Python, and called by address.

``kernel``     a function that other kernels call: it is compiled into them. ``hot`` ones are inlined
               everywhere, ``out_of_line`` ones nowhere, for the rest LLVM decides.
``entry``      a kernel that Python calls: cached on disk (``cache.py``).
``address``    where the compiled form of a function is, cached on disk too. Engines call policies and laws by
               address, so that an engine is compiled once, and a policy only when it is used.
"""

import functools
import gc
import itertools
import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import compiler, typed_passes, untyped_passes
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_builtin,
    models,
    register_model,
    type_callable,
    typeof_impl,
)

from thrifty import cache
from thrifty.cache import config
from thrifty.interrupts import uninterrupted

__all__ = [
    "address",
    "bound",
    "called",
    "caller",
    "compile_by",
    "config",
    "entry",
    "hot",
    "is_fresh",
    "kernel",
    "out_of_line",
    "straight",
    "with_methods",
]

Function = TypeVar("Function", bound=Callable[..., Any])

cache.folder()  # settles for which processor Numba compiles, before it compiles anything

# Steps in which Numba looks for what kernels do not have: functions inside of them, and calls that are
# written out before anything is compiled. They take a twentieth of the time.
NEEDLESS = {untyped_passes.InlineClosureLikes, untyped_passes.InlineInlinables, typed_passes.InlineOverloads}


class Plainly(compiler.CompilerBase):
    """As Numba compiles, without these steps."""

    def define_pipelines(self) -> list[Any]:
        default: Any = compiler.DefaultPassBuilder
        steps = default.define_nopython_pipeline(self.state)
        steps.passes = [each for each in steps.passes if each[0] not in NEEDLESS]
        return [steps]


# Kernels work on arrays that they are given and own none. Counting references to those is a waste, and a
# large one (with it, a round of TS-MA at K = 20 takes three times as long), so it is switched off. Kernels
# divide as NumPy does: where nobody would hear of an error, a branch for it is only more to compile.
# There is nothing in them for Numba to rewrite, for which it would look several times over: whole arrays, and
# errors that are raised. An element of a tuple is unpacked: to ask for it by its number takes longer.
OPTIONS: dict[str, Any] = {
    "_nrt": False, "error_model": "numpy", "no_rewrites": True, "pipeline_class": Plainly
}  # fmt: skip
# Of functions of the user's own.
GUARDS: dict[str, Any] = {"boundscheck": True, "no_rewrites": False, "pipeline_class": compiler.Compiler}


class Kernel:
    """A function that kernels call. Numba makes no wrappers around it by which Python or C could call it:
    they would take a third of the time. Who calls it from Python all the same has it compiled once more."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self._options = function, options

    @functools.cached_property
    def dispatcher(self) -> Any:
        """What kernels call."""
        alone: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return numba.njit(**OPTIONS | alone | self._options)(self.py_func)

    @functools.cached_property
    def _for_python(self) -> Callable[..., Any]:
        return cast(Callable[..., Any], numba.njit(**OPTIONS | self._options)(self.py_func))

    def __repr__(self) -> str:
        return f"Kernel({self.py_func!r})"

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)


class KernelType(types.Dispatcher):
    """What it is to the compiler. A constant is a number like any other: else a kernel would be compiled once
    more for each."""

    def get_call_type(self, context: Any, given: Any, named: Any) -> Any:
        plain: Any = types.unliteral
        named = {name: plain(kind) for name, kind in named.items()}
        return super().get_call_type(context, tuple(map(plain, given)), named)


register_model(KernelType)(models.OpaqueModel)


@typeof_impl.register(Kernel)
def _typeof_kernel(kernel: Kernel, context: Any) -> types.Type:
    return KernelType(kernel.dispatcher)


def kernel(function: Function, **options: Any) -> Function:
    """Compile a function that other kernels call: it is compiled into them.

    Numba hands ``forceinline`` on to whatever is first compiled below a function that has it, so it is always
    said: else a kernel was written out everywhere or nowhere by who happened to call it first.
    """
    options = {"forceinline": False} | options
    return function if config.DISABLE_JIT else cast(Function, Kernel(function, options))


def hot(function: Function) -> Function:
    """Force-inlined: small kernels on the hot path, and loops over arms."""
    return kernel(function, forceinline=True)


def out_of_line() -> None:
    """At the beginning of a kernel: callers call it. Else LLVM writes it out wherever it is called, and a
    long one that is not called all the time is then only more to compile."""


@type_callable(out_of_line)
def _typed_out_of_line(context: Any) -> Callable[[], types.Type]:
    return lambda: types.none


@lower_builtin(out_of_line)  # type: ignore[no-untyped-call, untyped-decorator]
def _out_of_line(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    if "alwaysinline" not in builder.function.attributes:  # as a function by address is, into its wrapper
        builder.function.attributes.add("noinline")
    return context.get_dummy_value()


def bound(template: Callable[..., Any], name: str, /, **kernels: Any) -> Callable[..., Any]:
    """A function like the template, with these values for its globals of the same names.

    Numba's cache on disk knows functions by name and not what they call, so each gets a name of its own.
    """
    template = getattr(template, "py_func", template)
    function = FunctionType(template.__code__, template.__globals__ | kernels, name)
    function.__module__, function.__qualname__ = template.__module__, name
    return function


_decorating = threading.Lock()


@contextmanager
def _our_cache() -> Iterator[None]:
    """Numba's cache asks our locator meanwhile where to keep what is compiled."""
    with _decorating:
        before = config.CACHE_LOCATOR_CLASSES
        config.CACHE_LOCATOR_CLASSES = f"{cache.__name__}.{cache.Locator.__name__}"
        try:
            yield
        finally:
            config.CACHE_LOCATOR_CLASSES = before


def entry(function: Function) -> Function:
    """Compile a kernel that Python calls: cached on disk, and free of the GIL while it runs.

    Interpreted, it must not warn when the words of a generator wrap around: they are meant to.
    """
    if config.DISABLE_JIT:
        return np.errstate(over="ignore")(function)
    options = {"nogil": True, "no_cfunc_wrapper": True, "cache": cache.is_usable(), **OPTIONS}
    with _our_cache():
        return cast(Function, numba.njit(**options)(function))


def straight(function: Callable[..., Any]) -> Callable[..., Any]:
    """An entry that was compiled for one signature, without the look at the types of what it is given: that
    is half of what a call costs. So these must be the types with which it was compiled."""
    if config.DISABLE_JIT:
        return function
    with uninterrupted():  # Ctrl-C in the hash of a key would be a KeyError of this dictionary
        (compiled,) = cast(Any, function).overloads.values()
    return cast(Callable[..., Any], compiled.entry_point)


# Functions by address ----------------------------------------------------------------------------------

_kept: dict[int, Any] = {}  # what has to live on behind an address; interpreted, the functions themselves
_numbers = itertools.count(1)


def address(function: Callable[..., Any], signature: Any, *, cached: bool = True) -> int:
    """Compile a function, or load it from the cache on disk, and tell where it is. It must not raise."""
    if config.DISABLE_JIT:
        number = next(_numbers)
        _kept[number] = function
        return number
    options: dict[str, Any] = {"forceinline": True, **OPTIONS}
    with compiling, _announced(function, cached=cached), _our_cache():
        try:
            compiled = numba.cfunc(signature, cache=cached and cache.is_usable(), **options)(function)
        except OSError:
            _cannot_keep()
            compiled = numba.cfunc(signature, **options)(function)
    where = cast(int, compiled.address)
    _kept[where] = compiled
    return where


def caller(signature: Any) -> Callable[..., Any]:
    """``call(address, (argument, ...))`` for kernels: call the function of this signature that is there."""

    def call(address, arguments):  # type: ignore[no-untyped-def]
        return _kept[address](*arguments)

    @intrinsic
    def by_address(typing, address, arguments):  # type: ignore[no-untyped-def]
        def make(context: Any, builder: Any, made: Any, values: Any) -> Any:
            given = [
                context.cast(builder, builder.extract_value(values[1], number), kind, wanted)
                for number, (kind, wanted) in enumerate(zip(arguments, signature.args, strict=True))
            ]
            value_type = context.get_value_type
            kind = ir.FunctionType(value_type(signature.return_type), [value_type(k) for k in signature.args])
            # llvmlite can only call a function by address through a pointer that is typed, as Numba does.
            return builder.call(builder.inttoptr(values[0], ir.PointerType(kind)), given)

        return signature.return_type(types.int64, arguments), make

    return call if config.DISABLE_JIT else cast(Callable[..., Any], by_address)


# Tuples with methods -----------------------------------------------------------------------------------


def with_methods(kind: Any, methods: dict[str, Any]) -> Any:
    """A class of named tuples like this one, with these kernels as methods: others call them as Python does,
    and each is compiled when it is called."""
    return type(kind.__name__, (kind,), {"__slots__": (), "METHODS": methods, **methods})


@infer_getattr
class _Methods(AttributeTemplate):
    key = types.BaseNamedTuple

    def generic_resolve(self, made: Any, name: str) -> types.Type | None:  # type: ignore[override]
        found = getattr(made.instance_class, "METHODS", {}).get(name)
        return None if found is None else types.BoundFunction(_method(found), made)


@functools.cache
def _method(found: Any) -> type:
    """How the compiler calls a method, whose first argument is the tuple unless it is static."""
    static = isinstance(found, staticmethod)
    function = types.Dispatcher((found.__func__ if static else found).dispatcher)

    class Method(AbstractTemplate):
        key = "method", found

        def generic(self, given: Any, named: Any) -> Any:
            this: Any = self.this  # type: ignore[attr-defined]
            made: Any = function.get_call_type(self.context, given if static else (this, *given), named)
            return made.replace(recvr=this) if static else made.as_method()

    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        first = 1 if static else 0
        wanted = function.get_call_type(context.typing_context, signature.args[first:], {})
        call = context.get_function(function, wanted)
        context.add_linking_libs(getattr(call, "libs", ()))
        return call(builder, values[first:])

    anything: Any = (types.BaseNamedTuple, types.VarArg(types.Any))  # type: ignore[no-untyped-call]
    lower_builtin(Method.key, *anything)(make)  # type: ignore[no-untyped-call]
    return Method


# Before anything is called -----------------------------------------------------------------------------

Call = tuple[Callable[..., Any], tuple[Any, ...]]  # an entry, and arguments with which it does nothing

compiling = threading.RLock()  # held meanwhile: a fork waits for it, or the child would for ever


def is_fresh(function: Callable[..., Any]) -> bool:
    """Whether an entry was neither compiled nor loaded in this process."""
    return getattr(function, "signatures", True) == []


def compile_by(calls: Iterable[Call]) -> None:
    """Compile entries, or load them from the cache, by calling them once."""
    with compiling:
        for function, arguments in calls:
            if is_fresh(function):
                with _announced(function):
                    try:
                        function(*arguments)
                    except OSError:  # it is compiled
                        _cannot_keep()


_called: set[Any] = set()


def called(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call an entry. If it has to be compiled first, a fork waits for that, and somebody is told."""
    if function in _called:
        return function(*arguments)
    with compiling, _announced(function):
        try:
            result = function(*arguments)
        except OSError:  # it is compiled
            _cannot_keep()
            result = function(*arguments)
    _called.add(function)
    return result


PAUSE = 2.0  # seconds: what is compiled after a shorter one belongs to the same announcement
_compiled = -math.inf  # when something was compiled last


@contextmanager
def _announced(function: Callable[..., Any], *, cached: bool = True) -> Iterator[None]:
    """If a function has to be compiled, say so on standard error: silent seconds look like a fault."""
    global _compiled
    missing = cached and not cache.has(function)
    if missing:
        if time.monotonic() > _compiled + PAUSE:
            _say("compiling, which takes a few seconds, once on this machine")
        if not cache.is_usable():
            _cannot_keep()
    alone = cache.alone(function) if missing and cache.is_usable() else nullcontext()
    with _without_collector(ours=cached), alone:
        yield
    if missing:
        _compiled = time.monotonic()


@contextmanager
def _without_collector(*, ours: bool = True) -> Iterator[None]:
    """Python does not look for garbage meanwhile. A compiler makes very many objects, of which half live on:
    to go through them again and again takes a tenth of the time. Afterwards they are old, unlooked at, and
    the other half lies there until all objects are gone through: ``freeze`` and ``unfreeze`` put them into
    the oldest generation. Not after functions of a user's own, of which there may be any number."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if ours and gc.get_freeze_count() == 0:  # else somebody else has frozen some, who would lose them
            gc.freeze()
            gc.unfreeze()
        if enabled:
            gc.enable()


@functools.cache
def _cannot_keep() -> None:
    _say(f"what is compiled is for this process alone: {cache.folder()} cannot be written")


def _say(text: str) -> None:
    print(f"thrifty: {text}", file=sys.stderr)
