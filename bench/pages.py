"""From a record to files: the report, the figures, and the numbers in pages that quote it."""

import os
import re
from pathlib import Path

import run_figures
from common import HERE, Row
from report import BLOCKS, page

QUOTING = (HERE.parent / "docs" / "performance.md", HERE.parent / "README.md")


def publish(record: Row, folder: Path) -> None:
    """Write report and figures to a folder; a full run also brings up to date the pages that quote it."""
    (folder / "report.md").write_text(page(record))
    run_figures.draw(record, folder / "results")
    if folder == HERE:
        for path in QUOTING:
            path.write_text(quoted(path.read_text(), record))
    print(f"Report: {os.path.relpath(folder / 'report.md')}")


def quoted(text: str, record: Row) -> str:
    """A page in which all between ``<!-- bench: NAME -->`` and ``<!-- bench end -->`` is written anew."""

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}\n\n{BLOCKS[match[2]](record)}\n\n{match[3]}"

    return re.sub(r"(<!-- bench: (\w+) -->).*?(<!-- bench end -->)", fill, text, flags=re.DOTALL)
