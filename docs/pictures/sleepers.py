"""The picture of docs/sleepers.md: one round of the sleepers engine, with ten arms.

    uv run python docs/pictures/sleepers.py

Everything in it is computed: the rates by the laws, the points and the awake arm's draw by the generator.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from thrifty.laws import gaussian
from thrifty.look import COLOURS
from thrifty.numerics import random
from thrifty.report import figures

LEVEL = 1.0
MEANS = (0.62, 0.85, 0.60, 0.58, 1.00, 0.82, 0.49, 0.79, 0.34, 0.62)
DEVIATIONS = (0.30, 0.35, 0.22, 0.42, 0.45, 0.28, 0.36, 0.25, 0.40, 0.33)
SEED = 1218  # a round with points of every kind
LEFT, RIGHT = -0.6, 2.05  # the indices shown
SIGNAL, AWAKE = COLOURS[1], COLOURS[4]
GROUP = {1: COLOURS[0], 2: COLOURS[2], 3: COLOURS[3], 4: COLOURS[5]}
SMALL, TEXT = 8.5, 9.5


class Interval(NamedTuple):
    """An arm's place on the line."""

    arm: int
    group: int
    start: float
    width: float
    rate: float


class Point(NamedTuple):
    """A point of the process, the interval that it falls into, and how far into it."""

    place: float
    interval: Interval
    way: float

    @property
    def wakes(self) -> bool:
        return self.way < self.interval.rate

    @property
    def value(self) -> float:
        arm = self.interval.arm
        return float(gaussian.isf(MEANS[arm], DEVIATIONS[arm], -math.expm1(-self.way)))


def rate(arm: int) -> float:
    return -math.log1p(-gaussian.sf(MEANS[arm], DEVIATIONS[arm], LEVEL))


def group(arm: int) -> int:
    """0 if awake, else g with 2^-(g+1) <= rate < 2^-g."""
    return max(0, -math.frexp(rate(arm))[1])


def colour(arm: int) -> str:
    return GROUP.get(group(arm), AWAKE)


def line() -> list[Interval]:
    """The arms that are asleep, in order of their groups."""
    intervals, start = [], 0.0
    for arm in sorted(range(len(MEANS)), key=group):
        if group(arm) > 0:
            intervals.append(Interval(arm, group(arm), start, 0.5 ** group(arm), rate(arm)))
            start += intervals[-1].width
    return intervals


def points(intervals: list[Interval], rng: np.ndarray) -> list[Point]:
    """A Poisson process of unit rate over the line."""
    found, place = [], random.exponential(rng)
    for interval in intervals:
        while place < interval.start + interval.width:
            found.append(Point(place, interval, place - interval.start))
            place += random.exponential(rng)
    return found


def draw_rates(ax: Axes) -> None:
    """Every arm's density, and the part of it above the level."""
    x = np.linspace(LEFT, RIGHT, 500)
    for arm, (mean, deviation) in enumerate(zip(MEANS, DEVIATIONS, strict=True)):
        base = -arm
        height = 0.28 / deviation * np.exp(-0.5 * ((x - mean) / deviation) ** 2)
        ax.fill_between(x, base, base + height, color="0.93", linewidth=0)
        ax.fill_between(x, base, base + height, where=x >= LEVEL, color=colour(arm), linewidth=0)
        ax.plot(x, base + height, color="0.45", linewidth=0.8)
        ax.text(LEFT - 0.02, base, f"arm {arm}", ha="right", fontsize=SMALL, color="0.25")
        words = f"{rate(arm):.2f}   " + ("awake" if group(arm) == 0 else f"group {group(arm)}")
        ax.text(RIGHT + 0.05, base, words, fontsize=SMALL, color="0.1")
    ax.text(RIGHT + 0.05, 0.95, "rate", fontsize=SMALL, color="0.1")
    ax.set_ylim(-len(MEANS) + 0.75, 1.75)
    level(ax, "level c")
    title(ax, "a", "Rates: the coloured area is P(draw > c), and rate = −ln P(draw ≤ c)")


