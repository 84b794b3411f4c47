"""``thrifty bounds``: what the theorems say about a problem."""

import argparse
from typing import Any

from thrifty.cli.shared import numbers, whole
from thrifty.table import aligned


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "bounds",
        help="evaluate the regret bounds for a problem",
        description="Evaluate the regret bounds of the paper, and ours, for Bernoulli means and a horizon.",
        epilog="""\
columns:
  regret           the bound on the regret at the horizon. A limit or first order is no bound
                   there: the ratio of the regret to it tends to 1 as T grows
  coefficient      what stands before growth/gap² in the bound on an arm's pulls, the largest of
                   all arms; of the lower bound, what stands before ln T in the regret
  not vacuous from the horizon from which it is below T times the largest gap
  draws            posterior draws in all: for TS-TD an upper bound, for ε-TS and Vanilla TS on
                   marks an expectation (at most)

docs/theory.md has every bound with its proof: sharp are Theorems B, C, D, I (ε-TS) and K (beta, for
rewards of 0 and 1), limit and first order E, F and G, anytime H, on marks J. Below the table: M, L and N.

examples:
  thrifty bounds --means 0.9,0.8 --horizon 1e6
  thrifty bounds --means 0.9,0.8,0.7 --horizon 1e8 --alpha 0,0.5,1""",
    )
    parser.add_argument("--means", type=numbers, required=True, metavar="A,B,...", help="one per arm")
    parser.add_argument("--horizon", type=whole(3), required=True, metavar="T", help="at least 3")
    parser.add_argument("--alpha", type=numbers, metavar="A,B,...", help="in [0, 1]; default: 0,1")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty.theory import remarks, table

    rows = table(arguments.means, arguments.horizon, arguments.alpha)
    if len(set(arguments.means)) == 1:
        print("all arms are equal: there is nothing to lose, and every bound is 0\n")
    heading = ("bound", "regret", "coefficient", "not vacuous from", "draws")
    print(aligned(heading, [(row.name, *map(_cell, row[1:])) for row in rows]))
    print(*("", *remarks(arguments.means, arguments.horizon, arguments.alpha)), sep="\n")


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    if 1e3 <= value < 1e9:
        return f"{value:,.0f}"
    return f"{value:.1f}" if 0.1 <= value < 1e3 else f"{value:.4g}"
