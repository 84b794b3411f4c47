"""What a regret bound is: a bound on the pulls of one sub-optimal arm, the sum of the terms of its proof."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from thrifty import checks
from thrifty.errors import InvalidValue

# Integers up to here are exact as floats; above, horizons are found to a relative 1e-12.
_EXACT = 2.0**53
_LARGEST = 1e300
_SMALLEST_GAP = 1e-100  # so that 1/gap^2 times e^64 is a finite float


@dataclass(frozen=True)
class Bound:
    """E[n_i(T)] <= the sum of ``terms``, for a sub-optimal arm i with this gap.

    ``terms`` keeps the proof's parts apart, in its own notation; ``coefficient`` is what stands before
    growth/gap^2 in the leading one, the number by which two bounds of the same growth are compared.
    """

    gap: float
    horizon: float
    coefficient: float
    terms: Mapping[str, float]

    @property
    def pulls(self) -> float:
        """The bound on E[n_i(T)]."""
        return math.fsum(self.terms.values())

    @property
    def regret(self) -> float:
        """The bound on the regret that this arm causes: gap * E[n_i(T)]."""
        return self.gap * self.pulls


def arm(gap: float, horizon: float, shortest: float = 1.0) -> tuple[float, float]:
    """The clean gap, in (0, 1] because rewards are in [0, 1], and horizon, at least ``shortest``."""
    gap = checks.unit("gap", gap, open_at_zero=True)
    if gap < _SMALLEST_GAP:
        raise InvalidValue(f"gap must be at least {_SMALLEST_GAP:g}, got {gap!r}")
    return gap, checks.at_least("horizon", horizon, shortest)


def positive_gaps(means: Iterable[float]) -> list[float]:
    """The gaps of the sub-optimal arms; optimal arms, of which there may be several, have none.

    >>> positive_gaps([0.5, 1.0, 0.25])
    [0.5, 0.75]
    """
    clean = [checks.unit(f"means[{arm}]", mean) for arm, mean in enumerate(checks.numbers("means", means))]
    best = max(clean)
    return [best - mean for mean in clean if mean < best]


def total_regret(bound: Callable[[float, float], Bound], gaps: Iterable[float], horizon: float) -> float:
    """The bound summed over the sub-optimal arms; arms with equal gaps are evaluated once.

    >>> from thrifty.theory import theorem1
    >>> round(total_regret(theorem1, [0.1] * 19, 1e6))
    2257244
    """
    return math.fsum(count * bound(gap, horizon).regret for gap, count in Counter(gaps).items())


def nonvacuous_from(regret: Callable[[float], float], gap: float, start: float = 3.0) -> float:
    """The smallest horizon T >= start with regret(T) < T * gap; infinite if there is none below 1e300.

    A policy that always errs loses T * gap, so only from there on does a bound say anything. The answer is
    exact to the integer below 2^53, to a relative 1e-12 above. ``regret(T) / T`` must cross ``gap`` once:
    the bounds of Theorems 1 and A to D do, for any number of arms with one gap (docs/theory.md, section 3).
    Sums over different gaps, and bounds that change with a stage, may cross more than once; the answer is
    then one of the crossings.

    >>> from thrifty.theory import theorem1
    >>> nonvacuous_from(lambda horizon: theorem1(0.1, horizon).regret, 0.1)
    1212482.0
    """
    gap = checks.positive("gap", gap)
    low, high = math.ceil(start) - 1.0, float(math.ceil(start))
    while not regret(high) < high * gap:
        low, high = high, 2.0 * high
        if high > _LARGEST:
            return math.inf
    while high - low > (1.0 if high <= _EXACT else 1e-12 * high):
        middle = math.floor((low + high) / 2.0)
        if regret(middle) < middle * gap:
            high = float(middle)
        else:
            low = float(middle)
    return high
