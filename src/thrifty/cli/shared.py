"""What several commands need: reading numbers, and drawing a result."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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


def draw(result: "Result", data: Path) -> list[Path]:
    """Write the figure of a result, named like its data file."""
    from thrifty.report import figures

    figure = figures.overview(result)
    return [figures.save(figure, data.with_suffix(suffix)) for suffix in (".svg", ".png")]
