"""How many samples each kind of policy draws."""

import math

import pytest

from thrifty.errors import InvalidValue
from thrifty.theory import (
    phi,
    ts_ma_draws,
    ts_td_draws,
    ts_td_repaired,
    ts_td_sharp,
    vanilla_draws,
)


def test_vanilla_and_ts_ma():
    assert vanilla_draws(20, 1e6) == 2e7
    assert ts_ma_draws(1e6) == 1e6


def test_ts_td_is_vanilla_while_the_bound_says_nothing():
    """alpha = 0 at T = 10^6: phi > 8 10^5, and every arm may draw in every round."""
    for optimal in (1, 5, 10):
        means = [0.9] * optimal + [0.8] * (20 - optimal)
        assert ts_td_draws(means, 1e6, 0.0) == 2e7


def test_ts_td_at_a_long_horizon():
    means = [0.9, 0.9, 0.4, 0.1]
    horizon, alpha = 1e12, 1.0
    samples = math.ceil(phi(horizon, alpha))
    spared = samples * sum(ts_td_sharp(gap, horizon, alpha).pulls for gap in (0.5, 0.8))
    assert ts_td_draws(means, horizon, alpha) == pytest.approx(2 * horizon + spared, rel=1e-12)
    assert spared < 1e-3 * horizon
    assert ts_td_draws(means, horizon, alpha) < ts_td_draws(means, horizon, alpha, bound=ts_td_repaired)


def test_impossible_values():
    with pytest.raises(InvalidValue, match="arms must be at least 1, got 0"):
        vanilla_draws(0, 1e6)
