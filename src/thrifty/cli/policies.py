"""``thrifty policies``: the table of policies."""

import argparse
from typing import Any

from thrifty.table import aligned


def describe(commands: Any) -> None:
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
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> None:
    from thrifty.policies import POLICIES

    rows = [
        (name, ", ".join(kind.laws) or "–", kind.schedule, ", ".join(kind.engines), kind.citation)
        for name, kind in POLICIES.items()
    ]
    print(aligned(("name", "law", "schedule", "engine", "citation"), rows, left=5))
