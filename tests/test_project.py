"""The tools that keep the tree in order are part of the test command."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["lint-imports"],
    ],
    ids=" ".join,
)
def test_tool_is_content(command: list[str]) -> None:
    tool = Path(sys.executable).parent / command[0]
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ci_runs_the_test_command_of_the_readme_and_then_other_pythons() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    lines = [line for line in script.splitlines() if line and not line.startswith(("#", "set "))]
    browser, strict, *commands, types, last = lines
    assert "install -y -q chromium" in browser  # without it the tests of pages would be skipped
    assert strict == "export CI=true"
    assert " && ".join(commands) in (ROOT / "README.md").read_text()
    assert types == "uv run mypy"
    assert last == "uv run python .ci/pythons.py"


def test_links_between_the_pages_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "bench").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_pages_name_files_that_exist() -> None:
    """By their paths from the package, the project or the folder that the sentence is about."""
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for path in re.findall(r"`([\w./-]+/[\w./-]*(?:\.py|\.toml|/))`", page.read_text()):
            places = (ROOT, ROOT / "src", ROOT / "src" / "thrifty", ROOT / "docs")
            assert any((place / path).exists() for place in places), f"{page.name} names {path}"
