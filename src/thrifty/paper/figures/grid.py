"""Which phi and variance would give the published numbers of Figures 2 and 3?"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from thrifty.arrays import Floats
from thrifty.look import COLOURS
from thrifty.paper.claim import Results, draws, optimal_share
from thrifty.paper.claims.grid import DRAWS, SHARES, VARIANCES, one_setting_for_both
from thrifty.paper.experiments import GRID_SIZES, OPTIMAL
from thrifty.paper.figures.bars import ALPHA, setting
from thrifty.paper.figures.panel import Curve, Exhibit, Reference, mark, panel, plot
from thrifty.policies import TSMA, TSTD, Policy, batch_size
from thrifty.report.style import LINES, MARKERS, Style
from thrifty.simulation.result import Result


class Quantity(NamedTuple):
    """One of the two published pairs, and how it is measured."""

    name: str
    title: str
    published: Mapping[int, float]  # by the number m of optimal arms
    policy: Callable[[float, float], Policy]  # of alpha, which gives the variance, and phi
    measure: Callable[[Result, Policy], Floats]
    sign: int  # 1 if it grows with phi, -1 if it falls
    log: bool  # whether its axis is logarithmic

    def values(self, results: Results, m: int, alpha: float, phi: float) -> Floats:
        """One number per run."""
        return self.measure(results[f"grid-m{m}"], self.policy(alpha, phi))


QUANTITIES = (
    Quantity(
        "draws", "TS-TD: all draws", DRAWS, lambda alpha, phi: TSTD(alpha, phi=phi), draws, sign=1, log=True
    ),
    Quantity(
        "share",
        "TS-MA: share of the draws on optimal arms",
        SHARES,
        lambda alpha, phi: TSMA(alpha, phi=phi),
        optimal_share,
        sign=-1,
        log=False,
    ),
)


def grid(results: Results) -> Exhibit:
    """Draws of TS-TD and share of TS-MA over phi for two variances, beside the published numbers."""
    stated = batch_size(results["grid-m1"].settings.horizon, ALPHA)
    panels = {}
    for quantity in QUANTITIES:
        drawing, ax = panel(quantity.title)
        curves, references = [], []
        for m, value in quantity.published.items():
            colour = COLOURS[OPTIMAL.index(m)]
            ends = [GRID_SIZES[0], GRID_SIZES[-1]]
            references.append(Reference(f"published, m = {m}", ends, [value, value], colour))
            for row, (alpha, variance) in enumerate(VARIANCES.items()):
                values = [quantity.values(results, m, alpha, phi) for phi in GRID_SIZES]
                style = Style(colour, LINES[2 * row], MARKERS[row])
                curves.append(Curve(f"m = {m}, variance {variance}", GRID_SIZES, values, style))
        plot(ax, curves, references, "φ", quantity.name, log=quantity.log)
        mark(ax, stated, "stated φ")
        panels[f"grid-{quantity.name}"] = drawing
    return Exhibit(
        "Which φ and variance would give the published numbers at T = 10⁶?",
        panels,
        f"{setting(results, 'grid-m')}. Dashed: the four numbers that the paper prints for α = 0.8. The φ "
        f"that it states is {stated:,} (dotted). "
        f"{' '.join(_crossings(results, alpha) for alpha in VARIANCES)} One setting for all four: "
        f"{one_setting_for_both(results)}. The paper states no T for the shares; "
        "longer ones are tried beside the claims. This shows how far the stated φ and variance are from "
        "the published numbers; what the authors ran, it cannot show.",
    )


def _crossings(results: Results, alpha: float) -> str:
    """At which phi each published number is met, on a straight line in ln phi between the points."""
    found = []
    for quantity in QUANTITIES:
        for m, published in quantity.published.items():
            means = np.array([quantity.values(results, m, alpha, phi).mean() for phi in GRID_SIZES])
            rising = np.maximum.accumulate(quantity.sign * means)  # a few runs may disturb the order
            wanted = quantity.sign * published
            if wanted < rising[0]:
                found.append(f"below {GRID_SIZES[0]:g}")
            elif wanted > rising[-1]:
                found.append(f"above {GRID_SIZES[-1]:,g}")
            else:
                phi = math.exp(np.interp(wanted, rising, np.log(GRID_SIZES)))
                found.append(f"about {round(phi, -1 if phi >= 100.0 else 0):.0f}")
    return (
        f"With variance {VARIANCES[alpha]} the draws are met at φ {found[0]} (m = 1) and {found[1]} (m = "
        f"10), the shares at φ {found[2]} and {found[3]}."
    )
