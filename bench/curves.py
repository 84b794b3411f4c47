"""Curves on logarithmic axes, each with its name at its end."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from thrifty.look import COLOURS, GREY
from thrifty.report.labels import EndLabels
from thrifty.report.scale import logarithmic
from thrifty.report.style import LINES, MARKERS, Style

Points = Sequence[tuple[float, float]]
MANY = (*COLOURS, GREY, "#7A4A1E")  # one for each library


class Curve(NamedTuple):
    """A name, what it belongs to (curves of one kind share a colour), and points (x, y)."""

    label: str
    kind: str
    points: Points
    beyond: Points = ()  # extrapolated, not measured: a thin dotted line


def looks(kinds: Sequence[str]) -> list[Style]:
    """A colour for each kind; curves of one kind differ in line and marker, and so do kinds with one curve.

    >>> [look.colour == MANY[0] for look in looks(["a", "a", "b"])]
    [True, True, False]
    """
    order, used = list(dict.fromkeys(kinds)), Counter[str]()
    chosen = []
    for kind in kinds:
        place = order.index(kind)
        variant = used[kind] if len(order) < len(kinds) else place
        chosen.append(
            Style(MANY[place % len(MANY)], LINES[variant % len(LINES)], MARKERS[variant % len(MARKERS)])
        )
        used[kind] += 1
    return chosen


def draw(ax: Axes, curves: Sequence[Curve], x: str, y: str, title: str = "") -> None:
    every = np.array([point for curve in curves for point in (*curve.points, *curve.beyond)], float)
    logarithmic(ax, "x", every[:, 0])
    logarithmic(ax, "y", every[:, 1])
    chosen = looks([curve.kind for curve in curves])
    for curve, look in zip(curves, chosen, strict=True):
        ax.plot(
            *np.array(curve.points, float).T,
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            ms=4.0,
            lw=1.4,
        )
        if curve.beyond:
            ax.plot(*np.array([curve.points[-1], *curve.beyond], float).T, color=look.colour, ls=":", lw=0.8)
    ends = [(*curve.points, *curve.beyond)[-1] for curve in curves]
    EndLabels(ax, ends, [curve.label for curve in curves], [look.colour for look in chosen])
    ax.set_xlabel(x, fontsize=9.0)
    ax.set_ylabel(y, fontsize=9.0)
    ax.set_title(title, fontsize=10.0)
    ax.tick_params(labelsize=8.0)
    ax.grid(axis="y", color="0.92", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
