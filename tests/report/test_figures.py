"""Figures, by their structure: what is drawn and where, not by pixels."""

import importlib
import math
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from thrifty import UCB1, ThompsonSampling, simulate
from thrifty.delays import NO_DELAY
from thrifty.errors import FileError, MissingExtra
from thrifty.look import GREY
from thrifty.problems import Bernoulli, Beta, Discrete, Gaussian, Problem
from thrifty.report import figures
from thrifty.simulation.result import Result, Settings
from thrifty.theory import lower_bound, lower_bound_bounded

PAPER = Bernoulli([0.9] + [0.8] * 19)
KINDS = ["ThompsonSampling", "EpsilonTS", "ExpTS", "ExpTSPlus", "TSMA", "TSTD", "KLUCBPlusPlus"]


def made(
    problem: Problem = PAPER,
    policies: int = 14,
    runs: int = 20,
    horizon: int = 20_000,
    checkpoints: int = 60,
    prior: tuple[float, float] | None = None,
) -> Result:
    """A result of made-up numbers: regret grows like powers of t, one policy in seven draws nothing."""
    rng = np.random.default_rng(1)
    arms = problem.gaps.size
    t = np.unique(np.geomspace(horizon, min(arms, horizon), checkpoints).round().astype(np.int64))
    powers = np.linspace(0.4, 0.95, policies)[:, None, None]
    noise = rng.lognormal(0.0, 0.3, (policies, runs, 1))
    worst = problem.gaps.max()
    draws = rng.integers(horizon // arms + 1, horizon + 2, (policies, runs, arms))
    draws[6::7] = 0
    return Result(
        settings=Settings(
            policies=tuple({"name": KINDS[i % 7]} for i in range(policies)),
            labels=tuple(f"{KINDS[i % 7]} ({i // 7})" for i in range(policies)),
            engines=("scan",) * policies,
            problem=problem,
            horizon=horizon,
            runs=runs,
            seed=1,
            prior=prior,
            delay=NO_DELAY,
        ),
        checkpoints=t,
        regret=worst * noise * t**powers,
        pulls=rng.integers(1, 10, (policies, runs, arms)),
        draws=draws,
        evaluations=draws.sum(axis=2),
    )


def axes(draw, result: Result) -> Axes:
    ax = Figure().add_subplot()
    draw(result, ax)
    return ax


def line(ax: Axes, label: str) -> Line2D:
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_overview_has_regret_against_t_and_against_draws() -> None:
    figure = made().plot()
    left, right = figure.axes
    assert left.get_xlabel() == "round t"
    assert left.get_ylabel() == "cumulative pseudo-regret (mean, 5–95 %)"
    assert right.get_xlabel() == "posterior draws per run"
    assert right.get_ylabel() == "cumulative pseudo-regret at T (mean, 5–95 %)"
    assert figure.get_suptitle() == "K = 20, T = 20,000, 20 runs; Bernoulli rewards, means 0.9, 0.8 (×19)"
    assert {ax.get_xscale() for ax in figure.axes} == {ax.get_yscale() for ax in figure.axes} == {"log"}


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Bernoulli([0.5]), "Bernoulli rewards, mean 0.5"),
        (Gaussian([1.0, -0.5], sd=2.0), "Gaussian rewards, means 1, −0.5, sd 2"),
        (Bernoulli(np.linspace(0.1, 0.9, 9)), "Bernoulli rewards, means 0.1 to 0.9"),
    ],
)
def test_the_setting_names_the_problem(problem: Problem, words: str) -> None:
    assert figures.setting(made(problem, runs=1)) == f"K = {problem.gaps.size}, T = 20,000, 1 run; {words}"


def test_lines_are_means_and_bands_are_quantiles_over_the_runs() -> None:
    result = made()
    ax = axes(figures.regret, result)
    seen = result.checkpoints >= figures.first_round(result)
    assert seen.sum() > 20
    assert len(ax.collections) == 14 + 1  # a band each, and the lines to the labels
    for i, label in enumerate(result.labels):
        regrets = result.regret[i][:, seen]
        t, mean = line(ax, label).get_data()
        assert np.array_equal(t, result.checkpoints[seen])
        assert np.array_equal(mean, regrets.mean(axis=0))
        band = ax.collections[i].get_paths()[0].vertices
        for moment, low, high in zip(t, *np.quantile(regrets, [0.05, 0.95], axis=0), strict=True):
            heights = band[band[:, 0] == moment, 1]
            assert heights.min() == low
            assert heights.max() == high


