"""The experiments of a sweep: the product of what a spec says in lists.

    horizon = [1000, 10000]       # each horizon

    [[problem]]                   # each problem
    kind = "bernoulli"
    means = [0.9, 0.8]
    [[problem]]
    kind = "gaussian"
    means = [0.5, 0.0]

    [[policies]]                  # each combination of the parameters
    name = "TSMA"
    alpha = [0.0, 0.5, 1.0]

A problem with a horizon is one case, with a result of its own; all policies play in each case, on the same
rewards.
"""

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from thrifty.errors import InvalidValue
from thrifty.simulation.spec import Spec, located, parse


class Case(NamedTuple):
    """One experiment of a sweep."""

    name: str  # of its files
    table: dict[str, Any]  # what determines its numbers, as a spec without lists
    spec: Spec


def load(path: Path) -> list[Case]:
    """The experiments that a TOML file describes, checked."""
    with located(f"{path}: "):
        return read(parse(path))


def read(table: Mapping[str, Any]) -> list[Case]:
    """The experiments that a table describes."""
    problems, horizons = _listed(table, "problem"), _listed(table, "horizon")
    cases = []
    for (i, problem), horizon in itertools.product(enumerate(problems), horizons):
        one = dict(table)
        if problem is not None:
            one["problem"] = problem
        if horizon is not None:
            one["horizon"] = horizon
        if isinstance(table.get("policies"), list):
            one["policies"] = [policy for entry in table["policies"] for policy in _combinations(entry)]
        spec = Spec.read(one)
        spec.plan()
        parts = [spec.problem.kind, *([str(i + 1)] if len(problems) > 1 else []), f"T{spec.horizon}"]
        cases.append(Case("-".join(parts), one, spec))
    names = [case.name for case in cases]
    for name in names:
        if names.count(name) > 1:
            raise InvalidValue(f"horizon must have each value once, got {table['horizon']!r}")
    return cases


def _listed(table: Mapping[str, Any], key: str) -> list[Any]:
    """The values of a key, which may be a list of them; one None if it is missing: the spec complains."""
    value = table.get(key)
    if value == []:
        raise InvalidValue(f"{key} must have at least one value, got none")
    return value if isinstance(value, list) else [value]


def _combinations(entry: Any) -> list[Any]:
    """The policies of one table: one for each combination of the parameters that are lists."""
    if not isinstance(entry, dict):
        return [entry]
    for key, value in entry.items():
        if value == []:
            raise InvalidValue(f"policies.{key} must have at least one value, got none")
    choices = [value if isinstance(value, list) else [value] for value in entry.values()]
    return [dict(zip(entry, values, strict=True)) for values in itertools.product(*choices)]


def written(cases: list[Case]) -> str:
    """The cases as text: equal texts, equal numbers."""
    return json.dumps([{"case": case.name} | case.table for case in cases], indent=1, sort_keys=True) + "\n"
