"""Figures of a simulation: regret against time, and regret against draws, what it is bought with.

``regret`` and ``trade`` draw on any Axes, so that a page can compose them; ``overview`` puts both side by side. Figures
are made without pyplot: nothing is shared between them, and no window is opened.
"""

import math
import os
import threading
from collections import Counter
from pathlib import Path

from thrifty.errors import FileError, MissingExtra

try:
    import matplotlib
except ImportError:
    raise MissingExtra("figures need matplotlib: pip install 'thrifty[plot]'") from None

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, Locator
from numpy.typing import NDArray

from thrifty.problems import Gaussian, Problem
from thrifty.report.labels import EndLabels, PointLabels
from thrifty.report.style import GREY, styles
from thrifty.simulation import storage
from thrifty.simulation.result import Result
from thrifty.theory import lower_bound

Floats = NDArray[np.float64]

BAND = (0.05, 0.95)  # quantiles over the runs
FORMATS = {".svg": {"Date": None}, ".png": {}, ".pdf": {"CreationDate": None}}
RC = {"svg.hashsalt": "thrifty", "svg.fonttype": "path", "pdf.fonttype": 42}
_rc_lock = threading.Lock()  # rcParams are global: one figure at a time is saved with ours


def overview(result: Result, path: str | os.PathLike[str] | None = None) -> Figure:
    """Regret against t and regret against draws, side by side; written to ``path`` if given."""
    figure = Figure(figsize=(12.0, max(5.0, 1.5 + 0.16 * len(result.labels))), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.15))
    regret(result, left)
    trade(result, right)
    figure.suptitle(setting(result), fontsize=10.5)
    if path is not None:
        save(figure, path)
    return figure


def regret(result: Result, ax: Axes) -> None:
    """Mean cumulative regret against t with 5-95 % bands over the runs, and the asymptotic lower bound."""
    start = first_round(result)
    seen = result.checkpoints >= start
    t, regrets = result.checkpoints[seen], result.regret[:, :, seen]
    means = regrets.mean(axis=1)
    low, high = np.quantile(regrets, BAND, axis=1)
    zero = _logarithmic(ax.yaxis, np.concatenate([means, low, high]))
    _logarithmic(ax.xaxis, t.astype(float))
    ax.set_xlim(t[0] if len(t) > 1 else t[0] / 2, t[-1])
    looks = styles([policy["name"] for policy in result.settings.policies])
    for look, label, mean, bottom, top in zip(looks, result.labels, means, low, high, strict=True):
        ax.fill_between(
            t,
            np.maximum(bottom, zero),
            np.maximum(top, zero),
            color=look.colour,
            alpha=0.12,
            linewidth=0.5,
        )
        ax.plot(
            t,
            np.maximum(mean, zero),
            color=look.colour,
            linestyle=look.line,
            linewidth=1.4,
            marker=look.marker,
            markevery=[-1],
            markersize=4.5,
            clip_on=False,
            label=label,
        )
    ends = [(t[-1], max(mean[-1], zero)) for mean in means]
    texts, colours = list(result.labels), [look.colour for look in looks]
    bound = bound_curve(result.settings.problem, start, result.settings.horizon)
    if bound is not None:
        rounds, values, constant = bound
        ax.plot(rounds, values, color=GREY, linestyle="--", linewidth=1.2, label="lower bound")
        ends.append((rounds[-1], values[-1]))
        texts.append(f"asymptotic lower bound, {constant:.3g} ln t")
        colours.append(GREY)
    EndLabels(ax, ends, texts, colours)
    ax.set_xlabel("round t")
    ax.set_ylabel("cumulative pseudo-regret")
    _plain(ax)


def trade(result: Result, ax: Axes) -> None:
    """Mean regret against mean draws at the horizon, one marker per policy, with 5-95 % error bars."""
    regrets, draws = result.regret[:, :, -1], result.draws.sum(axis=2).astype(float)
    x, y = draws.mean(axis=1), regrets.mean(axis=1)
    xs, ys = (np.quantile(values, BAND, axis=1) for values in (draws, regrets))
    no_draws = _logarithmic(ax.xaxis, np.vstack([x, xs]))
    no_regret = _logarithmic(ax.yaxis, np.vstack([y, ys]))
    x, xs = np.maximum(x, no_draws), np.maximum(xs, no_draws)
    y, ys = np.maximum(y, no_regret), np.maximum(ys, no_regret)
    looks = styles([policy["name"] for policy in result.settings.policies])
    for i, look in enumerate(looks):
        ax.plot(xs[:, i], [y[i], y[i]], color=look.colour, linewidth=1.0, alpha=0.6)
        ax.plot([x[i], x[i]], ys[:, i], color=look.colour, linewidth=1.0, alpha=0.6)
        ax.plot(x[i], y[i], look.marker, color=look.colour, markersize=6.0, label=result.labels[i])
    bars = [
        bar
        for i in range(len(looks))
        for bar in ([(xs[0, i], y[i]), (xs[1, i], y[i])], [(x[i], ys[0, i]), (x[i], ys[1, i])])
    ]
    PointLabels(
        ax, np.column_stack([x, y]), result.labels, [look.colour for look in looks], bars
    )
    ax.set_xlabel("posterior draws per run")
    ax.set_ylabel(f"cumulative pseudo-regret at t = {result.settings.horizon:,}")
    _plain(ax)


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write the figure as its suffix says. Equal figures give equal bytes: no dates, no random ids."""
    target = Path(path)
    if target.suffix not in FORMATS:
        raise FileError(f"a figure file must end in {', '.join(FORMATS)}, got {target.name!r}")
    kind, metadata = target.suffix[1:], FORMATS[target.suffix]
    with _rc_lock, matplotlib.rc_context(RC):
        storage.replace(
            target, lambda file: figure.savefig(file, format=kind, dpi=DPI, metadata=metadata)
        )
    return target
