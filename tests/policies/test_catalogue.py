"""The table of policies and docs/policies.md say what the code says, and claim no more than the sources."""

import inspect
import re
from itertools import chain
from pathlib import Path

import pytest

from thrifty.laws import LAWS
from thrifty.policies import POLICIES, BayesUCB, Policy, catalogue
from thrifty.policies.base import Guarantee

ROOT = Path(__file__).parents[2]
CHOOSING = catalogue.text().partition("\n\nrewards are")[0]  # the first table, and what its mark means
KINDS = pytest.mark.parametrize("kind", POLICIES.values(), ids=lambda kind: kind.__name__)


def sections(page: str) -> dict[str, str]:
    """What a page says of each policy."""
    return dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", page, re.DOTALL | re.MULTILINE))


def test_what_the_page_says_of_a_policy_is_what_the_code_says() -> None:
    now, there = sections(catalogue.page() + "\n"), sections((ROOT / "docs" / "policies.md").read_text())
    assert len(there) >= 25
    for name, text in there.items():
        assert text.strip() == now[name].strip()


@pytest.mark.release
def test_the_page_is_what_the_code_makes() -> None:
    page = (ROOT / "docs" / "policies.md").read_text()
    assert "`uv run thrifty policies --markdown > docs/policies.md`" in page.split("\n\n")[1]
    assert page == catalogue.page() + "\n"


def test_every_policy_is_in_one_group() -> None:
    grouped = [kind.__name__ for kind in chain(*catalogue.GROUPS.values())]
    assert sorted(grouped) == sorted(POLICIES)


def test_the_tables_fit_a_terminal() -> None:
    lines = catalogue.text().splitlines()
    assert max(map(len, lines)) <= 120
    for name in POLICIES:
        assert sum(line.split()[:1] == [name] for line in lines) == 2


# What the sources say is proven: for which rewards the asymptotic constant is reached, whose worst case is of
# order sqrt(K T), and who is never much worse than UCB. All else is a factor or a condition.
ASYMPTOTIC = {
    "Gaussian, σ² = 1": {"ThompsonSampling", "EpsilonTS"},
    "Gaussian, σ² = v": {"MOTSJ", "AdaUCB", "MaillardSampling"},
    "Bernoulli": {"ThompsonSampling", "EpsilonTS", "ExpTSPlus", "KLUCBPlusPlus", "IMED", "KLMS", "DMED"},
    "Poisson": {"ThompsonSampling", "EpsilonTS"},
    "exponential": {"ThompsonSampling", "EpsilonTS"},
    "its family": {"ExpTS"},
    "[0, 1]": {"IMED", "NPTS", "DirichletSampling"},
    "0, 1/M, ..., 1": {"MultinomialTS"},
    "Gaussian, ρ → 1": {"MOTS"},
    "its family, c = 3": {"KLUCB"},
    "Bernoulli, c ≥ 5": {"BayesUCB"},
    "as inside": {"Binarised"},
}
MINIMAX = {"ExpTSPlus", "MOTS", "MOTSJ", "KLUCBPlusPlus", "MOSS", "AdaUCB"}
SUB_UCB = {"ThompsonSampling", "ExpTS", "UCB1", "AdaUCB", "UCBImproved"}


def claims() -> list[tuple[str, Guarantee]]:
    return [(name, guarantee) for name, kind in POLICIES.items() for guarantee in kind.guarantees]


def test_nothing_is_claimed_that_the_sources_do_not_say() -> None:
    words = {guarantee.asymptotic for _, guarantee in claims()} - {""}
    assert {word: {name for name, g in claims() if g.asymptotic == word} for word in words} == ASYMPTOTIC
    assert {name for name, guarantee in claims() if guarantee.minimax == "yes"} == MINIMAX
    assert {name for name, guarantee in claims() if guarantee.sub_ucb == "yes"} == SUB_UCB
    assert not POLICIES["UCB1Tuned"].guarantees


@KINDS
def test_a_guarantee_is_for_a_value_of_the_choice(kind: type[Policy]) -> None:
    values = [guarantee.value for guarantee in kind.guarantees]
    assert len(set(values)) == len(values)
    assert set(values) <= {*kind.choices} or values == [None]
    assert bool(kind.choice) == bool(kind.choices)
    if kind.choice:
        assert [getattr(policy, kind.choice) for policy in catalogue.chosen(kind)] == [*kind.choices]


@KINDS
def test_what_the_tables_say_of_engines_and_horizon_is_so(kind: type[Policy]) -> None:
    able = {engine for policy in catalogue.chosen(kind) for engine in policy.runs_on}
    assert able == {*kind.engines} or kind in catalogue.AROUND
    assert kind().needs_horizon == (kind.clock == "known")
    assert BayesUCB(c=1.0).needs_horizon


def test_engines_that_do_not_run_every_variant_are_marked() -> None:
    rows = {line.split()[0]: line for line in CHOOSING.splitlines()[2:] if line}
    marked = {name for name, row in rows.items() if "†" in row}
    assert marked == {"ThompsonSampling", "EpsilonTS", "ExpTS", "†"}
    assert rows["†"] == "† not with the law inverse-gamma-flat or the family gaussian, poisson, exponential"
    assert f"\n{rows['†']}.\n" in catalogue.page()


def test_the_tables_say_when_an_index_changes() -> None:
    """By the schedule of its draws if it has a law, which is then all that there is to say."""
    schedules = {"fresh", "epsilon", "aggregate", "duel"}
    words = {"when pulled", "with time", "with other arms", "in every round"}
    rows = {line.split()[0]: line for line in CHOOSING.splitlines()[2:] if line}
    for name, kind in POLICIES.items():
        if kind not in catalogue.AROUND:
            law = kind().drawn_from is not None
            assert (kind.schedule in schedules, kind.schedule == "") == (law, not law)
            assert law or kind.changes in words
            assert f"  {kind.schedule or kind.changes}  " in rows[name]


def test_the_guarantee_of_ms_plus_is_for_constants_that_were_not_confirmed() -> None:
    (row,) = (line for line in catalogue.text().splitlines() if line.startswith("  plus=True"))
    assert row.endswith("Bian & Jun 2022, for their constants")


def test_every_formula_is_shown() -> None:
    page = catalogue.page()
    for kind in POLICIES.values():
        for source in (inspect.getmodule(kind), *kind.texts):
            assert str(inspect.getdoc(source)).splitlines()[0] in page


def test_the_lines_on_laws_are_those_of_their_files() -> None:
    for law in LAWS.values():
        assert law.formula in str(inspect.getmodule(type(law)).__doc__)
