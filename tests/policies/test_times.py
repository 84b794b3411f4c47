"""Every clocked index: it never falls while its arm is left alone; `reach` is never late and hardly early."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrifty.numerics.families import BERNOULLI, EXPONENTIAL, GAUSSIAN, POISSON
from thrifty.policies import bayes_ucb, kl_ucb, times, ucb1, ucb1_tuned, ucb_v

Index = Callable[[float, float, float], float]  # of n, mean and t
Reach = Callable[[float, float, float], float]  # of n, mean and the level


def _kl_ucb(family: int, c: float) -> tuple[Index, Reach]:
    return (
        lambda n, mean, t: kl_ucb.index(family, n, mean, t, c),
        lambda n, mean, level: kl_ucb.reach(family, n, mean, level, c),
    )


def _tuned(share: float) -> tuple[Index, Reach]:
    """With that share of the largest variance that rewards in [0, 1] of the mean can have."""
    return (
        lambda n, mean, t: ucb1_tuned.index(n, mean, share * mean * (1.0 - mean), t),
        lambda n, mean, level: ucb1_tuned.reach(n, mean, share * mean * (1.0 - mean), level),
    )


def _ucb_v(share: float, zeta: float, c: float) -> tuple[Index, Reach]:
    return (
        lambda n, mean, t: ucb_v.index(n, mean, share * mean * (1.0 - mean), t, zeta, c),
        lambda n, mean, level: ucb_v.reach(n, mean, share * mean * (1.0 - mean), level, zeta, c),
    )


def _bayes_ucb(c: float) -> tuple[Index, Reach]:
    return (
        lambda n, mean, t: bayes_ucb.index(n * mean, n, t, 10**6, c),
        lambda n, mean, level: bayes_ucb.reach(n * mean, n, level, 10**6, c),
    )


CLOCKED = {
    "ucb1": (ucb1.index, ucb1.reach),
    "ucb1-tuned": _tuned(1.0),
    "ucb1-tuned, small variance": _tuned(0.01),
    "ucb-v": _ucb_v(1.0, 1.0, 1.0),
    "ucb-v, zeta = 1.2, c = 0": _ucb_v(0.3, 1.2, 0.0),
    "kl-ucb": _kl_ucb(BERNOULLI, 0.0),
    "kl-ucb, c = 3": _kl_ucb(BERNOULLI, 3.0),
    "kl-ucb, gaussian": _kl_ucb(GAUSSIAN, 0.0),
    "kl-ucb, poisson, c = 1": _kl_ucb(POISSON, 1.0),
    "kl-ucb, exponential": _kl_ucb(EXPONENTIAL, 0.0),
    "bayes-ucb": _bayes_ucb(0.0),
    "bayes-ucb, c = 5": _bayes_ucb(5.0),
}
each = pytest.mark.parametrize(("index", "reach"), CLOCKED.values(), ids=CLOCKED.keys())

MEANS = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0))
PULLS = st.one_of(st.integers(1, 100), st.integers(1, 10**9))
TIMES = st.one_of(st.integers(1, 100), st.integers(1, 10**12))


@each
@given(n=PULLS, mean=MEANS, t=TIMES, later=st.floats(1.0, 100.0))
def test_it_never_falls_while_the_arm_is_left_alone(
    index: Index, reach: Reach, n: int, mean: float, t: int, later: float
) -> None:
    """But for the last digits: what is solved for is rounded."""
    assert index(float(n), mean, math.floor(t * later)) >= index(float(n), mean, t) * (1.0 - 1e-14)


@each
@given(n=PULLS, mean=MEANS, t=TIMES)
def test_reach_is_never_late(index: Index, reach: Reach, n: int, mean: float, t: int) -> None:
    """A level that the index has at t, as computed, is reached by then, as is one a few roundings above,
    unless it is so close to 1 that KL-UCB looks at every digit."""
    for time in (t, t + 1):
        level = index(float(n), mean, time)
        assert reach(float(n), mean, level) <= time
        if not kl_ucb.NEAR < level + 4.0 * math.ulp(level) < 1.0 + 1e-14:
            assert reach(float(n), mean, level + 4.0 * math.ulp(level)) <= time


@given(
    n=st.floats(0.01, 2.0),
    mean=st.one_of(st.just(0.0), st.floats(0.0, 0.999)),
    t=st.integers(1, 10**8),
    share=st.floats(0.0, 1.0),
)
def test_close_to_1_every_digit_counts(n: float, mean: float, t: int, share: float) -> None:
    """With a small n the index of KL-UCB is 1 or a few digits below: it comes there no sooner than reach
    says, and stays as long as settled says."""
    index, reach = CLOCKED["kl-ucb"]
    level = index(n, mean, t)
    assert reach(n, mean, level) <= t
    if kl_ucb.NEAR < level < 1.0:
        above = math.nextafter(level, 2.0)
        assert index(n, mean, max(1, math.ceil(reach(n, mean, above)) - 1)) < above
    until = min(kl_ucb.settled(BERNOULLI, n, mean, level, 0.0), 1e15)
    if until > t + 1:
        assert index(n, mean, math.floor(t + share * (until - t - 1))) == level
        assert level > kl_ucb.NEAR


@each
@given(n=st.integers(1, 10**5), mean=st.floats(0.01, 0.99), t=st.integers(2, 10**9))
def test_reach_is_hardly_early(index: Index, reach: Reach, n: int, mean: float, t: int) -> None:
    level = index(float(n), mean, t)
    if index(float(n), mean, t * 1.001) - level > 1e-9:  # not at a bound that the index cannot pass
        assert reach(float(n), mean, level) >= t * (1.0 - 1e-4)
        assert reach(float(n), mean, index(float(n), mean, t * 1.001)) > t


@each
def test_levels_that_are_always_or_never_reached(index: Index, reach: Reach) -> None:
    for mean in (0.0, 0.5, 1.0):
        assert reach(5.0, mean, -math.inf) == 0.0
        assert reach(5.0, mean, math.inf) == math.inf
        assert reach(5.0, mean, index(5.0, mean, 1)) <= 1.0


@pytest.mark.parametrize("name", ["kl-ucb", "kl-ucb, c = 3", "bayes-ucb"])
def test_no_mean_above_1_is_ever_reached(name: str) -> None:
    _, reach = CLOCKED[name]
    for mean in (0.0, 0.5, 1.0):
        assert reach(5.0, mean, 1.5) == math.inf


@pytest.mark.parametrize("reach", [CLOCKED["ucb1-tuned"][1], CLOCKED["ucb-v"][1], CLOCKED["kl-ucb"][1]])
def test_gaps_that_vanish_when_squared(reach: Reach) -> None:
    for mean in (0.0, 1.0):
        above = math.nextafter(mean, 2.0)
        assert 0.0 <= reach(1.0, mean, above) <= 1.0 or (reach, mean) == (CLOCKED["kl-ucb"][1], 1.0)
    assert 0.0 <= reach(1.0, 0.0, 1e-200) <= 1.0


def test_without_exploration_only_the_mean_is_reached() -> None:
    assert ucb_v.reach(5.0, 0.5, 0.25, 0.6, 0.0, 1.0) == math.inf
    assert ucb_v.reach(5.0, 0.5, 0.0, 0.6, 1.0, 0.0) == math.inf
    assert ucb_v.reach(5.0, 0.5, 0.0, 0.5, 1.0, 0.0) == 0.0


def test_times_beyond_all_numbers_are_never() -> None:
    assert times.time(1e6) == math.inf
    assert ucb1.reach(1e6, 0.0, 1.0) == math.inf
    assert 1e300 < times.time(times.LONGEST) < math.inf
