"""What indices that rise with time cost on the kinetic tournament, beside scan; and what a history costs.

    uv run python bench/indices.py [--quick]

prints two tables and writes their figures to bench/results/indices.json. What is measured, and how, is in
bench/README.md. Compilation is never part of it.
"""

import argparse
import os
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime

from common import Row, Run, machine, progress, show, spread, versions, write

import thrifty
from thrifty.engines import KINETIC_FROM, KINETIC_FROM_COSTLY
from thrifty.policies import Policy

CLOCKED: tuple[Policy, ...] = (
    thrifty.UCB1(), thrifty.UCB1Tuned(), thrifty.UCBV(), thrifty.KLUCB(), thrifty.BayesUCB(),
)  # fmt: skip
HISTORIC: tuple[Policy, ...] = (
    thrifty.NPTS(), thrifty.MultinomialTS(10), thrifty.DirichletSampling(), thrifty.IMED("bounded"),
)  # fmt: skip
PROBLEMS = {
    "Bernoulli": thrifty.Bernoulli([0.6, 0.5]),
    "continuous": thrifty.Beta([3.0, 2.5], [2.0, 2.5]),
}
LOOKED = 3 * 10**5  # arms that scan looks at in a slice


def clocked(policy: Policy, arms: int, rounds: int) -> Row:
    """Every arm is pulled once, then each engine plays on: kinetic all rounds, scan some at their end."""
    problem = spread(arms)
    kinetic, scan = (
        Run(policy, problem, engine, horizon=arms + 2 * rounds, prior=None) for engine in ("kinetic", "scan")
    )
    kinetic.play(arms)
    slices = [kinetic.play(rounds // 10) for _ in range(10)]
    scan.adopt(kinetic)
    scan.t = kinetic.t
    if scan.state.squares.size:
        scan.state.squares[:] = kinetic.state.squares
    scan.play(1)
    looks = [scan.play(max(2, min(rounds, LOOKED // arms))) for _ in range(5)]
    ns = {"kinetic": statistics.mean(slices), "scan": statistics.median(looks)}
    return (
        {"policy": policy.label, "arms": arms, "rounds": rounds} | ns | {"times": ns["scan"] / ns["kinetic"]}
    )


def historic(policy: Policy, name: str, horizon: int) -> Row:
    run = Run(policy, PROBLEMS[name], "scan", horizon=horizon, prior=None)
    run.play(2)
    ns = run.play(horizon - 2)
    return {
        "policy": policy.label,
        "problem": name,
        "horizon": horizon,
        "ns": ns,
        "seconds": ns * horizon / 1e9,
        "entries": int(run.state.spans[:, 1].sum()),
    }


def show_clocked(rows: Sequence[Row]) -> None:
    cells = [
        [f"{r['policy']}, K = {r['arms']:,}"]
        + [f"{r[key]:,.0f}" for key in ("scan", "kinetic")]
        + [f"{r['times']:.1f}"]
        for r in rows
    ]
    costly = f"KL-UCB and Bayes-UCB from {KINETIC_FROM_COSTLY}"
    note = f'engine="auto" takes kinetic from K = {KINETIC_FROM} on, {costly}.'
    heading = ("policy", "scan, ns", "kinetic, ns", "scan / kinetic")
    show("1. Indices that rise with time: a round", heading, cells, note)


def show_historic(rows: Sequence[Row]) -> None:
    cells = [
        [
            r["policy"],
            r["problem"],
            f"{r['horizon']:,}",
            f"{r['ns']:,.0f}",
            f"{r['seconds']:.2f}",
            f"{r['entries']:,}",
        ]
        for r in rows
    ]
    heading = ("policy", "rewards", "T", "ns a round", "seconds a run", "different rewards kept")
    show("2. Policies that keep every reward, two arms", heading, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure indices that rise with time; see bench/README.md.")
    parser.add_argument("--quick", action="store_true", help="a look: K up to 10^3, shorter runs, no file")
    quick = parser.parse_args().quick
    rows, histories = [], []
    for policy in CLOCKED:
        for arms in (16, 64, 256, 10**3) + (() if quick else (10**4, 10**5)):
            progress(f"{policy.label}, K = {arms:,}")
            rows.append(clocked(policy, arms, 10**4 if quick else 10**5))
    show_clocked(rows)
    for policy in HISTORIC:
        for name in PROBLEMS:
            for horizon in (10**3, 10**4) + (() if quick else (10**5,)):
                progress(f"{policy.label}, {name}, T = {horizon:,}")
                histories.append(historic(policy, name, horizon))
    show_historic(histories)
    if not quick:
        made = datetime.now(UTC).isoformat(timespec="seconds")
        found = {"made": made, "machine": machine(), "load": os.getloadavg(), "versions": versions()}
        write("indices", found | {"clocked": rows, "historic": histories})


if __name__ == "__main__":
    main()
