"""``thrifty export``: results as one table, for other programs."""

import argparse
from pathlib import Path
from typing import Any

from thrifty.cli.shared import add_problem, load, results

NAME = "results.parquet"


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "export",
        help="write results as one Parquet table",
        description="Write results as one table in long format: a row for each case, policy, run and "
        "checkpoint, with the settings as columns.",
        epilog="""\
examples:
  thrifty export night --parquet               # writes night/results.parquet
  thrifty export night --parquet night.parquet
  thrifty export out/paper.npz --parquet paper.parquet

and then, say, in DuckDB:
  select policy, avg(regret) from 'night.parquet' where t = horizon group by policy order by 2;""",
    )
    parser.add_argument(
        "source", metavar="DIR", type=Path, help="a folder with results, or one result (.npz)"
    )
    parser.add_argument(
        "--parquet",
        metavar="FILE",
        type=Path,
        nargs="?",
        required=True,
        help=f"the table to write; without FILE, {NAME} beside the results",
    )
    add_problem(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty.simulation import frame

    source = arguments.source
    folder = source if source.is_dir() else source.parent
    target = arguments.parquet or folder / NAME
    files = results(source)
    tables = [frame.to_frame(load(file, arguments.problem), case=file.stem) for file in files]
    rows = frame.write(tables, target)
    print(f"wrote {rows:,} rows of {len(files)} results to {target}")
