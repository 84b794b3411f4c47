"""What one online decision and one reward cost from Python, beside dense NumPy and other libraries.

    uv run python bench/online.py [--quick]

prints seven tables, writes all figures to bench/results/online.json and draws bench/results/online.png. What
is measured, and how, is in bench/README.md. Every contestant is a program in bench/peers, in a process of its
own; those of other libraries get environments of their own, which uv makes.
"""

import argparse
import os
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime

import run_figures
from common import HERE, Row, goal, machine, progress, show, write
from contestants import Entrant, entrants
from turns import Extent, compare

from thrifty.report.figures import save

BATCHES = (1, 10, 100, 1000, 10_000)
PAST = 100  # rewards of every arm, for a bandit that is not young any more
MILLION = 10**6


FULL = Extent((10**2, 10**3, 10**4, 10**5, MILLION), repeats=15, slice=0.05, limit=120.0)
QUICK = Extent((10**2, 10**3, 10**4), repeats=5, slice=0.02, limit=20.0)


def more(ours: Sequence[Entrant], arms: int, extent: Extent, calls: int) -> dict[str, list[Row]]:
    """What only thrifty is asked: batches, single calls, snapshots, bandits with a past."""
    found: dict[str, list[Row]] = {"batches": [], "calls": [], "snapshots": [], "past": []}
    for entrant in ours:
        progress(f"K = {arms:,}: {entrant.label}, batches, single calls, snapshots, a past")
        name: Row = {"contestant": entrant.label}
        many = [
            [entrant.must("many", batch=batch, seconds=extent.slice) for batch in BATCHES]
            for _ in range(extent.repeats)
        ]
        for column, batch in zip(zip(*many, strict=True), BATCHES, strict=True):
            medians = {part: statistics.median(row[part] for row in column) for part in column[0]}
            found["batches"].append(name | {"batch": batch} | medians)
        found["calls"].append(name | entrant.must("tail", rounds=calls))
        found["snapshots"].append(name | entrant.must("snapshot", repeats=5))
        entrant.must("begin", policy=entrant.policy, arms=arms, past=PAST)
        slices = [entrant.must("play", seconds=extent.slice) for _ in range(1 + extent.repeats)][1:]
        found["past"].append(name | {"past": PAST, "ns": statistics.median(slices)})
    return found


def micro(ns: float) -> str:
    return f"{ns / 1e3:,.2f}" if ns < 1e5 else f"{ns / 1e3:,.0f}"


def show_decisions(contest: Sequence[Entrant], sizes: Sequence[int]) -> None:
    def cell(row: Row) -> str:
        if "ns" in row:
            return micro(row["ns"])
        return f"≈ {micro(row['extrapolated']['ns'])}" if "extrapolated" in row else "failed"

    notes = [f"{entrant.label}: failed: {entrant.failure}" for entrant in contest if entrant.failure]
    notes += [f"{entrant.label}: {entrant.doubt}" for entrant in contest if entrant.doubt]
    notes += [
        f"{entrant.label}: not run at K = {row['arms']:,} (would take {row['would_take'] / 60.0:,.0f} min, "
        f"{row['extrapolated']['bytes'] / 1e9:,.1f} GB); "
        f"≈ is extrapolated from the K before."
        for entrant in contest
        for row in entrant.rows
        if "would_take" in row
    ]
    ours = contest[0].rows[-1]
    if ours["arms"] == MILLION and "ns" in ours:
        notes.append(goal("TS-MA in microseconds (below 10) at K = 1,000,000", ours["ns"] < 1e4))
    cells = [[entrant.label, *map(cell, entrant.rows)] for entrant in contest]
    show("1. One decision and one reward: µs", ("", *(f"K = {arms:,}" for arms in sizes)), cells, *notes)


def show_times(contest: Sequence[Entrant], sizes: Sequence[int]) -> None:
    base = contest[0]

    def times(row: Row, its: Row) -> float:
        return row["ns"] / its["ns"] if "ns" in row and "ns" in its else 0.0

    def cell(ratio: float) -> str:
        return "" if ratio == 0.0 else f"{ratio:,.1f}" if ratio < 100.0 else f"{ratio:,.0f}"

    ratios = {
        entrant.label: [times(row, its) for row, its in zip(entrant.rows, base.rows, strict=True)]
        for entrant in contest[1:]
    }
    notes = []
    for entrant in contest:
        if entrant.library == "numpy" and sizes[-1] == MILLION:
            ratio = ratios[entrant.label][-1]
            text = f"{base.label} at least 2,000 times as fast as {entrant.label} at K = 1,000,000"
            notes.append(goal(f"{text}, here {ratio:,.0f}", ratio >= 2000.0))
    cells = [[label, *map(cell, row)] for label, row in ratios.items()]
    heading = ("", *(f"K = {arms:,}" for arms in sizes))
    show(f"2. The same, in times of {base.label}", heading, cells, *notes)


