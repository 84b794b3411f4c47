"""``thrifty demo``: the service at work for three simulated products."""

import argparse
from typing import Any

from thrifty.cli.shared import needs_service, whole


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "demo",
        help="see the service at work: simulated products, and what is really lost",
        description="""\
Serve three simulated products on a temporary store, with visitors that come all the time, and say which page
to open: an ad with late clicks, 10,000 news items that come and go, and a shop whose taste changes at noon.\
""",
        epilog="""\
It takes less than half a core. The truth is known here, so the page and the summary at the end have the true
regret, beside that of a Thompson sampler that draws for each arm in each decision, and of a uniform choice.

examples:
  thrifty demo
  thrifty demo --seconds 60
  thrifty demo --port 9000""",
    )
    parser.add_argument("--seconds", type=whole(1), metavar="N", help="end by itself (default: at Ctrl-C)")
    parser.add_argument(
        "--port",
        type=whole(0),
        help="where to listen; 0 is any that is free (default: 8642, or one that is free)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    needs_service()
    from thrifty.demo.run import demo

    demo(arguments.seconds, arguments.port)
