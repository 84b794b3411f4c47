"""The table of the policies and the page ``docs/policies.md``, made from what the policies say of themselves.

Formulas come from the docstrings beside the code.
"""

import inspect
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from types import ModuleType

import thrifty
from thrifty import laws
from thrifty.policies import (
    DMED,
    IMED,
    KLMS,
    KLUCB,
    LAWS,
    MOSS,
    MOTS,
    MOTSJ,
    NPTS,
    TSMA,
    TSTD,
    UCB1,
    UCBV,
    AdaUCB,
    BayesUCB,
    Binarised,
    DirichletSampling,
    EpsilonTS,
    ExpTS,
    ExpTSPlus,
    KLUCBPlusPlus,
    MaillardSampling,
    MultinomialTS,
    Policy,
    ThompsonSampling,
    UCB1Tuned,
    UCBImproved,
)
from thrifty.policies.base import Guarantee
from thrifty.policies.thompson import REWARDS
from thrifty.table import aligned

Kind = type[Policy]
Rows = list[tuple[str, ...]]

GROUPS: dict[str, tuple[Kind, ...]] = {
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

# Each law as one line, and where the rest of it is.
LAW_LINES: dict[str, tuple[str, ModuleType]] = {
    "gaussian": ("N(S/n, 1/n)", laws.gaussian),
    "beta": ("Beta(S + 1, n - S + 1)", laws.beta),
    "gamma": ("Gamma(S + 1, rate n)", laws.gamma),
    "inverse-gamma": ("InvGamma(n, S)", laws.inverse_gamma),
    "inverse-gamma-flat": ("InvGamma(n - 1, S)", laws.inverse_gamma),
}
EXPONENTIAL_FAMILY = (laws.exponential_family, laws.exponential_families)

KINDS_OF_REWARDS = {"binary": "0 or 1", "unit": "[0, 1]", "non-negative": "≥ 0", "any": "any"}
NONE = "–"

CHOOSING = ("policy", "index", "rewards", "schedule", "engines", "needs")
PROVEN = ("policy", "asymptotic", "minimax", "sub-UCB", "citation")

SYMBOLS = """\
n pulls of an arm, S the sum of its rewards, m = S/n their mean, V their variance; m* the largest mean, t all
pulls so far, K arms, T the horizon; KL the divergence of the rewards' family, kl that of Bernoulli rewards"""
NOTIONS = """\
asymptotic  the regret is the lower bound's constant times ln T, for rewards of the family that is named
minimax     the worst regret of all problems is of order √(K T), or "×" that factor more
sub-UCB     on every problem at most a constant times UCB's bound, Σ (gap + ln(T)/gap)
Each holds as it stands ("yes"), under the condition that is named, or is not claimed ("–")."""


def text() -> str:
    """What ``thrifty policies`` prints."""
    chosen = aligned(("law", "rewards", "index"), [row[:3] for row in _laws()], left=3)
    choosing = {title: [_chooses(kind) for kind in kinds] for title, kinds in GROUPS.items()}
    proven = {title: [row for kind in kinds for row in _proves(kind)] for title, kinds in GROUPS.items()}
    parts = (_grouped(CHOOSING, choosing), SYMBOLS, chosen, _grouped(PROVEN, proven), NOTIONS)
    return "\n\n".join(parts)


def _grouped(heading: Sequence[str], groups: dict[str, Rows]) -> str:
    """One table whose rows stand in groups, each under its title."""
    lines = iter(aligned(heading, [*chain(*groups.values())], left=len(heading)).splitlines())
    top = [next(lines), next(lines)]
    blocks = ["\n".join([title, *islice(lines, len(rows))]) for title, rows in groups.items()]
    return "\n".join([*top, "\n\n".join(blocks)])


def _chooses(kind: Kind) -> tuple[str, ...]:
    """A row of the first table."""
    rewards = {KINDS_OF_REWARDS[variant.rewards] for variant in variants(kind)}
    shown = rewards.pop() if len(rewards) == 1 else f"by {kind.choice}"
    return kind.__name__, kind.formula, shown, kind.schedule, ", ".join(kind.engines), kind.clock


def _proves(kind: Kind) -> Rows:
    """Rows of the second table: one, or one for each choice that something else is proven for."""
    if not kind.choice or kind.guarantees[0].value is None:
        (guarantee,) = kind.guarantees or (Guarantee(),)
        return [(kind.__name__, *_words(guarantee), kind.citation)]
    rows: Rows = [(kind.__name__, "", "", "", kind.citation)]
    rows += [(f"  {_given(kind, g.value)}", *_words(g), g.source) for g in kind.guarantees]
    proven = [guarantee.value for guarantee in kind.guarantees]
    others = [_given(kind, value) for value in kind.choices if value not in proven]
    return rows + ([(f"  {', '.join(others)}", *_words(Guarantee()), "")] if others else [])


def _words(guarantee: Guarantee) -> tuple[str, str, str]:
    asymptotic, minimax, sub_ucb = (word or NONE for word in guarantee[1:4])
    return asymptotic, minimax, sub_ucb


def _given(kind: Kind, value: object) -> str:
    return value if isinstance(value, str) else f"{kind.choice}={value}"


def variants(kind: Kind) -> list[Policy]:
    """The policy with each value of its choice, or as it is.

    >>> variants(DMED)
    [DMED(rule='original'), DMED(rule='log-t')]
    """
    return [kind(**{kind.choice: value}) for value in kind.choices] or [kind()]


def _laws() -> Iterator[tuple[str, str, str, str]]:
    """Each law's name, rewards, index and place in the page."""
    for law in LAWS:
        line, module = LAW_LINES[law]
        yield law, KINDS_OF_REWARDS[REWARDS[law]], line, module.__name__


def page() -> str:
    """``docs/policies.md``."""
    return ""
