"""Policies and laws that a spec names: thrifty's own, ``module:Class``, or the name of an entry point.

Running a spec is running code: what it names is imported. A file with data, a snapshot or a result, never
makes us import anything (``policies.restored``).
"""

import hashlib
import importlib
import inspect
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, cast

from thrifty import checks
from thrifty.errors import InvalidType, InvalidValue
from thrifty.laws import LAWS, Law
from thrifty.policies import POLICIES, Policy

GROUP = "thrifty.policies"  # of entry points


def look_beside(path: Path) -> None:
    """Modules that lie beside a spec can be named in it."""
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)


def policy_class(name: object) -> type[Policy] | None:
    """The class of policies with this name, or None if there is none."""
    if not isinstance(name, str):
        return None
    if name in POLICIES:
        return POLICIES[name]
    if ":" in name:
        return cast(type[Policy], imported(name, Policy))
    for point in entry_points(group=GROUP, name=name):
        return cast(type[Policy], checked_class(name, point.load(), Policy))
    return None


def law(value: Any) -> Any:
    """A law: one of thrifty's own by name, ``module:Class``, or a table with that ``name`` and its fields."""
    table = value if isinstance(value, dict) else {"name": value}
    name = table.get("name")
    if not isinstance(name, str) or name in LAWS or ":" not in name:
        return value
    kind = imported(name, Law)
    try:
        return kind(**{key: entry for key, entry in table.items() if key != "name"})
    except TypeError as error:
        raise InvalidValue(f"law {name} cannot be made: {error}") from None


def imported(name: str, base: type) -> Any:
    """The class that ``module:Class`` names."""
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # the module may do anything
        why = error if isinstance(error, ImportError | AttributeError | ValueError) else repr(error)
        raise InvalidValue(
            f"name must be module:Class of what can be imported, got {name!r}: {why}"
        ) from error
    return checked_class(name, found, base)


def checked_class(name: str, found: Any, base: type) -> Any:
    if not isinstance(found, type) or not issubclass(found, base) or inspect.isabstract(found):
        what = checks.shown(found)
        raise InvalidType(f"name must be that of a {base.__name__.lower()}, got {name!r}, which is {what}")
    return found


def code(policy: Policy) -> dict[str, str]:
    """Of the classes of the user's own that a policy is made of: a digest of the file where each is."""
    parts = [policy, *(value for value in vars(policy).values() if isinstance(value, Policy | Law))]
    kinds = {type(part) for part in parts if type(part).__module__.partition(".")[0] != "thrifty"}
    return {
        f"{kind.__module__}:{kind.__qualname__}": hashlib.sha256(
            Path(inspect.getfile(kind)).read_bytes()
        ).hexdigest()
        for kind in sorted(kinds, key=lambda kind: kind.__qualname__)
    }
