"""What several commands need: reading numbers, finding results and drawing them."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from thrifty.errors import FileError

if TYPE_CHECKING:
    from thrifty.simulation.result import Result


def whole(at_least: int) -> Callable[[str], int]:
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


def numbers(text: str) -> list[float]:
    """Reads numbers that commas separate."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers such as 0.9,0.8, got {text!r}") from None


def results(source: Path) -> list[Path]:
    """The result files that are meant: all of a folder, or this one."""
    files = sorted(source.glob("*.npz")) if source.is_dir() else [source]
    if not files:
        raise FileError(f"{source} must have results (.npz), and has none")
    return files


def add_problem(parser: argparse.ArgumentParser) -> None:
    """The option with which results of problems of one's own can be read."""
    parser.add_argument(
        "--problem",
        metavar="MODULE:NAME",
        action="append",
        default=[],
        help="a problem, or a function of the round, of your own that a result names: it is imported",
    )


def load(file: Path, names: list[str]) -> "Result":
    """The result in a file, with what was named."""
    from thrifty.simulation import named
    from thrifty.simulation.result import Result

    named.look_beside(Path("here"))
    return Result.load(file, [named.found_at(name) for name in names])


def draw(result: "Result", data: Path) -> list[Path]:
    """Write the figure of a result, named like its data file."""
    from thrifty.report import figures

    figure = figures.overview(result)
    return [figures.save(figure, data.with_suffix(suffix)) for suffix in (".svg", ".png")]
