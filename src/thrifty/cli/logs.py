"""What the commands on logs share: how a log is read, and arms as they are written."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thrifty.cli.shared import numbers
from thrifty.errors import InvalidValue

if TYPE_CHECKING:
    from thrifty.replays.log import Log

COLUMNS = ("arm", "reward", "propensity", "time", "available")
ABOUT = """\
A log is a CSV or Parquet file with the columns arm, reward (numbers, or True and False), propensity and, if
rows are not in order, time. Bad rows are left out and reported by their line; --strict refuses them. A log in
which arms come and go has a column of available arms, with | between them, or --span says when they were
there."""


def options(parser: argparse.ArgumentParser) -> None:
    """The options of a log, and those that every estimate has."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a .csv or a .parquet file")
    for role in COLUMNS:
        there = " (default: %(default)s)" if role in COLUMNS[:3] else f" (default: {role}, if there is one)"
        default = role if role in COLUMNS[:3] else None
        parser.add_argument(f"--{role}-column", default=default, metavar="NAME", help=f"its name{there}")
    parser.add_argument(
        "--separator", default=",", metavar="C", help="in CSV; tab for a tabulator; default: ,"
    )
    parser.add_argument("--arms", metavar="ID,ID,...", help="ids of the arms (default: all in the log)")
    parser.add_argument(
        "--span",
        action="append",
        default=[],
        metavar="ID=FIRST..LAST",
        help="when an arm was there, in times, or in lines without them; either may be left out",
    )
    parser.add_argument(
        "--range", type=numbers, default=[0.0, 1.0], metavar="LOW,HIGH", help="of rewards; default: 0,1"
    )
    parser.add_argument("--prior", type=numbers, metavar="MEAN,WEIGHT", help="of every arm, for policies")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument("--level", type=float, default=0.95, metavar="P", help="default: %(default)s")
    parser.add_argument("--strict", action="store_true", help="bad rows are an error")
    parser.add_argument("--trust", action="store_true", help="take a log that its checks find wrong")


def read(arguments: argparse.Namespace, target_column: str | None = None) -> "Log":
    """The log, and what is wrong with its rows on the screen."""
    from thrifty.replays import log

    spans = {}
    for text in arguments.span:
        arm, equals, span = text.rpartition("=")
        first, dots, last = span.partition("..")
        if not (arm and equals and dots):
            raise InvalidValue(f"--span must be written like c=5001..9000 or c=5001.., got {text!r}")
        spans[identity(arm, arguments)] = (_time(first), _time(last))
    found = log.read(
        arguments.log,
        ids(arguments) if arguments.arms else None,
        arm_column=arguments.arm_column,
        reward_column=arguments.reward_column,
        propensity_column=arguments.propensity_column,
        time_column=arguments.time_column,
        available_column=arguments.available_column,
        target_column=target_column,
        spans=spans or None,
        separator="\t" if arguments.separator == "tab" else arguments.separator,
        strict=arguments.strict,
    )
    if found.bad:
        print(f"{found.report()}\n")
    return found


def shared(arguments: argparse.Namespace) -> dict[str, Any]:
    """What ``replay`` and ``evaluate`` are given alike."""
    given = {key: getattr(arguments, key) for key in ("seed", "level", "trust")}
    prior = None if arguments.prior is None else tuple(arguments.prior)
    return {**given, "reward_range": tuple(arguments.range), "prior": prior}


def ids(arguments: argparse.Namespace) -> list[Any]:
    """Ids between commas."""
    return [identity(name, arguments) for name in arguments.arms.split(",")]


def identity(name: str, arguments: argparse.Namespace) -> Any:
    """An id: a text in a CSV file, but in Parquet a number may be one."""
    from thrifty.replays.sources import WHOLE

    return int(name) if arguments.log.suffix.lower() != ".csv" and WHOLE.fullmatch(name) else name


def _time(text: str) -> Any:
    from thrifty.replays.sources import number

    if not text.strip():
        return None
    return number(text) if math.isfinite(number(text)) else text
