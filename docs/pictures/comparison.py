"""The picture and the tables of docs/comparison.md, from the results of the four experiments.

    for name in bernoulli low-means bounded exponential; do
        uv run thrifty simulate experiments/comparison-$name.toml
    done
    uv run python docs/pictures/comparison.py

The tables are printed.
"""

from dataclasses import fields, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import thrifty
from thrifty.look import COLOURS, GREY
from thrifty.policies import Binarised, Policy, restored
from thrifty.policies.catalogue import GROUPS
from thrifty.problems import ClippedGaussian, Problem
from thrifty.report import figures
from thrifty.report.scale import logarithmic
from thrifty.simulation.result import Result
from thrifty.theory import lower_bound_bounded

OUT, DOCS = Path("out"), Path(__file__).parent.parent
PROBLEMS = {
    "bernoulli": "0.9 and nineteen of 0.8\nBernoulli",
    "low-means": "0.1 and nine from 0.01 to 0.05\nBernoulli",
    "bounded": "0.6 and nine of 0.5, sd 0.2\nnormal, clipped to [0, 1]",
    "exponential": "1 and nine from 0.4 to 0.8\nexponential",
}
COLOUR = {kind: COLOURS[i] for i, kinds in enumerate(GROUPS.values()) for kind in kinds}
LEGEND = [title.removeprefix("An ").lower() for title in [*GROUPS][:-1]]  # without Binarised
BOUND = "lower bound, c ln T: a slope, not a floor"
CELLS = 4000  # into which a density is cut


def plain(policy: Policy, keep: tuple[str, ...]) -> Policy:
    """The policy for Bernoulli rewards that this one is for others; laws and families to keep are named."""
    default: dict[str, Any] = {"law": "beta", "family": "bernoulli", "variance": 0.25}
    kept = {field.name for field in fields(policy) if getattr(policy, field.name) not in keep}
    return replace(policy, **{name: default[name] for name in default.keys() & kept})


def shared(policy: Policy) -> Policy:
    """The policy of whose row it is in all four problems."""
    inside = policy.policy if isinstance(policy, Binarised) else policy
    return plain(inside, keep=("gaussian", "inverse-gamma-flat", "bounded"))


def named(policy: Policy) -> str:
    """The name of a row: a law of the rewards' own family is not told from another such."""
    return policy.label.replace("Beta", "own law").replace("Inverse-Gamma-Flat", "flat prior")


def bound(problem: Problem, horizon: int) -> float:
    """The asymptotic lower bound's constant times ln T; a density is cut into cells."""
    if not isinstance(problem, ClippedGaussian):
        return figures.bound_constant(problem) * float(np.log(horizon))
    edges = np.linspace(0.0, 1.0, CELLS + 1)
    values = [0.0, *((edges[1:] + edges[:-1]) / 2.0).tolist(), 1.0]
    laws = []
    for mean in problem.means:
        below = [0.0, *map(NormalDist(mean, problem.sd).cdf, edges.tolist()), 1.0]
        laws.append((values, np.diff(below).tolist()))
    return lower_bound_bounded(laws) * float(np.log(horizon))


def order(results: dict[str, Result]) -> list[Policy]:
    """The rows, the best first: by regret relative to each problem's best, averaged in logarithms.

    A variant that is in one problem alone follows the policy that it is a variant of.
    """
    shares: dict[Policy, list[float]] = {}
    for result in results.values():
        means = result.regret[:, :, -1].mean(axis=1)
        for table, share in zip(result.settings.policies, np.log(means / means.min()), strict=True):
            shares.setdefault(shared(restored(table)), []).append(float(share))

    def place(policy: Policy) -> tuple[float, bool]:
        first = plain(policy, keep=("gaussian",))
        return float(np.mean(shares[first])), policy != first

    return sorted(shares, key=place)


