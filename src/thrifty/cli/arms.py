"""``thrifty arms``: arms by the million, through the service."""

import argparse
import json
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from thrifty.cli.shared import whole
from thrifty.errors import FileError, ThriftyError

TOGETHER = 5000  # arms of a request


def describe(commands: Any) -> None:
    parser = commands.add_parser(
        "arms",
        help="add arms to an experiment of the service",
        description="Add arms to an experiment of the service, some thousands at a time: decisions go on.",
        epilog="""\
The file has an arm on each line. If the command fails, it says how many arms it had added: go on with --skip.

examples:
  thrifty arms add colours new.txt
  thrifty arms add colours new.txt --url https://bandits.example --key KEY""",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    add = actions.add_parser("add", help="add the arms in a file")
    add.add_argument("name", metavar="NAME", help="the experiment")
    add.add_argument("file", metavar="FILE", type=Path, help="a text file with an arm on each line")
    add.add_argument("--url", default="http://127.0.0.1:8642", help="of the service (default: %(default)s)")
    add.add_argument("--key", help="one with the scope admin")
    add.add_argument("--skip", type=whole(0), default=0, metavar="N", help="arms that were added before")
    add.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    try:
        names = [name for name in arguments.file.read_text("utf-8").splitlines() if name]
    except UnicodeDecodeError as error:
        raise FileError(f"{arguments.file} must be UTF-8: {error}") from None
    name = urllib.parse.quote(arguments.name, safe="")
    url = f"{arguments.url.rstrip('/')}/v1/experiments/{name}/arms"
    if not url.startswith(("http://", "https://")):
        raise ThriftyError(f"--url must begin with http:// or https://, got {arguments.url!r}")
    total = 0
    for i in range(arguments.skip, len(names), TOGETHER):
        try:
            total = _send(url, names[i : i + TOGETHER], arguments.key)
        except ThriftyError as error:
            raise ThriftyError(f"{i:,} of {len(names):,} arms were added: {error}") from None
    print(f"{arguments.name} has {total:,} arms")


def _send(url: str, names: list[str], key: str | None) -> int:
    """Adds arms; returns how many there are."""
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {key}"} if key else {})
    body = json.dumps({"arms": names}).encode()
    request = urllib.request.Request(url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(json.load(answer)["arms"])
    except urllib.error.HTTPError as error:
        raise ThriftyError(f"{url}: {error.code} {error.read().decode(errors='replace')}") from None
    except urllib.error.URLError as error:
        raise ThriftyError(f"{url}: {error.reason}") from None
