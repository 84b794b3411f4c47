"""Pages that quote the benchmark say what its last record says."""

import ast
import doctest
import importlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[1] / "bench"


@pytest.fixture
def bench() -> Iterator[None]:
    """The folder's programs can be imported."""
    sys.path.insert(0, str(BENCH))
    yield
    sys.path.remove(str(BENCH))


def imported(name: str) -> ModuleType:
    return importlib.import_module(name)


@pytest.mark.usefixtures("bench")
def test_pages_quote_the_last_record() -> None:
    history, pages, report = map(imported, ("history", "pages", "report"))
    record = history.whole(BENCH / "results" / "runs.json")[-1]
    assert "--quick" not in record["command"]
    assert (BENCH / "report.md").read_text() == report.page(record)
    for path in pages.QUOTING:
        assert path.read_text() == pages.quoted(path.read_text(), record)


@pytest.mark.usefixtures("bench")
@pytest.mark.parametrize("name", ["contestants", "growth", "limit", "markdown", "run_figures"])
def test_examples(name: str) -> None:
    found = doctest.testmod(imported(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_what_programs_import_from_the_package_is_there() -> None:
    """Most of them take too long to be run by a test, or need what is not installed here."""
    for path in sorted(BENCH.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "thrifty":
                found = importlib.import_module(node.module or "")
                for alias in node.names:
                    inner = hasattr(found, "__path__") and find_spec(f"{node.module}.{alias.name}")
                    assert hasattr(found, alias.name) or inner, f"{path.name}: {node.module}.{alias.name}"
