"""The file that keeps every run: a list of records in JSON, each with its date and its machine's size."""

import json
from pathlib import Path

from common import Row

from thrifty import storage


def records(path: Path) -> list[Row]:
    """All of them, the oldest first."""
    return list(json.loads(path.read_text())) if path.exists() else []


def whole(path: Path) -> list[Row]:
    """Those of runs that came to their end, with everything that is measured today."""
    return [record for record in records(path) if "cold" in record and "decided" in record["growth"]]


def keep(path: Path, record: Row) -> None:
    """Add a record, or bring up to date the one that was made at the same moment; no other one is touched."""
    others = [other for other in records(path) if other["made"] != record["made"]]
    text = json.dumps([*others, record], indent=1) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    storage.replace(path, lambda file: file.write(text.encode()))
