"""K_inf against its primal form, the Bernoulli divergence and known values."""

import math
import runpy
import sys
from types import FunctionType

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thrifty.numerics import kl
from thrifty.numerics.k_inf import k_inf

exact = settings(derandomize=True, deadline=None, max_examples=100)
rewards = st.lists(
    st.tuples(
        st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 0.5, 1.0 - 1e-12, 1.0])),
        st.integers(1, 10**9),
    ),
    min_size=1,
    max_size=12,
)


def arrays(sample: list[tuple[float, int]]) -> tuple[np.ndarray, np.ndarray]:
    values, counts = zip(*sample, strict=True)
    return np.array(values), np.array(counts, dtype=float)


@pytest.mark.parametrize(
    ("values", "counts", "mu", "value", "multiplier"),
    [
        ([0.0, 1.0], [2.0, 8.0], 0.9, 0.0444030076, 1 - 0.8 / 0.9),
        ([0.2, 0.5, 0.8], [1.0, 1.0, 1.0], 0.6, 0.0872080240, math.sqrt(3) - 1),
        ([0.1, 0.2, 0.3], [1.0, 1.0, 1.0], 0.6, 0.6878977282, 1.0),
    ],
)
def test_known_values(
    values: list[float], counts: list[float], mu: float, value: float, multiplier: float
) -> None:
    # sqrt(3) - 1 solves .4/(4 + 4l) + .1/(4 + l) = .2/(4 - 2l), the condition of the second sample.
    found = k_inf(np.array(values), np.array(counts), mu, 0.0)
    assert found[0] == pytest.approx(value, abs=6e-11)
    assert found[1] == pytest.approx(multiplier, abs=1e-12)


@exact
@given(rewards, st.floats(1e-4, 1.0 - 1e-4), st.floats(0.0, 1.0))
def test_the_value_is_attained_by_a_law_of_mean_mu(
    sample: list[tuple[float, int]], share: float, start: float
) -> None:
    # Weights p_j / (1 - l y_j), with what they lack put on the reward 1, have mean mu and divergence
    # E[ln(1 - l y)]: an upper bound of the minimum that equals a lower one, the dual value.
    values, counts = arrays(sample)
    p = counts / counts.sum()
    mean = float(p @ values)
    mu = mean + share * (1.0 - mean)
    if not mean < mu < 1.0 - 1e-9:
        return
    value, multiplier = k_inf(values, counts, mu, start)
    assert 0.0 < multiplier <= 1.0
    tilt = (1.0 - multiplier) + multiplier * (1.0 - values) / (1.0 - mu)
    q = p / tilt
    # The multiplier is right to 1e-15 or so relative to 1 - l, or to 1e-16 absolutely.
    slack = 1e-9 + 1e-15 / max(1.0 - multiplier, 1e-16) * (multiplier < 1.0)
    missing = 1.0 - q.sum()
    assert missing >= -slack
    if multiplier < 1.0:
        assert missing == pytest.approx(0.0, abs=slack)
    assert q @ values + missing == pytest.approx(mu, abs=slack)
    assert value == pytest.approx(float(p @ np.log(tilt)), rel=1e-9, abs=1e-13)


@exact
@given(st.integers(0, 10**12), st.integers(1, 10**12), st.floats(1e-3, 1.0 - 1e-6))
def test_bernoulli_rewards_give_the_bernoulli_divergence(ones: int, zeros: int, share: float) -> None:
    mean = ones / (ones + zeros)
    mu = mean + share * (1.0 - mean)
    if mu < 1.0:
        value, _ = k_inf(np.array([0.0, 1.0]), np.array([zeros, ones], dtype=float), mu, 0.0)
        # The gap mu - mean is known to an ulp of mu; the divergence grows with its square.
        tolerance = 1e-12 + 8 * math.ulp(mu) / (mu - mean)
        assert value == pytest.approx(kl.bernoulli(mean, mu), rel=tolerance)


@exact
@given(rewards, st.floats(1e-3, 1.0 - 1e-3))
def test_at_least_the_bernoulli_divergence(sample: list[tuple[float, int]], share: float) -> None:
    values, counts = arrays(sample)
    mean = min(float(counts @ values / counts.sum()), 1.0)
    mu = mean + share * (1.0 - mean)
    if mean < mu < 1.0:
        value, _ = k_inf(values, counts, mu, 0.0)
        assert value >= kl.bernoulli(mean, mu) * (1.0 - 1e-9) - 1e-15


@exact
@given(rewards, st.floats(0.01, 0.99), st.floats(-1.0, 2.0))
def test_the_start_does_not_matter(sample: list[tuple[float, int]], mu: float, start: float) -> None:
    values, counts = arrays(sample)
    value, multiplier = k_inf(values, counts, mu, 0.0)
    again, same = k_inf(values, counts, mu, start)
    assert again == pytest.approx(value, rel=1e-12, abs=1e-15)
    assert same == pytest.approx(multiplier, rel=1e-9, abs=1e-12)


@exact
@given(rewards, st.floats(0.01, 0.99))
def test_counts_aggregate_equal_rewards(sample: list[tuple[float, int]], mu: float) -> None:
    values, counts = arrays(sample)
    together = k_inf(values, counts, mu, 0.0)[0]
    apart = k_inf(np.repeat(values, 2), np.repeat(counts / 2, 2), mu, 0.0)[0]
    padded = k_inf(np.append(values, [1.0, 0.0]), np.append(counts, [0.0, 0.0]), mu, 0.0)[0]
    assert apart == pytest.approx(together, rel=1e-9, abs=1e-14)
    assert padded == pytest.approx(together, rel=1e-12, abs=1e-15)


def test_ends() -> None:
    values = np.array([0.2, 0.8])
    counts = np.array([1.0, 1.0])
    assert k_inf(values, counts, 0.5, 0.3)[0] == 0.0
    assert k_inf(values, counts, 0.1, 0.3) == (0.0, 0.0)
    assert k_inf(values, counts, 1.0, 0.3)[0] == math.inf
    assert k_inf(np.array([1.0]), np.array([5.0]), 1.0, 0.3)[0] == 0.0
    assert k_inf(np.array([0.0]), np.array([5.0]), 0.9, 0.3)[0] == pytest.approx(math.log(10))
    assert k_inf(np.array([0.0, 1.0]), np.array([1e15, 1.0]), 0.9, 0.0)[0] == pytest.approx(
        kl.bernoulli(1e-15, 0.9), rel=1e-12
    )


def test_interpreted_kernels_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    interpreted = runpy.run_path(sys.modules[k_inf.__module__].__file__ or "")["k_inf"]
    assert isinstance(interpreted, FunctionType)
    rng = np.random.default_rng(20)
    for size in (1, 2, 5, 40):
        values = np.append(rng.random(size), [0.0, 1.0])
        counts = rng.integers(0, 9, size + 2).astype(float)
        for mu in (0.3, 0.6, 0.9, 0.999):
            assert interpreted(values, counts, mu, 0.4) == k_inf(values, counts, mu, 0.4)