def test_every_policy_is_labelled_in_both_panels_and_looks_alike_and_unlike_the_others() -> None:
    result = made()
    left, right = result.plot().axes
    bound = [text for text in texts(left) if text.startswith("lower bound, ")]
    assert texts(left) == [*result.labels, *bound]
    assert texts(right) == list(result.labels)
    looks = set()
    for label in result.labels:
        curve, marker = line(left, label), line(right, label)
        assert (curve.get_color(), curve.get_marker()) == (marker.get_color(), marker.get_marker())
        looks.add((curve.get_color(), str(curve._dash_pattern), curve.get_marker()))
    assert len(looks) == 14


def test_labels_do_not_overlap_and_end_labels_are_in_the_order_of_the_ends() -> None:
    result = made()
    for size in [(11.5, 4.8), (9.0, 4.0)]:
        figure = result.plot()
        figure.set_size_inches(size)
        figure.draw_without_rendering()
        for ax in figure.axes:
            boxes = [text.get_window_extent() for text in ax.texts]
            for i, box in enumerate(boxes):
                for other in boxes[:i]:
                    # Descenders may touch the line below: compare the middle halves of the letters' boxes.
                    apart = abs(box.y0 + box.y1 - other.y0 - other.y1) / 2
                    assert apart >= 0.7 * box.height or box.x1 <= other.x0 or other.x1 <= box.x0
        left, right = figure.axes
        ends = [text.xy[1] for text in left.texts]
        heights = [text.get_window_extent().y0 for text in left.texts]
        assert np.array_equal(np.argsort(ends), np.argsort(heights))
        frame = right.get_window_extent()
        for text in right.texts:
            box = text.get_window_extent()
            assert frame.x0 <= box.x0
            assert box.x1 <= frame.x1


def test_the_panels_leave_room_for_the_labels_between_them() -> None:
    figure = made().plot()
    figure.draw_without_rendering()
    left, right = figure.axes
    label_end = max(text.get_window_extent().x1 for text in left.texts)
    assert left.get_window_extent().x1 < label_end < right.yaxis.label.get_window_extent().x0


def test_curves_begin_where_they_part_but_not_before_the_initial_pulls() -> None:
    result = made(policies=2, prior=(0.5, 1.0))
    together = result.checkpoints < 400
    result.regret[1][:, together] = result.regret[0][:, together]
    first = result.checkpoints[~together][0]
    assert figures.first_round(result) == first
    assert axes(figures.regret, result).get_xlim()[0] == first
    assert figures.first_round(made(policies=1)) == 20
    assert figures.first_round(made(policies=1, prior=(0.5, 1.0))) == 1
    result.regret[1] = result.regret[0]
    result.regret[1][:, -1] *= 2.0  # told apart at the end only: still a decade is shown
    assert figures.first_round(result) == 2000


def test_the_lower_bound_is_constant_times_ln_t_from_where_it_is_possible() -> None:
    result = made()
    ax = axes(figures.regret, result)
    (bound,) = [line for line in ax.lines if to_hex(line.get_color()) == GREY.lower()]
    t, values = bound.get_data()
    constant = lower_bound(PAPER.expectations.tolist())
    np.testing.assert_allclose(values, constant * np.log(t), rtol=1e-12)
    assert (values <= 0.1 * t + 1e-9).all()
    # 427.9 ln t = t at t = 3,512.6 or so; the line begins within one step of its grid after it.
    assert constant * math.log(3400.0) > 340.0
    assert 3400.0 < t[0] < 3700.0
    assert t[-1] == 20_000
    assert bound.get_linestyle() == "--"
    assert texts(ax)[-1] == "lower bound, 42.8 ln t: a slope, not a floor"
    assert ax.get_ylim()[0] < values.min()
    assert ax.get_ylim()[1] > values.max()


