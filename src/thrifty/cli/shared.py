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


def draw(result: "Result", data: Path) -> list[Path]:
    """Write the figure of a result, named like its data file."""
    from thrifty.report import figures

    figure = figures.overview(result)
    return [figures.save(figure, data.with_suffix(suffix)) for suffix in (".svg", ".png")]
