"""``thrifty backup``: a copy of the service's store, while it runs."""

import argparse
from pathlib import Path
from typing import Any

from thrifty.cli.shared import add_store, open_store


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "backup",
        help="copy the store of the service while it runs",
        description="Copy the store of the service as it is at this moment, while it runs. The copy is a "
        "store itself. It has the secret that signs ids: keep it as you keep the store.",
        epilog="""\
examples:
  thrifty backup yesterday.db
  thrifty serve --store sqlite:///yesterday.db""",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the new file")
    add_store(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    store = open_store(arguments.store)
    store.backup(arguments.file)
    store.close()
    print(f"wrote {arguments.file}, {arguments.file.stat().st_size:,} bytes")
