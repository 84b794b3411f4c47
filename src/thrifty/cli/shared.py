"""What several commands need: reading numbers, finding results and drawing them."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from thrifty.errors import FileError, MissingExtra

if TYPE_CHECKING:
    from thrifty.serve.store import Store
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


def needs_service() -> None:
    """What serves is an extra."""
    try:
        import msgspec  # noqa: F401
        import sqlalchemy  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra(f"this needs {error.name}: pip install 'thrifty[serve]'") from None


def add_store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        metavar="URL",
        help="where everything is kept (default: THRIFTY_STORE, or sqlite:///thrifty.db)",
    )


def open_store(url: str | None) -> "Store":
    """A store that is there, beside a server that may run on it."""
    needs_service()
    from thrifty.serve import config
    from thrifty.serve.store import Store

    store = Store(config.read({"store": url}, None).store)
    store.check()
    return store


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
