"""Tables and numbers in Markdown that can also be read as they are written."""

import math
from collections.abc import Sequence

from common import Row


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A table that lines up as it is written; the first ``left`` columns flush left, the others right.

    >>> print(table(("K", "µs"), [("10", "1.5"), ("1,000", "2")]))
    | K     |  µs |
    |:------|----:|
    | 10    | 1.5 |
    | 1,000 |   2 |
    """
    widths = [max(2, *map(len, column)) for column in zip(heading, *rows, strict=True)]
    sides = [str.ljust] * left + [str.rjust] * (len(widths) - left)
    lines = [
        "| " + " | ".join(side(cell, w) for side, cell, w in zip(sides, row, widths, strict=True)) + " |"
        for row in (heading, *rows)
    ]
    rule = [":" + "-" * (w + 1) for w in widths[:left]] + ["-" * (w + 1) + ":" for w in widths[left:]]
    return "\n".join([lines[0], "|" + "|".join(rule) + "|", *lines[1:]])


def caption(record: Row) -> str:
    """Where a table comes from: the command, the date, the size of the machine and how busy it was."""
    box, load = record["machine"], record["load"]
    busy = f"load {load['before'][0]:.1f} before, {load['after'][0]:.1f} after"
    size = f"{box['cores']} cores, {box['memory_gib']} GiB"
    return f"*`{record['command']}`, {record['made'][:10]}, {size}, {busy}.*"


def number(value: float) -> str:
    """Three digits that count.

    >>> number(0.0123), number(1.234), number(12345.6)
    ('0.0123', '1.23', '12,346')
    """
    if value == 0.0:
        return "0"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def micro(ns: float) -> str:
    return number(ns / 1e3)


def mega(count: float) -> str:
    return number(count / 1e6)


def at(arms: int) -> str:
    """K in a heading.

    >>> at(20), at(10**5)
    ('K = 20', 'K = 10⁵')
    """
    return f"K = {power(arms)}"


def power(value: int) -> str:
    exponent = round(math.log10(value))
    if value < 1000 or 10**exponent != value:
        return f"{value:,}"
    return "10" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def block(record: Row, *parts: str, notes: Sequence[str] = ()) -> str:
    listed = ["\n".join(notes)] if notes else []
    return "\n\n".join([*parts, *listed, caption(record)])
