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
from report import ENOUGH, grouped

from thrifty.look import COLOURS, GREY
from thrifty.report.figures import save


def draw(record: Row, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    save(rounds(record["rounds"]), folder / "rounds.png")
    save(decisions(record["decisions"]), folder / "decisions.png")
    save(regret(record["regret"]), folder / "regret.png")
    save(growth(record["growth"]), folder / "growth.png")


def spoken(micros: float) -> str:
    """A time with its unit, in two digits.

    >>> spoken(0.25), spoken(3400.0), spoken(123456.0), spoken(2e6)
    ('250 ns', '3.4 ms', '120 ms', '2 s')
    """
    value, unit = next(
        (micros / size, unit)
        for unit, size in (("s", 1e6), ("ms", 1e3), ("µs", 1.0), ("ns", 1e-3))
        if micros >= size or unit == "ns"
    )
    return f"{float(f'{value:.2g}'):,.10g} {unit}"


def named(name: str, kind: str, rows: Sequence[Row], x: str = "arms") -> Curve | None:
    """The curve of some rows, if any of them was measured."""
    points = [(row[x], row["ns"] / 1e3) for row in rows if "ns" in row]
    beyond = [(row[x], row["extrapolated"]["ns"] / 1e3) for row in rows if "extrapolated" in row]
    if not points:
        return None
    end = f"≈ {spoken(beyond[-1][1])}" if beyond else spoken(points[-1][1])
    return Curve(f"{name}: {end}", kind, points, beyond)


def rounds(rows: Sequence[Row]) -> Figure:
    """A panel for each algorithm."""
    figure = Figure(figsize=(12.0, 7.6), layout="constrained")
    shown = [algorithm for algorithm in ALGORITHMS if algorithm != OTHER]
    for ax, algorithm in zip(figure.subplots(2, 2).flat, shown, strict=True):
        mine = [row for row in rows if row["algorithm"] == algorithm]
        found = [named(name, name, some) for (name,), some in grouped(mine, "contestant").items()]
        lines = [curve for curve in found if curve is not None]
        curves.draw(ax, lines, "arms K", "µs for one simulated round", algorithm)
    return figure


def decisions(rows: Sequence[Row]) -> Figure:
    figure = Figure(figsize=(9.0, 5.6), layout="constrained")
    found = [named(name, kind, mine) for (name, kind), mine in grouped(rows, "contestant", "library").items()]
    lines = [curve for curve in found if curve is not None]
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
        ax.plot(row["mean"], y, marker="o", color=colour, ms=5.0)
        if row["runs"] < ENOUGH:
            continue
        ax.plot([low, high], [y, y], color=colour, lw=2.0, alpha=0.5)
        ax.plot(middle, y, marker="|", color=colour, ms=9.0)
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
    figure = Figure(figsize=(16.0, 8.8), layout="constrained")
    axes = figure.subplot_mosaic(
        [["rounds", "decisions", "memory"], ["horizons", "decided", "."]],
        width_ratios=(1.0, 1.0, 0.85),
    )
    for part, x, words, title in (
        ("rounds", "arms", "arms K", "A simulated round"),
        ("decisions", "arms", "arms K", "A decision and its reward, from Python"),
        ("horizons", "horizon", "rounds T", f"The mean round of a run, K = {LONG}"),
        ("decided", "horizon", "decisions T", f"The mean of all decisions up to T, K = {LONG}"),
    ):
        some = [named(name, name, mine, x) for (name,), mine in grouped(found[part], "policy").items()]
        curves.draw(axes[part], [curve for curve in some if curve is not None], words, "µs", title)
    _memory(axes["memory"], found["memory"])
    return figure


def _memory(ax: Axes, rows: Sequence[Row]) -> None:
    lines = []
    for grows, words in (("arms", "against K"), ("horizon", "against T")):
        mine = [(row[grows], row["allocated"] / 1e6) for row in rows if row["grows"] == grows]
        lines.append(Curve(f"{words}: {number(mine[-1][1])} MB", words, mine))
    curves.draw(ax, lines, "arms K, or rounds T", "MB that simulate allocates", "Memory")
