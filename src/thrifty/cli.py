"""The command line. A command is one function that describes it and one that does it.

Commands import what they need when they run, so that ``--help`` and a mistyped option are answered at once.
"""

import argparse
import dataclasses
import io
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from thrifty.engines import ENGINES
from thrifty.errors import FileError, InvalidValue, ThriftyError

if TYPE_CHECKING:
    from thrifty.policies import Policy
    from thrifty.simulation.result import Result


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0 if all went well, 2 after a user's mistake, which takes one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where ε cannot be printed it becomes ?
    try:
        arguments = _parser().parse_args(argv)
        arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has seen enough: no more output, no complaint
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ThriftyError, OSError, MemoryError) as error:
        print(f"thrifty: error: {_message(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("thrifty: interrupted", file=sys.stderr)
        return 130
    return 0


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}"
    return str(error)


class _Parser(argparse.ArgumentParser):
    """Help keeps its line breaks, and a wrong argument is told in one line like every other mistake."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def error(self, message: str) -> NoReturn:
        raise InvalidValue(f"{message} (see {self.prog} --help)")


def _parser() -> _Parser:
    parser = _Parser(
        prog="thrifty",
        description="Simulate bandit policies that spend posterior draws only where they matter.",
        epilog="""\
examples:
  thrifty policies
  thrifty simulate experiments/paper.toml
  thrifty plot out/paper.npz

thrifty COMMAND --help tells more about a command.""",
    )
    parser.add_argument("--version", action="version", version=f"thrifty {version('thrifty')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for describe in (_describe_policies, _describe_simulate, _describe_plot):
        describe(commands)
    return parser


# ---- thrifty policies ----


def _describe_policies(commands: Any) -> None:
    parser = commands.add_parser(
        "policies",
        help="list the policies",
        description="List the policies that a spec can name.",
        epilog="""\
columns:
  law       the distributions that an arm's index can be drawn from
  schedule  when it is drawn; "index": it is a function of the arm's statistics instead
  engine    how the arm with the largest index can be found (--engine of thrifty simulate)

example:
  thrifty policies""",
    )
    parser.set_defaults(run=_policies)


def _policies(_: argparse.Namespace) -> None:
    from thrifty.policies import POLICIES

    table: list[tuple[str, ...]] = [("name", "law", "schedule", "engine", "citation")]
    for name, policy in POLICIES.items():
        engines = ", ".join(policy.engines)
        table.append((name, _laws(policy), policy.schedule, engines, policy.citation))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    table.insert(1, tuple("─" * width for width in widths))
    for row in table:
        print("  ".join(map(str.ljust, row, widths)).rstrip())


def _laws(policy: "type[Policy]") -> str:
    from thrifty.laws import CODES
    from thrifty.policies import LAWS

    if policy.schedule == "index":
        return "–"
    if any(field.name == "law" for field in dataclasses.fields(policy)):
        return ", ".join(LAWS)
    return list(CODES)[policy().rule(arms=1, horizon=1).law]


# ---- thrifty simulate ----


def _describe_simulate(commands: Any) -> None:
    parser = commands.add_parser(
        "simulate",
        help="run the experiment of a TOML file",
        description="Run the experiment of a TOML file: print its summary, write its result and figure.",
        epilog="""\
a spec:
  horizon = 100000
  runs = 40
  seed = 1
  [problem]
  kind = "bernoulli"
  means = [0.9, 0.8, 0.8]
  [[policies]]
  name = "TSMA"
  alpha = 0.8
and if need be prior = [mean, weight], engine = "scan", checkpoints = [1000, 10000]

examples:
  thrifty simulate experiments/paper.toml
  thrifty simulate experiments/paper.toml --runs 4 --horizon 1e4 --out quick

The same spec and seed give the same numbers, however many workers there are.""",
    )
    parser.add_argument("spec", metavar="SPEC.toml", type=Path, help="the experiment")
    parser.add_argument("--runs", type=_whole(1), metavar="N", help="instead of the spec's")
    parser.add_argument("--horizon", type=_whole(1), metavar="T", help="instead of the spec's")
    parser.add_argument("--seed", type=_whole(0), metavar="N", help="instead of the spec's")
    parser.add_argument("--engine", choices=("auto", *ENGINES), help="instead of the spec's")
    parser.add_argument("--workers", type=_whole(1), metavar="N", help="default: one for each core")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("out"),
        metavar="DIR",
        help="the folder for SPEC.npz (data), SPEC.json (provenance), SPEC.svg and SPEC.png; "
        "those of an earlier run are replaced; default: %(default)s",
    )
    parser.set_defaults(run=_simulate)


def _simulate(arguments: argparse.Namespace) -> None:
    from thrifty.simulation.spec import Spec, located

    spec = Spec.load(arguments.spec)
    given = {key: getattr(arguments, key) for key in ("runs", "horizon", "seed", "engine")}
    spec = dataclasses.replace(spec, **{key: it for key, it in given.items() if it is not None})
    with located(f"{arguments.spec}: "):
        spec.plan()
    _make_folder(arguments.out)
    from thrifty.report import figures  # before the work: it says so if matplotlib is missing

    result = spec.simulate(arguments.workers, progress=sys.stderr.isatty())
    data = result.save(arguments.out / f"{arguments.spec.stem}.npz")
    files = [data, data.with_suffix(".json"), *_draw(result, data)]
    print(f"{figures.setting(result)}; seed {result.settings.seed}\n\n{result.summary()}\n")
    print(f"wrote {', '.join(map(str, files))}")


def _whole(at_least: int) -> Callable[[str], int]:
    """Reads a whole number, which may be written like 1e6."""

    def read(text: str) -> int:
        try:
            number = int(text) if text.isdecimal() else float(text)
            if at_least <= number == int(number):
                return int(number)
        except (ValueError, OverflowError):  # no number; nan and inf
            pass
        raise argparse.ArgumentTypeError(f"must be a whole number from {at_least} up, got {text!r}")

    return read


def _make_folder(folder: Path) -> None:
    """Make sure, before hours of work, that their results can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise FileError(f"cannot make or write to the folder {folder}: {error.strerror}") from None


def _draw(result: "Result", data: Path) -> list[Path]:
    """Write the figure of a result, named like its data file."""
    from thrifty.report import figures

    figure = figures.overview(result)
    return [figures.save(figure, data.with_suffix(suffix)) for suffix in (".svg", ".png")]


# ---- thrifty plot ----


def _describe_plot(commands: Any) -> None:
    parser = commands.add_parser(
        "plot",
        help="draw the figures of result files again",
        description="Draw the figures of result files again, as SVG and PNG, from the files alone.",
        epilog="""\
examples:
  thrifty plot out/paper.npz
  thrifty plot out/*.npz --out figures""",
    )
    parser.add_argument(
        "results", metavar="RESULT.npz", type=Path, nargs="+", help="written by thrifty simulate"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: beside each result")
    parser.set_defaults(run=_plot)


def _plot(arguments: argparse.Namespace) -> None:
    from thrifty.simulation.result import Result

    sources: dict[Path, Path] = {}
    for source in arguments.results:
        target = (arguments.out or source.parent) / source.name
        if sources.setdefault(target, source) != source:
            raise FileError(f"{sources[target]} and {source} would be drawn to the same files")
    for target, source in sources.items():
        result = Result.load(source)
        _make_folder(target.parent)
        print(f"wrote {', '.join(map(str, _draw(result, target)))}")
