"""What results, bandits, policies and problems look like: a short repr, and a table in notebooks."""

import dataclasses
import html
import re
import sys
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.policies import every_policy
from thrifty import public
from thrifty.problems import Problem
from thrifty.shown import short

EVIL = '<script>alert("1")</script> & $x^$'  # neither HTML nor a formula
PROBLEM = thrifty.Bernoulli([0.9, 0.5, 0.4])


@dataclasses.dataclass(frozen=True)
class Named(thrifty.IndexPolicy):
    """A policy with a name that is made to hurt."""

    @property
    def label(self) -> str:
        return EVIL

    def index(self, mean: float, n: float) -> float:
        return mean + 1.0 / n


class Cells(HTMLParser):
    """The rows of all tables; elements must be closed in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.images: list[dict[str, str | None]] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in {"div", "p", "br", "table", "thead", "tbody", "tr", "th", "td", "img"}
        if tag == "img":
            self.images.append(dict(attributes))
        elif tag != "br":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        self.words += f"{data}\n"


def seen(thing: Any) -> Cells:
    return Cells(thing._repr_html_())


@pytest.fixture(scope="module")
def result() -> thrifty.Result:
    return thrifty.simulate([thrifty.TSMA(), thrifty.UCB1()], PROBLEM, 200, runs=12, seed=4)


def in_text(table: str) -> list[list[str]]:
    """The rows of a table as it is printed, without the rule."""
    heading, rule, *rows = table.splitlines()
    ends = [match.span() for match in re.finditer("─+", rule)]
    return [[line[a:b].strip() for a, b in ends] for line in (heading, *rows)]


def test_a_result_is_its_summary_and_its_figure(result: thrifty.Result) -> None:
    page = seen(result)
    assert page.rows == in_text(str(result.summary()))
    (image,) = page.images
    assert str(image["src"]).startswith("data:image/png;base64,iVBORw0KGgo")
    assert "bernoulli, K = 3, T = 200, 12 runs, seed 4\n" in page.words
    expected = "<Result: TS-MA-0, UCB1; bernoulli, K = 3, T = 200, 12 runs, seed 4>"
    assert repr(result) == expected
    assert repr(result["UCB1"]) == expected.replace("TS-MA-0, ", "")


def test_without_matplotlib_a_result_is_its_summary(
    result: thrifty.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "thrifty.report.figures", raising=False)
    monkeypatch.delattr("thrifty.report.figures", raising=False)
    page = seen(result)
    assert page.rows == in_text(str(result.summary()))
    assert page.images == []


def test_a_summary(result: thrifty.Result) -> None:
    summary = result.summary()
    assert seen(summary).rows == in_text(str(summary))
    first, second = (f"{row.policy} {row.regret:.1f} ± {row.error:.1f}" for row in summary.rows)
    assert repr(summary) == f"<Summary of regret: {first}, {second}>"
    many = dataclasses.replace(summary, rows=summary.rows * 500)
    assert repr(many).endswith(" and 996 more>")
    wide = thrifty.simulate(thrifty.TSMA(), thrifty.Gaussian([0.5, 0.0], sd=5.0), 50, runs=2)
    (note,) = wide.notes
    assert note in html.unescape(wide._repr_html_())
    assert note in html.unescape(wide.summary()._repr_html_())


def test_a_difference(result: thrifty.Result) -> None:
    difference = result.compare("UCB1", "TS-MA-0")
    title, table, verdict = str(difference).split("\n\n")
    page = seen(difference)
    assert page.rows == in_text(table)
    assert f"{title}\n" in page.words
    assert f"{verdict}\n" in page.words
    low, high = difference.interval[:, -1]
    value = f"{difference.mean[-1]:.2f}, 95 % from {low:.2f} to {high:.2f}, 12 runs"
    assert repr(difference) == f"<Difference: UCB1 minus TS-MA-0, {value}>"


def test_a_ranking(result: thrifty.Result) -> None:
    ranking = result.ranking()
    assert seen(ranking).rows == in_text(str(ranking))
    first, second = ([r.best, r.worst, r.policy] for r in ranking.ranks)
    assert first[0] == 1
    assert re.fullmatch(rf"<Ranking: 1( to 2)? {first[2]}, (1 to )?2 {second[2]}>", repr(ranking))


def test_a_replay() -> None:
    log = {"arm": ["a", "b"] * 500, "reward": [1, 0] * 499 + [1, "?"], "propensity": [0.5] * 1000}
    found = thrifty.replay(thrifty.UCB1(), log, runs=1)
    page = seen(found)
    assert [row[0] for row in page.rows] == ["", "UCB1", "the log"]
    assert page.rows[1][1] == f"{found.value:.5f}"
    assert found.report.splitlines()[0] in page.words
    assert repr(found).startswith(f"<Replay of UCB1, rejection: {found.value:.5f}, 95 % from ")
    assert len(repr(found)) < 120


def test_a_bandit() -> None:
    bandit = thrifty.Bandit(thrifty.UCB1(), [EVIL, "b", 3, ("c", 4)], seed=1)
    for arm, pulls in ((EVIL, 3), (3, 5), ("b", 1)):
        bandit.update_many([arm] * pulls, [1.0, 0.0, 0.0, 0.0, 0.0][:pulls])
    bandit.select()
    page = seen(bandit)
    arms = ["3", html.unescape(page.rows[2][0]), "'b'", "('c', 4)"]
    assert page.rows == [
        ["arm", "pulls", "mean", "pending"],
        [arms[0], "5", "0.2", "0"],
        [arms[1], "3", "0.333333", "0"],
        [arms[2], "1", "1", "0"],
        [arms[3], "0", "", "1"],
    ]
    assert arms[1].startswith("'<script>")
    assert "UCB1() on scan: 4 arms, 1 decisions\n" in page.words
    assert repr(bandit) == "<Bandit of 4 arms, UCB1(), 1 decisions>"


def test_a_bandit_with_many_arms_shows_the_first_of_those_with_most_pulls() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 100_000, seed=1)
    bandit.update_many([70_000, 5, 6, 5], [1.0] * 4)
    page = seen(bandit)
    assert [row[0] for row in page.rows[1:]] == ["5", "6", "70000", "0", "1"]
    assert "the 5 arms with the most pulls\n" in page.words


@pytest.mark.parametrize("policy", every_policy(), ids=repr)
def test_a_policy_is_the_call_that_makes_it(policy: thrifty.Policy) -> None:
    assert eval(repr(policy), vars(public)) == policy
    page = seen(policy)
    assert page.rows[0] == ["policy", policy.label]
    assert ["call", repr(policy)] in page.rows
    assert ["source", policy.citation] in page.rows


PROBLEMS: list[Problem] = [
    PROBLEM,
    thrifty.Gaussian([1.0], sd=2.0),
    thrifty.Beta([2, 1], [1, 2]),
    thrifty.Discrete([0.0, 1.0], [[0.5, 0.5], [0.2, 0.8]]),
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_a_problem_with_few_arms_is_the_call_that_makes_it(problem: Problem) -> None:
    given = ", ".join(f"{name}={value!r}" for name, value in vars(problem).items())
    assert repr(problem) == f"{type(problem).__name__}({given})"
    assert eval(repr(problem), vars(public)) == problem
    rows = zip(problem.expectations, problem.gaps, strict=True)
    cells = [[str(i), f"{mean:.6g}", f"{gap:.6g}"] for i, (mean, gap) in enumerate(rows)]
    assert seen(problem).rows == [["arm", "mean", "gap"], *cells]


def test_a_problem_with_many_arms_is_short() -> None:
    means = np.linspace(0.0, 0.5, 1_000_000)
    means[1000] = 0.75
    problem = thrifty.Gaussian(means)
    assert (
        repr(problem)
        == "Gaussian(means=(0.0, 5.000005000005e-07, 1.000001000001e-06, ... 1,000,000 in all), sd=1.0)"
    )
    page = seen(problem)
    assert [row[0] for row in page.rows] == ["arm", "1,000", "999,999", "999,998", "999,997", "999,996"]
    assert "the best 5 of 1,000,000 arms; means from 0\n" in page.words
    assert len(problem._repr_html_()) < 2000
    rows = [[1.0, 0.0]] * 30
    assert repr(thrifty.Discrete([0.0, 1.0], rows)).endswith("(1.0, 0.0), ... 30 in all))")


@dataclasses.dataclass(frozen=True)
class Own(thrifty.Bernoulli):
    """A problem of one's own, whose table of names need not be seen."""

    names: tuple[str, ...] = dataclasses.field(default=("a", "b"), repr=False)


