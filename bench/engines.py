"""How fast the engines are, beside plain C where that is fair.

    uv run python bench/engines.py [--quick]

prints five tables and writes all figures to bench/results/engines.json. What is measured, and how, is in
bench/README.md. Nanoseconds are processor time; compilation is never part of them.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import thrifty
from thrifty.engines import TOURNAMENT_FROM
from thrifty.engines.state import new_state, new_trace, policy_stream, reward_stream
from thrifty.policies import Policy
from thrifty.simulation.plan import plan
from thrifty.table import aligned

HERE = Path(__file__).parent
FLAGS = ["-O3", "-march=native", "-ffp-contract=off"]  # the last: the same rounding as the kernels
COMMITTED: tuple[Policy, ...] = (thrifty.TSMA(), thrifty.KLUCBPlusPlus())
PRIOR = (0.5, 1.0)  # no initial pulls: a million of them would be a benchmark of their own

Row = dict[str, Any]


def problem(arms: int) -> thrifty.Bernoulli:
    return thrifty.Bernoulli([0.9] + [0.8] * (arms - 1))


def slices(
    policy: Policy, arms: int, engine: str, rounds: int, prior: tuple[float, float] | None
) -> Iterator[tuple[float, float]]:
    """Play one run on and on, a slice of ``rounds`` rounds at a time: (ns of a round, regret so far).

    The horizon is far away, because from n = T/K pulls on the index of KL-UCB++ is the mean, at no cost.
    """
    ready = plan(policy, problem(arms), horizon=10**7 * arms, prior=prior, engine=engine)
    rule, play, kernel = ready.stages[0][0][1], ready.plays[0], ready.settings.problem.kernel()
    state = new_state(rule, policy_stream(0, 0), engine)
    trace, rewards = new_trace(ready.checkpoints), reward_stream(0, 0)
    start = 1 if prior else arms  # the kernel compiled, the state in memory, the initial pulls made
    delays = ready.settings.delay.late(0, 0)
    play(rule, state, kernel, rewards, delays, trace, 0, start, prior is not None)
    while True:
        began = time.thread_time_ns()
        play(rule, state, kernel, rewards, delays, trace, start, start + rounds, False)
        yield (time.thread_time_ns() - began) / rounds, trace.total[0]
        start += rounds


def ns_of_next(run: Iterator[tuple[float, float]]) -> float:
    return next(run)[0]


def interleaved(contestants: Sequence[Callable[[], float]], repeats: int) -> list[list[float]]:
    """A B A B ...: what disturbs the machine for a while disturbs all of them."""
    figures: list[list[float]] = [[] for _ in contestants]
    for _ in range(repeats):
        for measure, found in zip(contestants, figures, strict=True):
            found.append(measure())
    return figures


def compiled_c(folder: Path) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        sys.exit(
            "bench/engines.py needs a C compiler named cc, and there is none "
            "(Debian: apt install gcc libc6-dev; macOS: xcode-select --install)"
        )
    program = folder / "dense"
    subprocess.run([compiler, *FLAGS, "-o", program, HERE / "dense.c", "-lm"], check=True)
    return program


def dense(program: Path, arms: int, draws: int, repeats: int) -> Row:
    """Gaussian Thompson sampling: ns per posterior draw, whole rounds, scan and C by turns."""
    rounds = draws // arms
    words = [str(word) for stream in (policy_stream, reward_stream) for word in stream(0, 0)]
    regrets = set()

    def scan() -> float:
        ns, regret = next(slices(thrifty.ThompsonSampling(), arms, "scan", rounds, prior=None))
        regrets.add(regret)
        return ns / arms

    def c() -> float:
        command = [str(program), str(arms), str(arms + rounds), *words]
        ns, regret = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        regrets.add(float(regret))
        return float(ns)

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
            runs = [slices(policy, arms, name, rounds, PRIOR) for name in engines]
            figures = interleaved([partial(ns_of_next, run) for run in runs], repeats)
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
import thrifty
policies = [thrifty.ThompsonSampling(), thrifty.TSMA(0.8), thrifty.KLUCBPlusPlus()]
problem = thrifty.Bernoulli([0.9] + [0.8] * 19)
thrifty.simulate(policies, problem, horizon=100, runs=1, workers=1)
tracemalloc.start()
thrifty.simulate(policies, problem, horizon=int(sys.argv[1]), runs=1, workers=1)
peak = tracemalloc.get_traced_memory()[1]
print(json.dumps([peak, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def memory(horizons: Sequence[int]) -> list[Row]:
    """The peak of what ``simulate`` allocates, and of the whole process, for growing horizons."""
    rows = []
    for horizon in horizons:
        peak, resident = child(MEMORY, str(horizon))
        unit = 1 if sys.platform == "darwin" else 1024  # in which ru_maxrss counts
        rows.append({"horizon": horizon, "allocated": peak, "resident": resident * unit})
    return rows


STARTUP = """
import json, time
marks = [time.perf_counter()]
def mark(): marks.append(time.perf_counter())
import numpy; mark()
import numba; mark()
import scipy.special; mark()
import thrifty; mark()
few, many = (thrifty.Bernoulli([0.9] + [0.8] * k) for k in (9, 999))
thrifty.simulate(thrifty.ThompsonSampling(), few, horizon=1000, runs=1); mark()
thrifty.simulate(thrifty.TSMA(), many, horizon=1000, runs=1); mark()
thrifty.simulate(thrifty.ThompsonSampling(), few, horizon=1000, runs=1); mark()
print(json.dumps([b - a for a, b in zip(marks, marks[1:])]))
"""
STAGES = ("import numpy", "import numba", "import scipy.special", "import thrifty, the rest",
          "first simulate (scan)", "first simulate (tournament)", "simulate again")  # fmt: skip


def startup(folder: Path, repeats: int) -> dict[str, list[float]]:
    """Seconds of a first process, with nothing compiled yet, and of later ones (the median)."""
    places = {"NUMBA_CACHE_DIR": str(folder / "numba"), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    first, *later = (child(STARTUP, **places) for _ in range(1 + repeats))
    return {"first": first, "later": [statistics.median(stage) for stage in zip(*later, strict=True)]}


def child(program: str, *arguments: str, **places: str) -> Any:
    """Run a program in a fresh interpreter that may keep its bytecode, as installed ones do."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True, stdout=subprocess.PIPE, text=True, env=inherited | places,
    )  # fmt: skip
    return json.loads(done.stdout)


