"""Figures of a simulation: regret against time, and regret against the draws that it is bought with.

``regret`` and ``trade`` draw on any Axes, so that a page can compose them; ``overview`` puts both side by
side. Nothing goes through pyplot: no figure is shared, no window is opened, and threads do not meet.
"""

import base64
import html
import io
import math
import os
import threading
from collections import Counter
from pathlib import Path
from textwrap import fill
from typing import Any

from thrifty.errors import FileError, MissingExtra

try:
    import matplotlib
except ImportError:
    raise MissingExtra("figures need matplotlib: pip install 'thrifty[plot]'") from None

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from thrifty import storage
from thrifty.arrays import Floats
from thrifty.delays import NO_DELAY
from thrifty.look import GREY
from thrifty.problems import (
    BOUNDED,
    Bernoulli,
    Changing,
    ClippedGaussian,
    Discrete,
    Empirical,
    Exponential,
    Gaussian,
    Poisson,
    Problem,
    Timed,
)
from thrifty.report.labels import EndLabels, PointLabels
from thrifty.report.scale import logarithmic
from thrifty.report.style import Style, styles
from thrifty.simulation.result import Result
from thrifty.theory import lower_bound, lower_bound_bounded

BAND = (0.05, 0.95)  # quantiles over the runs
APART = 1.1  # the ratio of two means from which curves can be told apart
DPI, SCREEN_DPI = 200, 100  # of files, and in notebooks
WARNING = "#a33a00"
UNDATED: dict[str, dict[str, None]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}
# Ids in an SVG have a fixed salt, letters are outlines there; in a PDF they are TrueType, as publishers ask.
RC: dict[Any, Any] = {"svg.hashsalt": "thrifty", "svg.fonttype": "path", "pdf.fonttype": 42}
_saving = threading.Lock()  # rc_context swaps the settings of the whole process


def overview(result: Result, path: str | os.PathLike[str] | None = None) -> Figure:
    """Regret against t and regret against draws, side by side; written to ``path`` if given."""
    height = max(4.8, 1.5 + 0.16 * len(result.labels))  # so that the labels have room
    figure = Figure(figsize=(11.5, height), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.15))
    regret(result, left)
    trade(result, right)
    figure.suptitle(plain(setting(result)), fontsize=10.5)
    if result.notes:
        notes = "\n".join(fill(plain(note), 170) for note in result.notes)
        figure.supxlabel(notes, fontsize=8.0, color=WARNING)
    if path is not None:
        save(figure, path)
    return figure


def regret(result: Result, ax: Axes) -> None:
    """Mean regret against t, bands from the 5 % to the 95 % quantile of the runs, the asymptotic lower bound.

    Both axes are logarithmic. A mean can lie outside its band: that is what a few stuck runs look like. A
    curve can lie below the bound, which is a slope: in the long run regret grows at least so fast.
    """
    start = first_round(result)
    seen = result.checkpoints >= start
    t, regrets = result.checkpoints[seen].astype(float), result.regret[:, :, seen]
    means = regrets.mean(axis=1)
    low, high = np.quantile(regrets, BAND, axis=1)
    bound = bound_curve(result.settings.problem, start, result.settings.horizon)

    shown = [means, low, high] if bound is None else [means, low, high, bound[1]]
    zero = logarithmic(ax, "y", np.concatenate([values.ravel() for values in shown]))
    logarithmic(ax, "x", t)
    begin = t[0] if t.size > 1 else t[0] / 2.0
    ax.set_xlim(begin, t[-1] * (t[-1] / begin) ** 0.01)  # half a marker beyond the end
    means, low, high = (np.maximum(values, zero) for values in (means, low, high))

    for round_ in marks(result):
        ax.axvline(round_, color=GREY, linestyle=":", linewidth=0.9, zorder=0.5)

    looks = _looks(result)
    for i, look in enumerate(looks):
        ax.fill_between(
            t,
            low[i],
            high[i],
            color=look.colour,
            alpha=min(0.12, 1.0 / len(looks)),  # many bands overlap
            linewidth=0.5,
        )
        ax.plot(
            t,
            means[i],
            color=look.colour,
            linestyle=look.line,
            linewidth=1.4,
            marker=look.marker,
            markevery=[-1],
            markersize=4.5,
            label=result.labels[i],
        )
    ends = [(t[-1], mean) for mean in means[:, -1]]
    texts, colours = list(map(plain, result.labels)), [look.colour for look in looks]
    if bound is not None:
        rounds, values, constant = bound
        slope = np.format_float_positional(constant, precision=3, fractional=False, trim="-")
        text = f"lower bound, {slope} ln t: a slope, not a floor"
        ax.plot(rounds, values, color=GREY, linestyle="--", linewidth=1.2, label=text)
        ends.append((rounds[-1], values[-1]))
        texts.append(text)
        colours.append(GREY)
    EndLabels(ax, ends, texts, colours)
    finish(ax, "round t", f"cumulative pseudo-regret ({_statistic(result)})")


