"""The policies: frozen dataclasses, by what their index is made from."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from thrifty import checks
from thrifty.errors import InvalidType, InvalidValue
from thrifty.laws import Law
from thrifty.policies import registry
from thrifty.policies.base import FUNCTIONS, OWN_FUNCTIONS, HorizonPolicy, Policy, first_guess
from thrifty.policies.forgetting import check_forgets
from thrifty.policies.law_policy import NAMES, batch_size
from thrifty.policies.own import IndexPolicy
from thrifty.policies.posterior import Posterior
from thrifty.policies.registry import *  # noqa: F403
from thrifty.problems import Problem

LAWS = NAMES
POLICIES: dict[str, type[Policy]] = {
    name: kind for name, kind in vars(registry).items() if isinstance(kind, type) and issubclass(kind, Policy)
}
# By what their index is made from.
GROUPS: dict[str, tuple[type[Policy], ...]] = {
    group: tuple(kind for kind in POLICIES.values() if kind.group == group)
    for group in dict.fromkeys(kind.group for kind in POLICIES.values())
}


# What kernels trust a policy with: sizes and functions that they do not check.
TRUSTED = (
    "resolve", "stages", "engine_for", "engines", "runs_on", "fastest_from", "needs_horizon", "played",
    "drawn_from", "functions", "keeps_rewards", "components", "room", "schedule", "told", "check_arms",
    "least_arms", "check_prior", "needs_prior", "ranks",
)  # fmt: skip
SETTINGS = ("own_columns", "draws_index", "counts_pending", "changes", "choices")  # an IndexPolicy may
OURS = set(FUNCTIONS) - set(OWN_FUNCTIONS)  # functions that policies of the user's own must not have


def checked(name: str, policy: object) -> Policy:
    """A policy whose rules kernels can follow: thrifty's own, or an index of the user's, with fields that are
    still what they were checked to be."""
    if not isinstance(policy, Policy):
        raise InvalidType(f"{name} must be a policy such as TSMA(), got {checks.shown(policy)}")
    ours = [kind for kind in type(policy).__mro__ if kind.__module__.partition(".")[0] == "thrifty"]
    for trusted in (*TRUSTED, *OURS, *(() if isinstance(policy, IndexPolicy) else SETTINGS)):
        makers = [kind for kind in type(policy).__mro__ if trusted in vars(kind)]
        if trusted in vars(policy) or (makers and makers[0] not in ours):
            raise InvalidType(
                f"{name} must not have {trusted} of its own, got {type(policy).__name__}: a policy of your "
                "own is an IndexPolicy, with an index"
            )
    checks.again(ours[0], policy)
    for field, value in vars(policy).items():
        if isinstance(value, Policy):
            checked(f"{name}.{field}", value)
    return policy


_registered: dict[str, type] = {}


def register(kind: type) -> type:
    """Make ``kind``, a class of policies, laws or problems of your own, known by its name, ``module:Class``,
    so that snapshots and results that name it can be loaded. Usable as a decorator."""
    check_class("kind", kind)
    _registered[name_of(kind)] = kind
    return kind


def registered() -> list[type]:
    """All of them."""
    return list(_registered.values())


def check_class(name: str, kind: object) -> None:
    """A class of policies, laws or problems."""
    if not isinstance(kind, type) or not issubclass(kind, Policy | Law | Problem):
        raise InvalidType(f"{name} must be a class of policies, laws or problems, got {checks.shown(kind)}")


def name_of(kind: type) -> str:
    """What a policy or a law is called in files: its name if it is thrifty's own, else ``module:Class``."""
    ours = POLICIES.get(kind.__name__) is kind
    return kind.__name__ if ours else f"{kind.__module__}:{kind.__qualname__}"


def described(policy: Policy | Law) -> dict[str, Any]:
    """A policy as a table: its name and its fields.

    >>> described(ExpTS())
    {'name': 'ExpTS', 'family': 'bernoulli'}
    """
    values = {field.name: getattr(policy, field.name) for field in fields(policy)}
    plain = {name: described(v) if isinstance(v, Policy | Law) else v for name, v in values.items()}
    return {"name": name_of(type(policy))} | plain


def restored(table: Mapping[str, Any], policies: Iterable[type] = ()) -> Any:
    """The policy that a table describes: one of thrifty's own, of ``policies``, or one that was registered.
    Nothing is imported."""
    known = POLICIES | _registered | {name_of(kind): kind for kind in policies}
    name, own = table["name"], {key: value for key, value in table.items() if key != "name"}
    if name not in known:
        raise InvalidValue(
            f"{checks.shown(name)} is a policy that this program does not know: import it and hand it over, "
            "policies=[...], or register it"
        )
    return known[name](**{key: restored(v, policies) if isinstance(v, dict) else v for key, v in own.items()})


__all__ = [
    "GROUPS",
    "LAWS",
    "POLICIES",
    "HorizonPolicy",
    "IndexPolicy",
    "Policy",
    "Posterior",
    "batch_size",
    "check_class",
    "check_forgets",
    "checked",
    "described",
    "first_guess",
    "name_of",
    "register",
    "registered",
    "restored",
    *POLICIES,
]
