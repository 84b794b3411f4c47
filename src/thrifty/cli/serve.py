"""``thrifty serve``: decisions and rewards over HTTP."""

import argparse
from pathlib import Path
from typing import Any

from thrifty.cli.shared import add_store, needs_service


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "serve",
        help="decide over HTTP, in front of a store that loses nothing",
        description="Serve decisions and rewards over HTTP. Without options it listens on loopback, and "
        "keeps everything in thrifty.db where it is started.",
        epilog="""\
Every option is also a variable, such as THRIFTY_STORE, and a key of the TOML file; flags come first, then
variables.

examples:
  thrifty serve
  thrifty serve --store sqlite:////var/lib/thrifty/thrifty.db --port 9000
  thrifty serve --config serve.toml""",
    )
    add_store(parser)
    parser.add_argument("--host", help="where to listen (default: 127.0.0.1)")
    parser.add_argument("--port", help="where to listen; 0 is any that is free (default: 8642)")
    parser.add_argument(
        "--hosts", metavar="A,B", help="other names by which it is asked for, or * for any (default: none)"
    )
    parser.add_argument(
        "--origins",
        metavar="A,B",
        help="web pages whose scripts may ask: https://shop.example (default: none)",
    )
    parser.add_argument(
        "--policies", metavar="M:C", help="policies of your own that experiments may have (default: none)"
    )
    parser.add_argument(
        "--log-requests", action="store_true", default=None, help="a line on standard error for each request"
    )
    parser.add_argument("--config", metavar="FILE", type=Path, help="a TOML file with these options")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    needs_service()
    from thrifty.serve import config
    from thrifty.serve.run import serve

    flags = {name: getattr(arguments, name) for name in ("store", "host", "port", "log_requests")}
    for name in config.LISTS:
        flags[name] = getattr(arguments, name) and getattr(arguments, name).split(",")
    serve(config.read(flags, arguments.config))
