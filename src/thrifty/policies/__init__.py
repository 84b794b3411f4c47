"""The policies: frozen dataclasses, by what their index is made from."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from thrifty import checks
from thrifty.errors import InvalidType
from thrifty.policies.base import HorizonPolicy, Policy, first_guess
from thrifty.policies.binarised import Binarised
from thrifty.policies.historic import NPTS, MultinomialTS
from thrifty.policies.indexed import (
    IMED,
    KLMS,
    KLUCB,
    MOSS,
    MOTS,
    MOTSJ,
    UCB1,
    UCBV,
    AdaUCB,
    BayesUCB,
    KLUCBPlusPlus,
    MaillardSampling,
    UCB1Tuned,
)
from thrifty.policies.listed import DMED, DirichletSampling, UCBImproved
from thrifty.policies.own import IndexPolicy, Posterior
from thrifty.policies.thompson import (
    LAWS,
    TSMA,
    TSTD,
    EpsilonTS,
    ExpTS,
    ExpTSPlus,
    ThompsonSampling,
    batch_size,
)

# By what their index is made from.
GROUPS: dict[str, tuple[type[Policy], ...]] = {
    "An index drawn from a law": (
        ThompsonSampling,
        EpsilonTS,
        ExpTS,
        ExpTSPlus,
        TSMA,
        TSTD,
        MOTS,
        MOTSJ,
    ),
    "An index resampled from the arm's own rewards": (NPTS, MultinomialTS),
    "An index computed from the statistics": (
        UCB1,
        UCB1Tuned,
        UCBV,
        KLUCB,
        KLUCBPlusPlus,
        MOSS,
        BayesUCB,
        AdaUCB,
        IMED,
    ),
    "An arm picked with computed probabilities": (MaillardSampling, KLMS),
    "Lists of arms": (DMED, UCBImproved, DirichletSampling),
    "Around another policy": (Binarised,),
}
POLICIES = {kind.__name__: kind for kinds in GROUPS.values() for kind in kinds}


# What kernels trust a policy with: codes, sizes and addresses that they do not check.
TRUSTED = ("resolve", "stages", "engine_for", "engines", "runs_on", "fastest_from", "needs_horizon")


def checked(name: str, policy: object) -> Policy:
    """A policy whose rules kernels can follow: thrifty's own, or an index of the user's, with fields that are
    still what they were checked to be."""
    if not isinstance(policy, Policy):
        raise InvalidType(f"{name} must be a policy such as TSMA(), got {checks.shown(policy)}")
    ours = [kind for kind in type(policy).__mro__ if kind.__module__.partition(".")[0] == "thrifty"]
    for trusted in TRUSTED:
        makers = [kind for kind in type(policy).__mro__ if trusted in vars(kind)]
        if trusted in vars(policy) or makers[0] not in ours:
            raise InvalidType(
                f"{name} must not have {trusted} of its own, got {type(policy).__name__}: a policy of your "
                "own is an IndexPolicy, with an index"
            )
    checks.again(ours[0], policy)
    for field, value in vars(policy).items():
        if isinstance(value, Policy):
            checked(f"{name}.{field}", value)
    return policy


def described(policy: Policy) -> dict[str, Any]:
    """A policy as a table: its name and its fields.

    >>> described(ExpTS())
    {'name': 'ExpTS', 'family': 'bernoulli'}
    """
    values = {field.name: getattr(policy, field.name) for field in fields(policy)}
    plain = {name: described(v) if isinstance(v, Policy) else v for name, v in values.items()}
    return {"name": type(policy).__name__} | plain


def restored(table: Mapping[str, Any]) -> Policy:
    """The policy that a table describes."""
    values = {name: restored(v) if isinstance(v, dict) else v for name, v in table.items() if name != "name"}
    return POLICIES[table["name"]](**values)


__all__ = [
    "DMED",
    "GROUPS",
    "IMED",
    "KLMS",
    "KLUCB",
    "LAWS",
    "MOSS",
    "MOTS",
    "MOTSJ",
    "NPTS",
    "POLICIES",
    "TSMA",
    "TSTD",
    "UCB1",
    "UCBV",
    "AdaUCB",
    "BayesUCB",
    "Binarised",
    "DirichletSampling",
    "EpsilonTS",
    "ExpTS",
    "ExpTSPlus",
    "HorizonPolicy",
    "IndexPolicy",
    "KLUCBPlusPlus",
    "MaillardSampling",
    "MultinomialTS",
    "Policy",
    "Posterior",
    "ThompsonSampling",
    "UCB1Tuned",
    "UCBImproved",
    "batch_size",
    "checked",
    "described",
    "first_guess",
    "restored",
]