def trade(result: Result, ax: Axes) -> None:
    """Mean regret at the horizon against mean draws, one marker per policy, bars over 5-95 % of the runs.

    Both axes are logarithmic; policies that draw nothing stand in a strip of their own.
    """
    regrets, draws = result.regret[:, :, -1], result.draws.sum(axis=2).astype(float)
    across = np.vstack([draws.mean(axis=1), np.quantile(draws, BAND, axis=1)])
    up = np.vstack([regrets.mean(axis=1), np.quantile(regrets, BAND, axis=1)])
    x, left, right = np.maximum(across, logarithmic(ax, "x", across, zero_name="no draws"))
    y, bottom, top = np.maximum(up, logarithmic(ax, "y", up))

    looks = _looks(result)
    bars = []
    for i, look in enumerate(looks):
        horizontal = [(left[i], y[i]), (right[i], y[i])]
        vertical = [(x[i], bottom[i]), (x[i], top[i])]
        bars += [horizontal, vertical]
        bar: dict[str, Any] = {"color": look.colour, "linewidth": 1.0, "alpha": 0.7}
        ax.plot(*np.transpose(horizontal), marker="|", markersize=5.0, **bar)
        ax.plot(*np.transpose(vertical), marker="_", markersize=5.0, **bar)
        if not bottom[i] <= y[i] <= top[i]:  # a few bad runs: join the mean to its distant bar
            ax.plot([x[i], x[i]], [np.clip(y[i], bottom[i], top[i]), y[i]], linestyle=":", **bar)
        ax.plot(x[i], y[i], look.marker, color=look.colour, markersize=6.0, label=result.labels[i])
    colours = [look.colour for look in looks]
    PointLabels(ax, np.column_stack([x, y]), list(map(plain, result.labels)), colours, bars)
    finish(ax, "posterior draws per run", f"cumulative pseudo-regret at T ({_statistic(result)})")


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write the figure as its suffix says, without dates and random ids: equal results give equal bytes."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in UNDATED:
        raise FileError(f"a figure file must end in {', '.join(UNDATED)}, got {target.name!r}")
    with _saving, matplotlib.rc_context(RC):
        storage.replace(
            target,
            lambda file: figure.savefig(file, format=suffix[1:], dpi=DPI, metadata=UNDATED[suffix]),
        )
    return target


def image(result: Result) -> str:
    """The overview as an HTML image that holds its own data, for notebooks."""
    drawn = io.BytesIO()
    overview(result).savefig(drawn, format="png", dpi=SCREEN_DPI)
    data = base64.b64encode(drawn.getvalue()).decode()
    alternative = html.escape(f"regret against t and against draws: {setting(result)}")
    return f'<img style="max-width: 100%" alt="{alternative}" src="data:image/png;base64,{data}">'


def setting(result: Result) -> str:
    """One line on what was simulated: K, T, runs and the problem."""
    problem, runs = result.settings.problem, result.settings.runs
    delay = result.settings.delay
    late = ", ".join(f"{name} {value:g}" for name, value in vars(delay).items())
    late = "" if delay == NO_DELAY else f"; {delay.kind} delay, {late}"
    others = f"; {result.settings.others}" if result.settings.others else ""
    return (
        f"K = {problem.size:,}, T = {result.settings.horizon:,}, {runs:,} run{'s' if runs > 1 else ''}; "
        f"{_described(problem)}{late}{others}"
    )


