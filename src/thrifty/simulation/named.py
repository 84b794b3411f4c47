"""Policies, laws and problems that a spec names: thrifty's own, ``module:Class``, or, of policies, the name
of an entry point.

Running a spec is running code: what it names is imported. A file with data, a snapshot or a result, never
makes us import anything (``policies.restored``).
"""

import hashlib
import importlib
import inspect
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from thrifty import checks
from thrifty.errors import InvalidType, InvalidValue
from thrifty.laws import LAWS, Law
from thrifty.policies import POLICIES, Policy
from thrifty.problems import PROBLEMS, Problem
from thrifty.simulation.plain import PlainPolicy

GROUP = "thrifty.policies"  # of entry points


def look_beside(path: Path) -> None:
    """Modules that lie beside a spec can be named in it."""
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)


def policy_class(name: object) -> Any:
    """The class of policies with this name, maybe of plain Python, or None if there is none."""
    if not isinstance(name, str):
        return None
    if name in POLICIES:
        return POLICIES[name]
    found: Any = found_at(name) if ":" in name else None
    for point in entry_points(group=GROUP, name=name):
        found = point.load()
    if found is None or (isinstance(found, type) and issubclass(found, PlainPolicy)):
        return found
    return checked_class(name, found, Policy)


def problem_class(name: object) -> Any:
    """The class of problems with this name, or None if there is none."""
    if not isinstance(name, str) or ":" not in name:
        return PROBLEMS.get(name) if isinstance(name, str) else None
    return imported(name, Problem)


def function(name: object) -> Any:
    """The function that ``module:function`` names."""
    if not isinstance(name, str) or ":" not in name:
        raise InvalidType(f"function must be module:function, got {checks.shown(name)}")
    return found_at(name)


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
    return checked_class(name, found_at(name), base)


def found_at(name: str) -> Any:
    """What ``module:name`` names."""
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
    return found


def checked_class(name: str, found: Any, base: type) -> Any:
    if not isinstance(found, type) or not issubclass(found, base) or inspect.isabstract(found):
        what = checks.shown(found)
        raise InvalidType(f"name must be that of a {base.__name__.lower()}, got {name!r}, which is {what}")
    return found


def code(*used: Any) -> dict[str, str]:
    """Of the classes and functions of the user's own that policies and problems are made of: a digest of the
    file where each is."""
    todo, own = list(used), {}
    while todo:
        part = todo.pop()
        if isinstance(part, tuple):
            todo += part
            continue
        maker = part if inspect.isfunction(part) else type(part)
        if isinstance(part, Policy | Law | Problem | PlainPolicy) or maker is part:
            todo += getattr(part, "__dict__", {}).values()
            if not checks.is_ours(maker):
                own[f"{maker.__module__}:{maker.__qualname__}"] = maker
    return {name: _file_digest(name, own[name]) for name in sorted(own)}


def _file_digest(name: str, maker: Any) -> str:
    try:
        return hashlib.sha256(Path(inspect.getfile(maker)).read_bytes()).hexdigest()
    except (OSError, TypeError) as error:
        raise InvalidType(f"{name} must be in a file, so that a sweep knows its code: {error}") from None
