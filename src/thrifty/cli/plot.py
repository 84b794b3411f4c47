"""``thrifty plot``: draw the figures of result files again."""

import argparse
from pathlib import Path
from typing import Any

from thrifty.cli.shared import add_problem, draw, load, results
from thrifty.errors import FileError


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "plot",
        help="draw the figures of result files again",
        description="Draw the figures of result files again, as SVG and PNG, from the files alone.",
        epilog="""\
examples:
  thrifty plot out/paper.npz
  thrifty plot night                        # every result in the folder
  thrifty plot out/*.npz --out figures""",
    )
    parser.add_argument(
        "results",
        metavar="RESULT",
        type=Path,
        nargs="+",
        help="a result (.npz) of thrifty simulate or sweep, or a folder of them",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: beside each result")
    add_problem(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty import storage

    sources: dict[Path, Path] = {}
    for source in (file for given in arguments.results for file in results(given)):
        target = (arguments.out or source.parent) / source.name
        if sources.setdefault(target, source) != source:
            raise FileError(f"{sources[target]} and {source} would be drawn to the same files")
    for target, source in sources.items():
        result = load(source, arguments.problem)
        storage.writable(target.parent)
        print(f"wrote {', '.join(map(str, draw(result, target)))}")
