"""How numbers, times and small curves are written."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

WIDTH, HEIGHT = 120, 28  # of a sparkline
NONE = "–"


def count(value: float) -> str:
    """A whole number.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{value:,.0f}"


def rate(value: float) -> str:
    """So many a minute.

    >>> rate(0.25), rate(12.34), rate(30000)
    ('0.25', '12.3', '30,000')
    """
    return f"{value:.2f}" if 0 < value < 1 else f"{value:.1f}" if 0 < value < 100 else count(value)


def figure(value: float | None) -> str:
    """A mean, in three digits.

    >>> figure(0.28), figure(123.4), figure(-1234.5), figure(0.0000123), figure(0.0), figure(None)
    ('0.280', '123', '−1,230', '1.23e-05', '0', '–')
    """
    if value is None:
        return NONE
    size = abs(value)
    if 1000 <= size < 1e9:
        text = f"{float(f'{size:.3g}'):,.0f}"
    else:
        text = f"{size:#.3g}".removesuffix(".") if size else "0"
    return f"−{text}" if value < 0 else text


def plain(value: float) -> str:
    """A reward, as it was sent.

    >>> plain(1.0), plain(0.123456789)
    ('1', '0.12346')
    """
    return f"{value:.5g}"


def signed(value: float) -> str:
    """A difference.

    >>> signed(0.0123), signed(-0.5)
    ('+0.0123', '−0.500')
    """
    return f"+{figure(value)}" if value > 0 else figure(value)


def moment(milliseconds: float) -> str:
    """A time, as the attribute datetime has it.

    >>> moment(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(milliseconds // 1000, UTC).isoformat().replace("+00:00", "Z")


def universal(milliseconds: float) -> str:
    """A time, to be read.

    >>> universal(0)
    '1970-01-01 00:00:00 UTC'
    """
    return f"{datetime.fromtimestamp(milliseconds // 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def sparkline(values: Sequence[float | None]) -> list[str]:
    """Points of the lines of a sparkline: a new line behind each gap.

    >>> sparkline([0.0, 1.0, None, 0.5, 0.5])
    ['0.0,26.0 30.0,2.0', '90.0,14.0 120.0,14.0']
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return []
    low, high = min(known), max(known)
    span = high - low or 1.0
    lines: list[list[str]] = [[]]
    for i, value in enumerate(values):
        if value is None:
            lines.append([])
            continue
        x, y = WIDTH * i / (len(values) - 1), HEIGHT - 2 - (HEIGHT - 4) * (value - low) / span
        lines[-1].append(f"{x:.1f},{y:.1f}")
    return [" ".join(line if len(line) > 1 else line * 2) for line in lines if line]


def quoted(name: str) -> str:
    """A name as it is in forms and paths.

    >>> quoted("a/b \\n")
    'a%2Fb%20%0A'
    """
    return quote(name, safe="")


def sentence(text: str) -> str:
    """What an error says, as a sentence.

    >>> sentence("there is nothing here")
    'There is nothing here.'
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


FILTERS: dict[str, Any] = {
    "count": count,
    "rate": rate,
    "figure": figure,
    "plain": plain,
    "signed": signed,
    "moment": moment,
    "universal": universal,
    "sparkline": sparkline,
    "quoted": quoted,
    "sentence": sentence,
}
