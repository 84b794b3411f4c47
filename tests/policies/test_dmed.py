"""DMED: both rules, where they part and at the edges."""

import math

from hypothesis import given
from hypothesis import strategies as st

from thrifty.numerics import kl
from thrifty.policies.dmed import log_t, original


def test_rules_on_either_side_of_their_bound() -> None:
    """kl(0.8, 0.9) = 0.0444: 10 pulls spend 0.444, which is ln(10 * 1.559) - ln(10) and ln(1.559)."""
    divergence = kl.bernoulli(0.8, 0.9)
    assert not original(10.0, divergence, 15)
    assert original(10.0, divergence, 16)
    assert not log_t(10.0, divergence, 1)
    assert log_t(10.0, divergence, 2)


def test_equality_passes() -> None:
    assert original(1.0, math.log(100), 100)
    assert log_t(1.0, math.log(100), 100)


@given(n=st.integers(1, 10**9), t=st.integers(0, 10**12), divergence=st.floats(0.0, 5.0))
def test_the_original_rule_is_the_stricter_one(n: int, t: int, divergence: float) -> None:
    """For n <= t, and both let more arms pass later."""
    t = max(n, t)
    if original(float(n), divergence, t):
        assert log_t(float(n), divergence, t)
        assert original(float(n), divergence, 2 * t)
    if log_t(float(n), divergence, t):
        assert log_t(float(n), divergence, 2 * t)


def test_the_best_arm_always_passes() -> None:
    """So that no list is empty, even before any pull or when a prior weighs more than all of them."""
    for rule in (original, log_t):
        for n in (0.5, 1.0, 1e9):
            for t in (0, 1, 10):
                assert rule(n, 0.0, t)


def test_an_infinite_divergence_never_passes() -> None:
    for rule in (original, log_t):
        assert not rule(1.0, kl.bernoulli(0.5, 1.0), 10**12)
