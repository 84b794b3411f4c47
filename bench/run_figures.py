"""The figures of bench/run.py, drawn from a record."""

from collections.abc import Sequence
from pathlib import Path

import curves
from common import Row
from contestants import ALGORITHMS, OTHER
from curves import Curve
from growth import LONG
from markdown import number
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from report import grouped

from thrifty.report.figures import save
from thrifty.report.style import COLOURS, GREY


def draw(record: Row, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    save(rounds(record["rounds"]), folder / "rounds.png")
    save(decisions(record["decisions"]), folder / "decisions.png")
    save(regret(record["regret"]), folder / "regret.png")
    save(growth(record["growth"]), folder / "growth.png")


def spoken(micros: float) -> str:
    """A time with its unit.

    >>> spoken(0.25), spoken(3400.0), spoken(2e6)
    ('250 ns', '3.4 ms', '2 s')
    """
    for unit, size in (("s", 1e6), ("ms", 1e3), ("µs", 1.0)):
        if micros >= size:
            return f"{micros / size:.2g} {unit}"
    return f"{micros * 1e3:.3g} ns"


def points(rows: Sequence[Row], x: str) -> list[tuple[float, float]]:
    return [(row[x], row["ns"] / 1e3) for row in rows if "ns" in row]


def named(name: str, kind: str, found: Sequence[tuple[float, float]]) -> Curve:
    return Curve(f"{name}: {spoken(found[-1][1])}", kind, found)


def rounds(rows: Sequence[Row]) -> Figure:
    """A panel for each algorithm."""
    shown = [algorithm for algorithm in ALGORITHMS if algorithm != OTHER]
    figure = Figure(figsize=(12.0, 7.6), layout="constrained")
    for ax, algorithm in zip(figure.subplots(2, 2).flat, shown, strict=True):
        lines = []
        for (name, kind), mine in grouped(rows, "contestant", "algorithm").items():
            if kind == algorithm and (found := points(mine, "arms")):
                lines.append(named(name, name, found))
        curves.draw(ax, lines, "arms K", "µs for one simulated round", algorithm)
    return figure


def decisions(rows: Sequence[Row]) -> Figure:
    figure = Figure(figsize=(9.0, 5.6), layout="constrained")
    lines = [
        named(name, library, found)
        for (name, library), mine in grouped(rows, "contestant", "library").items()
        if (found := points(mine, "arms"))
    ]
    curves.draw(figure.subplots(), lines, "arms K", "µs for one decision and one reward, from Python")
    return figure


def regret(found: Row) -> Figure:
    """Mean and quantiles of every contestant, algorithm by algorithm."""
    rows = [row for row in found["rows"] if "failed" not in row]
    rows.sort(key=lambda row: ALGORITHMS.index(row["algorithm"]))
    figure = Figure(figsize=(9.0, 1.2 + 0.27 * len(rows)), layout="constrained")
    ax = figure.subplots()
    for y, row in enumerate(rows):
        low, middle, high = row["quantiles"]
        ours = row["contestant"].startswith("thrifty")
        colour = COLOURS[0] if ours else COLOURS[1] if row.get("doubt") else GREY
        ax.plot([low, high], [y, y], color=colour, lw=2.0, alpha=0.5)
        ax.plot(middle, y, marker="|", color=colour, ms=9.0)
        ax.plot(row["mean"], y, marker="o", color=colour, ms=5.0)
        if row["stuck"]:
            ax.annotate(
                f"{row['stuck']:.0%} stuck",
                (1.01, y),
                xycoords=("axes fraction", "data"),
                fontsize=8,
                va="center",
            )
    labels = [f"{row['algorithm']}: {row['contestant']}{' †' if row.get('doubt') else ''}" for row in rows]
    ax.set_yticks(range(len(rows)), labels, fontsize=8)
    ax.invert_yaxis()
    ax.set_xlim(left=0.0)
    ax.set_xlabel(
        f"regret at T = {found['horizon']:,}: mean (dot), median, 5 to 95 % of the runs; "
        "† not the posterior that it should be",
        fontsize=8.5,
    )
    ax.grid(axis="x", color="0.92", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def growth(found: Row) -> Figure:
    """Against K, against T, and memory."""
    figure = Figure(figsize=(15.0, 4.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.0, 1.0, 0.7))
    for ax, rows, x, words in (
        (left, found["rounds"], "arms", "arms K"),
        (middle, found["horizons"], "horizon", "rounds T"),
    ):
        lines = [named(name, name, points(mine, x)) for (name,), mine in grouped(rows, "policy").items()]
        title = "A simulated round" if x == "arms" else f"The mean round of a run, K = {LONG}"
        curves.draw(ax, lines, words, "µs", title)
    _memory(right, found["memory"])
    return figure


def _memory(ax: Axes, rows: Sequence[Row]) -> None:
    lines = []
    for grows, words in (("arms", "against K"), ("horizon", "against T")):
        mine = [(row[grows], row["allocated"] / 1e6) for row in rows if row["grows"] == grows]
        lines.append(Curve(f"{words}: {number(mine[-1][1])} MB", words, mine))
    curves.draw(ax, lines, "arms K, or rounds T", "MB that simulate allocates", "Memory")
