"""How fast the engines are, beside plain C where that is fair.

    uv run python bench/engines.py [--quick]

prints five tables and writes all figures to bench/results/engines.json. What is measured, and how, is in
bench/README.md. Nanoseconds are processor time; compilation is never part of them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from common import Row, Run, compiled_c, equal, goal, interleaved, machine, play_c, show, versions, write

import thrifty
from thrifty.engines import TOURNAMENT_FROM
from thrifty.policies import Policy

COMMITTED: tuple[Policy, ...] = (thrifty.TSMA(), thrifty.KLUCBPlusPlus())


def far(arms: int) -> int:
    """A horizon far away, because from n = T/K pulls on the index of KL-UCB++ is the mean, at no cost."""
    return 10**7 * arms


def dense(program: Path, arms: int, draws: int, repeats: int) -> Row:
    """Gaussian Thompson sampling: ns per posterior draw, whole rounds, scan and C by turns."""
    rounds = draws // arms
    regrets = set()

    def scan() -> float:
        run = Run(thrifty.ThompsonSampling(), equal(arms), "scan", horizon=far(arms), prior=None)
        run.play(arms)
        ns = run.play(rounds)
        regrets.add(run.regret)
        return ns / arms

    def c() -> float:
        ns, regret = play_c(program, arms, rounds)
        regrets.add(regret)
        return ns

    scan_ns, c_ns = interleaved([scan, c], repeats)
    if len(regrets) > 1:
        sys.exit(f"bench/dense.c and the scan engine must play the same game, got the regrets {regrets}")
    ratios = [a / b for a, b in zip(scan_ns, c_ns, strict=True)]
    return {
        "arms": arms,
        "scan": statistics.median(scan_ns),
        "c": statistics.median(c_ns),
        "ratio": statistics.median(ratios),
        "ratio_least": min(ratios),
        "ratio_of_least": min(scan_ns) / min(c_ns),
        "repeats": repeats,
    }


def committed(sizes: Sequence[int], scan_up_to: int, repeats: int, rounds: int) -> list[Row]:
    """TS-MA and KL-UCB++: ns per round, on the tournament and, where that is bearable, on scan."""
    rows = []
    for arms in sizes:
        for policy in COMMITTED:
            engines = ("scan", "tournament") if arms <= scan_up_to else ("tournament",)
            runs = [Run(policy, equal(arms), name, horizon=far(arms)) for name in engines]
            for run in runs:
                run.begin()
                run.play(1)  # the kernel compiled, the state in memory
            figures = interleaved([partial(run.play, rounds) for run in runs], repeats)
            row: Row = {"policy": policy.label, "arms": arms}
            for name, ns in zip(engines, figures, strict=True):
                row[name] = statistics.median(ns)
                row[f"{name}_least"] = min(ns)
            rows.append(row)
    return rows


def crossover(rows: Sequence[Row]) -> dict[str, int | None]:
    """For each policy the least K from which on the tournament is the faster one."""
    found: dict[str, int | None] = {}
    for label in dict.fromkeys(row["policy"] for row in rows):
        found[label] = None
        for row in reversed([row for row in rows if row["policy"] == label]):
            if row["tournament"] >= row["scan"]:
                break
            found[label] = row["arms"]
    return found


MEMORY = """
import json, resource, sys, tracemalloc
from pathlib import Path
import thrifty
policies = [thrifty.ThompsonSampling(), thrifty.TSMA(0.8), thrifty.KLUCBPlusPlus()]
arms, horizon = map(int, sys.argv[1:])
problem = thrifty.Bernoulli([0.9] + [0.8] * (arms - 1))
thrifty.simulate(policies, problem, horizon=100, runs=1, workers=1, prior=(0.5, 1.0))  # kernels are loaded
tracemalloc.start()
thrifty.simulate(policies, problem, horizon=horizon, runs=1, workers=1, prior=(0.5, 1.0))
peak = tracemalloc.get_traced_memory()[1]
status = Path("/proc/self/status")  # of this process alone: ru_maxrss begins with the peak of its parent
if status.exists():
    resident = 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
else:
    unit = 1 if sys.platform == "darwin" else 1024
    resident = unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([peak, resident]))
