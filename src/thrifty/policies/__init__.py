"""The policies: frozen dataclasses, by what their index is made from."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

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
    "described",
    "first_guess",
    "restored",
]
