"""SciPy's special functions as kernels: linked by symbol, so that compiled callers can be cached.

Numba cannot call ``scipy.special`` ufuncs, but SciPy exports the C functions behind them. Registering
their addresses under a name of ours lets compiled code refer to the *name*, which is the same in every
process, where an address would not be. Interpreted runs (``NUMBA_DISABLE_JIT=1``) use the ufunc itself.
"""

import ctypes
from collections.abc import Callable

import llvmlite.binding
import scipy.special
from numba import types
from scipy.special import cython_special

from thrifty.jit import config, kernel

_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _link(name: str, arguments: int) -> Callable[..., float]:
    if config.DISABLE_JIT:
        ufunc = getattr(scipy.special, name)
        return lambda *values: float(ufunc(*values[:arguments]))
    exports = cython_special.__pyx_capi__
    wanted = ("double (" + "double, " * arguments + "int __pyx_skip_dispatch)").encode()
    for candidate in (name, f"__pyx_fuse_0{name}", f"__pyx_fuse_1{name}"):
        capsule = exports.get(candidate)
        if capsule is not None and _capsule_name(capsule) == wanted:
            break
    else:
        raise ImportError(f"this SciPy exports no C function {name} of {arguments} doubles")
    symbol = f"thrifty_scipy_{name}"
    llvmlite.binding.add_symbol(symbol, _capsule_pointer(capsule, wanted))
    signature = types.double(*[types.double] * arguments, types.intc)
    return types.ExternalFunction(symbol, signature)


# Each C function ends with Cython's flag for overridden methods, which is always 0 here.
_ndtri = _link("ndtri", 1)


@kernel
def ndtri(p):
    """The quantile of the standard normal: x with P(Z <= x) = p."""
    return _ndtri(p, 0)
