"""The command line. One command is one function that does it and one that describes its arguments.

Commands import what they need when they run, so that ``--help`` and a mistyped option are answered at once.
"""

import argparse
import dataclasses
import io
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from thrifty.engines import ENGINES
from thrifty.errors import FileError, InvalidValue, ThriftyError

if TYPE_CHECKING:
    from thrifty.simulation.result import Result

FIGURES = (".svg", ".png")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 if all went well, 2 after a mistake of the user's, which takes one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ε shows ?, and the command goes on
    try:
        arguments = _parser().parse_args(argv)
        arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has seen enough
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
    return str(error)


class _Parser(argparse.ArgumentParser):
    """Wrong arguments are told like every other mistake: in one line, and by ``main``."""

    def error(self, message: str) -> NoReturn:
        raise InvalidValue(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="thrifty",
        description="Simulate bandit policies that spend posterior draws only where they matter.",
        epilog="examples:\n"
        "  thrifty policies\n"
        "  thrifty simulate experiments/paper.toml\n"
        "  thrifty plot out/paper.npz\n"
        "\nthrifty COMMAND --help tells more about a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"thrifty {version('thrifty')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for describe in (_describe_policies, _describe_simulate, _describe_plot):
        describe(commands)
    return parser


def _command(
    commands: Any, run: Callable[[argparse.Namespace], None], name: str, summary: str, epilog: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


# policies


def _describe_policies(commands: Any) -> None:
    _command(
        commands,
        _policies,
        "policies",
        "list the policies that a spec can name",
        "columns:\n"
        "  law       the distributions from which an arm's index can be drawn\n"
        "  schedule  when it is drawn; index: it is a function of the statistics instead\n"
        "  engine    how the largest index can be found (--engine of thrifty simulate)\n"
        "\nexample:\n"
        "  thrifty policies",
    )


def _policies(arguments: argparse.Namespace) -> None:
    from thrifty.policies import POLICIES

    print(
        _table(
            ("name", "law", "schedule", "engine", "citation"),
            (
                (name, _laws(cls), cls.schedule, ", ".join(cls.engines), cls.citation)
                for name, cls in POLICIES.items()
            ),
        )
    )


def _laws(policy: Any) -> str:
    from thrifty.laws import CODES
    from thrifty.policies import LAWS

    if policy.schedule == "index":
        return "–"
    if any(field.name == "law" for field in dataclasses.fields(policy)):
        return ", ".join(LAWS)
    return list(CODES)[policy().rule(arms=1, horizon=1).law]


def _table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("─" * width for width in widths))
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


# simulate


def _describe_simulate(commands: Any) -> None:
    parser = _command(
        commands,
        _simulate,
        "simulate",
        "run the experiment of a TOML file, print its summary, write its result and its figure",
        "a spec:\n"
        "  horizon = 100000\n"
        "  runs = 40\n"
        "  seed = 1\n"
        "  [problem]\n"
        '  kind = "bernoulli"\n'
        "  means = [0.9, 0.8, 0.8]\n"
        "  [[policies]]\n"
        '  name = "TSMA"\n'
        "  alpha = 0.8\n"
        "\nexamples:\n"
        "  thrifty simulate experiments/paper.toml\n"
        "  thrifty simulate experiments/paper.toml --runs 4 --horizon 1e4 --out quick\n"
        "\nThe same spec and seed give the same numbers, whatever the workers and the engine.",
    )
    parser.add_argument("spec", metavar="SPEC.toml", type=Path, help="the experiment")
    parser.add_argument("--runs", type=_whole(1), metavar="N", help="instead of the spec's")
    parser.add_argument("--horizon", type=_whole(1), metavar="T", help="instead of the spec's")
    parser.add_argument("--seed", type=_whole(0), metavar="N", help="instead of the spec's")
    parser.add_argument("--workers", type=_whole(1), metavar="N", help="default: one for each core")
    parser.add_argument("--engine", choices=("auto", *ENGINES), help="instead of the spec's")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("out"),
        metavar="DIR",
        help="where SPEC.npz (data), SPEC.json (provenance), SPEC.svg and SPEC.png go, replacing "
        "those of an earlier run; default: %(default)s",
    )


def _simulate(arguments: argparse.Namespace) -> None:
    from thrifty.report import figures  # noqa: F401 - missing matplotlib is told before the work
    from thrifty.simulation.spec import Spec, located

    spec = Spec.load(arguments.spec)
    changes = {
        key: value
        for key in ("runs", "horizon", "seed", "engine")
        if (value := getattr(arguments, key)) is not None
    }
    spec = dataclasses.replace(spec, **changes)
    target = arguments.out / f"{arguments.spec.stem}.npz"
    _check_folder(arguments.out)
    with located(f"{arguments.spec}: "):
        result = spec.simulate(arguments.workers, progress=sys.stderr.isatty())
    arguments.out.mkdir(parents=True, exist_ok=True)
    result.save(target)
    _draw(result, target)
    print(
        f"{target.stem}: {spec.problem.kind}, K = {spec.problem.gaps.size:,}, "
        f"T = {spec.horizon:,}, runs = {spec.runs:,}, seed = {spec.seed}\n\n{result.summary()}\n\n"
        f"wrote {', '.join(str(target.with_suffix(end)) for end in ('.npz', '.json', *FIGURES))}"
    )


def _whole(at_least: int) -> Callable[[str], int]:
    """Reads a whole number, also when written like 1e6."""

    def read(text: str) -> int:
        try:
            number = int(text) if text.isdecimal() else float(text)
            if at_least <= number == int(number):
                return int(number)
        except (ValueError, OverflowError):  # not a number; nan and inf
            pass
        raise argparse.ArgumentTypeError(f"must be a whole number from {at_least} up, got {text!r}")

    return read


def _check_folder(folder: Path) -> None:
    """Find out before hours of work whether their results can be written. Creates nothing."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise FileError(f"cannot write to the folder {folder}: {nearest} is a file")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise FileError(f"cannot write to the folder {folder}: no permission for {nearest}")


# plot


def _describe_plot(commands: Any) -> None:
    parser = _command(
        commands,
        _plot,
        "plot",
        "draw the figures of result files again, as SVG and PNG",
        "examples:\n  thrifty plot out/paper.npz\n  thrifty plot out/*.npz --out figures",
    )
    parser.add_argument(
        "results", metavar="RESULT.npz", type=Path, nargs="+", help="written by thrifty simulate"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: beside each result")


def _plot(arguments: argparse.Namespace) -> None:
    from thrifty.simulation.result import Result

    drawn: dict[Path, Path] = {}
    for source in arguments.results:
        target = (arguments.out or source.parent) / source.name
        if drawn.setdefault(target, source) != source:
            raise FileError(f"{drawn[target]} and {source} would be drawn to the same file")
    for target, source in drawn.items():
        _check_folder(target.parent)
        result = Result.load(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        _draw(result, target)
        print(f"wrote {', '.join(str(target.with_suffix(end)) for end in FIGURES)}")


def _draw(result: "Result", target: Path) -> None:
    from thrifty.report import figures

    figure = result.plot()
    for end in FIGURES:
        figures.save(figure, target.with_suffix(end))
