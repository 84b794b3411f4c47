"""The table that the command prints."""

import math

import pytest

from thrifty.errors import InvalidValue
from thrifty.theory import (
    first_order,
    lower_bound,
    nonvacuous_from,
    phi,
    table,
    theorem1,
    ts_ma_beta_sharp,
    ts_td_anytime_draws,
    ts_td_draws,
)


def test_the_papers_problem():
    means = [0.9] + [0.8] * 19
    rows = {row.name: row for row in table(means, 1e5, alpha=(0.0, 0.8))}
    assert rows["asymptotic lower bound"].regret == pytest.approx(492.64, abs=5e-3)
    assert rows["asymptotic lower bound"].coefficient == pytest.approx(lower_bound(means))
    theorem = rows["Vanilla TS, Theorem 1"]
    assert theorem.regret == pytest.approx(19 * theorem1(0.9 - 0.8, 1e5).regret)
    assert theorem.coefficient == 1270.0
    assert theorem.draws == 2e6
    # 19 arms, each with its own bound, against one gap per round
    assert theorem.nonvacuous_from == nonvacuous_from(lambda t: 19 * theorem1(0.9 - 0.8, t).regret, 0.9 - 0.8)
    assert rows["TS-MA-0.8"].draws == 1e5
    assert rows["TS-TD-0.8, sharp (ours)"].draws == ts_td_draws(means, 1e5, 0.8)
    assert rows["TS-TD-0.8, anytime (ours)"].draws == ts_td_anytime_draws(means, 1e5, 0.8)
    assert rows["TS-TD-0, as written"].regret < rows["TS-TD-0, repaired"].regret
    limit = rows["Vanilla TS, limit (ours)"]
    assert limit.regret == pytest.approx(380.0 * math.log(1e5))
    assert len(rows) == 13 + 2 * 11
    assert rows["TS-MA-0.8, TS-TD-0.8, first order (ours)"].regret == pytest.approx(
        19 * 0.1 * first_order(0.1, 1e5, 0.8)
    )


def test_beta_samples():
    """Theorem K, arm by arm, with the paper's phi and with phi = T; and with means that are close."""
    means = [0.9, 0.6, 0.8, 0.6]
    rows = {row.name: row for row in table(means, 1e6)}
    for name, samples in (("", math.ceil(phi(1e6, 0.0))), (", φ = T", 1e6)):
        bounds = [ts_ma_beta_sharp(mean, 0.9, 1e6, samples) for mean in means[1:]]
        row = rows[f"TS-MA-0 (beta{name}), sharp (ours)"]
        assert row.regret == pytest.approx(sum(bound.regret for bound in bounds))
        assert row.coefficient == max(bound.coefficient for bound in bounds)
    for means in ([0.5, 0.5 - 2**-53], [1e-90, 0.0]):
        assert all(row.regret > 0.0 for row in table(means, 100))


def test_one_alpha_or_the_two_ends():
    assert [row.name for row in table([0.9, 0.8], 1e6, alpha=0.5)][-1] == "TS-TD-0.5, worst case"
    names = [row.name for row in table([0.9, 0.8], 1e6)]
    assert "TS-MA-0" in names
    assert "TS-MA-1" in names


def test_rows_are_plain():
    for row in table([0.9, 0.6, 0.1], 1e4):
        assert isinstance(row.name, str)
        for value in row[1:]:
            assert value is None or (isinstance(value, float) and not math.isnan(value))


def test_no_sub_optimal_arm():
    """One arm, or all equal: no regret, nothing to be vacuous about, and the draws are still known."""
    for means in ([0.5], [0.5, 0.5]):
        for row in table(means, 1e4):
            assert row.regret == 0.0
            assert row.nonvacuous_from is None
            assert row.coefficient == (0.0 if row.name == "asymptotic lower bound" else None)
        assert table(means, 1e4)[1].draws == len(means) * 1e4


@pytest.mark.parametrize(
    ("means", "horizon", "alpha", "message"),
    [
        ([0.9, 1.8], 1e6, None, r"means\[1\] must be in \[0, 1\], got 1.8"),
        ([0.9, 0.8], 2, None, "horizon must be at least 3, got 2"),
        ([0.9, 0.8], 1e6, 1.5, r"alpha must be in \[0, 1\], got 1.5"),
        ([0.9, 0.8], 1e6, [], "alpha must have at least one entry"),
        ([], 1e6, None, "means must have at least one entry"),
    ],
)
def test_bad_values(means, horizon, alpha, message):
    with pytest.raises(InvalidValue, match=message):
        table(means, horizon, alpha)
