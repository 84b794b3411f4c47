"""Kernels that other kernels call: lowered to LLVM's language, and linked into whatever calls them.

Numba makes every function that a compiled one calls into a product of its own: optimised together with all
that it calls in turn, turned into machine code, ready for Python. Of the hundreds of kernels that end up in
one loop nothing but the loop is ever run, and it is optimised as a whole anyway. So kernels stay as they were
lowered. Compiling an engine takes less than half the time, and the loop that comes out is as fast.

A kernel may also be called from Python, as theory and tests do. Then Numba compiles it once more, as usual.
What a kernel may not do: print, or raise an error whose text it has computed. What that needs is kept with
functions that Python can call.
"""
# mypy: allow-untyped-calls

from functools import cached_property
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering


class _Library(JITCodeLibrary):
    """Code that is linked into other libraries, and neither optimised nor run by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Numba's own pass, but for its last step, from a library to a function that Python can call."""

    _name = "thrifty_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        key = object()  # callers find the code under it, where else the function would be
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=key)
        return True


class _Compiler(Compiler):
    def define_pipelines(self) -> list[Any]:
        (passes,) = super().define_pipelines()
        passes.passes = [(_Lowering if step is NativeLowering else step, why) for step, why in passes.passes]
        passes.finalize()
        return [passes]


class Linked(CPUDispatcher):
    """A function as a kernel; the options are those of ``numba.njit``."""

    def __init__(self, function: Any, **options: Any) -> None:
        needed = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions=options | needed, pipeline_class=_Compiler)
        self._options = options

    def __reduce__(self) -> Any:
        """In another process it is what has its name there."""
        return self.py_func.__qualname__

    def add_overload(self, result: Any) -> None:
        """Python has nothing to call, which the original would be told here."""
        self.overloads[tuple(result.signature.args)] = result

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._called(*arguments, **named)

    @cached_property
    def _called(self) -> Any:
        return numba.njit(**self._options)(self.py_func)
