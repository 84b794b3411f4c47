"""thrifty beside what one would use instead, and beside what the machine can do: everything in one run.

    uv run python bench/run.py            # about 25 minutes; bench/report.md, bench/results/*.png, runs.json
    uv run python bench/run.py --quick    # a look in some minutes; the same files in out/bench
    uv run python bench/run.py --report   # no measurement: the pages and figures again, from the last record

What is measured, and how, is in bench/README.md; docs/performance.md explains the figures. A peer that cannot
be installed, fails or takes too long is shown as such, with the reason. Each run is kept in runs.json.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import cold
import growth
import history
import limit
import regrets
import rounds
import turns
from common import HERE, Row, machine, progress, versions
from contestants import Entrant, entrants, peers
from pages import publish

import thrifty

THOUSAND, MILLION = 10**3, 10**6


class Extent(NamedTuple):
    """How much is measured, part by part."""

    draws: int  # of the check of a posterior
    rounds: turns.Extent
    regret: regrets.Extent
    decisions: turns.Extent
    limit: limit.Extent
    growth: growth.Extent
    cold: cold.Extent


FULL = Extent(
    draws=4000,
    rounds=turns.Extent((20, THOUSAND, 10**5), repeats=5, slice=0.1, limit=30.0),
    regret=regrets.Extent(horizon=10**4, runs=50, seconds=30.0),
    decisions=turns.Extent((10, 10**2, THOUSAND, 10**4, 10**5, MILLION), repeats=7, slice=0.05, limit=60.0),
    limit=limit.Extent((THOUSAND, 10**4, 10**5, MILLION), 7, seconds=0.3, draws=10**7, rounds=MILLION),
    growth=growth.Extent(
        sizes=(10, 10**2, THOUSAND, 10**4, 10**5, MILLION),
        horizons=(THOUSAND, 10**4, 10**5, MILLION),
        repeats=5,
        seconds=0.2,
        limit=30.0,
        large=(10, 10**2, THOUSAND, 10**4, 10**5, MILLION),
        long=(10**4, 10**5, MILLION, 10**7),
    ),
    cold=cold.Extent(("tournament", "scan", "sleepers", "kinetic"), repeats=7),
)
QUICK = Extent(
    draws=1000,
    rounds=turns.Extent((20, THOUSAND), repeats=3, slice=0.02, limit=3.0),
    regret=regrets.Extent(horizon=2000, runs=10, seconds=1.5),
    decisions=turns.Extent((10, 10**2, THOUSAND, 10**4), repeats=3, slice=0.02, limit=3.0),
    limit=limit.Extent((THOUSAND, 10**5), 3, seconds=0.02, draws=MILLION, rounds=10**5),
    growth=growth.Extent(
        sizes=(10, 10**2, THOUSAND, 10**4, 10**5),
        horizons=(THOUSAND, 10**4, 10**5),
        repeats=3,
        seconds=0.02,
        limit=1.0,
        large=(10**2, 10**5),
        long=(10**4, MILLION),
    ),
    cold=cold.Extent(("tournament",), repeats=3),
)


def prepare() -> None:
    """Compile here, where it shows, what would else be compiled within somebody's limit of time."""
    progress("kernels that are not in the cache yet are compiled first, which takes some minutes")
    problem = thrifty.Bernoulli([0.9] + [0.8] * 999)
    policies = [thrifty.TSMA(), thrifty.ThompsonSampling(), thrifty.UCB1()]
    thrifty.simulate(policies, problem, horizon=1000, runs=1)
    thrifty.simulate(policies, problem, horizon=1000, runs=1, engine="scan")
    for policy in policies:
        for engine in policy.runs_on:
            bandit = thrifty.Bandit(policy, arms=2, prior=(0.5, 1.0), engine=engine)
            bandit.update(bandit.select(), 1.0)


def measure(record: Row, extent: Extent, path: Path) -> None:
    """Fill the record part by part; what has been measured is kept whatever happens later."""
    began = time.perf_counter()
    for part in (simulated_rounds_and_regret, decisions, the_rest):
        part(record, extent)
        record["minutes"] = (time.perf_counter() - began) / 60.0
        record["load"]["after"] = os.getloadavg()
        history.keep(path, record)


def simulated_rounds_and_regret(record: Row, extent: Extent) -> None:
    """Library by library: all policies of one in one process."""
    record["rounds"] = rounds.ours(extent.rounds)
    record["regret"] = {"horizon": extent.regret.horizon, "rows": regrets.ours(extent.regret)}
    record["libraries"] = {}
    before: Entrant | None = None
    for entrant in peers():
        if before is not None and before.library == entrant.library:
            before.hand_over(entrant)
        elif before is not None:
            before.close()
        before = entrant
        progress(f"{entrant.label}, {entrant.algorithm}: its environment, and a check of its decisions")
        entrant.check(extent.draws)
        record["rounds"] += rounds.theirs(entrant, extent.rounds)
        note(record, entrant)  # before it is asked about regret, where it may do better
        record["regret"]["rows"].append(regrets.theirs(entrant, extent.regret))
        note(record, entrant)
    if before is not None:
        before.close()


def decisions(record: Row, extent: Extent) -> None:
    """One by one, all contestants by turns. Memory of a million arms is measured in fresh processes."""
    contest = entrants()
    for entrant in contest:
        progress(f"{entrant.label}: a check of its decisions")
        entrant.check(extent.draws)
    for arms in extent.decisions.sizes:
        if arms == MILLION:
            close(contest)
        turns.compare(contest, arms, extent.decisions)
    close(contest)
    for entrant in contest:
        note(record, entrant)
    record["decisions"] = [
        {"library": entrant.library, "doubt": entrant.doubt} | rounds.shortened(row)
        for entrant in contest
        for row in entrant.rows
    ]


def note(record: Row, entrant: Entrant) -> None:
    """What is known about a library: versions, the least seconds of imports, bytes, the first failure."""
    known = record["libraries"].setdefault(entrant.library, {"versions": {}, "failure": ""})
    known["versions"] = known["versions"] or entrant.versions
    known["failure"] = known["failure"] or entrant.failure
    if entrant.environment:
        seconds = entrant.environment["seconds"]
        known["bytes"] = entrant.environment["bytes"]
        known["seconds"] = min(seconds, known.get("seconds", seconds))


def close(contest: Sequence[Entrant]) -> None:
    for entrant in contest:
        entrant.close()


def the_rest(record: Row, extent: Extent) -> None:
    record["limit"] = limit.limits(extent.limit)
    record["growth"] = growth.growth(extent.growth)
    record["cold"] = cold.cold(extent.cold)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure thrifty and its peers; see bench/README.md.")
    parser.add_argument("--quick", action="store_true", help="a look in some minutes, written to out/bench")
    parser.add_argument("--report", action="store_true", help="write pages and figures from the last record")
    asked = parser.parse_args()
    folder = HERE.parent / "out" / "bench" if asked.quick else HERE
    path = folder / "results" / "runs.json"
    if not asked.report:
        prepare()
        record: Row = {
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": "uv run python bench/run.py" + (" --quick" if asked.quick else ""),
            "machine": machine(),
            "load": {"before": os.getloadavg()},
            "versions": versions(),
        }
        measure(record, QUICK if asked.quick else FULL, path)
    kept = history.whole(path)
    if not kept:
        sys.exit(f"there is no whole record in {os.path.relpath(path)}: run without --report first")
    publish(kept[-1], folder)


if __name__ == "__main__":
    main()
