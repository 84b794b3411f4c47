"""The table of the policies and the page ``docs/policies.md``, made from what the policies say of themselves.

Formulas come from the docstrings of their modules.
"""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from thrifty.laws import LAWS
from thrifty.policies import GROUPS, Binarised, Forgetting, Policy, ThompsonSampling
from thrifty.policies.base import Guarantee
from thrifty.table import aligned

Kind = type[Policy]
Rows = list[tuple[str, ...]]

KINDS_OF_REWARDS = {"binary": "0 or 1", "unit": "[0, 1]", "non-negative": "≥ 0", "any": "any"}
ASSUMED = {"sub-Gaussian": "σ² ≤ 1", "sub-Gaussian, v": "σ² ≤ v"}  # others are called what they are
AROUND: tuple[Kind, ...] = (Binarised, Forgetting)
NONE = "–"
PARTLY = "†"  # an engine that does not run every value of the choice
PACKAGES = Path(__file__).parents[2]  # where thrifty is: src, in the project

CHOOSING = ("policy", "index", "rewards", "index changes", "engines", "horizon")
PROVEN = ("policy", "asymptotic", "minimax", "sub-UCB", "citation")

INTRODUCTION = """\
# Policies

*Made from the code by `uv run thrifty policies --markdown > docs/policies.md`: change the code, not this
page. A test compares the two.*

Every policy with its defaults, its formula as it stands beside the code, what is proven of it, and what of
all that was confirmed."""
SYMBOLS = """\
n pulls of an arm, S the sum of its rewards, m = S/n their mean, V their variance; m* the largest mean, t all
pulls so far, K arms, T the horizon; KL the divergence of the rewards' family, kl that of Bernoulli rewards"""
REWARDS_TOLD = """\
rewards are what the guarantees need. Those that are 0 or 1, or in [0, 1], are demanded. σ² ≤ 1: sub-Gaussian
with a variance of at most 1, as normal ones with it are, and all in [0, 1], which have 1/4; asymptotic
optimality needs normal ones of exactly that variance. σ² ≤ v: the same with the policy's variance v. Poisson:
or in [0, 1]. Where a problem has others, the summary and the figure of a simulation say so, and what to do:
scale the rewards, or take another law"""
NOTIONS = """\
asymptotic  the regret is the lower bound's constant times ln T, for rewards of the family that is named
minimax     the worst regret of all problems is of order √(K T), or "×" that factor more
sub-UCB     on every problem at most a constant times UCB's bound, Σ (gap + ln(T)/gap)
Each holds as it stands ("yes"), under the condition that is named, or is not claimed ("–")."""


def text() -> str:
    """What ``thrifty policies`` prints."""
    listed = aligned(("law", "rewards", "index"), _laws(), left=3)
    choosing = {title: [_chooses(kind) for kind in kinds] for title, kinds in GROUPS.items()}
    proven = {title: [row for kind in kinds for row in _proves(kind)] for title, kinds in GROUPS.items()}
    choose = _grouped(CHOOSING, choosing)
    parts = (choose, _except(), REWARDS_TOLD, SYMBOLS, listed, _grouped(PROVEN, proven), NOTIONS)
    return "\n\n".join(parts)


def _grouped(heading: Sequence[str], groups: dict[str, Rows]) -> str:
    """One table whose rows stand in groups, each under its title."""
    lines = iter(aligned(heading, [*chain(*groups.values())], left=len(heading)).splitlines())
    top = [next(lines), next(lines)]
    blocks = ["\n".join([f"{title}:", *islice(lines, len(rows))]) for title, rows in groups.items()]
    return "\n".join([*top, "\n\n".join(blocks)])


def _chooses(kind: Kind) -> tuple[str, ...]:
    """A row of the first table."""
    rewards = {_rewards(policy) for policy in chosen(kind)}
    shown = rewards.pop() if len(rewards) == 1 else f"by {kind.choice}"
    lacking = {engine for engine, _ in _lacking(kind)}
    engines = ", ".join(engine + PARTLY * (engine in lacking) for engine in kind.engines)
    rest = (_changes(kind), engines, kind.clock)
    return kind.__name__, kind.formula, shown, *(("as inside",) * 3 if kind in AROUND else rest)


def _changes(kind: Kind) -> str:
    """When its index does: by the schedule of its draws, if it has a law."""
    return kind.schedule or kind.changes


def _lacking(kind: Kind) -> list[tuple[str, Any]]:
    """The engines of a policy, each with a value of its choice that it does not run with.

    >>> from thrifty import ThompsonSampling
    >>> _lacking(ThompsonSampling)
    [('sleepers', 'inverse-gamma-flat')]
    """
    return [
        (engine, getattr(policy, kind.choice))
        for engine in kind.engines
        for policy in chosen(kind)
        if engine not in policy.runs_on
    ]


def _except() -> str:
    """What the mark in the column of engines means."""
    values: dict[str, dict[str, None]] = {}
    for kind in _kinds():
        for _, value in _lacking(kind):
            values.setdefault(kind.choice, {})[value] = None
    listed = " or ".join(f"the {choice} {', '.join(names)}" for choice, names in values.items())
    return f"{PARTLY} not with {listed}"


