"""Policies of the operator's own, ``module:Class``: those that the configuration lists are imported at a
start, and nothing is ever imported because a request names it."""

from collections.abc import Iterable
from importlib import import_module

from thrifty.errors import InvalidValue
from thrifty.policies import POLICIES, Policy, name_of

LISTED: dict[str, type[Policy]] = {}


def allow(names: Iterable[str]) -> None:
    """Import these, and let experiments have them."""
    for name in names:
        module, _, kind = name.partition(":")
        try:
            found = getattr(import_module(module), kind)
        except (ImportError, AttributeError, ValueError) as error:
            raise InvalidValue(
                f"policies must be module:Class, each to be imported, got {name!r}: {error}"
            ) from None
        if not (isinstance(found, type) and issubclass(found, Policy)) or name_of(found) != name:
            raise InvalidValue(f"policies must be module:Class, each a class of policies there, got {name!r}")
        LISTED[name] = found


def find(name: str) -> type[Policy] | None:
    """One of thrifty's own, or of these."""
    return POLICIES.get(name) or LISTED.get(name)