def machine() -> Row:
    names = [line for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": names[0].split(": ")[1] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(pages / 2**30, 1),
        "system": platform.system(),
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def versions() -> dict[str, str]:
    compiler = subprocess.run(["cc", "--version"], check=True, capture_output=True, text=True).stdout
    packages = ("thrifty", "numba", "llvmlite", "numpy", "scipy")
    return {"python": platform.python_version(), "cc": compiler.splitlines()[0]} | {
        p: version(p) for p in packages
    }


def show(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]], *notes: str) -> None:
    print(f"\n{title}\n\n{aligned(heading, rows)}\n", *notes, sep="\n", flush=True)


def goal(text: str, met: bool) -> str:
    return f"Goal: {text}: {'met' if met else 'MISSED'}."


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


def show_startup(seconds: dict[str, list[float]]) -> None:
    cells = [[s, f"{a:.2f}", f"{b:.2f}"] for s, a, b in zip(STAGES, *seconds.values(), strict=True)]
    met = goal(
        "a later process starts simulate in under a second, its imports apart", seconds["later"][4] < 1.0
    )
    show("5. Start-up: seconds", ("stage", "first process", "later ones"), cells, met)


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
        show_memory(
            peaks := memory([horizon for horizon in (10**4, 10**6, 10**7) if horizon <= 10 * largest])
        )
        show_startup(seconds := startup(Path(name), repeats=2 if quick else 5))
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
        "seconds": {process: dict(zip(STAGES, row, strict=True)) for process, row in seconds.items()},
    }
    target = HERE / "results" / "engines.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(figures, indent=1) + "\n")
    print(f"Figures: {os.path.relpath(target)}")


if __name__ == "__main__":
    main()