def show_more(found: dict[str, list[Row]], ours: Sequence[Entrant], arms: int) -> None:
    heading = ["", "batch", "select_many", "update_many, lists", "update_many, arrays"]
    cells = [
        [row["contestant"], f"{row['batch']:,}"]
        + [micro(row[part]) for part in ("select", "lists", "arrays")]
        for row in found["batches"]
    ]
    show(f"3. Many at once, K = {arms:,}: µs for each decision", heading, cells)
    heading = ["", "50 %", "99 %", "99.9 %", "longest"]
    cells = [
        [f"{row['contestant']}: {call}()", *map(micro, row[call])]
        for row in found["calls"]
        for call in ("select", "update")
    ]
    show(f"4. Single calls, K = {arms:,}: µs that a caller waits", heading, cells)
    heading = ["", "young", f"{PAST} rewards of every arm"]
    cells = [
        [entrant.label, micro(entrant.rows[-1]["ns"]), micro(row["ns"])]
        for entrant, row in zip(ours, found["past"], strict=True)
    ]
    show(f"5. Young and grown, K = {arms:,}: µs for a decision and a reward", heading, cells)
    heading = ["", "save, s", "load, s", "file, MB"]
    cells = [
        [row["contestant"], f"{row['save']:.2f}", f"{row['load']:.2f}", f"{row['bytes'] / 1e6:,.1f}"]
        for row in found["snapshots"]
    ]
    longest = max(max(row["save"], row["load"]) for row in found["snapshots"])
    notes = [goal(f"about a second, here at most {longest:.2f}", longest <= 1.2)] if arms == MILLION else []
    show(f"6. Snapshots, K = {arms:,}", heading, cells, *notes)


def show_memory(contest: Sequence[Entrant], arms: int) -> None:
    def cells(row: Row) -> list[str]:
        if "bytes" not in row:
            return ["not run" if "would_take" in row else "failed", "", ""]
        return [f"{row['bytes'] / 1e6:,.1f}", f"{row['bytes'] / arms:,.0f}", f"{row['begin']:.2f}"]

    rows = [[entrant.label, *cells(entrant.rows[-1])] for entrant in contest]
    heading = ("", "peak, MB", "bytes an arm", "s to begin")
    show(f"7. Memory of a bandit and its first decision, K = {arms:,}", heading, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure online decisions; see bench/README.md.")
    parser.add_argument("--quick", action="store_true", help="a look: fewer repeats, K up to 10^4, no files")
    quick = parser.parse_args().quick
    extent = QUICK if quick else FULL
    made, load, contest = datetime.now(UTC).isoformat(timespec="seconds"), os.getloadavg(), entrants()
    for entrant in contest:
        progress(f"{entrant.label}: its environment, and a check of its decisions")
        entrant.check()
    largest = extent.sizes[-1]
    for arms in extent.sizes:
        compare(contest, arms, extent)
        for entrant in contest:
            if entrant.library != "thrifty" or arms < largest:
                entrant.close()
    ours = [entrant for entrant in contest if entrant.library == "thrifty" and not entrant.failure]
    found = more(ours, largest, extent, calls=5_000 if quick else 50_000)
    for entrant in ours:
        entrant.close()
    show_decisions(contest, extent.sizes)
    show_times(contest, extent.sizes)
    show_more(found, ours, largest)
    show_memory(contest, largest)
    print(f"\nLoad before and after: {load[0]:.1f} and {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    if quick:
        return
    figures = {
        "made": made,
        "machine": machine(),
        "load": {"before": load, "after": os.getloadavg()},
        "versions": {entrant.label: entrant.versions for entrant in contest},
        "decisions": [row for entrant in contest for row in entrant.rows],
        "arms_of_the_rest": largest,
    }
    write("online", figures | found)
    drawn = [{"library": entrant.library} | row for entrant in contest for row in entrant.rows]
    save(run_figures.decisions(drawn), HERE / "results" / "online.png")


if __name__ == "__main__":
    main()
