"""How policies look in figures: colours that everyone can tell apart; lines and markers for grey print."""

from collections.abc import Sequence
from typing import NamedTuple

from thrifty.look import COLOURS

Dashes = tuple[int, tuple[float, ...]]
LINES: tuple[Dashes, ...] = (
    (0, ()),
    (0, (6, 1.5)),
    (0, (2, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5, 1, 1.5)),
)
MARKERS = ("o", "s", "^", "D", "v", "P")


class Style(NamedTuple):
    """The look of one policy, the same in every panel of a figure."""

    colour: str
    line: Dashes
    marker: str


def styles(names: Sequence[str]) -> list[Style]:
    """One style per policy, given the policies' class names in order.

    As long as there are colours, each policy has its own; beyond that policies of one class share a colour
    and differ in line and marker. Styles repeat only when a colour has run out of lines.

    >>> [style.marker for style in styles(["TSMA", "TSTD", "TSMA"])]
    ['o', 's', '^']
    >>> many = styles(["TSMA"] * 6 + ["TSTD"] * 6)
    >>> len({style.colour for style in many}), len(set(many))
    (2, 12)
    """
    if len(names) <= len(COLOURS):
        return [_style(i, i) for i in range(len(names))]
    classes = list(dict.fromkeys(names))
    used = [0] * len(COLOURS)
    chosen = []
    for name in names:
        colour = classes.index(name) % len(COLOURS)
        chosen.append(_style(colour, used[colour]))
        used[colour] += 1
    return chosen


def _style(colour: int, variant: int) -> Style:
    return Style(COLOURS[colour], LINES[variant % len(LINES)], MARKERS[variant % len(MARKERS)])
