"""Labels beside lines and points that do not overlap, whatever the size at which the figure is drawn.

Where a label can go depends on the pixels around it, which are known only when the figure is drawn. So each
kind of label is an artist that draws nothing: it comes first in the drawing order and moves its texts.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.collections import LineCollection
from matplotlib.transforms import Affine2D, Bbox, IdentityTransform, Transform
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from thrifty.arrays import Floats

SIZE = 7.5  # of the letters, in points
HEIGHT = 1.3 * SIZE  # from one label to the next


class Labels(Artist, ABC):
    """One text per point of an axes, joined to it by a thin line; ``place`` says where the texts go."""

    def __init__(self, ax: Axes, points: ArrayLike, texts: Sequence[str], colours: Sequence[str]) -> None:
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
        point = float(np.asarray(renderer.points_to_pixels(1.0)))
        shrink = Affine2D().scale(1.0 / point)
        to_points = self.axes.transData + shrink
        frame = self.axes.get_window_extent(renderer).transformed(shrink)
        widths = np.array([text.get_window_extent(renderer).width for text in self.texts]) / point
        ends = self.place(frame, to_points, widths)
        segments = np.stack([to_points.transform(self.points), ends], axis=1)
        self.leaders.set_segments(list(segments * point))

    @abstractmethod
    def place(self, frame: Bbox, to_points: Transform, widths: Floats) -> Floats:
        """Move the texts, and return where their lines end. All lengths are in points."""


class EndLabels(Labels):
    """A column to the right of the axes, in the order of the points' heights."""

    GAP = 16.0  # beside the axes

    def __init__(self, ax: Axes, points: ArrayLike, texts: Sequence[str], colours: Sequence[str]) -> None:
        super().__init__(ax, points, texts, colours)
        for text in self.texts:  # beside the axes from the start, so that the layout leaves room
            text.xycoords = ax.get_yaxis_transform()
            text.xy = (1.0, text.xy[1])
            text.set_position((self.GAP + 2.0, 0.0))

    def place(self, frame: Bbox, to_points: Transform, widths: Floats) -> Floats:
        wanted = to_points.transform(self.points)[:, 1]
        heights = spread(wanted, HEIGHT, frame.y0, frame.y1)
        for text, offset in zip(self.texts, heights - wanted, strict=True):
            text.set_position((self.GAP + 2.0, offset))
        return np.column_stack([np.full(heights.size, frame.x1 + self.GAP), heights])


class PointLabels(Labels):
    """Beside the points: as near as the markers, their error bars and the labels placed before allow."""

    RADIUS = 10.0  # around a marker, where another one's label would be taken for its own
    # Where a label may begin, seen from its point: to the right, to the left, up and down in half heights.
    OFFSETS = np.array(
        [
            (side * across, step * HEIGHT / 2.0)
            for side in (1.0, -1.0)
            for across in (7.0, 16.0, 30.0)
            for step in sorted(range(-14, 15), key=abs)
        ]
    )

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
        for text in self.texts:
            text.set_in_layout(False)  # they stay inside the axes

    def place(self, frame: Bbox, to_points: Transform, widths: Floats) -> Floats:
        anchors = to_points.transform(self.points)
        ends = to_points.transform(self.bars.reshape(-1, 2)).reshape(-1, 2, 2)
        bars = np.hstack([ends.min(axis=1) - 1.0, ends.max(axis=1) + 1.0])
        markers = np.hstack([anchors - self.RADIUS, anchors + self.RADIUS])
        labels = np.full((len(anchors), 4), np.inf)  # boxes without area until placed
        nearest = np.empty_like(anchors)
        for i in np.lexsort((anchors[:, 0], -anchors[:, 1])):  # from the top down
            near = anchors[i] + self.OFFSETS
            left = near[:, 0] - np.where(self.OFFSETS[:, 0] < 0.0, widths[i], 0.0)
            boxes = np.column_stack(
                [left, near[:, 1] - HEIGHT / 2.0, left + widths[i], near[:, 1] + HEIGHT / 2.0]
            )
            outside = widths[i] * HEIGHT - overlap(boxes, frame.get_points().reshape(1, 4))
            # A point of distance weighs as much as a square point of bar, less than other things covered.
            cost = (
                np.hypot(*self.OFFSETS.T)
                + 10.0 * (outside + overlap(boxes, labels))
                + 3.0 * overlap(boxes, np.delete(markers, i, axis=0))
                + overlap(boxes, bars)
            )
            best = int(np.argmin(cost))
            labels[i], nearest[i] = boxes[best], near[best]
            self.texts[i].set_position((left[best] - anchors[i, 0], self.OFFSETS[best, 1]))
        return nearest


def spread(wanted: Floats, height: float, low: float, high: float) -> Floats:
    """Positions in [low, high], in the order of the wanted ones and ``height`` apart, nearest in squares.

    Subtracting i * height from the i-th in order turns "height apart" into "not decreasing": isotonic
    regression. If they are too many for the room, they are centred on it.

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


def overlap(boxes: Floats, others: Floats) -> Floats:
    """The area that each box (left, bottom, right, top) shares with the others, summed over the others.

    >>> overlap(np.array([[0, 0, 2, 2]]), np.array([[1, 1, 3, 3], [5, 5, 6, 6]])).tolist()
    [1.0]
    """
    low = np.maximum(boxes[:, None, :2], others[:, :2])
    high = np.minimum(boxes[:, None, 2:], others[:, 2:])
    areas: Floats = np.prod(np.maximum(high - low, 0.0), axis=2).sum(axis=1)
    return areas
