"""A copy of the source tree, to which a test adds what a guide says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs"

# Compiling a copy of the tree takes half a minute, running it interpreted a second.
HOW = pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["interpreted", "compiled"]
)


class Tree:
    """A copy of the package and its tests, and processes that see it in place of ours."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.package = folder / "src" / "thrifty"
        skipped = shutil.ignore_patterns("__pycache__", "fixtures", "trajectories*")
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=skipped)
        shutil.copy(ROOT / "pyproject.toml", folder)

    def write(self, path: str, code: str) -> None:
        """A new file of the package."""
        assert not (self.package / path).exists()
        (self.package / path).write_text(code)

    def replace(self, path: str, old: str, new: str) -> None:
        """Put one text for another into a file of the package, where it is once."""
        code = (self.package / path).read_text()
        assert code.count(old) == 1, f"{path} has {old!r} {code.count(old)} times"
        (self.package / path).write_text(code.replace(old, new))

    def insert(self, path: str, after: str, line: str) -> None:
        """Put a line into a file of the package, behind the one line that has this text."""
        lines = (self.package / path).read_text().splitlines(keepends=True)
        (place,) = (number for number, there in enumerate(lines) if after in there)
        indent = " " * (len(lines[place]) - len(lines[place].lstrip()))
        lines.insert(place + 1, f"{indent}{line}\n")
        (self.package / path).write_text("".join(lines))

    def python(self, *arguments: str, compiled: bool = False) -> str:
        """What a process prints that imports the copy. Interpreted, it does not spend its time compiling."""
        own = {"PYTHONPATH": str(self.root / "src"), "NUMBA_DISABLE_JIT": str(int(not compiled))}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=os.environ | own,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def files(page: str) -> dict[str, str]:
    """The blocks of code in a page of the docs that are files, by the name in their first line."""
    found = re.findall(
        r"^```\w+\n# ([\w./]+)\n(.*?)^```$", (PAGES / page).read_text(), re.DOTALL | re.MULTILINE
    )
    return dict(found)