def _proves(kind: Kind) -> Rows:
    """Rows of the second table: one, or one for each choice that something else is proven for."""
    first, *_ = kind.guarantees or (Guarantee(),)
    if first.value is None:
        return [(kind.__name__, *_words(first), kind.citation)]
    rows: Rows = [(kind.__name__, "", "", "", kind.citation)]
    rows += [(f"  {_given(kind, g.value)}", *_words(g), g.source) for g in kind.guarantees]
    others = len(kind.choices) > len(kind.guarantees)
    return rows + ([("  others", *_words(Guarantee()), "")] if others else [])


def _words(guarantee: Guarantee) -> tuple[str, str, str]:
    asymptotic, minimax, sub_ucb = (word or NONE for word in guarantee[1:4])
    return asymptotic, minimax, sub_ucb


def _given(kind: Kind, value: object) -> str:
    return value if isinstance(value, str) else f"{kind.choice}={value}"


def chosen(kind: Kind) -> list[Policy]:
    """The policy with each value of its choice, or as it is.

    >>> from thrifty import DMED
    >>> chosen(DMED)
    [DMED(rule='original'), DMED(rule='log-t')]
    """
    return [kind(**{kind.choice: value}) for value in kind.choices] or [kind()]


def _laws() -> Rows:
    """Each law's name, rewards and index."""
    return [(name, _rewards(ThompsonSampling(name)), law.formula) for name, law in LAWS.items()]


def _rewards(policy: Policy) -> str:
    """What it assumes of the rewards.

    >>> _rewards(ThompsonSampling()), _rewards(ThompsonSampling("beta"))
    ('σ² ≤ 1', '0 or 1')
    """
    kind = policy.assumes.kind
    return ASSUMED.get(kind, kind) or KINDS_OF_REWARDS[policy.rewards]


def page() -> str:
    """``docs/policies.md``."""
    seen: dict[str, str] = {}  # which texts are where
    sections = [
        "\n\n".join([f"## {title}", *(_section(kind, seen) for kind in kinds)])
        for title, kinds in GROUPS.items()
    ]
    modules = dict.fromkeys(inspect.getmodule(type(law)) for law in LAWS.values())
    listed = [(f"`{law}`", rewards, f"`{line}`") for law, rewards, line in _laws()]
    return "\n\n".join(
        [
            INTRODUCTION,
            _markdown(CHOOSING, [_linked(_chooses(kind)) for kind in _kinds()]),
            f"{_except()}.",
            f"{REWARDS_TOLD}.",
            f"{SYMBOLS}.",
            "## What is proven",
            _markdown(PROVEN, [_linked(row) for kind in _kinds() for row in _proves(kind)]),
            _listed(NOTIONS),
            *sections,
            "## Laws",
            _markdown(("law", "rewards", "index"), listed),
            *(_formula(module) for module in modules),
        ]
    )


def _kinds() -> Iterator[Kind]:
    return chain(*GROUPS.values())


def _markdown(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _linked(row: Sequence[str]) -> Sequence[str]:
    """A row whose policy leads to its section; a variant is set back."""
    name, *rest = row
    first = f"&emsp;{name.strip()}" if name.startswith(" ") else f"[{name}](#{name.lower()})"
    return [first, *rest]


def _listed(notions: str) -> str:
    """The notions as a list."""
    *items, last = notions.splitlines()
    lines = [f"- **{name}**: {rest}" for name, rest in (item.split(maxsplit=1) for item in items)]
    return "\n".join([*lines, "", last])


def _section(kind: Kind, seen: dict[str, str]) -> str:
    """Everything about one policy."""
    facts = {
        "index": kind.formula,
        "index changes": _changes(kind),
        "horizon": kind.clock,
        "citation": kind.citation,
        "confirmed": kind.confirmed,
    }
    parts = [
        f"### {kind.__name__}",
        f"```python\n{_quoted(kind())}\n```",
        str(inspect.getdoc(kind)),
        "\n".join(f"- {name}: {fact}" for name, fact in facts.items()),
        _markdown((kind.choice, "rewards", "engines", *PROVEN[1:4]), map(_variant, chosen(kind))),
    ]
    if kind.choice == "law":
        parts.append("The law is one of [those below](#laws).")
    for source in (inspect.getmodule(kind), *kind.texts):
        at = seen.setdefault(source.__name__, kind.__name__)
        here = at == kind.__name__
        parts.append(_formula(source) if here else f"{_place(source)} is with [{at}](#{at.lower()}).")
    return "\n\n".join(parts)


def _variant(policy: Policy) -> tuple[str, ...]:
    """A row of a policy's own table: a value of its choice, if it has one."""
    value = getattr(policy, policy.choice) if policy.choice else None
    proven = [guarantee for guarantee in policy.guarantees if guarantee.value in (None, value)]
    shown = f"`{_quoted(value)}`" if policy.choice else ""
    words = _words(proven[0] if proven else Guarantee())
    return shown, _rewards(policy), ", ".join(policy.runs_on), *words


def _quoted(value: object) -> str:
    """As it is written in code, with the quotes that ruff wants in the page."""
    return repr(value).replace("'", '"')


def _formula(source: Any) -> str:
    """Where a module or function is, and its docstring without the examples."""
    described = str(inspect.getdoc(source)).partition(">>>")[0].strip()
    return f"{_place(source)}\n\n```text\n{described}\n```"


def _place(source: Any) -> str:
    path = Path(str(inspect.getsourcefile(source))).relative_to(PACKAGES).as_posix()
    return f"[`{path}`](../src/{path})"
