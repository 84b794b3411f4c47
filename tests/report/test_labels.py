"""Where labels go, and how ticks and styles are chosen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from thrifty.look import COLOURS
from thrifty.report.labels import HEIGHT, EndLabels, PointLabels, spread
from thrifty.report.scale import logarithmic, number
from thrifty.report.style import LINES, styles

HEIGHTS = st.lists(st.floats(-50.0, 150.0), min_size=1, max_size=20).map(np.array)


@given(HEIGHTS)
def test_spread_labels_are_apart_in_order_and_in_the_room(wanted: np.ndarray) -> None:
    placed = spread(wanted, 5.0, 0.0, 100.0)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(placed[order]) >= 5.0 - 1e-9).all()
    assert placed.min() >= 2.5 - 1e-9
    assert placed.max() <= 97.5 + 1e-9


@given(HEIGHTS)
def test_labels_with_room_stay_where_they_are(wanted: np.ndarray) -> None:
    tenths = np.unique(np.clip(wanted, 3.0, 97.0).round(-1))
    assert np.allclose(spread(tenths, 5.0, -10.0, 110.0), tenths)


def test_too_many_labels_are_centred() -> None:
    placed = spread(np.zeros(11), 10.0, 0.0, 50.0)
    assert placed.mean() == pytest.approx(25.0)
    assert np.diff(placed) == pytest.approx(np.full(10, 10.0))


def test_labels_find_their_places_again_when_the_figure_is_resized() -> None:
    figure = Figure(figsize=(6.0, 4.0), dpi=100)
    ax = figure.add_subplot()
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    points = [(0.5, 0.5), (0.5, 0.5), (0.5, 0.52)]
    near = PointLabels(ax, points, ["one", "two", "three"], ["k"] * 3, np.zeros((0, 2, 2)))
    beside = EndLabels(ax, points, ["a", "b", "c"], ["k"] * 3)
    for size, dpi in [((6.0, 4.0), 100), ((3.0, 2.0), 200)]:
        figure.set_size_inches(size)
        figure.set_dpi(dpi)
        figure.draw_without_rendering()
        point = dpi / 72
        boxes = [text.get_window_extent() for text in near.texts]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
        bottoms = np.sort([text.get_window_extent().y0 for text in beside.texts])
        assert np.diff(bottoms) == pytest.approx([HEIGHT * point] * 2, abs=2.0)  # letters snap to pixels
        for labels in (near, beside):
            for text, (start, end) in zip(labels.texts, labels.leaders.get_segments(), strict=True):
                box = text.get_window_extent()
                assert start == pytest.approx(ax.transData.transform(labels.points[labels.texts.index(text)]))
                assert min(abs(end[0] - box.x0), abs(end[0] - box.x1)) < 5.0 * point
                assert box.y0 - 2.0 * point < end[1] < box.y1 + 2.0 * point


def test_a_log_axis_has_a_strip_for_zeros_only_if_there_are_any() -> None:
    with_zero, without = Figure().subplots(1, 2)
    zero = logarithmic(with_zero, "x", np.array([0.0, 10.0, 1000.0]), zero_name="none")
    assert len(with_zero.patches) == 1
    assert with_zero.get_xlim()[0] < zero < 10.0
    assert zero in with_zero.get_xticks()
    logarithmic(without, "x", np.array([10.0, 1000.0]))
    assert not without.patches
    assert list(without.get_xticks()) == [10.0, 100.0, 1000.0]


def test_a_log_axis_of_zeros_has_one_tick() -> None:
    ax = Figure().add_subplot()
    zero = logarithmic(ax, "y", np.zeros(3))
    assert ax.get_yticks().tolist() == [zero]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0"]


@pytest.mark.parametrize("value", [1e-9, 0.002, 0.5, 3.0, 1250.0, 999_999.0, 2.5e6, 3e12])
def test_tick_names_have_the_tick_value(value: float) -> None:
    plain = number(value).replace(",", "").replace("$", "").replace("{\\times}10^{", "e")
    assert float(plain.replace("10^{", "1e").replace("}", "")) == pytest.approx(value, rel=1e-12)


def test_styles_differ_until_lines_and_colours_run_out() -> None:
    few = styles(["TSMA"] * len(COLOURS))
    assert len({style.colour for style in few}) == len(COLOURS)
    names = [f"policy {i}" for i in range(len(COLOURS)) for _ in LINES]
    assert len(set(styles(names))) == len(COLOURS) * len(LINES)
    crowded = styles([f"policy {i}" for i in range(3 * len(COLOURS))])
    assert len(set(crowded)) == 3 * len(COLOURS)
