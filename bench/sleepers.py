"""What a round of Thompson sampling costs on sleepers, beside scan and plain C.

    uv run python bench/sleepers.py [--quick]

prints seven tables, writes all figures to bench/results/sleepers.json and draws bench/results/sleepers.png.
What is measured, and how, is in bench/README.md. Compilation is never part of it.
"""

import argparse
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import Row, Run, compiled_c, equal, goal, machine, play_c, show, spread, versions, write
from single import clock_ns, first_problem, single_rounds, worse_cases
from sleepers_figure import draw

import thrifty
from thrifty.policies import Policy
from thrifty.problems import Problem

TS = thrifty.ThompsonSampling()
OTHERS: tuple[Policy, ...] = (
    TS, thrifty.ThompsonSampling("beta"), thrifty.ExpTS(),
    thrifty.EpsilonTS(), thrifty.EpsilonTS("beta"), thrifty.ExpTSPlus(),
    thrifty.TSTD(), thrifty.TSTD(alpha=0.5), thrifty.TSTD(law="beta"),
)  # fmt: skip
EPSILONS = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)
HORIZON = 10**6  # what TS-TD is told
SLICES = 10
GOALS = {10**5: (60, 100), 10**6: (400, 600)}  # times dense C, times scan


class Extent(NamedTuple):
    """How much is measured."""

    sizes: tuple[int, ...]
    repeats: int
    rounds: int
    draws: int  # of scan and of C, after each slice
    passes: int
    others: tuple[int, ...]
    small_rounds: int
    worse: int


FULL = Extent((20, 10**3, 10**4, 10**5, 10**6), 3, 10**6, 4 * 10**6, 3, (10**3, 10**5), 10**5, 10**6)
QUICK = Extent((20, 10**3, 10**4, 10**5), 1, 10**5, 10**6, 2, (10**3,), 2 * 10**4, 10**5)


