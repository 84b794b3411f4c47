"""AdaUCB at published and derived values; its sorted arms against the sums of the definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from thrifty.policies.ada_ucb import confidence, index
from thrifty.state import ranks

Floats = NDArray[np.float64]


class Sorted:
    """The arms as an engine would keep them."""

    def __init__(self, n: list[float]) -> None:
        self.n = np.array(n)
        self.order = np.argsort(self.n)
        self.position = np.empty(self.n.size, np.int64)
        self.sums = np.empty(self.n.size)
        self.spread = np.empty(self.n.size)
        ranks.fill(self.n, self.order, self.position, self.sums, self.spread)

    def pull(self, arm: int) -> int:
        return int(ranks.pull(arm, self.n, self.order, self.position, self.sums, self.spread))

    def check(self) -> None:
        """The order holds, and everything is what a fresh start would make of the same n, to the last bit."""
        assert np.array_equal(self.order[self.position], np.arange(self.n.size))
        assert np.all(np.diff(self.n[self.order]) >= 0.0)
        anew = Sorted(self.n.tolist())
        assert np.array_equal(self.sums, anew.sums)
        assert np.array_equal(self.spread, anew.spread)
        for n in self.n:  # equal arms tie
            assert np.unique(self.spread[self.n == n]).size == 1


def spread(n: Floats) -> Floats:
    """H by its definition."""
    return np.minimum(n[:, None], np.sqrt(np.outer(n, n))).sum(axis=1)


@pytest.mark.parametrize(
    ("x", "value", "decimals"),
    [
        (1, 1.45, 2),
        (10, 3.01, 2),
        (100, 5.40, 2),
        (10**3, 7.88, 2),
        (10**4, 10.3, 1),
        (10**5, 12.7, 1),
        (10**6, 15.1, 1),
    ],
)
def test_confidence_at_published_values(x: float, value: float, decimals: int) -> None:
    assert round(confidence(x), decimals) == value


def test_three_arms_at_derived_values() -> None:
    arms = Sorted([100.0, 400.0, 9.0])
    h = arms.spread
    assert h == pytest.approx([230.0, 660.0, 27.0], rel=1e-15)
    assert [confidence(10**4 / x) for x in h] == pytest.approx([4.50471646, 3.4125471, 6.81113765], abs=6e-8)
    bonuses = [index(n, 0.0, x, 10**4, 1.0) for n, x in zip(arms.n, h, strict=True)]
    assert bonuses == pytest.approx([0.30015717, 0.13062441, 1.23027889], abs=5.1e-9)
    assert index(9.0, 0.5, 27.0, 10**4, 0.25) == pytest.approx(0.5 + bonuses[2] / 2, rel=1e-14)


@given(
    start=st.one_of(
        st.lists(st.just(0.0), min_size=1, max_size=12),
        st.lists(st.integers(1, 5).map(float), min_size=1, max_size=12),
        st.lists(st.floats(0.01, 5.0), min_size=1, max_size=12),  # the weights of priors
    ),
    pulls=st.lists(st.integers(0, 11), max_size=60),
)
def test_pulls_keep_the_arms_sorted(start: list[float], pulls: list[int]) -> None:
    arms = Sorted(start)
    for pull in pulls:
        before = arms.spread.copy()
        first = arms.pull(pull % arms.n.size)
        arms.check()
        assert arms.spread == pytest.approx(spread(arms.n), rel=1e-13)
        unchanged = arms.order[:first]
        assert np.array_equal(arms.spread[unchanged], before[unchanged])
        assert np.all(arms.spread >= before * (1.0 - 1e-14))


def test_a_pull_of_the_arm_with_the_most_pulls_touches_no_other() -> None:
    arms = Sorted([3.0, 1.0, 7.0, 2.0])
    for _ in range(5):
        assert arms.pull(2) == 3
    assert arms.n.tolist() == [3.0, 1.0, 12.0, 2.0]


def test_thousands_of_pulls_leave_no_rounding_behind() -> None:
    rng = np.random.default_rng(7)
    arms = Sorted([0.0] * 40)
    for arm in rng.integers(0, 40, 4000):
        arms.pull(int(arm))
    arms.check()
    assert arms.n.sum() == 4000


@given(
    start=st.lists(st.integers(1, 30), min_size=2, max_size=8), pulls=st.lists(st.integers(0, 7), max_size=30)
)
def test_an_arm_left_alone_never_gains(start: list[int], pulls: list[int]) -> None:
    arms = Sorted([float(n) for n in start])
    old = index(arms.n[0], 0.5, arms.spread[0], 1000, 0.25)
    for arm in pulls:
        arms.pull(1 + arm % (arms.n.size - 1))
        new = index(arms.n[0], 0.5, arms.spread[0], 1000, 0.25)
        assert new <= old * (1.0 + 1e-14)
        old = new


@pytest.mark.parametrize("mean", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("horizon", [1, 10**12])
def test_one_arm(mean: float, horizon: int) -> None:
    """H is n for a single arm: the bonus falls with n and is never 0, because l(0) = 1."""
    arms = Sorted([0.0])
    last = math.inf
    for n in (1.0, 2.0, 3.0):
        assert arms.pull(0) == 0
        assert arms.spread[0] == pytest.approx(n, rel=1e-15)
        value = index(n, mean, arms.spread[0], horizon, 0.25)
        assert mean + math.sqrt(0.5 / n) <= value < last
        last = value
