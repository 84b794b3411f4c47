"""What the figures of the page are made of: panels of one size, and curves labelled at their ends.

A figure is one panel or several. Each panel is an image of its own, so that they stand side by side on a wide
screen and under each other on a phone, with letters of the same size everywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from thrifty.arrays import Floats
from thrifty.look import GREY
from thrifty.report.figures import BAND, finish
from thrifty.report.labels import EndLabels
from thrifty.report.scale import logarithmic
from thrifty.report.style import Style
from thrifty.simulation.result import Result

WIDTH, HEIGHT = 4.8, 4.0  # inches: narrow, so that the letters can be read on a phone


@dataclass(frozen=True)
class Exhibit:
    """A figure as the page shows it."""

    title: str
    panels: Mapping[str, Figure]  # by the name of its files
    caption: str  # what to see


class Curve(NamedTuple):
    """One line: at each x, one value per run."""

    label: str
    x: Sequence[float]
    values: Sequence[Sequence[float] | Floats]
    style: Style


class Reference(NamedTuple):
    """A line that was not measured: theory, or a published number."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str = GREY


def panel(title: str, height: float = HEIGHT) -> tuple[Figure, Axes]:
    """An empty panel with its title."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    ax = figure.add_subplot()
    ax.set_title(title, loc="left", fontsize=10.0)
    return figure, ax


def plot(
    ax: Axes, curves: Sequence[Curve], references: Sequence[Reference], x: str, y: str, *, log: bool = True
) -> None:
    """Means with bars over 5-95 % of the runs, references dashed. The x axis is logarithmic, y if ``log``."""
    ends, heights = [], []
    for curve in curves:
        means = [float(np.mean(values)) for values in curve.values]
        low, high = np.transpose([np.quantile(np.asarray(values, float), BAND) for values in curve.values])
        colour, line, marker = curve.style
        ax.vlines(curve.x, low, high, color=colour, linewidth=1.0, alpha=0.7)
        ax.plot(
            curve.x,
            means,
            color=colour,
            linestyle=line,
            linewidth=1.4,
            marker=marker,
            markersize=4.5,
            label=curve.label,
        )
        ends.append((curve.x[-1], means[-1]))
        heights += [low, high]
    for label, along, values, colour in references:
        ax.plot(along, values, color=colour, linestyle="--", linewidth=1.0, label=label)
        ends.append((along[-1], values[-1]))
        heights.append(np.asarray(values, float))
    lines: list[Curve | Reference] = [*curves, *references]
    logarithmic(ax, "x", np.concatenate([np.asarray(line.x, float) for line in lines]))
    if log:
        logarithmic(ax, "y", np.concatenate(heights))
    colours = [curve.style.colour for curve in curves] + [reference.colour for reference in references]
    EndLabels(ax, ends, [line.label for line in lines], colours)
    finish(ax, x, y)


def mark(ax: Axes, x: float, text: str) -> None:
    """A vertical line with its name at the foot."""
    ax.axvline(x, color=GREY, linewidth=0.8, linestyle=":")
    ax.annotate(
        text,
        (x, 0.0),
        (-3.0, 4.0),
        xycoords=ax.get_xaxis_transform(),
        textcoords="offset points",
        ha="right",
        fontsize=7.5,
        color=GREY,
    )


def share_limits(axes: Sequence[Axes]) -> None:
    """Give all axes the limits that hold what each of them shows."""
    for axis in ("x", "y"):
        limits = np.array([getattr(ax, f"get_{axis}lim")() for ax in axes])
        for ax in axes:
            ax.set(**{f"{axis}lim": (limits[:, 0].min(), limits[:, 1].max())})


def subset(result: Result, labels: Sequence[str]) -> Result:
    """The result of these policies alone, in this order."""
    rows = [result.labels.index(label) for label in labels]
    settings = result.settings
    return replace(
        result,
        settings=replace(
            settings,
            policies=tuple(settings.policies[row] for row in rows),
            labels=tuple(labels),
            engines=tuple(settings.engines[row] for row in rows),
        ),
        regret=result.regret[rows],
        pulls=result.pulls[rows],
        draws=result.draws[rows],
        evaluations=result.evaluations[rows],
    )


def runs(result: Result) -> str:
    """How many runs, in words."""
    return f"{result.settings.runs} run{'s' if result.settings.runs > 1 else ''}"