def draw(ax: Axes, result: Result, rows: list[Policy]) -> None:
    """One problem: means, 5 to 95 % of the runs, medians, and how many runs got stuck."""
    finals = result.regret[:, :, -1]
    random = result.settings.horizon * float(result.settings.problem.gaps.mean())
    limit = bound(result.settings.problem, result.settings.horizon)
    quantiles = np.quantile(finals, [0.05, 0.5, 0.95], axis=1)
    logarithmic(ax, "x", np.append(quantiles.ravel(), [random, limit]))
    right = ax.get_xlim()[1]
    for i, table in enumerate(result.settings.policies):
        policy = shared(restored(table))
        y, colour = rows.index(policy), COLOUR[type(policy)]
        low, median, high = quantiles[:, i]
        ax.plot([low, high], [y, y], color=colour, linewidth=1.6, alpha=0.5, solid_capstyle="butt")
        ax.plot([median], [y], "|", color=colour, markersize=7.0, markeredgewidth=1.4)
        ax.plot([finals[i].mean()], [y], "o", color=colour, markersize=4.5)
        if stuck := float(result.stuck[i].mean()):
            ax.text(right, y, f" {stuck:.0%}", fontsize=7.0, va="center", color="tab:red", clip_on=False)
    ax.axvline(limit, color=GREY, linestyle="--", linewidth=1.0, zorder=1.0)
    ax.axvline(random, color=GREY, linestyle=":", linewidth=1.0, zorder=1.0)
    figures.finish(ax, "regret at T = 10,000", "")


def compose(results: dict[str, Result]) -> Figure:
    """A row for each policy, a column for each problem."""
    rows = order(results)
    figure = Figure(figsize=(12.0, 10.0), layout="constrained")
    axes = figure.subplots(1, len(results), sharey=True)
    for ax, (name, result) in zip(axes, results.items(), strict=True):
        for y in range(0, len(rows), 2):
            ax.axhspan(y - 0.5, y + 0.5, color="0.96", linewidth=0.0, zorder=0.0)
        draw(ax, result, rows)
        title = f"K = {result.pulls.shape[2]}: {PROBLEMS[name]}, {result.settings.runs} runs"
        ax.set_title(title, fontsize=9.0, loc="left")
        ax.tick_params(axis="y", length=0.0)
        ax.grid(axis="y", visible=False)
    axes[0].set_yticks(range(len(rows)), [named(policy) for policy in rows], fontsize=8.0)
    axes[0].set_ylim(len(rows) - 0.5, -0.5)
    marks: list[Line2D] = [
        Line2D([], [], color=COLOURS[i], marker="o", markersize=4.5, linewidth=1.6, label=title)
        for i, title in enumerate(LEGEND)
    ]
    marks += [
        Line2D([], [], color=GREY, linestyle="--", linewidth=1.0, label=BOUND),
        Line2D([], [], color=GREY, linestyle=":", linewidth=1.0, label="pulling at random"),
        Line2D([], [], color="none", marker="$\\%$", markeredgecolor="tab:red", label="runs that got stuck"),
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=4, fontsize=8.0, frameon=False)
    return figure


def tables(results: dict[str, Result]) -> str:
    """A table for each problem, the least mean regret first."""
    heading = ["policy", "mean", "± s.e.", "5 %", "median", "95 %", "stuck"]
    parts = []
    for name, result in results.items():
        limit = bound(result.settings.problem, result.settings.horizon)
        rows = [
            (
                row.regret,
                [row.policy, *(f"{x:,.1f}" for x in (row.regret, row.error))]
                + [f"{x:,.0f}" for x in (row.q05, row.median, row.q95)]
                + [f"{100 * row.stuck:.0f} %"],
            )
            for row in result.summary().rows
        ]
        rows.append((limit, ["*asymptotic lower bound*", f"*{limit:,.1f}*", "", "", "", "", ""]))
        cells = [heading, ["---", *["---:"] * 6], *(row for _, row in sorted(rows))]
        lines = "\n".join(f"| {' | '.join(row)} |" for row in cells)
        parts.append(f"### {figures.setting(result)}\n\n`experiments/comparison-{name}.toml`\n\n{lines}")
    return "\n\n".join(parts)


def main() -> None:
    results = {name: thrifty.Result.load(OUT / f"comparison-{name}.npz") for name in PROBLEMS}
    print(tables(results))
    figures.save(compose(results), DOCS / "comparison.png")


if __name__ == "__main__":
    main()