"""


def memory(arms: int, horizon: int) -> Row:
    """The peak of what ``simulate`` allocates, and of the whole process."""
    peak, resident = child(MEMORY, str(arms), str(horizon))
    return {"arms": arms, "horizon": horizon, "allocated": peak, "resident": resident}


def child(program: str, *arguments: str) -> Any:
    """What a program answers in a fresh interpreter."""
    command = [sys.executable, "-c", program, *arguments]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def show_dense(rows: Sequence[Row]) -> None:
    cells = [
        [str(r["arms"])] + [f"{r[k]:.2f}" for k in ("scan", "c", "ratio", "ratio_least", "ratio_of_least")]
        for r in rows
    ]
    heading = ("K", "scan", "C", "ratio: median", "least", "of the least times")
    met = all(r["ratio"] <= 1.5 for r in rows)
    title = "1. Gaussian Thompson sampling: ns per posterior draw"
    show(title, heading, cells, goal("at most 1.5 times C (median ratio)", met))


def show_rounds(rows: Sequence[Row]) -> None:
    cells = [[f"{r['policy']}, K = {r['arms']:,}", _ns(r.get("scan")), _ns(r["tournament"])] for r in rows]
    ns = {(r["policy"], r["arms"]): r["tournament"] for r in rows}
    label, notes = COMMITTED[0].label, []
    if (label, 10**6) in ns:
        growth = ns[label, 10**6] / ns[label, 1000]
        notes = [
            goal(f"{label} below 1500 ns at K = 1,000,000", ns[label, 10**6] < 1500),
            goal(f"and at most 12 times its cost at K = 1,000, here {growth:.1f}", growth <= 12),
        ]
    show("2. Committed policies: ns per round", ("policy", "scan", "tournament"), cells, *notes)


def _ns(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def show_crossover(rows: Sequence[Row], found: dict[str, int | None]) -> None:
    cells = [[f"{r['policy']}, K = {r['arms']}", _ns(r["scan"]), _ns(r["tournament"])] for r in rows]
    notes = [f"{label}: the tournament is faster from K = {arms} on." for label, arms in found.items()]
    notes.append(f'engine="auto" takes it from K = {TOURNAMENT_FROM} on.')
    show("3. Scan or tournament: ns per round", ("policy", "scan", "tournament"), cells, *notes)


def show_memory(rows: Sequence[Row]) -> None:
    cells = [
        [f"{r['horizon']:,}", f"{r['allocated'] / 1e3:,.0f}", f"{r['resident'] / 1e6:,.1f}"] for r in rows
    ]
    grown = rows[-1]["allocated"] / rows[0]["allocated"]
    heading = ("horizon", "allocated by simulate, kB", "whole process, MB")
    met = goal(f"no growth with the horizon, here {grown:.2f} times from first to last", grown < 1.5)
    show("4. Memory at K = 20: peak", heading, cells, met)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the engines; see bench/README.md.")
    parser.add_argument("--quick", action="store_true", help="a look: fewer repeats, K up to 10^5, no file")
    quick = parser.parse_args().quick
    repeats, rounds, largest = (5, 10**4, 10**5) if quick else (21, 10**5, 10**6)
    made, load = datetime.now(UTC).isoformat(timespec="seconds"), os.getloadavg()
    with tempfile.TemporaryDirectory() as name:
        program = compiled_c(Path(name))
        show_dense(draws := [dense(program, arms, 100 * rounds, repeats) for arms in (20, 1000)])
        sizes = [arms for arms in (20, 10**3, 10**5, 10**6) if arms <= largest]
        show_rounds(large := committed(sizes, 10**3, repeats, rounds))
        small = committed([2**j for j in range(1, 9)], 256, repeats, rounds)
        show_crossover(small, found := crossover(small))
        horizons = [horizon for horizon in (10**4, 10**6, 10**7) if horizon <= 10 * largest]
        show_memory(peaks := [memory(20, horizon) for horizon in horizons])
    print(f"\nLoad before and after: {load[0]:.1f} and {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    if quick:
        return
    figures = {
        "made": made,
        "machine": machine(),
        "load": {"before": load, "after": os.getloadavg()},
        "versions": versions(),
        "ns_per_draw": draws,
        "ns_per_round": large,
        "scan_or_tournament": {"ns_per_round": small, "tournament_from": found},
        "bytes": peaks,
    }
    write("engines", figures)


if __name__ == "__main__":
    main()
