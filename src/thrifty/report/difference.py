"""The figure of a comparison: the difference of two policies' regret against time, with both intervals."""

import os
from pathlib import Path

from matplotlib.figure import Figure

from thrifty.look import GREY
from thrifty.report.figures import plain, save
from thrifty.report.scale import logarithmic
from thrifty.simulation.comparison import Difference

BLUE = "#1f5fa8"


def draw(difference: Difference, path: str | os.PathLike[str]) -> Path:
    """Write the figure; returns where."""
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()
    t, percent = difference.checkpoints, f"{100 * difference.level:g} %"
    at_once = f"{percent}, all t at once"
    axes.fill_between(t, *difference.band, color=BLUE, alpha=0.15, linewidth=0, label=at_once)
    axes.fill_between(t, *difference.interval, color=BLUE, alpha=0.3, linewidth=0, label=f"{percent}, each t")
    axes.plot(t, difference.mean, color=BLUE, label="mean over the runs")
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    logarithmic(axes, "x", t.astype(float))
    axes.set_xlabel("t")
    axes.set_ylabel("difference of regret")
    axes.set_title(plain(f"{difference.first} minus {difference.second}"), fontsize=10.5)
    axes.legend(frameon=False, loc="best")
    axes.spines[["top", "right"]].set_visible(False)
    return save(figure, path)