class Bare(thrifty.Problem):
    """Not a dataclass, and refused later on by its repr."""

    expectations = np.array([0.5])

    def arms(self) -> Any:
        return None


def test_problems_of_ones_own_are_short_too() -> None:
    assert repr(Own([0.5, 0.25])) == "Own(means=(0.5, 0.25))"
    assert repr(Own([0.5] * 21)) == "Own(means=(0.5, 0.5, 0.5, ... 21 in all))"
    assert repr(Bare()) == "Bare()"  # type: ignore[abstract]


def test_what_is_short_already_is_as_python_writes_it() -> None:
    for value in ((), (1,), [1, (2, 3)], {1: [2], "a": ()}, "text", None, {"a"}, tuple(range(20))):
        assert short(value) == repr(value)
    assert short(list(range(21))) == "[0, 1, 2, ... 21 in all]"
    assert short({i: i for i in range(21)}) == "{0: 0, 1: 1, 2: 2, ... 21 in all}"


def test_names_are_text_and_nothing_else() -> None:
    """``Cells`` refuses elements that tables do not have."""
    result = thrifty.simulate([Named(), thrifty.UCB1()], PROBLEM, 30, runs=2)
    for thing in (result, result.summary(), result.ranking(), result.compare(EVIL, "UCB1"), Named()):
        assert any(EVIL in cell for row in seen(thing).rows for cell in row) or EVIL in seen(thing).words
