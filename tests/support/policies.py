"""Every policy, for the tests that try them all: by the registry, so that a new one is among them."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from itertools import product

import thrifty
from thrifty.policies import POLICIES, Policy
from thrifty.policies.catalogue import chosen


def every_policy() -> list[Policy]:
    """Each with its defaults, each value of its choice, and its variants."""
    found = (
        policy
        for kind in POLICIES.values()
        for policy in (kind(), *chosen(kind), *(kind(**variant) for variant in kind.variants))
    )
    return [*dict.fromkeys(found)]


def every_combination() -> list[Policy]:
    """Each with all combinations of the values that its parameters have in ``every_policy``."""
    every = every_policy()
    return [policy for kind in POLICIES.values() for policy in _combined(kind, every)]


def _combined(kind: type[Policy], every: list[Policy]) -> Iterator[Policy]:
    names = [field.name for field in fields(kind)]
    values = [
        dict.fromkeys(getattr(policy, name) for policy in every if type(policy) is kind) for name in names
    ]
    for combination in product(*values):
        with suppress(thrifty.InvalidValue):  # a bound of a variant that has none
            yield kind(**dict(zip(names, combination, strict=True)))
