"""The bounds without gaps: their closed forms, and that they follow from the bounds with gaps."""

import math
from functools import partial

import numpy as np
import pytest

from thrifty.errors import InvalidValue
from thrifty.theory import (
    refined,
    refined_worst_case,
    sharp,
    theorem1,
    theorem1_worst_case,
    ts_ma,
    ts_ma_sharp,
    ts_ma_worst_case,
    ts_td_repaired,
    ts_td_sharp,
    ts_td_worst_case,
    worst_case,
)

CASES = [
    (theorem1_worst_case, theorem1),
    (refined_worst_case, refined),
    (partial(ts_ma_worst_case, alpha=0.0), partial(ts_ma, alpha=0.0)),
    (partial(ts_ma_worst_case, alpha=1.0), partial(ts_ma, alpha=1.0)),
    (partial(ts_td_worst_case, alpha=0.8), partial(ts_td_repaired, alpha=0.8)),
    *[
        (partial(worst_case, bound), bound)
        for bound in (refined, sharp, partial(ts_ma_sharp, alpha=0.5), partial(ts_td_sharp, alpha=1.0))
    ],
]


def test_theorem_1():
    arms, horizon = 20, 1e5
    log = math.log(arms)
    inner = 1270 * math.log(math.e**2 * arms * log + 4.642) + 182.5
    expected = math.sqrt(arms * horizon * log) * (math.e + inner / (math.e * log)) + arms
    assert theorem1_worst_case(arms, horizon) == pytest.approx(expected, rel=1e-6)


def test_ts_ma():
    arms, horizon = 20, 1e5
    root = math.sqrt(arms * horizon * math.log(horizon))
    assert ts_ma_worst_case(arms, horizon, 0.0) <= 9.67 * root + 14.27 * arms
    assert ts_ma_worst_case(arms, horizon, 0.0) == pytest.approx(9.66228 * root + 14.2655 * arms, rel=1e-6)


def test_better_ways_to_split():
    """2 sqrt(C) = 5.89 by balancing the critical gap; sqrt(C) = 2.94 by Cauchy-Schwarz."""
    coefficient = ts_ma(1.0, 1e6, 0.0).coefficient
    assert 2 * math.sqrt(coefficient) == pytest.approx(5.89, abs=5e-3)
    arms, horizon = 100, 1e300
    rate = worst_case(partial(ts_ma, alpha=0.0), arms, horizon) / math.sqrt(
        arms * horizon * math.log(horizon)
    )
    assert rate == pytest.approx(2.94, abs=0.01)


@pytest.mark.parametrize(("limit", "bound"), CASES)
@pytest.mark.parametrize("arms", [2, 20, 500])
def test_no_gap_makes_the_regret_larger(limit, bound, arms):
    """K - 1 arms of one gap lose at most min(T gap, their bound): below the worst case for every gap."""
    for horizon in (1e4, 1e7):
        for gap in np.exp(np.linspace(math.log(1e-4), 0.0, 60)):
            regret = min(horizon * gap, (arms - 1) * bound(gap, horizon).regret)
            assert regret <= limit(arms, horizon)


@pytest.mark.parametrize(
    ("bound"), [theorem1, refined, sharp, partial(ts_ma, alpha=0.5), partial(ts_td_sharp, alpha=0.5)]
)
def test_the_step_in_cauchy_schwarz(bound):
    """gap^2 times the pulls grows with the gap, wherever T gap^2 > 1."""
    horizon = 1e8
    gaps = np.exp(np.linspace(math.log(1.01e-4), 0.0, 200))
    scaled = [gap**2 * bound(gap, horizon).pulls for gap in gaps]
    assert np.all(np.diff(scaled) > 0)


def test_theorem_1_decreases_from_the_critical_gap_on():
    """2x/(x + c) <= ln(x + c) for x >= e^2: an arm's regret decreases in its gap there, up to its + gap."""
    horizon = 1e8
    gaps = np.exp(np.linspace(math.log(math.e / 1e4), 0.0, 500))
    for bound in (theorem1, refined):
        regret = np.array([bound(gap, horizon).regret - gap for gap in gaps])
        assert np.all(np.diff(regret) < 0)


def test_impossible_sizes():
    with pytest.raises(InvalidValue, match="arms must be at least 2, got 1"):
        theorem1_worst_case(1, 1e4)
