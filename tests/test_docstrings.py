"""help() explains every public parameter and attribute by its name."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import pytest

import thrifty
from thrifty.replays.evaluate import Evaluation
from thrifty.replays.replay import Replay
from thrifty.simulation.comparison import Difference, Rank, Ranking
from thrifty.simulation.result import Settings
from thrifty.simulation.summary import Row, Summary


def explained() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions, classes that are called with parameters, and methods."""
    for name in thrifty.__all__:
        thing = getattr(thrifty, name)
        elsewhere = thing.__module__ == "thrifty.errors"
        if not elsewhere and thing not in (thrifty.Problem, thrifty.Posterior, thrifty.Result):
            yield name, thing
    for kind in (thrifty.Bandit, thrifty.Client, thrifty.Result):
        for name, method in inspect.getmembers(kind, callable):
            if not name.startswith("_"):
                yield f"{kind.__name__}.{name}", method


EXPLAINED = dict(explained())


@pytest.mark.parametrize("name", EXPLAINED)
def test_parameters(name: str) -> None:
    """In a sentence, or in a list if they are many."""
    text = inspect.getdoc(EXPLAINED[name]) or ""
    for parameter in inspect.signature(EXPLAINED[name]).parameters:
        if parameter != "self":
            assert re.search(rf"``{parameter}``|^    {parameter}: ", text, re.MULTILINE), parameter


@pytest.mark.parametrize(
    "kind", [thrifty.Result, Settings, Summary, Row, Difference, Rank, Ranking, Replay, Evaluation]
)
def test_attributes(kind: Any) -> None:
    _, _, text = (inspect.getdoc(kind) or "").partition("Attributes:")
    listed = re.findall(r"^    ([a-z0-9_, ]+): ", text, re.MULTILINE)
    assert ", ".join(listed).split(", ") == [field.name for field in fields(kind)]
