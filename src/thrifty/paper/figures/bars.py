"""Figures 2 and 3: where the draws of TS-TD and TS-MA go, with the published numbers marked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from thrifty.arrays import Floats
from thrifty.look import COLOURS
from thrifty.paper.claim import Results, draws, draws_on, optimal_share, short
from thrifty.paper.claims.grid import DRAWS, SHARES
from thrifty.paper.experiments import ALPHAS, ARMS, OPTIMAL
from thrifty.paper.figures.panel import Exhibit, panel, runs
from thrifty.policies import TSMA, TSTD, batch_size
from thrifty.report.figures import BAND, finish
from thrifty.report.style import MARKERS

ALPHA = 0.8  # for which the paper prints numbers
UNIT = 1e7  # draws
LEAST_SHARE = 90.0  # "more than 90 %"
STEP = 0.27  # between the places of one alpha
PRINTED: dict[str, Any] = {
    "color": "black",
    "marker": "D",
    "markersize": 6.5,
    "markeredgecolor": "white",
    "linestyle": "none",
}


def figure2(results: Results) -> Exhibit:
    """Total draws of TS-TD, those on sub-optimal arms hatched."""
    drawing, ax = panel("")
    horizon = results["draws-m1"].settings.horizon
    everything = ARMS * horizon / UNIT
    for alpha in ALPHAS:
        for m in OPTIMAL:
            result, x = results[f"draws-m{m}"], _place(alpha, m)
            total = draws(result, TSTD(alpha)) / UNIT
            best = m * draws_on(result, TSTD(alpha), optimal=True).mean() / UNIT
            look: dict[str, Any] = {"color": _colour(m), "width": 0.9 * STEP, "edgecolor": "white"}
            ax.bar(x, best, linewidth=0.5, **look)
            ax.bar(x, total.mean() - best, bottom=best, hatch="////", linewidth=0.5, **look)
            _text(ax, x, total, f"{total.mean():.2f}")
            if alpha == 0.0:
                ax.plot(x, everything, **PRINTED)
            elif alpha == ALPHA and m in DRAWS:
                ax.plot(x, DRAWS[m] / UNIT, **PRINTED)
    ax.set_ylim(0.0, 1.12 * everything)
    hatched = Patch(facecolor="0.6", edgecolor="white", hatch="////", label="on sub-optimal arms")
    handles = [Patch(color=_colour(m), label=_name(m)) for m in OPTIMAL]
    _finish(ax, f"draws of TS-TD-α, T = {short(horizon)}, in 10⁷", [*handles, hatched])
    one, ten = (float(draws(results[f"draws-m{m}"], TSTD(ALPHA)).mean()) for m in (1, 10))
    waste = 1.0 - float(optimal_share(results["draws-m1"], TSTD(ALPHA)).mean())
    return Exhibit(
        "Figure 2. How many samples TS-TD draws",
        {"figure2": drawing},
        f"{setting(results, 'draws-m')}. At α = 0 the paper has KT = {short(ARMS * horizon)} draws, "
        "whatever the number m of optimal arms. At α = 0.8 it has 0.25e7 with one optimal arm and 1.0e7 "
        f"with ten; the algorithm as stated draws {short(one)} and {short(ten)}. With one optimal arm, "
        f"{100.0 * waste:.0f} % of these are for sub-optimal arms: such an arm stops drawing after φ = "
        f"{batch_size(horizon, ALPHA):,} rounds without a pull, and at this T it seldom waits that long.",
    )


def figure3(results: Results) -> Exhibit:
    """The share of TS-MA's draws that go to optimal arms. Points, not bars: the axis does not begin at 0."""
    drawing, ax = panel("")
    shares = {
        (alpha, m): 100.0 * optimal_share(results[f"draws-m{m}"], TSMA(alpha))
        for alpha in ALPHAS
        for m in OPTIMAL
    }
    for (alpha, m), share in shares.items():
        x = _place(alpha, m)
        ax.plot(x, share.mean(), color=_colour(m), marker=_marker(m), markersize=7.0)
        _text(ax, x, share, f"{share.mean():.1f}", beside=True)
        if alpha == ALPHA and m in SHARES:
            ax.plot(x, 100.0 * SHARES[m], **PRINTED)
    ax.axhline(LEAST_SHARE, color="0.4", linewidth=0.9, linestyle="--")
    ax.margins(x=0.1, y=0.1)
    handles = [
        Line2D([], [], color=_colour(m), marker=_marker(m), linestyle="none", label=_name(m)) for m in OPTIMAL
    ]
    line = Line2D([], [], color="0.4", linewidth=0.9, linestyle="--", label="90 %")
    _finish(ax, "share of TS-MA-α's draws on optimal arms, %", [*handles, line])
    least = min(float(share.mean()) for share in shares.values())
    vanilla = ", ".join(f"{100.0 * m / ARMS:g} %" for m in OPTIMAL)
    return Exhibit(
        "Figure 3. For which arms TS-MA draws",
        {"figure3": drawing},
        f"{setting(results, 'draws-m')}; the paper does not say its T here. It has more than 90 % "
        f"everywhere (dashed); our lowest is {least:.1f} %. At α = 0.8 it prints 94 % with one optimal arm "
        f"and 97 % with ten; we have {shares[ALPHA, 1].mean():.1f} % and {shares[ALPHA, 10].mean():.1f} %. "
        "TS-MA draws for the arm that it pulls, so this is also its share of good pulls. Vanilla TS draws "
        f"for all arms alike: {vanilla} for these numbers of optimal arms.",
    )


def setting(results: Results, prefix: str) -> str:
    """K, T and runs of the experiments that differ in m alone."""
    result = next(one for name, one in results.items() if name.startswith(prefix))
    arms, horizon = result.settings.problem.gaps.size, result.settings.horizon
    return f"K = {arms}, means 0.9 and 0.8, T = {short(horizon)}, {runs(result)}"


def _place(alpha: float, m: int) -> float:
    return ALPHAS.index(alpha) + STEP * (OPTIMAL.index(m) - 1)


def _colour(m: int) -> str:
    return COLOURS[OPTIMAL.index(m)]


def _marker(m: int) -> str:
    return MARKERS[OPTIMAL.index(m)]


def _name(m: int) -> str:
    return f"{m} optimal arm{'s' if m > 1 else ''}"


def _text(ax: Axes, x: float, values: Floats, text: str, *, beside: bool = False) -> None:
    """The range over the runs, and the mean in figures: above it, or to the right of its point."""
    low, high = np.quantile(values, BAND)
    ax.vlines(x, low, high, color="black", linewidth=1.0)
    place, offset, side = (values.mean(), (5.0, -2.5), "left") if beside else (high, (0.0, 6.0), "center")
    ax.annotate(text, (x, place), offset, textcoords="offset points", ha=side, fontsize=7.5)


def _finish(ax: Axes, y: str, handles: Sequence[Artist]) -> None:
    ax.set_xticks(range(len(ALPHAS)), [f"α = {alpha:g}" for alpha in ALPHAS])
    printed = Line2D([], [], label="printed in the paper", **PRINTED)
    assert ax.figure is not None
    ax.figure.legend(
        handles=[*handles, printed], loc="outside lower center", ncols=3, fontsize=8.0, frameon=False
    )
    finish(ax, "", y)
    ax.grid(visible=False, axis="x")
