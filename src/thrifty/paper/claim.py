"""A claim of the paper beside what was measured, and the few statistics that decide between them.

The rules are stated in the docstring of each claim, and the data decide. They share two parts: a difference
is clear if it is more than ``CLEAR`` standard errors, and a published number is met if ours is within ``FAR``
standard errors or within a stated margin of it.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from thrifty.arrays import Floats
from thrifty.errors import InvalidValue
from thrifty.policies import Policy
from thrifty.simulation.result import Result

Results = Mapping[str, Result]

HOLDS = "holds"
DIRECTION = "holds in direction"
FAILS = "does not hold as stated"
UNTESTABLE = "not testable"
VERDICTS = (HOLDS, DIRECTION, FAILS, UNTESTABLE)

CLEAR = 3.0  # standard errors from which on a difference counts
FAR = 5.0  # standard errors up to which a published number is met
MARGIN = 0.10  # of a published number that was read off a figure ("around")


@dataclass(frozen=True)
class Claim:
    """One row of the table of claims; ``dataclasses.asdict`` of it is one object of ``claims.json``."""

    id: str
    place: str  # in the paper
    claim: str  # in our words
    paper: str  # the published number or statement
    measured: str
    error: str | None  # of what was measured: standard errors; None for what was computed, not simulated
    runs: int | None  # per setting, the fewest; None for what was computed
    settings: str
    verdict: str

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InvalidValue(f"verdict must be one of {', '.join(VERDICTS)}, got {self.verdict!r}")


class Estimate(NamedTuple):
    """A mean over runs and its standard error, which is NaN with one run."""

    mean: float
    error: float

    @property
    def positive(self) -> bool:
        """Clearly above 0; never with one run, whose error is not known."""
        return self.mean > CLEAR * self.error

    def near(self, published: float, margin: float) -> bool:
        """Within ``margin`` (absolute) or ``FAR`` standard errors of a published number."""
        distance = abs(self.mean - published)
        return distance <= margin or distance <= FAR * self.error


def estimate(values: ArrayLike) -> Estimate:
    """The mean of one number per run.

    >>> estimate([1.0, 2.0, 3.0])
    Estimate(mean=2.0, error=0.5773502691896258)
    """
    array = np.asarray(values, float)
    error = array.std(ddof=1) / math.sqrt(array.size) if array.size > 1 else math.nan
    return Estimate(float(array.mean()), float(error))


def difference(first: Estimate, second: Estimate) -> Estimate:
    """First minus second, for estimates from different problems. (Within one, subtract run by run.)"""
    return Estimate(first.mean - second.mean, math.hypot(first.error, second.error))


def slope(x: Sequence[float], y: Sequence[Estimate]) -> Estimate:
    """The least-squares slope of log y against log x, and the error that those of y give it.

    slope = sum_i c_i log y_i,  c_i = (u_i - mean u) / sum_j (u_j - mean u)^2,  u = log x;
    the error of log y is that of y divided by its mean.

    >>> value = slope([1.0, 10.0], [Estimate(1.0, 0.1), Estimate(100.0, 10.0)])
    >>> round(value.mean, 6), round(value.error, 6)
    (2.0, 0.061419)
    """
    u = np.log(np.asarray(x, float))
    c = (u - u.mean()) / np.square(u - u.mean()).sum()
    means = np.array([value.mean for value in y])
    relative = np.array([value.error for value in y]) / means
    return Estimate(float(c @ np.log(means)), float(np.sqrt(np.square(c * relative).sum())))


def rising(steps: Sequence[Estimate], whole: Sequence[Estimate]) -> str:
    """The verdict on "it grows": every step is clear; or, in direction, at least each whole way goes up."""
    if all(step.positive for step in steps):
        return HOLDS
    return DIRECTION if all(way.mean > 0.0 for way in whole) else FAILS


def rising_rows(rows: Collection[Sequence[Estimate]]) -> str:
    """``rising`` for rows of estimates from different problems."""
    steps = [difference(b, a) for row in rows for a, b in pairwise(row)]
    return rising(steps, [difference(row[-1], row[0]) for row in rows])


def regret(result: Result, policy: Policy) -> Floats:
    """The regret at the horizon, per run."""
    final: Floats = result.regret[_row(result, policy), :, -1]
    return final


def trajectory(result: Result, policy: Policy) -> Floats:
    """The regret at every checkpoint: (run, checkpoint)."""
    path: Floats = result.regret[_row(result, policy)]
    return path


def draws(result: Result, policy: Policy) -> Floats:
    """All draws, per run."""
    total: Floats = result.draws[_row(result, policy)].sum(axis=1).astype(float)
    return total


def draws_on(result: Result, policy: Policy, *, optimal: bool) -> Floats:
    """The draws of an optimal (or of a sub-optimal) arm, on average over these arms, per run."""
    arms = (result.settings.problem.gaps == 0.0) == optimal
    mean: Floats = result.draws[_row(result, policy)][:, arms].mean(axis=1)
    return mean


def optimal_share(result: Result, policy: Policy) -> Floats:
    """The share of the draws that go to optimal arms, per run."""
    best = result.settings.problem.gaps == 0.0
    mine = result.draws[_row(result, policy)]
    share: Floats = mine[:, best].sum(axis=1) / mine.sum(axis=1)
    return share


def seconds_per_round(result: Result, policy: Policy) -> float:
    """Processor time, from the provenance; NaN where that was lost."""
    seconds = result.provenance.get("seconds")
    if seconds is None:
        return math.nan
    return float(seconds[_row(result, policy)]) / (result.settings.runs * result.settings.horizon)


def setting(result: Result, *, arms: bool = True, horizon: bool = True, optimal: bool = True) -> str:
    """The problem in short: K, T and the number of optimal arms m."""
    gaps = result.settings.problem.gaps
    parts = [f"K={gaps.size}"] if arms else []
    parts += [f"T={short(result.settings.horizon)}"] if horizon else []
    parts += [f"m={int((gaps == 0.0).sum())}"] if optimal else []
    return ", ".join(parts)


def fewest_runs(results: Mapping[Any, Result]) -> int:
    return min(result.settings.runs for result in results.values())


def short(value: float) -> str:
    """Three digits, without the plus and the zeros of an exponent.

    >>> short(18_526_000), short(0.0531), short(1e6)
    ('1.85e7', '0.0531', '1e6')
    """
    text = f"{value:.3g}"
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else text


def by_m(values: Mapping[int, str]) -> str:
    """What was measured for each number of optimal arms, in one line."""
    return ", ".join(f"{value} (m={m})" for m, value in values.items())


def plus_minus(errors: Sequence[float], unit: str = "") -> str | None:
    """Standard errors as the page shows them, the largest of several; None if not known (one run).

    >>> plus_minus([0.013, 0.25], "points")
    '± at most 0.25 points'
    """
    known = [error for error in errors if not math.isnan(error)]
    if not known:
        return None
    return f"± {'at most ' if len(known) > 1 else ''}{short(max(known))} {unit}".rstrip()


def _row(result: Result, policy: Policy) -> int:
    return result.labels.index(policy.label)
