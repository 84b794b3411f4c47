"""``thrifty compare``: which policy of a result is better, and how sure that is."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thrifty.cli.shared import add_problem, load, results

if TYPE_CHECKING:
    from thrifty.simulation.result import Result


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "compare",
        help="compare policies of a result, run by run, with intervals",
        description="Compare two policies of a result run by run: the difference of their regret, with an "
        "interval for each t and one for all t at once. Without policies: a ranking of all.",
        epilog="""\
examples:
  thrifty compare out/paper.npz
  thrifty compare night                     # every result in the folder
  thrifty compare out/paper.npz "TS-MA-0" "TS (Gaussian)"
  thrifty compare out/paper.npz "TS-MA-0" "TS (Gaussian)" --plot difference.png

Policies are named as in the summary of the result, or by the call that makes them: "TSMA(alpha=0.8)".""",
    )
    parser.add_argument(
        "result",
        metavar="RESULT",
        type=Path,
        help="a result (.npz) of thrifty simulate or sweep, or a folder of them",
    )
    parser.add_argument("policies", metavar="POLICY", nargs="*", help="two of them, by name")
    parser.add_argument("--level", type=float, default=0.95, metavar="P", help="default: %(default)s")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the difference (.png, .svg or .pdf)")
    add_problem(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty.errors import InvalidValue

    named = arguments.policies
    if len(named) not in (0, 2):
        raise InvalidValue(f"policies must be two, or none for a ranking, got {len(named)}")
    if arguments.plot and not named:
        raise InvalidValue("--plot draws the difference of two policies: name them")
    files = results(arguments.result)
    if arguments.plot and len(files) > 1:
        raise InvalidValue(f"--plot draws one result, and {arguments.result} has {len(files)}: name one")
    for file in files:
        if len(files) > 1:
            print(f"{file.stem}\n" if file is files[0] else f"\n{file.stem}\n")
        _compare(load(file, arguments.problem), named, arguments.level, arguments.plot)


def _compare(result: "Result", named: list[str], level: float, plot: Path | None) -> None:
    from thrifty.simulation.comparison import FEW

    if not named:
        print(f"{result.ranking(level)}\n")
        if result.settings.runs >= FEW:
            print(f"{result.settings.runs} runs; all intervals and ranks together hold at {100 * level:g} %")
        return
    first, second = named
    difference = result.compare(first, second, level)
    print(difference)
    if plot:
        from thrifty.report import difference as figure

        print(f"\nwrote {figure.draw(difference, plot)}")
