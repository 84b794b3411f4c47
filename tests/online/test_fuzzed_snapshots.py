"""Files that were edited, with a digest that fits: an error of the file, or a bandit that works."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fuzz import GROUPS

ROOT = Path(__file__).parents[2]


def tried(first: int, last: int, *cases: str) -> dict[str, int]:
    """How many files were refused and how many loaded. A crash, or a call without end, ends another process
    than this one."""
    command = [sys.executable, "-m", "tests.support.fuzz", str(first), str(last), *cases]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-200:]} {done.stderr[-2000:]}"
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counts


def test_some_edits_of_every_engine() -> None:
    cases = [case for group in GROUPS.values() for case in group]
    counts = tried(0, 12, *cases)
    assert counts["refused"] + counts["loaded"] == 12 * len(cases)
    assert min(counts.values()) >= len(cases)


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_ten_thousand_edits_of_every_engine(group: str) -> None:
    cases, each = GROUPS[group], 1 + 10_000 // len(GROUPS[group])
    counts = tried(1000, 1000 + each, *cases)
    assert counts["refused"] + counts["loaded"] == each * len(cases) > 10_000
    assert min(counts.values()) >= 1000
