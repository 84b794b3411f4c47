"""Labels beside lines and points that do not overlap, whatever the size at which the figure is drawn.

Where a label can go depends on the pixels around it, which are known only when the figure is drawn. So each kind of
label is an artist that draws nothing: it comes early in the drawing order and moves its texts to their places.
"""

import itertools
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.collections import LineCollection
from matplotlib.transforms import Affine2D, Bbox, IdentityTransform, Transform
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

SIZE = 7.5  # of the letters, in points
HEIGHT = 1.3 * SIZE  # from one label to the next

Floats = NDArray[np.float64]


class Labels(Artist):
    """One text per point of an axes, joined to it by a thin line; ``place`` says where the texts go."""

    def __init__(
        self, ax: Axes, points: ArrayLike, texts: Sequence[str], colours: Sequence[str]
    ) -> None:
        super().__init__()
        self.points = np.asarray(points, float)
        self.texts = [
            ax.annotate(
                text,
                (x, y),
                xytext=(0.0, 0.0),
                textcoords="offset points",
                annotation_clip=False,
                fontsize=SIZE,
                va="center_baseline",
            )
            for text, (x, y) in zip(texts, self.points, strict=True)
        ]
        self.leaders = LineCollection(
            [], colors=list(colours), linewidths=0.6, transform=IdentityTransform(), clip_on=False
        )
        self.leaders.set_in_layout(False)
        self.set_in_layout(False)
        self.set_zorder(-1.0)  # before the texts and lines that it moves
        ax.add_artist(self.leaders)
        ax.add_artist(self)

    def draw(self, renderer: RendererBase) -> None:
        """Move the texts and their lines, which are drawn later."""
        assert self.axes is not None
        point = renderer.points_to_pixels(1.0)
        shrink = Affine2D().scale(1.0 / point)
        to_points = self.axes.transData + shrink
        frame = self.axes.get_window_extent(renderer).transformed(shrink)
        widths = np.array([text.get_window_extent(renderer).width for text in self.texts]) / point
        anchors = to_points.transform(self.points)
        places, ends = self.place(frame, to_points, widths)
        for text, offset in zip(self.texts, places - anchors, strict=True):
            text.set_position((offset[0], offset[1]))
        self.leaders.set_segments(list(np.stack([anchors, ends], axis=1) * point))

    @abstractmethod
    def place(self, frame: Bbox, to_points: Transform, widths: Floats) -> tuple[Floats, Floats]:
        """Where each text's left end goes, and where its line ends. All lengths are in points."""


class EndLabels(Labels):
    """A column to the right of the axes, in the order of the points' heights."""

    GAP = 16.0

    def place(self, frame: Bbox, to_points: Transform, widths: Floats) -> tuple[Floats, Floats]:
        heights = spread(to_points.transform(self.points)[:, 1], HEIGHT, frame.y0, frame.y1)
        ends = np.column_stack([np.full(heights.size, frame.x1 + self.GAP), heights])
        return ends + [2.0, 0.0], ends


class PointLabels(Labels):
    """Beside the points: as near as the markers, their error bars and the labels placed before allow."""

    RADIUS = 4.5  # of a marker
    SIDES = (7.0, 16.0, 30.0)  # how far to the right or to the left, and in half heights up or down:
    STEPS = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 8, -8, 10, -10, 12, -12)

    def __init__(
        self,
        ax: Axes,
        points: ArrayLike,
        texts: Sequence[str],
        colours: Sequence[str],
        bars: ArrayLike,
    ) -> None:
        super().__init__(ax, points, texts, colours)
        self.bars = np.asarray(bars, float)  # (bar, end, coordinate)

    def place(self, frame: Bbox, to_points: Transform, widths: Floats) -> tuple[Floats, Floats]:
        anchors = to_points.transform(self.points)
        bars = to_points.transform(self.bars.reshape(-1, 2)).reshape(-1, 2, 2)
        bars = np.concatenate([bars.min(axis=1) - 1.0, bars.max(axis=1) + 1.0], axis=1)
        markers = np.concatenate([anchors - self.RADIUS, anchors + self.RADIUS], axis=1)
        labels = np.empty((0, 4))
        places, ends = np.empty_like(anchors), np.empty_like(anchors)
        for i in np.lexsort((anchors[:, 0], -anchors[:, 1])):  # from the top down
            x, y = anchors[i]
            best = np.inf
            for side, gap, step in itertools.product((1.0, -1.0), self.SIDES, self.STEPS):
                near = np.array([x + side * gap, y + step * HEIGHT / 2.0])
                left = near[0] - (widths[i] if side < 0.0 else 0.0)
                box = np.array(
                    [left, near[1] - HEIGHT / 2.0, left + widths[i], near[1] + HEIGHT / 2.0]
                )
                inside = overlap(box, np.array([[*frame.p0, *frame.p1]]))
                cost = (
                    np.hypot(*(near - anchors[i]))
                    + 10.0 * overlap(box, labels)
                    + 3.0 * overlap(box, markers)
                    + 1.0 * overlap(box, bars)
                    + 10.0 * (widths[i] * HEIGHT - inside)
                )
                if cost < best - 1e-6:
                    best = cost
                    chosen, places[i], ends[i] = box, (left, near[1]), near - [side, 0.0]
            labels = np.vstack([labels, chosen])
        return places, ends


def spread(wanted: Floats, height: float, low: float, high: float) -> Floats:
    """The positions nearest to the wanted ones (least squares) in [low, high] that keep their order and ``height`` apart.

    Subtracting i * height from the i-th in order turns "height apart" into "not decreasing": isotonic regression.
    Too many for the room are centred on it.

    >>> spread(np.array([5.0, 5.0, 9.0]), 2.0, 0.0, 20.0).tolist()
    [4.0, 6.0, 9.0]
    """
    order = np.argsort(wanted, kind="stable")
    stack = height * np.arange(wanted.size)
    bottom, top = low + height / 2.0, high - height / 2.0 - stack[-1]
    if bottom > top:
        bottom = top = (bottom + top) / 2.0
    positions = np.empty(wanted.size)
    positions[order] = np.clip(isotonic_regression(wanted[order] - stack).x, bottom, top) + stack
    return positions


def overlap(box: Floats, boxes: Floats) -> float:
    """The area that a box (left, bottom, right, top) shares with each of the others, summed.

    >>> overlap(np.array([0, 0, 2, 2]), np.array([[1, 1, 3, 3], [5, 5, 6, 6]]))
    1.0
    """
    sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    return float(np.prod(np.maximum(sides, 0.0), axis=1).sum())
