"""Curves on logarithmic axes, each with its name at its end."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from thrifty.report.labels import EndLabels
from thrifty.report.scale import logarithmic
from thrifty.report.style import styles


class Curve(NamedTuple):
    """A name, what it belongs to (curves of one kind share a colour if there are many), and points (x, y)."""

    label: str
    kind: str
    points: Sequence[tuple[float, float]]


def draw(ax: Axes, curves: Sequence[Curve], x: str, y: str, title: str = "") -> None:
    drawn = [np.array(curve.points, float) for curve in curves]
    every: NDArray[np.float64] = np.concatenate(drawn)
    logarithmic(ax, "x", every[:, 0])
    logarithmic(ax, "y", every[:, 1])
    looks = styles([curve.kind for curve in curves])
    for points, look in zip(drawn, looks, strict=True):
        ax.plot(*points.T, color=look.colour, linestyle=look.line, marker=look.marker, ms=4.0, lw=1.4)
    ends = [points[-1] for points in drawn]
    EndLabels(ax, ends, [curve.label for curve in curves], [look.colour for look in looks])
    ax.set(xlabel=x, ylabel=y)
    ax.set_title(title, fontsize=10.0)
    ax.grid(axis="y", color="0.92", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
