"""``thrifty reproduce``: the paper, claim by claim."""

import argparse
import sys
from pathlib import Path
from typing import Any

from thrifty.cli.shared import whole


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "reproduce",
        help="reproduce the paper: figures, claims, theorems",
        description="Reproduce the paper: simulate its experiments, draw its figures, and judge its claims.",
        epilog="""\
It writes report.html, claims.json, figures/ and results/ to the folder. Interrupted, the same command goes
on where it stopped: what is in results/ is not simulated again, only the experiment that was cut off.

--only takes some of: figure1, figure2, figure3, grid, growth, arms, bounded, worst-case, cost, theory

examples:
  thrifty reproduce
  thrifty reproduce --only figure2,figure3
  thrifty reproduce --full --out out/full""",
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="few runs, in about two minutes (the default)")
    size.add_argument(
        "--full", action="store_true", help="more runs: 100 at T = 10^5, 20 at 10^6, 10 at 10^7"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out/reproduction"), metavar="DIR", help="default: %(default)s"
    )
    parser.add_argument("--seed", type=whole(0), default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--workers", type=whole(1), metavar="N", help="default: one for each core")
    parser.add_argument(
        "--only",
        type=lambda text: [name.strip() for name in text.split(",")],
        metavar="NAME,...",
        help="some of it",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty.paper.reproduce import reproduce

    shown = sys.stderr.isatty()
    page = reproduce(
        arguments.out,
        full=arguments.full,
        seed=arguments.seed,
        workers=arguments.workers,
        only=arguments.only,
        progress=shown,
        note=lambda line: None if shown else print(f"thrifty: {line}", file=sys.stderr, flush=True),
    )
    print(f"wrote {page}")
