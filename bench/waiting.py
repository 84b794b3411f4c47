"""What a user would wait for: some runs of every policy, K = 20 and T = 10^6, and so 100 of them.

    uv run python bench/waiting.py [--name NAME]

prints a table, longest first, and keeps the figures as one more column of bench/results/waiting.json, under
the name of the state of the code, "now" if none is given: what a change gained stays on record. Only public
names of thrifty are used, so that the file runs with older states of it too. Compilation is not part of it.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import thrifty
from thrifty.policies import Policy
from thrifty.table import aligned

ARMS, HORIZON, RUNS = 20, 10**6, 100
FEW = 3  # runs that are measured
PROBLEM = thrifty.Bernoulli([0.9] + [0.8] * (ARMS - 1))
POLICIES: tuple[Policy, ...] = (
    thrifty.ThompsonSampling(), thrifty.ThompsonSampling("beta"), thrifty.ThompsonSampling("gamma"),
    thrifty.EpsilonTS(), thrifty.EpsilonTS("beta"), thrifty.ExpTS(), thrifty.ExpTSPlus(),
    thrifty.TSMA(), thrifty.TSMA(alpha=0.5, law="beta"), thrifty.TSTD(), thrifty.TSTD(alpha=0.5, law="beta"),
    thrifty.MOTS(), thrifty.MOTSJ(), thrifty.MaillardSampling(), thrifty.KLMS(), thrifty.NPTS(),
    thrifty.MultinomialTS(10), thrifty.DirichletSampling(), thrifty.UCB1(), thrifty.UCB1Tuned(),
    thrifty.UCBV(), thrifty.KLUCB(), thrifty.KLUCBPlusPlus(), thrifty.MOSS(), thrifty.BayesUCB(),
    thrifty.AdaUCB(), thrifty.IMED(), thrifty.IMED("bounded"), thrifty.DMED(), thrifty.UCBImproved(),
)  # fmt: skip
FILE = Path(__file__).parent / "results" / "waiting.json"


def seconds(policy: Policy) -> float:
    """Of processor time, for one run: the mean of a few."""
    thrifty.simulate(policy, PROBLEM, horizon=100, runs=1)  # compiled, if it was not
    found = thrifty.simulate(policy, PROBLEM, horizon=HORIZON, runs=FEW, seed=1, workers=1)
    return float(found.provenance["seconds"][0]) / FEW


def table(records: dict[str, Any]) -> str:
    """A row for each policy: the time of all runs, by every state of the code that was measured."""
    last = [*records.values()][-1]["seconds"]
    rows = [
        (label, *(f"{RUNS * r['seconds'][label]:,.0f}" for r in records.values()))
        for label in sorted(last, key=last.__getitem__, reverse=True)
    ]
    totals = [f"{RUNS * sum(r['seconds'].values()):,.0f}" for r in records.values()]
    heading = (f"seconds of one core for {RUNS} runs, K = {ARMS}, T = {HORIZON:,}", *records)
    return aligned(heading, [*rows, ("all of them", *totals)])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", default="now", help="of the state of the code that is measured")
    name = parser.parse_args(arguments).name
    found = {}
    for policy in POLICIES:
        print(f"\r{policy.label:<40}", end="", file=sys.stderr, flush=True)
        found[repr(policy)] = seconds(policy)
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    records = json.loads(FILE.read_text()) if FILE.exists() else {}
    made = datetime.now(UTC).isoformat(timespec="seconds")
    records[name] = {"made": made, "cores": os.cpu_count(), "load": os.getloadavg(), "seconds": found}
    FILE.write_text(json.dumps(records, indent=1) + "\n")
    print(table(records))


if __name__ == "__main__":
    main()
