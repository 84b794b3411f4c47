"""``thrifty export``: results as one table, for other programs."""

import argparse
from pathlib import Path
from typing import Any

from thrifty.cli.shared import add_problem, load, open_store, results

NAME = "results.parquet"
COLUMNS = ("arm", "reward", "propensity", "time")  # of what the service logged


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "export",
        help="write results, or what the service logged, as one Parquet table",
        description="Write results as one table in long format: a row for each case, policy, run and "
        "checkpoint, with the settings as columns. Or, with --store, the decisions of an experiment of the "
        "service that have a reward, as thrifty replay reads them: arm, reward, propensity and time.",
        epilog="""\
examples:
  thrifty export night --parquet               # writes night/results.parquet
  thrifty export night --parquet night.parquet
  thrifty export out/paper.npz --parquet paper.parquet
  thrifty export colours --store sqlite:///thrifty.db --parquet colours.parquet

and then, say, in DuckDB:
  select policy, avg(regret) from 'night.parquet' where t = horizon group by policy order by 2;""",
    )
    parser.add_argument(
        "source", metavar="DIR", type=Path, help="a folder with results, one result (.npz), or an experiment"
    )
    parser.add_argument(
        "--parquet",
        metavar="FILE",
        type=Path,
        nargs="?",
        required=True,
        help=f"the table to write; without FILE, {NAME} beside the results",
    )
    parser.add_argument("--store", metavar="URL", help="the store of the service that has the experiment")
    add_problem(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty.simulation import frame

    if arguments.store is not None:
        _logged(arguments)
        return
    source = arguments.source
    folder = source if source.is_dir() else source.parent
    target = arguments.parquet or folder / NAME
    files = results(source)
    tables = [frame.to_frame(load(file, arguments.problem), case=file.stem) for file in files]
    rows = frame.write(tables, target)
    print(f"wrote {rows:,} rows of {len(files)} results to {target}")


def _logged(arguments: argparse.Namespace) -> None:
    from thrifty.simulation import frame

    store = open_store(arguments.store)
    from thrifty.serve.export import parts

    target = arguments.parquet or Path(NAME)
    kind = frame.library()
    tables = [kind.DataFrame(part) for part in parts(store, str(arguments.source))]
    rows = frame.write(tables or [kind.DataFrame({name: [] for name in COLUMNS})], target)
    store.close()
    print(f"wrote {rows:,} decisions of {arguments.source} to {target}")