def beside(
    policy: Policy,
    problem: Problem,
    rounds: int,
    draws: int,
    seed: int = 0,
    c: Callable[[int, int], float] | None = None,
) -> Row:
    """Sleepers play ``rounds`` rounds in slices; after each slice scan, and C if given, play some too.

    Scan goes on from where sleepers are, since the cost of a draw may depend on the state.
    """
    sleepers, scan = (
        Run(policy, problem, engine, horizon=max(HORIZON, 2 * rounds), seed=seed)
        for engine in ("sleepers", "scan")
    )
    arms = sleepers.rule.arms
    sleepers.begin()
    sleepers.play(1)  # compiled, and in memory
    before, some = sleepers.evaluations, max(1, draws // arms)
    ns: dict[str, list[float]] = {"sleepers": [], "scan": [], "c": []}
    for _ in range(SLICES):
        ns["sleepers"].append(sleepers.play(rounds // SLICES))
        scan.adopt(sleepers)
        scan.play(1)
        ns["scan"].append(scan.play(some))
        if c:
            ns["c"].append(c(arms, some))
    row: Row = {name: statistics.mean(values) for name, values in ns.items() if values}
    evaluations = (sleepers.evaluations - before) / (rounds // SLICES * SLICES)
    return row | {
        "policy": policy.label,
        "arms": arms,
        "rounds": rounds,
        "evaluations": evaluations,
        "evaluations_per_log": evaluations / math.log(arms),
        "times": row["scan"] / row["sleepers"],
        "slices": ns,
    }


def growth(extent: Extent, program: Path) -> list[Row]:
    """Gaussian Thompson sampling for growing K, on two problems: medians over the repeats."""

    def c(arms: int, rounds: int) -> float:
        return arms * play_c(program, arms, rounds)[0]

    rows = []
    for arms in extent.sizes:
        for name, problem in (("spread", spread(arms)), ("equal", equal(arms))):
            progress(f"K = {arms:,}, {name}")
            found = [
                beside(TS, problem, extent.rounds, extent.draws, seed, c) for seed in range(extent.repeats)
            ]
            for row in found:
                row["times_c"] = row["c"] / row["sleepers"]
            keys = ("sleepers", "scan", "c", "evaluations", "evaluations_per_log", "times", "times_c")
            rows.append(
                {"problem": name, "arms": arms, "rounds": extent.rounds}
                | {key: statistics.median(row[key] for row in found) for key in keys}
                | {"repeats": [{key: row[key] for key in keys} for row in found]}
            )
    return rows


def slope(rows: Sequence[Row]) -> float | None:
    """Of log cost against log K, from K = 1,000 on, on the first problem."""
    used = [row for row in rows if row["problem"] == "spread" and row["arms"] >= 1000]
    if len(used) < 2:
        return None
    x, y = (np.log([row[key] for row in used]) for key in ("arms", "sleepers"))
    return float(np.polyfit(x, y, 1)[0])


def compare(policies: Sequence[Policy], sizes: Sequence[int], extent: Extent, per_arm: int) -> list[Row]:
    """Each policy on both engines; with many arms, long enough for arms to be pulled again."""
    rows = []
    for policy in policies:
        for arms in sizes:
            progress(f"{policy.label}, K = {arms:,}")
            row = beside(policy, spread(arms), max(extent.small_rounds, per_arm * arms), extent.draws // 4)
            row.pop("slices")
            rows.append(row)
    return rows


def crossover(rows: Sequence[Row]) -> dict[str, int | None]:
    """For each policy the least K from which on sleepers are the faster ones."""
    found: dict[str, int | None] = {}
    for row in reversed(rows):
        label = row["policy"]
        found.setdefault(label, None)
        if row["times"] > 1.0 and found[label] in (None, 2 * row["arms"]):
            found[label] = row["arms"]
    return dict(reversed(found.items()))


def progress(text: str) -> None:
    print(f"{datetime.now(UTC):%H:%M:%S} {text}", file=sys.stderr, flush=True)


def show_growth(rows: Sequence[Row], steepness: float | None) -> None:
    cells = [
        [f"{r['problem']}, K = {r['arms']:,}", f"{r['evaluations']:.1f}", f"{r['evaluations_per_log']:.2f}"]
        + [f"{r[key]:,.0f}" for key in ("sleepers", "scan", "c")]
        + [f"{r[key]:,.1f}" for key in ("times", "times_c")]
        for r in rows
    ]
    most = max(r["evaluations_per_log"] for r in rows)
    notes = [goal(f"at most 5 ln K evaluations a round, here up to {most:.2f}", most <= 5.0)]
    for r in rows:
        if r["problem"] == "spread" and r["arms"] in GOALS:
            c, scan = GOALS[r["arms"]]
            met = r["times_c"] >= c and r["times"] >= scan
            notes.append(goal(f"at K = {r['arms']:,} {c} times as fast as C and {scan} times as scan", met))
    if steepness is not None:
        text = f"log cost rises at most 0.4 with log K from 1,000 on, here {steepness:.2f}"
        notes.append(goal(text, steepness <= 0.4))
    heading = (
        "problem",
        "evaluations",
        "/ ln K",
        "sleepers, ns",
        "scan",
        "C",
        "scan / sleepers",
        "C / sleepers",
    )
    show("1. Gaussian Thompson sampling: a round", heading, cells, *notes)


def show_single(rows: Sequence[Row]) -> None:
    cells = [
        [f"{r['arms']:,}"]
        + [f"{r['quantiles'][q] / 1e3:,.1f}" for q in ("median", "p99", "p99.9")]
        + [f"{r[key] / 1e3:,.1f}" for key in ("maximum", "maximum_by_the_clock")]
        + [f"{r['evaluations_maximum']:,}", _slowest(r)]
        for r in rows
    ]
    largest = rows[-1]["maximum"] / 1e6
    heading = (
        "K", "median, µs", "p99", "p99.9", "maximum", "with pauses", "most evaluations",
        "slowest: µs (evaluations)",
    )  # fmt: skip
    title = f"2. Single rounds, {rows[0]['rounds']:,} of them"
    text = f"no round takes 20 ms at K = {rows[-1]['arms']:,}, here {largest:.2f} ms"
    show(title, heading, cells, goal(text, largest < 20.0))


def _slowest(row: Row) -> str:
    return ", ".join(f"{s['ns'] / 1e3:,.0f} ({s['evaluations']:,})" for s in row["slowest"])


def show_parts(rows: Sequence[Row], clock: float) -> None:
    cells = [
        [f"{r['arms']:,}"] + [f"{ns:,.0f}" for ns in r["parts"].values()] + [f"{r['sweeping']:.0%}"]
        for r in rows
    ]
    heading = ("K", *rows[0]["parts"], "rounds that sweep")
    show(
        "3. Where the time of a round goes: ns",
        heading,
        cells,
        f"In each of them {clock:.0f} ns of the clock.",
    )


def show_others(rows: Sequence[Row]) -> None:
    cells = [
        [f"{r['policy']}, K = {r['arms']:,}"]
        + [f"{r[key]:,.1f}" for key in ("evaluations", "sleepers", "scan", "times")]
        for r in rows
    ]
    heading = ("policy", "evaluations", "sleepers, ns", "scan", "scan / sleepers")
    show("4. Other laws and schedules: a round", heading, cells)


def show_crossover(rows: Sequence[Row], found: dict[str, int | None]) -> None:
    sizes = sorted({r["arms"] for r in rows})
    times = {(r["policy"], r["arms"]): r["times"] for r in rows}
    auto = {policy.label: policy.fastest_from("sleepers") for policy in OTHERS}
    cells = [
        [label, *(f"{times[label, arms]:.2f}" for arms in sizes), str(arms_from or ""), str(auto[label])]
        for label, arms_from in found.items()
    ]
    heading = ("policy", *(f"K = {arms}" for arms in sizes), "from K =", 'engine="auto" from')
    show("5. Scan or sleepers: the time of scan / that of sleepers", heading, cells)


def show_epsilons(rows: Sequence[Row]) -> None:
    sizes = sorted({r["arms"] for r in rows})
    times = {(r["policy"], r["arms"]): r["times"] for r in rows}
    cells = [
        [label, *(f"{times[label, k]:.2f}" for k in sizes)] for label in dict.fromkeys(p for p, _ in times)
    ]
    heading = ("policy", *(f"K = {arms:,}" for arms in sizes))
    show("6. How large epsilon may be: the time of scan / that of sleepers", heading, cells)


def show_worse(rows: Sequence[Row]) -> None:
    cells = [
        [r["case"], f"{r['rounds']:,}"]
        + [f"{ns / 1e3:,.1f}" for ns in (r["mean"], r["quantiles"]["p99.9"], r["maximum"])]
        + [f"{r['evaluations_per_log']:,.2f}", f"{r['evaluations_maximum']:,}", f"{r['begin'] / 1e6:,.0f}"]
        for r in rows
    ]
    heading = (
        "case", "rounds", "mean, µs", "p99.9", "maximum", "evaluations / ln K", "most", "to begin, ms",
    )  # fmt: skip
    show(f"7. Worse cases, K = {rows[0]['arms']:,}", heading, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the sleepers engine; see bench/README.md.")
    parser.add_argument("--quick", action="store_true", help="a look: fewer rounds, K up to 10^5, no file")
    quick = parser.parse_args().quick
    extent = QUICK if quick else FULL
    made, load = datetime.now(UTC).isoformat(timespec="seconds"), os.getloadavg()
    with tempfile.TemporaryDirectory() as name:
        rows = growth(extent, compiled_c(Path(name)))
    show_growth(rows, steepness := slope(rows))
    singles = []
    for arms in extent.sizes[-2:]:
        progress(f"single rounds, K = {arms:,}")
        singles.append(single_rounds(first_problem(arms), extent.rounds, extent.passes))
    show_single(singles)
    show_parts(singles, clock := clock_ns())
    show_others(others := compare(OTHERS, extent.others, extent, per_arm=2))
    small = compare(OTHERS, [2**j for j in range(3, 11)], extent, per_arm=0)
    show_crossover(small, found := crossover(small))
    policies = [thrifty.EpsilonTS(epsilon=epsilon) for epsilon in EPSILONS]
    show_epsilons(epsilons := compare(policies, (64, 1024, 16384), extent, per_arm=0))
    worse = []
    for case, make, rounds in worse_cases(extent.worse):
        progress(case)
        worse.append({"case": case} | single_rounds(make, rounds, extent.passes))
    show_worse(worse)
    print(f"\nLoad before and after: {load[0]:.1f} and {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    if quick:
        return
    figures = {
        "made": made,
        "machine": machine(),
        "load": {"before": load, "after": os.getloadavg()},
        "versions": versions(),
        "growth": rows,
        "slope": steepness,
        "single_rounds": singles,
        "clock_ns": clock,
        "other_policies": others,
        "scan_or_sleepers": {"times": small, "sleepers_from": found},
        "epsilons": epsilons,
        "worse_cases": worse,
    }
    write("sleepers", figures)
    draw(figures)


if __name__ == "__main__":
    main()
