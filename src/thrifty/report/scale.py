"""Logarithmic axes with a place for zero: a policy without draws or regret is shown, not dropped."""

import math
from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    FuncFormatter,
    Locator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from thrifty.arrays import Floats

# The width of zero's strip, in that of the rest; labels need more room along x.
STRIP = {"x": 0.28, "y": 0.12}


def logarithmic(ax: Axes, axis: str, values: Floats, zero_name: str = "0") -> float:
    """Make the "x" or "y" axis logarithmic around the values; return where zeros go, below all others.

    Zeros among the values get a shaded strip at the low end, with one tick; without zeros there is no strip.
    """
    ticks = ax.xaxis if axis == "x" else ax.yaxis
    positive = values[values > 0.0]
    if not positive.size:
        ax.set(**{f"{axis}scale": "log", f"{axis}lim": (0.5, 2.0)})
        ticks.set_major_locator(FixedLocator([1.0]))
        ticks.set_major_formatter(FixedFormatter([zero_name]))
        ticks.set_minor_locator(NullLocator())
        return 1.0
    low, high = float(positive.min()), float(positive.max())
    margin = 2.0 if low == high else max(1.3, (high / low) ** 0.06)
    start, edge, end = low / margin, 0.0, high * margin
    zero = start
    if positive.size < values.size:
        edge, start = start, start / (end / start) ** STRIP[axis]
        zero = start ** (2.0 / 3.0) * edge ** (1.0 / 3.0)
        strip = ax.axvspan if axis == "x" else ax.axhspan
        strip(start, edge, color="0.94", linewidth=0.0, zorder=0.0)
    ax.set(**{f"{axis}scale": "log", f"{axis}lim": (start, end)})

    def name(value: float, _: int | None) -> str:
        return zero_name if value < edge else number(value)

    ticks.set_major_locator(MajorTicks(edge, zero))
    ticks.set_major_formatter(FuncFormatter(name))
    ticks.set_minor_locator(MinorTicks(edge))
    ticks.set_minor_formatter(NullFormatter())
    return zero


class MinorTicks(Locator):
    """All multiples of powers of ten above ``edge``, where zero's strip ends; 0 if there is no strip."""

    def __init__(self, edge: float) -> None:
        self.edge = edge

    def __call__(self) -> list[float]:
        assert self.axis is not None
        low, high = self.axis.get_view_interval()
        return self.tick_values(low, high)

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """The ticks between two ends above 0."""
        return multiples(range(1, 10), max(vmin, self.edge), vmax)


class MajorTicks(MinorTicks):
    """Powers of ten, or finer ones if those are fewer than three; and zero's tick."""

    def __init__(self, edge: float, zero: float) -> None:
        super().__init__(edge)
        self.zero = zero

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """The ticks between two ends above 0.

        >>> MajorTicks(edge=0.0, zero=3.0).tick_values(3.0, 2000.0)
        [10.0, 100.0, 1000.0]
        >>> MajorTicks(edge=4.0, zero=3.0).tick_values(2.0, 60.0)
        [3.0, 5.0, 10.0, 20.0, 50.0]
        >>> MajorTicks(edge=0.0, zero=3.0).tick_values(6100.0, 6450.0)
        [6200.0, 6400.0]
        """
        low = max(vmin, self.edge)
        for factors in ((1,), (1, 3), (1, 2, 5)):
            ticks = multiples(factors, low, vmax)
            if len(ticks) >= 3:
                break
        if len(ticks) < 2:  # so narrow a view is nearly linear
            even = MaxNLocator(3, steps=[1, 2, 5, 10]).tick_values(low, vmax)
            ticks = [float(tick) for tick in even if low <= tick <= vmax]
        return [self.zero, *ticks] if self.edge > 0.0 else ticks


def multiples(factors: Iterable[int], low: float, high: float) -> list[float]:
    """factor * 10^k for every k and factor, in order, from low to high."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [factor * 10.0**k for k in exponents for factor in factors]
    return [tick for tick in ticks if low <= tick <= high]


def number(value: float) -> str:
    """A tick's name: plain from 0.001 to below 1,000,000, a power of ten elsewhere.

    >>> number(20_000.0), number(1e7)
    ('20,000', '$10^{7}$')
    >>> print(number(2.5e-6))
    $2.5{\\times}10^{-6}$
    """
    if 1e-3 <= value < 1e6:
        return f"{value:,.12g}"
    exponent = math.floor(math.log10(value) + 1e-9)
    factor = f"{value / 10.0**exponent:.4g}"
    return f"$10^{{{exponent}}}$" if factor == "1" else f"${factor}{{\\times}}10^{{{exponent}}}$"