def draw_line(ax: Axes, intervals: list[Interval], process: list[Point]) -> None:
    """Intervals end to end, the rates on them, and the points."""
    end = intervals[-1].start + intervals[-1].width
    for interval in intervals:
        ax.barh(
            0, interval.width, left=interval.start, height=1, align="edge", color="0.93", edgecolor="0.35"
        )
        ax.barh(
            0,
            interval.rate,
            left=interval.start,
            height=1,
            align="edge",
            color=colour(interval.arm),
            alpha=0.85,
        )
        middle = interval.start + interval.width / 2
        ax.text(middle, -0.28, str(interval.arm), ha="center", va="top", fontsize=SMALL, color="0.25")
    for g in GROUP:
        members = [interval for interval in intervals if interval.group == g]
        left, right = members[0].start, members[-1].start + members[-1].width
        ax.plot(
            [left + 0.01, right - 0.01], [-1.15, -1.15], color=GROUP[g], linewidth=3, solid_capstyle="butt"
        )
        words = f"group {g}: 1/{2**g} for each arm" if g < 3 else f"{g}: 1/{2**g}"
        ax.text((left + right) / 2, -1.4, words, ha="center", va="top", fontsize=SMALL, color="0.1")
    ax.text(-0.02, -0.28, "arm", ha="right", va="top", fontsize=SMALL, color="0.25")
    before = 0.0
    for point in process:
        arrow = {"arrowstyle": "->", "color": "0.35", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (point.place, 1.95), (before, 1.95), arrowprops=arrow)
        ax.plot([point.place] * 2, [0.5, 1.95], color="0.35", linewidth=0.7, linestyle=(0, (2, 2)))
        mark(ax, point.place, 0.5, point.wakes)
        before = point.place
    ax.text(0, 2.25, "the gaps between points are Exp(1)", fontsize=SMALL, color="0.25")
    ax.set_xlim(-0.09, end + 0.03)
    ax.set_ylim(-2.3, 2.9)
    ax.set_xlabel("length along the line", fontsize=TEXT)
    mark(ax, 1.16 * end / 2, 2.45, True)
    ax.text(1.16 * end / 2 + 0.025, 2.45, "on the rate: the arm wakes", va="center", fontsize=SMALL)
    mark(ax, 1.62 * end / 2, 2.45, False)
    ax.text(1.62 * end / 2 + 0.025, 2.45, "beside it: nothing", va="center", fontsize=SMALL)
    title(ax, "b", "The line: the arms that are asleep, and one Poisson process over all of them")


def draw_values(ax: Axes, process: list[Point], awake: dict[int, float]) -> None:
    """What was drawn, and who wins."""
    values = [(point.value, point.interval.arm) for point in process if point.wakes]
    values += [(value, arm) for arm, value in awake.items()]
    asleep = len(MEANS) - len({arm for _, arm in values})
    ax.axvspan(LEFT, LEVEL, ymin=0.04, ymax=0.96, color="0.93")
    words = f"the other {asleep} arms are somewhere here:\nnot drawn, for they cannot win"
    ax.text(LEFT + 0.03, 0.5, words, va="center", fontsize=SMALL, color="0.25")
    best = max(values)
    for value, arm in values:
        winner = (value, arm) == best
        ax.plot(
            value,
            0.38,
            "*" if winner else "o",
            markersize=17 if winner else 8,
            color=colour(arm),
            markeredgecolor="black",
            markeredgewidth=0.8,
        )
        words = f"arm {arm} wins" if winner else f"arm {arm}" + (" (awake)" if arm in awake else "")
        ax.text(value, 0.7, words, ha="center", fontsize=SMALL, weight="bold" if winner else "normal")
    ax.set_ylim(0, 1.05)
    level(ax, "")
    title(ax, "c", "Values: a point at a distance e into its interval is the draw isf(1 − exp(−e))")
    ax.set_xlabel("index", fontsize=TEXT)


def mark(ax: Axes, x: float, y: float, wakes: bool) -> None:
    if wakes:
        ax.plot(x, y, "o", color="black", markersize=7.5, clip_on=False)
    else:
        ax.plot(x, y, "X", color="white", markeredgecolor="black", markersize=8, clip_on=False)


def level(ax: Axes, words: str) -> None:
    ax.set_xlim(LEFT - 0.2, RIGHT + 0.37)
    ax.set_xticks(np.arange(-0.5, 2.1, 0.5))
    ax.axvline(LEVEL, color=SIGNAL, linewidth=1.6, linestyle=(0, (6, 1.5)))
    ax.text(LEVEL - 0.02, 1.3, words, ha="right", fontsize=TEXT, color=SIGNAL, weight="bold")


def title(ax: Axes, letter: str, words: str) -> None:
    ax.set_title(f"{letter}   {words}", loc="left", fontsize=TEXT + 0.5, weight="bold")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_yticks([])
    ax.tick_params(labelsize=SMALL)


def picture() -> Figure:
    rng = random.generator(SEED)
    intervals = line()
    process = points(intervals, rng)
    awake = {
        arm: gaussian.draw(MEANS[arm], DEVIATIONS[arm], rng) for arm in range(len(MEANS)) if group(arm) == 0
    }
    figure = Figure(figsize=(9.0, 8.6))
    figure.set_layout_engine("constrained", hspace=0.05)
    top, middle, bottom = figure.subplots(3, 1, height_ratios=(4.6, 2.3, 1.05))
    draw_rates(top)
    draw_line(middle, intervals, process)
    draw_values(bottom, process, awake)
    return figure


if __name__ == "__main__":
    figures.save(picture(), Path(__file__).parent.parent / "sleepers.png")
