"""thrifty: Thompson sampling that spends posterior draws only where they matter.

The public names, which are those of ``thrifty.public``, are imported when the first of them is used: NumPy,
Numba and SciPy take most of a second.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thrifty.public import *  # noqa: F403


def __getattr__(name: str) -> Any:
    public = import_module("thrifty.public")
    if name != "__all__" and name not in public.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(public, name)


def __dir__() -> list[str]:
    return list(import_module("thrifty.public").__all__)
