"""``thrifty policies``: the table of policies."""

import argparse
from typing import Any


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "policies",
        help="list the policies",
        description="List the policies that a spec can name: how they choose, and what is proven of them.",
        epilog="""\
columns:
  index     what is computed or drawn for each arm; mostly the arm with the largest is pulled
  rewards   what the guarantees need of them, as the lines under the table explain
  index changes
            by the schedule of its draws (fresh, epsilon, aggregate, duel), or if it is computed: when its
            arm is pulled, with time too, with other arms, in every round
  engines   how the arm to pull can be found (--engine of thrifty simulate)
  horizon   whether it must be known; with anytime = true in a spec it is guessed

examples:
  thrifty policies
  thrifty policies --markdown > docs/policies.md""",
    )
    parser.add_argument("--markdown", action="store_true", help="as a page, with every formula")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from thrifty.policies import catalogue

    print(catalogue.page() if arguments.markdown else catalogue.text())