@pytest.mark.parametrize(
    ("problem", "constant"),
    [
        (Gaussian([1.0, 0.5, 0.0], sd=2.0), lambda: 8.0 * (1.0 / 0.5 + 1.0)),  # 2 sd^2 / gap, summed
        (
            Discrete([0.0, 0.5, 1.0], [[0.1, 0.2, 0.7], [0.3, 0.4, 0.3]]),
            lambda: lower_bound_bounded(
                [([0.0, 0.5, 1.0], [0.1, 0.2, 0.7]), ([0.0, 0.5, 1.0], [0.3, 0.4, 0.3])]
            ),
        ),
    ],
)
def test_the_lower_bound_of_other_problems(problem: Problem, constant: Callable[[], float]) -> None:
    curve = figures.bound_curve(problem, start=3, horizon=10**6)
    assert curve is not None
    assert curve[2] == pytest.approx(constant(), rel=1e-9)


@pytest.mark.parametrize(
    ("problem", "horizon"),
    [
        (Bernoulli([0.7, 0.7]), 10**6),  # constant 0: no arm to learn about
        (Bernoulli([1.0, 0.5]), 10**6),  # constant 0: one failure tells all
        (Beta([3.0, 1.0], [1.0, 3.0]), 10**6),  # constant unknown
        (PAPER, 3000),  # 342.6 > 300: more than any policy can lose by then
        (Bernoulli([0.9, 0.8]), 1),
    ],
)
def test_no_lower_bound_where_it_means_nothing(problem: Problem, horizon: int) -> None:
    assert figures.bound_curve(problem, start=2, horizon=horizon) is None


def test_trade_marks_means_with_bars_over_quantiles() -> None:
    result = made()
    ax = axes(figures.trade, result)
    draws, regrets = result.draws.sum(axis=2), result.regret[:, :, -1]
    bars = [line.get_xydata() for line in ax.lines if line.get_marker() in ("|", "_")]
    assert len(bars) == 2 * 14
    for i, label in enumerate(result.labels):
        (x,), (y,) = line(ax, label).get_data()
        assert y == regrets[i].mean()
        if i % 7 != 6:
            assert x == draws[i].mean()
            assert bars[2 * i][:, 0].tolist() == np.quantile(draws[i], [0.05, 0.95]).tolist()
        assert bars[2 * i + 1][:, 1].tolist() == np.quantile(regrets[i], [0.05, 0.95]).tolist()


def test_policies_without_draws_stand_left_of_all_others_under_their_own_tick() -> None:
    result = made()
    ax = axes(figures.trade, result)
    positions = np.array([line(ax, label).get_xdata()[0] for label in result.labels])
    none = np.arange(14) % 7 == 6
    (place,) = set(positions[none])
    strip = ax.patches[0].get_x() + ax.patches[0].get_width()
    assert ax.get_xlim()[0] < place < strip < positions[~none].min()
    ax.figure.draw_without_rendering()
    names = {tick.get_loc(): tick.label1.get_text() for tick in ax.xaxis.get_major_ticks()}
    assert names.pop(place) == "no draws"
    assert all(tick > strip for tick in names)
    assert all(tick > strip for tick in ax.xaxis.get_minorticklocs())


def test_a_mean_outside_its_quantiles_is_joined_to_its_bar() -> None:
    result = made(policies=1, runs=50)
    result.regret[0, 0] *= 1000.0  # one run in fifty is stuck
    ax = axes(figures.trade, result)
    (dotted,) = [line for line in ax.lines if line.get_linestyle() == ":"]
    final = result.regret[0, :, -1]
    assert dotted.get_ydata().tolist() == [np.quantile(final, 0.95), final.mean()]


