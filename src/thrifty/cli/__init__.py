"""The command line. A command is one file: ``describe`` adds its parser, and ``run`` does it.

Commands import what they need when they run, so that ``--help`` and a mistyped option are answered at once.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, NoReturn

from thrifty.cli import (
    arms,
    audit,
    backup,
    bounds,
    compare,
    demo,
    evaluate,
    export,
    keys,
    plot,
    policies,
    replay,
    reproduce,
    serve,
    simulate,
    sweep,
)
from thrifty.cli import compile as compiling
from thrifty.errors import InvalidValue, ThriftyError


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
  thrifty reproduce
  thrifty simulate experiments/paper.toml
  thrifty sweep experiments/sweep.toml --out night
  thrifty plot out/paper.npz
  thrifty compare out/paper.npz
  thrifty export night --parquet night.parquet
  thrifty replay log.csv --policy "TSMA()"
  thrifty evaluate log.csv --arm red
  thrifty policies
  thrifty bounds --means 0.9,0.8 --horizon 1e6
  thrifty demo
  thrifty serve
  thrifty compile

thrifty COMMAND --help tells more about a command.""",
    )
    parser.add_argument("--version", action="version", version=f"thrifty {version('thrifty')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (
        reproduce,
        simulate,
        sweep,
        plot,
        compare,
        export,
        replay,
        evaluate,
        policies,
        bounds,
        demo,
        serve,
        arms,
        keys,
        audit,
        backup,
        compiling,
    ):
        command.describe(commands)
    return parser
