"""A policy of a result by what a person calls it: its label, or the call that makes it.

Nothing is run to find out. The text of a call is read as a table, ``TSMA(alpha=0.8)`` as
``{"name": "TSMA", "alpha": 0.8, ...}``, with the defaults of thrifty's own policies, and compared with the
tables of the result. A class of your own, whose defaults a file does not have, must be named with all fields,
as in its ``repr``.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from thrifty import checks
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies import POLICIES, Policy, described


def find(name: object, labels: Sequence[str], tables: Sequence[Mapping[str, Any]]) -> int:
    """The number of the policy with this name: its label, the call that makes it, or the policy itself.

    >>> find("TSMA(0.8)", ["TS-MA-0", "TS-MA-0.8"], [described(POLICIES["TSMA"](a)) for a in (0.0, 0.8)])
    1
    """
    if not isinstance(name, str | Policy):
        raise InvalidType(
            f"a policy is named by its label, such as {labels[0]!r}, or by the call that makes it, such as "
            f"'TSMA(alpha=0.8)', got {checks.shown(name)}"
        )
    if isinstance(name, str) and labels.count(name) == 1:
        return labels.index(name)
    try:
        wanted = _plain(_read(ast.parse(str(name), mode="eval").body))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):  # no call at all
        wanted = None
    known = [_plain(table) for table in tables]
    if known.count(wanted) != 1:
        listed = ", ".join(map(repr, labels))
        raise InvalidValue(
            f"policy must be one of {listed}, or the call that makes one of them, got {name!r}"
        )
    return known.index(wanted)


def _read(node: ast.expr) -> Any:
    """A call as a table, and all else as the value that it stands for."""
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    name = ast.unparse(node.func)
    kind = POLICIES.get(_last(name))
    defaults = {field.name: _default(field) for field in fields(kind)} if kind else {}
    first = dict(zip(list(defaults)[: len(node.args)], map(_read, node.args), strict=True))
    given = {str(keyword.arg): _read(keyword.value) for keyword in node.keywords}
    return {"name": name} | defaults | first | given


def _default(field: Any) -> Any:
    value = field.default if field.default_factory is MISSING else field.default_factory()
    return described(value) if isinstance(value, Policy) else value


def _plain(table: Any) -> Any:
    """A table in one way of writing: classes without their modules, and lists for tuples."""

    def short(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {
            key: _last(value) if key == "name" and isinstance(value, str) else value for key, value in pairs
        }

    return json.loads(json.dumps(table), object_pairs_hook=short)


def _last(name: str) -> str:
    return re.split("[.:]", name)[-1]
