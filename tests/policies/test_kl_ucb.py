"""KL-UCB at derived values, against its definition, and at the edges of every family."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrifty.numerics import families
from thrifty.numerics.families import BERNOULLI, EXPONENTIAL, GAUSSIAN, POISSON
from thrifty.policies.kl_ucb import exploration, index

ALL = sorted(families.CODES.values())


@pytest.mark.parametrize(("c", "value"), [(0.0, 0.9312832129), (3.0, 0.9555672033)])
def test_index(c: float, value: float) -> None:
    assert index(BERNOULLI, 100.0, 0.8, 10**4, c) == pytest.approx(value, abs=5.1e-11)


def test_exploration_reads_a_logarithm_below_1_as_1() -> None:
    assert exploration(0, 3.0) == exploration(1, 3.0) == 0.0
    assert exploration(2, 3.0) == math.log(2)
    assert exploration(math.e**math.e, 3.0) == pytest.approx(math.e + 3.0, rel=1e-15)


def test_a_gaussian_arm_has_a_closed_form() -> None:
    assert index(GAUSSIAN, 50.0, -2.0, 1000, 0.0) == pytest.approx(-2.0 + math.sqrt(2 * math.log(1000) / 50))


@given(
    family=st.sampled_from(ALL), mean=st.floats(0.01, 0.99), n=st.integers(1, 10**6), t=st.integers(2, 10**9)
)
def test_it_is_the_largest_mean_within_the_budget(family: int, mean: float, n: int, t: int) -> None:
    q = index(family, float(n), mean, t, 3.0)
    assert mean < q < math.inf or (family == BERNOULLI and q == 1.0)
    if family != BERNOULLI or q < 1.0 - 1e-9:
        assert n * families.divergence(family, mean, q) == pytest.approx(exploration(t, 3.0), rel=1e-6)
    assert index(family, n + 1.0, mean, t, 3.0) <= q <= index(family, float(n), mean, 2 * t, 3.0)


@pytest.mark.parametrize("t", [1, 2, 100, 10**12])
def test_means_at_the_ends(t: int) -> None:
    """Not 1 and not infinity for an arm that never paid: with few pulls it would be stuck on it."""
    budget = math.log(t) / 10.0
    assert index(BERNOULLI, 10.0, 0.0, t, 0.0) == pytest.approx(-math.expm1(-budget), rel=1e-14)
    assert index(BERNOULLI, 10.0, 1.0, t, 0.0) == 1.0
    assert index(POISSON, 10.0, 0.0, t, 0.0) == pytest.approx(budget, rel=1e-14)
    assert index(EXPONENTIAL, 10.0, 0.0, t, 0.0) == 0.0


@pytest.mark.parametrize("family", ALL)
@pytest.mark.parametrize("mean", [0.0, 0.5, 1.0])
def test_before_the_second_pull_it_is_the_mean(family: int, mean: float) -> None:
    assert index(family, 1.0, mean, 1, 3.0) == index(family, 1.0, mean, 0, 3.0) == mean
