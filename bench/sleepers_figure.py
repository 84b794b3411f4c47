"""The figure of sleepers.py: cost against K, evaluations against K, and the tail of single rounds."""

from collections.abc import Sequence

import numpy as np
from common import HERE, Row
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from thrifty.look import GREY
from thrifty.report.figures import save
from thrifty.report.labels import EndLabels
from thrifty.report.scale import logarithmic
from thrifty.report.style import styles

NAMES = {"sleepers": "sleepers", "scan": "scan", "c": "plain C"}
PROBLEMS = {"spread": "means spread over [0, 0.9]", "equal": "all means equal but one"}


def draw(figures: Row) -> None:
    figure = Figure(figsize=(13.0, 4.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.1, 1.0, 1.1))
    _costs(left, [row for row in figures["growth"] if row["problem"] == "spread"])
    _evaluations(middle, figures["growth"])
    _tails(right, figures["single_rounds"])
    for ax in (left, middle, right):
        ax.grid(axis="y", color="0.92", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    save(figure, HERE / "results" / "sleepers.png")


def _costs(ax: Axes, rows: Sequence[Row]) -> None:
    arms = np.array([row["arms"] for row in rows])
    curves = [np.array([row[key] / 1e3 for row in rows]) for key in NAMES]
    looks = styles(list(NAMES))
    logarithmic(ax, "x", arms)
    logarithmic(ax, "y", np.concatenate(curves))
    for curve, look in zip(curves, looks, strict=True):
        ax.plot(arms, curve, color=look.colour, linestyle=look.line, marker=look.marker, ms=4.0, lw=1.4)
    ends = [(arms[-1], curve[-1]) for curve in curves]
    EndLabels(ax, ends, list(NAMES.values()), [look.colour for look in looks])
    ax.set(xlabel="arms K", ylabel="µs a round", title="Gaussian Thompson sampling")


def _evaluations(ax: Axes, rows: Sequence[Row]) -> None:
    logarithmic(ax, "x", np.array([row["arms"] for row in rows]))
    for name, look in zip(PROBLEMS, styles(list(PROBLEMS)), strict=True):
        points = [(row["arms"], row["evaluations_per_log"]) for row in rows if row["problem"] == name]
        x, y = np.array(points).T
        ax.plot(
            x,
            y,
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            ms=4.0,
            lw=1.4,
            label=PROBLEMS[name],
        )
    ax.axhline(5.0, color=GREY, linewidth=0.8, linestyle=":")
    ax.annotate("goal", (0.02, 5.0), xycoords=("axes fraction", "data"), va="bottom", color=GREY, fontsize=8)
    ax.legend(frameon=False, fontsize=8)
    ax.set(
        xlabel="arms K", ylabel="evaluations / ln K", ylim=(0.0, 5.6), title="All random numbers of a round"
    )


def _tails(ax: Axes, rows: Sequence[Row]) -> None:
    curves = [np.array([(1.0 / (1.0 - p), ns / 1e3) for p, ns in row["tail"]]) for row in rows]
    rounds, micros = np.concatenate(curves).T
    logarithmic(ax, "x", rounds)
    logarithmic(ax, "y", np.append(micros, 20e3))
    for row, curve, look in zip(rows, curves, styles([str(row["arms"]) for row in rows]), strict=True):
        ax.plot(*curve.T, color=look.colour, linestyle=look.line, lw=1.4, label=f"K = {row['arms']:,}")
    ax.axhline(20e3, color=GREY, linewidth=0.8, linestyle=":")
    ax.annotate("goal", (0.02, 20e3), xycoords=("axes fraction", "data"), va="bottom", color=GREY, fontsize=8)
    ax.legend(frameon=False, fontsize=8)
    ax.tick_params(axis="x", labelsize=8)
    ax.set(xlabel="one round in so many takes longer", ylabel="µs", title="Single rounds")
