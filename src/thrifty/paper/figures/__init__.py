"""The figures of the page: each takes results by name and gives its panels and what to see in them."""

import thrifty.report.figures  # noqa: F401  # first: it says what to install if matplotlib is missing

# isort: split
from collections.abc import Callable
from typing import NamedTuple

from thrifty.paper.claim import Results
from thrifty.paper.figures.bars import figure2, figure3
from thrifty.paper.figures.grid import grid
from thrifty.paper.figures.growth import arms, cost, growth
from thrifty.paper.figures.lemma import lemma
from thrifty.paper.figures.panel import Exhibit
from thrifty.paper.figures.regrets import bounded, figure1, trade, worst_case

__all__ = ["Exhibit", "exhibits"]


class Maker(NamedTuple):
    """How a figure is made, and the results without which it is left out."""

    make: Callable[[Results], Exhibit]
    needs: str  # how their names begin; empty for none


MAKERS = (
    Maker(figure1, "figure1"),
    Maker(figure2, "draws-"),
    Maker(figure3, "draws-"),
    Maker(grid, "grid-"),
    Maker(growth, "growth-"),
    Maker(arms, "arms-"),
    Maker(trade, "figure1"),
    Maker(cost, "cost-"),
    Maker(worst_case, "hard-"),
    Maker(bounded, "bounded-"),
    Maker(lemma, ""),
)


def exhibits(results: Results) -> list[Exhibit]:
    """The figures that these results (of ``experiments``, by name) allow, in the order of the page.

    Times lie in the provenance: without it a result has no place in the figure of the cost.
    """
    known = {name: one for name, one in results.items() if one.provenance or not name.startswith("cost-")}
    return [
        make(known) for make, needs in MAKERS if not needs or any(name.startswith(needs) for name in known)
    ]
