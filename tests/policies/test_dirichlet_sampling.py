"""Dirichlet Sampling: bonuses and indices of the four variants against single rewards in plain Python."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numpy.typing import NDArray

from tests.support.chance import assert_same_law
from thrifty.numerics import random
from thrifty.policies import dirichlet_sampling
from thrifty.policies.dirichlet_sampling import VARIANTS, bonus, excess, index

Floats = NDArray[np.float64]

SIZE = 50_000

VARIANT = st.sampled_from(sorted(VARIANTS))
REWARDS = st.lists(st.sampled_from([-2.0, 0.0, 0.1, 0.25, 0.5, 1.0, 3.0]), min_size=1, max_size=70)
MEANS = st.sampled_from([-3.0, 0.0, 0.3, 0.9, 1.0, 5.0])


def aggregated(rewards: list[float]) -> tuple[Floats, Floats]:
    values, times = np.unique(rewards, return_counts=True)
    return values, times.astype(float)


def bonus_by_hand(variant: str, rewards: list[float], m: float, bound: float) -> float:
    """Every reward for itself."""
    n = len(rewards)
    short = math.fsum(max(m - x, 0.0) for x in rewards) / n
    return {
        "bounded": bound,
        "unknown-bound": max(max(rewards) + 0.1, m + short / -math.log(0.8)),
        "quantile": m + 4.0 * short,
        "robust": m + math.sqrt(math.log(1 + n)) * short,
    }[variant]


def atoms_by_hand(variant: str, rewards: list[float], m: float, bound: float) -> list[float]:
    """What has weight 1 each: the bonus and the rewards, of which the largest 5 % are merged if need be."""
    merged = len(rewards) // 20 if variant == "quantile" else 0
    small, large = np.split(np.sort(rewards), [len(rewards) - merged])
    return sorted([bonus_by_hand(variant, rewards, m, bound), *small, *(large.mean() for _ in large)])


def weighed(variant: str, values: Floats, times: Floats, m: float, bound: float) -> list[tuple[float, float]]:
    """The weights and values of the code of the index, run with a record of them instead of random ones."""
    seen: list[tuple[float, float]] = []

    def record(weight: float, x: float, top: float, total: float, rng: Any) -> tuple[float, float]:
        seen.append((weight, x))
        return top + weight * x, total + weight

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dirichlet_sampling, "add", record)
        code = getattr(index, "py_func", index)
        mean = code(VARIANTS[variant], values, times, times.sum(), m, bound, None)
    assert mean == pytest.approx(math.fsum(weight * x for weight, x in seen) / (times.sum() + 1.0))
    return sorted(seen)


def atoms(variant: str, rewards: list[float], m: float, bound: float) -> list[float]:
    """The same, one by one."""
    seen = weighed(variant, *aggregated(rewards), m, bound)
    assert all(weight == int(weight) for weight, _ in seen)
    return sorted(x for weight, x in seen for _ in range(int(weight)))


@njit
def fill(variant, values, times, n, m, bound, rng, out):
    for k in range(out.size):
        out[k] = index(variant, values, times, n, m, bound, rng)


def drawn(variant: str, rewards: list[float], m: float, bound: float) -> Floats:
    out = np.empty(SIZE)
    values, times = aggregated(rewards)
    fill(VARIANTS[variant], values, times, float(len(rewards)), m, bound, random.generator(2026, 0), out)
    return out


@given(variant=VARIANT, rewards=REWARDS, m=MEANS)
def test_bonus(variant: str, rewards: list[float], m: float) -> None:
    measured = bonus(VARIANTS[variant], *aggregated(rewards), float(len(rewards)), m, 7.0)
    assert measured == pytest.approx(bonus_by_hand(variant, rewards, m, 7.0), rel=1e-12, abs=1e-12)


@given(variant=VARIANT, rewards=REWARDS, m=MEANS)
def test_what_the_index_weighs(variant: str, rewards: list[float], m: float) -> None:
    by_hand = atoms_by_hand(variant, rewards, m, 7.0)
    assert atoms(variant, rewards, m, 7.0) == pytest.approx(by_hand, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("rewards", "merged"),
    [
        (range(1, 20), [*range(1, 20)]),  # 5 % of 19 is less than one
        (range(1, 21), [*range(1, 21)]),  # one, which is its own average
        (range(1, 40), [*range(1, 40)]),
        (range(1, 41), [*range(1, 39), 39.5, 39.5]),
        ([0] * 38 + [1, 3], [0] * 38 + [2, 2]),
        ([0] * 20 + [1] * 19 + [3], [0] * 20 + [1] * 18 + [2, 2]),  # of equal ones, as many as needed
        ([0] * 58 + [1, 5], [0] * 57 + [2, 2, 2]),
        ([4] * 60, [4] * 60),
    ],
    ids=["19", "20", "39", "40", "two", "split", "three", "equal"],
)
def test_the_largest_are_merged(rewards: list[float], merged: list[float]) -> None:
    """Exactly: m is 0, so that the bonus is 0 too."""
    assert atoms("quantile", [float(x) for x in rewards], 0.0, 1.0) == sorted([0.0, *map(float, merged)])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("rewards", "m"),
    [
        ([0.2], 0.6),
        ([0.3] * 25, 0.5),
        ([0.0] * 30 + [1.0] * 12, 0.4),
        ([0.5, 0.6, 0.9], 0.1),
        ([0.01 * (k * k % 89) for k in range(45)], 0.7),
    ],
    ids=["one", "equal", "coins", "m below", "different"],
)
def test_the_law_of_the_index(variant: str, rewards: list[float], m: float) -> None:
    """Against exponentials of NumPy, one per reward."""
    x = np.array(atoms_by_hand(variant, rewards, m, 1.0))
    exponentials = np.random.default_rng(2026).exponential(size=(SIZE, x.size))
    assert_same_law(drawn(variant, rewards, m, 1.0), exponentials @ x / exponentials.sum(axis=1))


def test_one_reward() -> None:
    """m = 0.6, short of by 0.4: 0.6 + 0.4 rho, with rho = 4.481, 4 and sqrt(ln 2) = 0.8326."""
    one = np.array([0.2]), np.ones(1)
    bonuses = [bonus(code, *one, 1.0, 0.6, 1.0) for code in VARIANTS.values()]
    assert bonuses == pytest.approx([1.0, 2.392568, 2.2, 0.933022], abs=1e-6)


@pytest.mark.parametrize("n", [1.0, 7.0, 1e9])
def test_rewards_above_m_are_not_short_of_it(n: float) -> None:
    """The excess is m itself then, and only the largest reward can raise the bonus."""
    values, times = np.array([0.5, 0.75]), np.array([n, 1.0])
    assert excess(values, times, 0.5, 1e6) == 0.5
    assert [bonus(code, values, times, n + 1.0, 0.25, 2.0) for code in VARIANTS.values()] == [
        2.0, 0.85, 0.25, 0.25
    ]  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_challenger_without_spread_at_the_bonus_is_sure(variant: str) -> None:
    """All rewards equal to m: whatever the weights, the index is m, or above it if the bonus is."""
    indices = drawn(variant, [1.0] * 21, 1.0, 1.0)
    if variant == "unknown-bound":
        assert np.all((indices > 1.0) & (indices < 1.1))
    else:
        assert indices == pytest.approx(np.ones(SIZE), abs=1e-15)


def test_the_share_of_a_prior_that_is_not_whole() -> None:
    """n = 20 with a prior of 0.5 at the top: the one that is merged is that half and half of the next."""
    seen = weighed("quantile", np.array([0.0, 1.0, 3.0]), np.array([17.5, 2.0, 0.5]), 0.0, 1.0)
    assert seen == [(1.0, 0.0), (1.0, 2.0), (1.5, 1.0), (17.5, 0.0)]
