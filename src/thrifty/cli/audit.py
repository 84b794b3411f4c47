"""``thrifty audit``: the whole log of the service is folded again."""

import argparse
from typing import Any

from thrifty.cli.shared import add_store, open_store
from thrifty.errors import FileError

SHOWN = 20


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "audit",
        help="fold the whole log of the service again, and compare",
        description="Fold the whole log of the service again, and compare all that is kept beside it. "
        "A server may run meanwhile.",
        epilog="""\
examples:
  thrifty audit
  thrifty audit --store sqlite:////var/lib/thrifty/thrifty.db""",
    )
    add_store(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    store = open_store(arguments.store)
    from thrifty.serve.audit import audit

    fold, faults = audit(store)
    names = {number: name for number, _, name in store.experiments()}
    store.close()
    for number, tally in sorted(fold.tallies.items()):
        decided, closed, pulls = (int(column.sum()) for column in (tally.decided, tally.closed, tally.pulls))
        print(f"{names[number]}: {decided:,} decisions, {closed:,} closed, {pulls:,} rewards")
    if faults:
        more = f"\n... {len(faults) - SHOWN:,} more" if len(faults) > SHOWN else ""
        raise FileError(f"{len(faults):,} faults:\n" + "\n".join(faults[:SHOWN]) + more)
    print("the log agrees with all that is kept beside it")
