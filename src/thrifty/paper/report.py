"""The page of the reproduction: verdict, figures, claims, theory, advice, and how it was made."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from thrifty import theory
from thrifty.paper.claim import DIRECTION, FAILS, HOLDS, UNTESTABLE, Claim, Results, short
from thrifty.paper.experiments import paper_problem
from thrifty.paper.figures import Exhibit
from thrifty.paper.words import advice, findings, tally
from thrifty.report.page import (
    Column,
    Html,
    Image,
    Section,
    badge,
    bullets,
    element,
    figure,
    join,
    page,
    paragraph,
    table,
)
from thrifty.simulation.result import Result

PAPER = "Efficient and Adaptive Posterior Sampling Algorithms for Bandits"
AUTHORS = "Hu, Huang, Zhang, Lécuyer and Hegde (UAI 2024)"
# A sign beside the words, so that the verdict is not told by colour alone.
SIGNS = {HOLDS: ("✓", "good"), DIRECTION: ("≈", "fair"), FAILS: ("✗", "bad"), UNTESTABLE: ("–", "none")}
HORIZON = 1e6  # of the table of bounds


def report(
    results: Results,
    claims: Sequence[Claim],
    exhibits: Sequence[Exhibit],
    drawings: Mapping[str, Path],
    *,
    full: bool,
    seed: int,
) -> str:
    """The page as HTML. ``drawings`` are the SVG files by the name of their panel."""
    shown = []
    for exhibit in exhibits:
        shown.append(_figure(exhibit, drawings))
        if "figure2" in exhibit.panels:
            shown.append(_numbers(results["draws-m1"], "The numbers at T = 10⁶ with one optimal arm."))
        if "growth-TS-TD-optimal" in exhibit.panels:
            series = [one for name, one in results.items() if name.startswith("growth-")]
            longest = max(series, key=lambda one: one.settings.horizon)
            at = f"The numbers at T = {short(longest.settings.horizon)}, the longest horizon."
            shown.append(_numbers(longest, at))
        if "trade" in exhibit.panels:
            behind = "The numbers behind Figure 1 and the trade of regret for draws."
            shown.append(_numbers(results["figure1"], behind))
    sections = [
        Section("figures", "Figures", shown),
        Section("claims", "Every claim", [_claims(claims)]),
        Section("theory", "The bounds, evaluated", _theory()),
    ]
    if said := advice(results):
        sections.append(Section("practice", "What to take from it", [bullets(said)]))
    sections.append(Section("making", "How this page was made", _making(results, full, seed)))
    return page(f"{PAPER}: reproduced, claim by claim", _opening(results, claims, full), sections)


def _opening(results: Results, claims: Sequence[Claim], full: bool) -> list[Html]:
    runs = sorted({result.settings.runs for result in results.values()})
    few_to_many = " to ".join(dict.fromkeys(map(str, (runs[0], runs[-1])))) if runs else ""
    size = f"It rests on {few_to_many} runs per setting" if runs else "Nothing was simulated for it"
    more = join(["; ", element("code", "thrifty reproduce --full"), " takes many more"])
    counts = [f"{count} {_plural(verdict, count)}" for verdict, count in tally(claims).items() if count]
    return [
        element(
            "p",
            f"The paper is by {AUTHORS}. This page is an independent check. {size}",
            "" if full else more,
            ".",
            class_="note",
        ),
        element(
            "div",
            element("p", element("strong", f"Of {len(claims)} claims, {_listed(counts)}.")),
            bullets(findings(claims)),
            class_="summary",
        ),
    ]


def _listed(items: Sequence[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _plural(verdict: str, count: int) -> str:
    if verdict == UNTESTABLE:
        return "cannot be tested"
    return verdict if count == 1 else verdict.replace("holds", "hold").replace("does", "do")


def _figure(exhibit: Exhibit, drawings: Mapping[str, Path]) -> Html:
    images = [
        Image(
            drawings[name].read_bytes(),
            f"{exhibit.title}: {panel.axes[0].get_title(loc='left')}".rstrip(": "),
        )
        for name, panel in exhibit.panels.items()
    ]
    return figure(exhibit.title, images, exhibit.caption)


def _numbers(result: Result, what: str) -> Html:
    columns = [
        Column("policy"),
        *(
            Column(name, number=True)
            for name in ("regret", "± s.e.", "5 %", "median", "95 %", "stuck runs", "draws")
        ),
    ]
    rows = [
        (
            row.policy,
            *(f"{value:,.0f}" for value in (row.regret, row.error, row.q05, row.median, row.q95)),
            f"{100.0 * row.stuck:.0f} %",
            short(row.draws),
        )
        for row in sorted(result.summary().rows, key=lambda row: row.regret)
    ]
    return table(
        columns,
        rows,
        f"{what} From the least regret up; a run is stuck if one bad arm got more than half of its pulls.",
        cards=False,
    )


def _claims(claims: Sequence[Claim]) -> Html:
    columns = [Column(name) for name in ("verdict", "claim", "the paper", "measured", "setting")]
    return table(
        columns,
        [
            (
                badge(f"{SIGNS[claim.verdict][0]} {claim.verdict}", SIGNS[claim.verdict][1]),
                join([claim.claim, " ", element("span", claim.place, class_="note")]),
                claim.paper,
                claim.measured + (f" ({claim.error})" if claim.error else ""),
                claim.settings + (f"; {claim.runs} run{'s' if claim.runs > 1 else ''}" if claim.runs else ""),
            )
            for claim in claims
        ],
        "Errors are standard errors over the runs. The rule behind each verdict stands beside the claim in "
        "the source; claims.json has the same rows.",
    )


def _theory() -> list[Html]:
    means = paper_problem().expectations.tolist()
    columns = [
        Column("bound"),
        *(
            Column(name, number=True)
            for name in ("regret", "leading constant", "says something from T =", "samples drawn")
        ),
    ]
    rows = [
        (
            row.name,
            *(
                "" if value is None else short(value)
                for value in (row.regret, row.coefficient, row.nonvacuous_from, row.draws)
            ),
        )
        for row in theory.table(means, HORIZON)
    ]
    gap = max(theory.positive_gaps(means))
    return [
        paragraph(
            f"For the problem of the paper (K = {len(means)}, one arm at 0.9, the others at 0.8) at T = "
            f"{short(HORIZON)}, where no policy at all can lose more than T gap = {short(HORIZON * gap)}. A "
            "bound above that says nothing yet. Rows marked “ours” are not in the paper; their proofs are "
            "in docs/theory.md."
        ),
        table(columns, rows, "Upper bounds on the regret, and the asymptotic lower bound.", cards=False),
    ]


def _making(results: Results, full: bool, seed: int) -> list[Html]:
    command = f"thrifty reproduce {'--full' if full else '--quick'} --seed {seed}"
    parts = [
        paragraph(
            "Made by ",
            element("code", command),
            ". The same command and seed give the same numbers, times apart.",
        )
    ]
    known = [one.provenance for one in results.values() if one.provenance]
    if known:
        days = sorted({str(one["made"])[:10] for one in known})
        versions = sorted({f"{name} {number}" for one in known for name, number in one["versions"].items()})
        machines = sorted(
            {f"{m['system']} {m['processor']}, {m['cores']} cores" for m in (one["machine"] for one in known)}
        )
        seconds = sum(sum(one["seconds"]) for one in known)
        parts.append(
            paragraph(
                f"Simulated on {' to '.join(dict.fromkeys((days[0], days[-1])))} with {', '.join(versions)} "
                f"({'; '.join(machines)}), in {seconds:,.0f} seconds of processor time."
            )
        )
    columns = [
        Column("result file"),
        *(Column(name, number=True) for name in ("K", "T", "policies", "runs", "processor seconds")),
    ]
    rows = [
        (
            f"{name}.npz",
            f"{one.settings.problem.gaps.size:,}",
            short(one.settings.horizon),
            str(len(one.labels)),
            str(one.settings.runs),
            f"{sum(one.provenance['seconds']):,.1f}" if one.provenance else "",
        )
        for name, one in results.items()
    ]
    if rows:
        parts.append(table(columns, rows, "What was simulated.", cards=False))
    return parts
