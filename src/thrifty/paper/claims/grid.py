"""Which phi and which variance would give the numbers of Figures 2 and 3 at T = 10^6 (results ``grid-m*``).

These are no claims of the paper: they stand beside the published numbers and in the figure of the grid. The
paper states one phi and one variance; the others are ours, and nothing says that the authors used any of
them.
"""

from typing import NamedTuple

from thrifty.paper.claim import MARGIN, Estimate, Results, draws, estimate, optimal_share, short
from thrifty.paper.experiments import GRID_SIZES
from thrifty.policies import TSMA, TSTD

DRAWS = {1: 0.25e7, 10: 1.0e7}  # of TS-TD-0.8, by the number of optimal arms m
SHARES = {1: 0.94, 10: 0.97}  # of TS-MA-0.8's draws
POINT = 0.01  # a percentage point: the published shares are rounded to one
VARIANCES = {0.8: "ln^0.8(T)/n", 0.0: "1/n"}


class Cell(NamedTuple):
    """One setting, and how far it is from the published numbers, in units of what counts as met."""

    alpha: float
    phi: float
    draws: dict[int, Estimate]
    shares: dict[int, Estimate]

    @property
    def figure2(self) -> float:
        return max(abs(self.draws[m].mean / published - 1.0) / MARGIN for m, published in DRAWS.items())

    @property
    def figure3(self) -> float:
        return max(abs(self.shares[m].mean - published) / POINT for m, published in SHARES.items())

    @property
    def both(self) -> float:
        return max(self.figure2, self.figure3)

    @property
    def name(self) -> str:
        return f"φ={self.phi:g} with variance {VARIANCES[self.alpha]}"

    @property
    def counts(self) -> str:
        return " and ".join(short(self.draws[m].mean) for m in DRAWS)

    @property
    def percentages(self) -> str:
        return " and ".join(f"{100 * self.shares[m].mean:.1f} %" for m in SHARES)


def figure2_setting(results: Results) -> str:
    """The cells within 10 % of both numbers of draws, or the closest."""
    cells = _cells(results)
    near = [cell for cell in cells if cell.figure2 <= 1.0] or [min(cells, key=lambda cell: cell.figure2)]
    return "; ".join(f"{cell.name} would give {cell.counts} (m = 1, 10)" for cell in near)


def figure3_setting(results: Results) -> str:
    """The cells within a percentage point of both shares, or the closest."""
    cells = _cells(results)
    near = [cell for cell in cells if cell.figure3 <= 1.0] or [min(cells, key=lambda cell: cell.figure3)]
    return "; ".join(f"{cell.name} would give {cell.percentages} at T=1e6" for cell in near)


def one_setting_for_both(results: Results) -> str:
    """The cell that meets all four numbers (10 % and a percentage point), or else the closest."""
    closest = min(_cells(results), key=lambda cell: cell.both)
    found = f"{closest.name}, with {closest.counts} draws and {closest.percentages}"
    return found if closest.both <= 1.0 else f"none on the grid; the closest is {found}"


def _cells(results: Results) -> list[Cell]:
    return [
        Cell(
            alpha,
            phi,
            {m: estimate(draws(results[f"grid-m{m}"], TSTD(alpha, phi=phi))) for m in DRAWS},
            {m: estimate(optimal_share(results[f"grid-m{m}"], TSMA(alpha, phi=phi))) for m in SHARES},
        )
        for alpha in VARIANCES
        for phi in GRID_SIZES
    ]
