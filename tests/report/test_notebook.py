"""Cells in a real kernel: what a notebook shows of each thing, and that nothing else appears."""

import base64
import re
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = """
import thrifty
policies = [thrifty.TSMA(), thrifty.UCB1()]
problem = thrifty.Bernoulli([0.9, 0.5])
result = thrifty.simulate(policies, problem, 1000, runs=10)
bandit = thrifty.Bandit(thrifty.TSMA(), arms=["a", "b"])
---
result
---
result.summary()
---
result.compare("TS-MA-0", "UCB1()")
---
result.ranking()
---
thrifty.replay(thrifty.UCB1(), {"arm": ["a", "b"] * 50, "reward": [1, 0] * 50, "propensity": [0.5] * 100})
---
bandit
---
thrifty.TSMA()
---
problem
---
result["UCB1"]
---
thrifty.simulate(policies, problem, 1000, runs=2, progress=True).labels
---
from dataclasses import dataclass
@dataclass(frozen=True)
class Mine(thrifty.IndexPolicy):
    def index(self, mean):
        return mean
try:
    thrifty.sweep({"policies": Mine(), "problem": problem, "horizon": 10}, "out")
except thrifty.InvalidType as error:
    print(error)
"""
TABLES = range(1, 10)  # cells whose value has a table
BAR, CLASS = 10, 11
COMPILING = "thrifty: compiling, which takes a few seconds, once on this machine\n"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """The outputs of each cell."""
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS.split("---\n")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    folder = tmp_path_factory.mktemp("notebook")
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}})
    client.execute()
    assert not (folder / "out").exists()
    return [cell["outputs"] for cell in notebook["cells"]]


def said(outputs: list[Any], stream: str) -> str:
    """What went to a stream; compiling is not a mistake."""
    text = "".join(one["text"] for one in outputs if one["output_type"] == "stream" and one["name"] == stream)
    return text.replace(COMPILING, "")


def test_every_value_has_a_table_and_a_short_text(outputs: list[list[Any]]) -> None:
    for number in TABLES:
        (value,) = [one for one in outputs[number] if one["output_type"] == "execute_result"]
        assert set(value["data"]) == {"text/html", "text/plain"}
        assert "<table>" in value["data"]["text/html"]
        assert len(value["data"]["text/plain"]) < 140
        figures = re.findall('src="data:image/png;base64,([^"]+)"', value["data"]["text/html"])
        assert len(figures) == (number in (1, 9))  # of results
        assert all(base64.b64decode(figure).startswith(b"\x89PNG") for figure in figures)


def test_nothing_is_said_besides(outputs: list[list[Any]]) -> None:
    for number, cell in enumerate(outputs):
        assert (said(cell, "stderr") == "") is (number != BAR)
        assert (said(cell, "stdout") == "") is (number != CLASS)
        assert {one["output_type"] for one in cell} <= {"execute_result", "stream"}


def test_the_bar_is_text_and_no_warning(outputs: list[list[Any]]) -> None:
    assert re.search(r"\rsimulating .* 100% elapsed 00:\d\d left 00:00\n?$", said(outputs[BAR], "stderr"))
    assert "arn" not in said(outputs[BAR], "stderr")


def test_a_class_of_the_notebook_cannot_be_swept(outputs: list[list[Any]]) -> None:
    words = "policies[0] must be of a class in a file, where other processes find it, and not in a notebook"
    assert said(outputs[CLASS], "stdout").startswith(words)
