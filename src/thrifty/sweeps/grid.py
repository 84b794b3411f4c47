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
rewards. In Python the same is a table, in which problems, policies and delays may be objects.
"""

import hashlib
import itertools
import json
import pickle
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thrifty import cache, checks, problems
from thrifty.errors import FileError, InvalidType, InvalidValue
from thrifty.simulation.named import code, look_beside
from thrifty.simulation.plain import described, is_plain
from thrifty.simulation.spec import READERS, Spec, located, parse


class Case(NamedTuple):
    """One experiment of a sweep."""

    name: str  # of its files
    spec: Spec

    def settings(self) -> dict[str, Any]:
        """All that determines its numbers, in one way of writing: 1e3 is 1000, and defaults are there."""
        spec = self.spec
        return vars(spec) | {
            "case": self.name,
            "problem": problems.described(spec.problem),
            "policies": spec.plan().settings.policies,
            "code": [code(part) for part in (*spec.policies, spec.problem)],
            "engine": spec.plan().settings.engines,
            "delay": {"kind": spec.delay.kind} | vars(spec.delay),
        }


def load(path: Path) -> list[Case]:
    """The experiments that a TOML file describes, checked."""
    with located(f"{path}: "):
        look_beside(path)
        return read(parse(path))


def given(table: Mapping[str, Any]) -> list[Case]:
    """The experiments that a table from Python describes, checked: that they can be sent to other processes
    too."""
    plain = {
        str(key): list(value) if isinstance(value, tuple | range | np.ndarray) else value
        for key, value in table.items()
    }
    if not isinstance(plain.get("policies", []), list):
        plain["policies"] = [plain["policies"]]
    try:
        cases = read(plain)
    except FileError as error:
        raise InvalidValue(str(error)) from None
    for case in cases:
        check_portable("problem", case.spec.problem)
        for i, policy in enumerate(case.spec.policies):
            check_portable(f"policies[{i}]", policy)
    return cases


def check_portable(name: str, value: object) -> None:
    """Other processes must be able to have it: ``multiprocessing`` sends it by pickle, for which a class is
    its module and its name. Nothing is kept in that form."""
    try:
        sent = pickle.dumps(value)
    except Exception as error:  # objects raise anything
        what = f"must be what pickle can send to other processes, got {checks.shown(value)}"
        raise InvalidType(f"{name} {what}: {error}") from None
    if b"__main__" in sent and not hasattr(sys.modules["__main__"], "__file__"):
        raise InvalidType(
            f"{name} must be of a class in a file, where other processes find it, and not in a notebook or a "
            f"console, got {checks.shown(value)}"
        )


def read(table: Mapping[str, Any]) -> list[Case]:
    """The experiments that a table describes."""
    problems, horizons = _listed(table, "problem"), _listed(table, "horizon")
    single = {key: value for key, value in table.items() if key not in ("problem", "horizon")}
    if isinstance(table.get("policies"), list):
        single["policies"] = _policies(table["policies"])
    cases = []
    for (i, problem), horizon in itertools.product(enumerate(problems, 1), horizons):
        spec = Spec.read(single | problem | horizon)
        for policy in spec.plan().policies:
            if is_plain(policy):
                described(policy, whole=True)
        number = [str(i)] if len(problems) > 1 else []
        name = spec.problem.kind.rpartition(":")[2].lower()
        cases.append(Case("-".join([name, *number, f"T{spec.horizon}"]), spec))
    return cases


def _listed(table: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """A table {key: value} for each value of a key, checked if they are in a list; an empty one if it is
    missing, about which the spec complains."""
    value = table.get(key)
    if not isinstance(value, list):
        return [{key: value} if key in table else {}]
    if not value:
        raise InvalidValue(f"{key} must have at least one value, got none")
    checks.distinct(key, [READERS[key](f"{key}[{i}]", entry) for i, entry in enumerate(value)])
    return [{key: entry} for entry in value]


def _policies(entries: list[Any]) -> list[Any]:
    """The policies of all tables, checked here, where a table still has the number that it has in the
    file."""
    found: list[tuple[Any, int]] = []
    single: list[Any] = []  # one policy of each table that was read
    policies: list[Any] = []
    for i, entry in enumerate(entries):
        combinations = _combinations(f"policies[{i}]", entry)
        for combination in combinations:
            policy = READERS["policies"]("policies", [*single, combination])[i]
            for other, before in found:
                if checks.same(policy, other):
                    raise InvalidValue(f"policies[{i}] has {policy!r}, which policies[{before}] has too")
            found.append((policy, i))
        single.append(combinations[0])
        policies += combinations
    return policies


def _combinations(key: str, entry: Any) -> list[Any]:
    """What a table stands for: itself with each combination of the values that are in lists, also in the
    table of a policy inside."""
    if not isinstance(entry, dict):
        return [entry]
    choices = []
    for name, value in entry.items():
        if value == []:
            raise InvalidValue(f"{key}.{name} must have at least one value, got none")
        values = value if isinstance(value, list) else [value]
        choices.append([one for each in values for one in _combinations(f"{key}.{name}", each)])
    return [dict(zip(entry, values, strict=True)) for values in itertools.product(*choices)]


def written(cases: Sequence[Case]) -> str:
    """The cases as text, and the state of the code that plays them: equal texts, equal numbers."""
    table = {"kernels": cache.kernels(), "cases": [case.settings() for case in cases]}
    return json.dumps(table, indent=1, sort_keys=True) + "\n"


@lru_cache(maxsize=4)
def digest(case: Case) -> str:
    """A name for all that determines a case's numbers."""
    return hashlib.sha256(json.dumps(case.settings(), sort_keys=True).encode()).hexdigest()[:16]
