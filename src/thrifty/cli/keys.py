"""``thrifty keys``: who may use the service."""

import argparse
import time
from typing import Any

from thrifty.cli.shared import add_store, open_store


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "keys",
        help="make, list and revoke keys of the service, and rotate its secret",
        description="Make, list and revoke keys of the service. As soon as there is one, each request needs "
        "a key; a server that runs knows of a change within 5 s.",
        epilog="""\
examples:
  thrifty keys create shop --scopes decide,reward
  thrifty keys list
  thrifty keys revoke shop""",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    create = actions.add_parser("create", help="a new key: it is shown once")
    create.add_argument("name", help="whose it is: the log names it")
    create.add_argument(
        "--scopes",
        default="decide,reward,read",
        help="what it may do: decide, reward, read, or admin, which is everything (default: the first three)",
    )
    create.set_defaults(run=_create)
    listing = actions.add_parser("list", help="all that there are and were")
    listing.set_defaults(run=_list)
    revoke = actions.add_parser("revoke", help="a key holds no more")
    revoke.add_argument("name")
    revoke.set_defaults(run=_revoke)
    rotate = actions.add_parser("rotate", help="another secret signs ids; those signed before stay good")
    rotate.set_defaults(run=_rotate)
    for action in (create, listing, revoke, rotate):
        add_store(action)


def _now() -> int:
    return time.time_ns() // 1000


def _create(arguments: argparse.Namespace) -> None:
    store = open_store(arguments.store)
    from thrifty.serve import keys

    scopes = [scope.strip() for scope in arguments.scopes.split(",")]
    print(keys.create(store, arguments.name, scopes, _now()))
    store.close()


def _list(arguments: argparse.Namespace) -> None:
    store = open_store(arguments.store)
    from thrifty.serve import keys
    from thrifty.serve.clock import moment
    from thrifty.table import aligned

    rows = [
        (key.name, ", ".join(key.scopes), moment(key.created), moment(key.revoked) if key.revoked else "")
        for key in keys.listed(store)
    ]
    print(aligned(("key", "scopes", "created", "revoked"), rows, left=4) if rows else "there are no keys")
    store.close()


def _revoke(arguments: argparse.Namespace) -> None:
    store = open_store(arguments.store)
    from thrifty.serve import keys

    keys.revoke(store, arguments.name, _now())
    print(f"{arguments.name} holds no more")
    store.close()


def _rotate(arguments: argparse.Namespace) -> None:
    store = open_store(arguments.store)
    store.rotate(_now())
    print("another secret signs ids")
    store.close()
