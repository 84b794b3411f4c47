"""Maillard sampling: its logits by their formulas, its choices by their probabilities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp, rel_entr

from tests.support.chance import UNLUCKY, assert_law
from thrifty.numerics import random
from thrifty.policies.maillard import kl_logit, logit, perturbed, plus_best_logit, plus_logit


def test_ms_at_a_plain_value() -> None:
    """v = 1/4 makes it -2 n (m* - m)^2."""
    assert logit(50.0, 0.7, 0.9, 0.25) == pytest.approx(-2 * 50 * 0.04, rel=1e-14)
    assert logit(50.0, 0.7, 0.9, 1.0) == pytest.approx(-1.0, rel=1e-14)


@given(means=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=10), n=st.integers(1, 10**6))
def test_the_best_arm_has_its_share(means: list[float], n: int) -> None:
    """Probabilities of MS and KL-MS sum to 1, and the best arm has at least 1/K."""
    best = max(means)
    for logits in (
        [logit(float(n), mean, best, 0.25) for mean in means],
        [kl_logit(float(n), mean, best) for mean in means],
    ):
        probabilities = np.exp(np.array(logits) - logsumexp(logits))
        assert probabilities.sum() == pytest.approx(1.0, rel=1e-12)
        assert probabilities[means.index(best)] >= 1.0 / len(means) - 1e-15
        assert max(logits) == 0.0


def test_plus_is_ms_without_its_constants() -> None:
    assert plus_logit(50.0, 0.7, 0.9, 0.25, 0.0) == logit(50.0, 0.7, 0.9, 0.25)
    assert plus_best_logit(5.0, 100, 1.0, 0.0) == 0.0


def test_plus_at_plain_values() -> None:
    """d = 0.08, and t/n = e makes ln(1 + ln(t/n)) = ln 2."""
    assert plus_logit(50.0, 0.7, 0.9, 0.25, 2.5) == pytest.approx(-4.0 + math.log(1.2), rel=1e-14)
    assert plus_logit(50.0, 0.9, 0.9, 0.25, 2.5) == 0.0
    expected = math.log(4.0 * (1.0 + 0.5 * math.log(2.0)))
    assert plus_best_logit(10.0, 10.0 * math.e, 4.0, 0.5) == pytest.approx(expected, rel=1e-14)
    assert plus_best_logit(10.0, 10, 4.0, 0.5) == math.log(4.0)
    assert plus_best_logit(10.0, 0, 4.0, 0.5) == math.log(4.0)  # nothing but a prior


@given(mean=st.floats(0.0, 1.0), best=st.floats(0.0, 1.0), n=st.integers(1, 10**9))
def test_kl_ms_against_scipy(mean: float, best: float, n: int) -> None:
    mean, best = min(mean, best), max(mean, best)
    divergence = float(rel_entr(mean, best) + rel_entr(1 - mean, 1 - best)) if mean < best else 0.0
    assert kl_logit(float(n), mean, best) == pytest.approx(-n * divergence, rel=1e-9, abs=1e-6)


def test_kl_ms_with_means_at_the_ends() -> None:
    assert kl_logit(1.0, 0.999, 1.0) == -math.inf
    assert kl_logit(1.0, 0.0, 1.0) == -math.inf
    assert kl_logit(7.0, 1.0, 1.0) == kl_logit(7.0, 0.0, 0.0) == 0.0
    assert kl_logit(7.0, 0.0, 0.5) == pytest.approx(-7 * math.log(2), rel=1e-15)


def test_perturbed_is_a_gumbel_variable() -> None:
    rng = random.generator(5, 0)
    values = np.array([perturbed(2.0, rng) for _ in range(50_000)])
    assert_law(values, lambda x: -math.expm1(-math.exp(2.0 - x)))
    assert perturbed(-math.inf, rng) == -math.inf


@pytest.mark.parametrize(
    "logits",
    [
        [0.0, -1.0, -3.0, 0.0],
        [math.log(4.0), -0.5, -math.inf, -math.inf],
        [-math.inf, -800.0, -801.0],  # weights below the smallest number
    ],
)
def test_choices_have_the_probabilities(logits: list[float]) -> None:
    rng = random.generator(5, 1)
    chosen = [np.argmax([perturbed(value, rng) for value in logits]) for _ in range(30_000)]
    counts = np.bincount(chosen, minlength=len(logits))
    possible = np.isfinite(logits)
    assert not counts[~possible].any()
    probabilities = np.exp(np.array(logits) - logsumexp(logits))[possible]
    assert stats.chisquare(counts[possible], 30_000 * probabilities).pvalue > UNLUCKY