def _described(problem: Problem) -> str:
    """What is paid, in a few words."""
    if isinstance(problem, Timed):
        times, when = len(problem.marks), ""
        if isinstance(problem, Changing):
            when = f" {times:,} time{'s' if times > 1 else ''} (dotted)"
        elif problem.marks:
            when = f" up to round {problem.marks[0]:,} (dotted)"
        kinds = dict.fromkeys(_title(one) for one in problem.known)
        return f"{' and '.join(kinds)} rewards whose means change{when}"
    counts = Counter(problem.expectations.tolist())
    values = [f"{mean:.4g}" + (f" (×{count:,})" if count > 1 else "") for mean, count in counts.items()]
    listed = ", ".join(values) if len(values) <= 4 else f"{min(counts):.4g} to {max(counts):.4g}"
    means = f"mean{'s' if counts.total() > 1 else ''} {listed}"
    if isinstance(problem, Gaussian | ClippedGaussian):
        deviations = np.atleast_1d(problem.sd)
        low, high = deviations.min(), deviations.max()
        means += f", sd {low:g}" + (f" to {high:g}" if high > low else "")
    return f"{_title(problem)} rewards, " + means.replace("-", "−")


def _title(problem: Problem) -> str:
    """Bernoulli, or the class of a problem of the user's own."""
    return problem.kind.title() if ":" not in problem.kind else type(problem).__name__


def marks(result: Result) -> list[int]:
    """The rounds at which the problem changes at once, of those that are played."""
    problem, horizon = result.settings.problem, result.settings.horizon
    return [t for t in problem.marks if t <= horizon] if isinstance(problem, Timed) else []


def first_round(result: Result) -> int:
    """The round at which the curves begin: the first at which the policies' means can be told apart.

    Not before the initial pulls are done, which are the same for all, and not in the last decade.
    """
    initial = 1 if result.settings.prior is not None else result.pulls.shape[2]
    means = result.regret.mean(axis=1)
    apart = (means.max(axis=0) > APART * means.min(axis=0)) & (result.checkpoints >= initial)
    if not apart.any():
        return initial
    first = int(result.checkpoints[apart.argmax()])
    return max(initial, min(first, result.settings.horizon // 10))


def bound_curve(problem: Problem, start: int, horizon: int) -> tuple[Floats, Floats, float] | None:
    """Rounds t, constant * ln t and the constant of the asymptotic lower bound, from where it says something.

    As long as constant * ln t exceeds t * (the largest gap), no policy at all can have so much regret. None
    if no constant is known, if it is 0 or infinite, or if it says nothing before the horizon.
    """
    constant = 0.0 if isinstance(problem, Timed) else bound_constant(problem)
    if not 0.0 < constant < math.inf:
        return None
    rounds = np.geomspace(max(start, 2), max(horizon, 2), 400)
    values = constant * np.log(rounds)
    impossible = np.flatnonzero(values > rounds * problem.gaps.max())
    first = impossible[-1] + 1 if impossible.size else 0
    if first > rounds.size - 2:
        return None
    return rounds[first:], values[first:], constant


def bound_constant(problem: Problem) -> float:
    """The lower bound's constant; 0 for densities on [0, 1], whose K_inf has no closed form.

    >>> round(bound_constant(Gaussian([1.0, 0.5], sd=2.0)), 9)
    16.0
    """
    if isinstance(problem, Bernoulli):
        return lower_bound(problem.expectations.tolist())
    if isinstance(problem, Gaussian):
        variances = np.full(problem.size, problem.sd) ** 2
        return lower_bound(problem.expectations.tolist(), "gaussian", variances.tolist())
    if isinstance(problem, Poisson | Exponential):
        return lower_bound(problem.expectations.tolist(), problem.family)
    if isinstance(problem, Discrete):
        return lower_bound_bounded([(list(problem.values), list(row or ())) for row in problem.probabilities])
    if isinstance(problem, Empirical) and problem.rewards in BOUNDED:
        return lower_bound_bounded(
            [(list(row or ()), [1.0 / len(row or ())] * len(row or ())) for row in problem.samples]
        )
    return 0.0


def plain(text: str) -> str:
    """Text in which a dollar is a dollar: matplotlib would take two of them for a formula."""
    return text.replace("$", r"\$")


def _looks(result: Result) -> list[Style]:
    return styles([policy["name"] for policy in result.settings.policies])


def _statistic(result: Result) -> str:
    return "mean, 5–95 %" if result.settings.runs > 1 else "one run"


def finish(ax: Axes, x: str, y: str) -> None:
    ax.set_xlabel(x, fontsize=9.0)
    ax.set_ylabel(y, fontsize=9.0)
    ax.tick_params(labelsize=8.0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(which="major", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