@pytest.mark.parametrize(
    "result",
    [
        made(Bernoulli([0.5]), policies=2, runs=1),
        made(Bernoulli([0.5, 0.5])),
        made(policies=1, runs=1),
        made(checkpoints=1),
        made(Bernoulli([0.9, 0.5, 0.5]), horizon=3, checkpoints=1),
        made(policies=3, horizon=1, checkpoints=1, prior=(0.5, 1.0)),
        made(Bernoulli([0.9] + [0.5] * 50_000), policies=2, runs=2, horizon=60_000),
        made(policies=60, runs=3),
        made(Gaussian([1e6, 0.0])),
        made(Bernoulli([0.5, 0.5 - 1e-9])),
    ],
    ids=["K=1", "equal", "one", "checkpoint", "T=K", "T=1", "wide", "many", "large", "close"],
)
def test_unusual_results_have_finite_figures_within_their_axes(result: Result) -> None:
    figure = result.plot()
    figure.draw_without_rendering()
    for ax in figure.axes:
        for limits, scale in [(ax.get_xlim(), ax.get_xscale()), (ax.get_ylim(), ax.get_yscale())]:
            assert scale == "log"
            assert 0.0 < limits[0] < limits[1] < math.inf
        for label in result.labels:
            x, y = line(ax, label).get_data()
            assert x.size == y.size > 0
            assert (ax.get_xlim()[0] <= x).all()
            assert (x <= ax.get_xlim()[1]).all()
            assert (ax.get_ylim()[0] <= y).all()
            assert (y <= ax.get_ylim()[1]).all()
        assert len(ax.xaxis.get_majorticklocs()) > 0
        assert len(ax.yaxis.get_majorticklocs()) > 0


def test_zero_regret_has_its_place_on_a_logarithmic_axis() -> None:
    result = made(policies=2)
    result.regret[1] = 0.0
    for draw in (figures.regret, figures.trade):
        ax = axes(draw, result)
        ax.figure.draw_without_rendering()
        (place,) = set(line(ax, result.labels[1]).get_ydata())
        assert place < line(ax, result.labels[0]).get_ydata().min()
        names = {tick.get_loc(): tick.label1.get_text() for tick in ax.yaxis.get_major_ticks()}
        assert names[place] == "0"


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_equal_results_give_equal_bytes_and_leave_no_trace(tmp_path, suffix: str) -> None:
    before = dict(matplotlib.rcParams)
    files = [tmp_path / f"{name}{suffix}" for name in ("first", "second")]
    for file in files:
        figures.save(axes(figures.trade, made(policies=7)).figure, file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == files
    assert dict(matplotlib.rcParams) == before
    assert b"date" not in files[0].read_bytes().lower()


def test_the_suffix_decides_the_format(tmp_path) -> None:
    figure = Figure(figsize=(2.0, 2.0))
    heads = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF", ".PDF": b"%PDF"}
    for suffix, head in heads.items():
        assert figures.save(figure, str(tmp_path / f"figure{suffix}")).read_bytes().startswith(head)


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "svg"])
def test_an_unknown_suffix_is_an_error_that_names_the_known_ones(tmp_path, name: str) -> None:
    with pytest.raises(FileError, match=rf"must end in \.svg, \.png, \.pdf, got '{name}'"):
        made(policies=1).plot(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_threads_draw_the_same_figure(tmp_path) -> None:
    result = made(policies=2)
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(result.plot, tmp_path / f"{i}.svg") for i in range(2)]
        for job in jobs:
            job.result()
    assert len({file.read_bytes() for file in tmp_path.iterdir()}) == 1


def test_figures_do_without_pyplot(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # importing it fails
    result = made(policies=1)
    monkeypatch.delitem(sys.modules, "thrifty.report.figures")
    monkeypatch.delattr(importlib.import_module("thrifty.report"), "figures")
    result.plot(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").exists()


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    result = made(policies=1)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "thrifty.report.figures")
    monkeypatch.delattr(importlib.import_module("thrifty.report"), "figures")
    with pytest.raises(MissingExtra, match=r"figures need matplotlib: pip install 'thrifty\[plot\]'"):
        result.plot()


def test_a_loaded_result_is_drawn_alike(tmp_path) -> None:
    result = simulate([ThompsonSampling(), UCB1()], Bernoulli([0.5, 0.6]), 200, 3)
    result.plot(tmp_path / "first.svg")
    Result.load(result.save(tmp_path / "result.npz")).plot(tmp_path / "second.svg")
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()
