"""MOTS and MOTS-J: their laws before the clip, the clip, and both together."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from tests.support.chance import assert_law, assert_mean
from thrifty.laws import gaussian
from thrifty.numerics import kl, random
from thrifty.policies import moss, mots

SIZE = 50_000


def sf_j(mean: float, s: float, c: float) -> float:
    """P(X > c) in MOTS-J, before the clip: half of exp(-z^2/2), z = (c - m)/s, above the mean."""
    z = (c - mean) / s
    half = 0.5 * math.exp(-0.5 * z * z)
    return half if z >= 0.0 else 1.0 - half


def draws(draw, *parameters: float, key: int) -> np.ndarray:
    rng = random.generator(11, key)
    return np.array([draw(*parameters, rng) for _ in range(SIZE)])


def test_clip_at_plain_values() -> None:
    """T/(K n) = e. With alpha = 4 and v = 1/4 it is the index of MOSS."""
    assert mots.clip(25.0, 0.5, 4, 100.0 * math.e, 4.0, 1.0) == pytest.approx(0.9, rel=1e-15)
    assert mots.clip(7.0, 0.5, 10, 10**4, 4.0, 0.25) == moss.index(7.0, 0.5, 10, 10**4)
    assert mots.clip(7.0, 0.5, 10, 10**4, 4.0, 1.0) - 0.5 == pytest.approx(
        2 * (moss.index(7.0, 0.5, 10, 10**4) - 0.5)
    )


@pytest.mark.parametrize("mean", [0.0, 0.5, 1.0])
def test_from_n_equal_to_its_share_of_the_horizon_on_the_clip_is_the_mean(mean: float) -> None:
    assert mots.clip(1000.0, mean, 10, 10**4, 4.0, 1.0) == mots.clip(1.0, mean, 1, 1, 4.0, 1.0) == mean


def test_without_a_clip_mots_is_a_tempered_gaussian_law() -> None:
    mean, s = 0.3, mots.scale(12.0, 0.9, 0.25)
    assert s == pytest.approx(gaussian.parameters(12.0 * 0.9 / 0.25, 0.0)[1], rel=1e-15)
    values = draws(mots.draw, mean, s, math.inf, key=0)
    assert_law(values, stats.norm(0.3, math.sqrt(0.25 / (0.9 * 12.0))).sf)


def test_without_a_clip_mots_j_has_its_density() -> None:
    """n |x - m| exp(-n (x - m)^2 / 2) / 2, the variance being 1: integrated, it is sf."""
    mean, n = 0.3, 12.0
    s = mots.scale(n, 1.0, 1.0)

    def density(x: float) -> float:
        return 0.5 * n * abs(x - mean) * math.exp(-0.5 * n * (x - mean) ** 2)

    for c in (-0.6, 0.1, 0.3, 0.35, 1.2):
        above, _ = integrate.quad(density, c, mean + 5.0, points=[mean])
        assert sf_j(mean, s, c) == pytest.approx(above, abs=1e-9)
    assert_law(draws(mots.draw_j, mean, s, math.inf, key=1), lambda c: sf_j(mean, s, c))


@given(mean=st.floats(-2.0, 2.0), n=st.integers(2, 10**6), energy=st.floats(1e-6, 100.0))
def test_mots_j_is_the_law_of_expts_for_gaussian_rewards(mean: float, n: int, energy: float) -> None:
    """With n - 1 in place of n: half of exp(-(n - 1) KL(m, x)) on either side, where KL = (m - x)^2 / 2."""
    s = mots.scale(n - 1.0, 1.0, 1.0)
    above = kl.gaussian_upper(mean, energy / (n - 1.0), 1.0)
    below = kl.gaussian_lower(mean, energy / (n - 1.0), 1.0)
    assert sf_j(mean, s, above) == pytest.approx(0.5 * math.exp(-energy), rel=1e-6)
    assert 1.0 - sf_j(mean, s, below) == pytest.approx(0.5 * math.exp(-energy), rel=1e-6, abs=1e-15)


@pytest.mark.parametrize(
    ("draw", "sf"), [(mots.draw, gaussian.sf), (mots.draw_j, sf_j)], ids=["MOTS", "MOTS-J"]
)
def test_the_clip_gathers_what_exceeds_it(draw, sf) -> None:
    mean, s = 0.4, mots.scale(3.0, 0.9999, 0.25)
    ceiling = mots.clip(3.0, mean, 10, 100, 1.0, 0.25)
    values = draws(draw, mean, s, ceiling, key=2)
    assert values.max() == ceiling
    assert_law(values, lambda c: sf(mean, s, c) if c < ceiling else 0.0)


def test_moments_of_mots_j() -> None:
    """E (X - m)^2 = 2 s^2, twice that of a normal: R^2 = 2 E."""
    values = draws(mots.draw_j, 0.0, 0.5, math.inf, key=3)
    assert_mean(values, 0.0)
    assert_mean(values**2, 0.5, sd=0.5)  # 0.25 * 2 E, with deviation 0.5
