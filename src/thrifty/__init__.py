"""thrifty: Thompson sampling that spends posterior draws only where they matter.

The public names, which are those of ``thrifty.public``, are imported when the first of them is used: NumPy
and Numba take most of half a second. A bandit and its policy do without the rest of the package.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thrifty.policies.registry import *  # noqa: F403
    from thrifty.public import *  # noqa: F403

    __version__: str

HOMES = {"Bandit": "online.bandit", "Client": "client"}  # where to look first, if not among the policies


def __getattr__(name: str) -> Any:
    """A module of the package, or a public name, kept once it was asked for. Dunder names are asked for by
    all kinds of tools."""
    if not name.startswith("__") and find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    home = import_module(f"{__name__}.{HOMES.get(name, 'policies.registry')}")
    if name.startswith("_") or not hasattr(home, name):
        home = import_module(f"{__name__}.public")
        if name != "__all__" and name not in home.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return list(import_module(f"{__name__}.public").__all__)
