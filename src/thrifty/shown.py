"""How policies and problems look: a repr that stays short, and a table in notebooks."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

import numpy as np

from thrifty.table import Table

WHOLE, FIRST = 20, 3  # so many entries are written out, and of more than that the first of them
BEST = 5  # arms in the table of a problem with more than WHOLE


def short(value: Any) -> str:
    """The repr, with the first few entries of what has many.

    >>> short(([0.5], {1: 0.25})), short((0.5,) * 1000)
    ('([0.5], {1: 0.25})', '(0.5, 0.5, 0.5, ... 1,000 in all)')
    """
    if not isinstance(value, tuple | list | dict):
        return repr(value)
    entries: Iterable[str] = map(short, value)
    if isinstance(value, dict):
        entries = (f"{key!r}: {short(entry)}" for key, entry in value.items())
    whole = len(value) <= WHOLE
    text = ", ".join([*islice(entries, None if whole else FIRST), *[f"... {len(value):,} in all"][whole:]])
    if isinstance(value, tuple):
        return f"({text},)" if len(value) == 1 else f"({text})"
    return f"[{text}]" if isinstance(value, list) else f"{{{text}}}"


class Shown:
    """A dataclass whose repr is the call that makes it, shortened where a field has many entries."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):  # or ``dataclass`` would make one that is not short
            cls.__repr__ = Shown.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        named: list[str] = [field.name for field in fields(self) if field.repr] if is_dataclass(self) else []
        given = (f"{name}={short(getattr(self, name))}" for name in named)
        return f"{type(self).__qualname__}({', '.join(given)})"


def policy_table(policy: Any) -> str:
    """A policy in a notebook."""
    rows = [
        ("call", repr(policy)),
        ("index", policy.formula),
        ("engines", ", ".join(policy.runs_on)),
        ("source", policy.citation),
    ]
    return Table(("policy", policy.label), rows, left=2).html()


def problem_table(problem: Any) -> str:
    """A problem in a notebook: its arms, or the best ones if there are many."""
    means = problem.expectations
    gaps = np.fmax.reduce(means) - means
    order = range(means.size) if means.size <= WHOLE else np.argsort(gaps, kind="stable")[:BEST]
    rows = [(f"{i:,}", _number(means[i]), _number(gaps[i])) for i in order]
    notes = []
    if means.size > WHOLE:
        notes = [f"the best {BEST} of {means.size:,} arms; means from {np.fmin.reduce(means):.6g}"]
    return Table(("arm", "mean", "gap"), rows, repr(problem), notes).html()


def _number(value: float) -> str:
    return "not there" if np.isnan(value) else f"{value:.6g}"
