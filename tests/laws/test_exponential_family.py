"""ExpTS's law at the values and edges that its definition fixes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrifty.laws import exponential_family as law
from thrifty.numerics import random


@pytest.mark.parametrize(
    ("mean", "n", "energy", "upper", "lower"),
    [
        (0.3, 11, 1.0, 0.5210276121, 0.1291301210),
        (0.3, 11, 0.1, 0.3671623425, 0.2381382047),
        (0.8, 101, 2.0, 0.8715087975, 0.7126976608),
        (0.05, 3, 1.0, 0.5029724050, pytest.approx(8.566e-7, rel=1e-4)),
        (0.0, 5, 1.0, 0.2211992169, 0.0),
        (1.0, 5, 1.0, 1.0, 0.7788007831),
    ],
)
def test_solutions_on_both_sides(mean: float, n: int, energy: float, upper: float, lower: float) -> None:
    """x with (n-1) KL(mean, x) = energy, to the ten digits given."""
    assert law._solve(mean, n - 1.0, True, energy) == pytest.approx(upper, abs=5.1e-11)
    assert law._solve(mean, n - 1.0, False, energy) == (
        lower if mean == 0.05 else pytest.approx(lower, abs=5.1e-11)
    )


@given(mean=st.floats(0.0, 1.0, exclude_max=True), n=st.floats(1.0, 1e15, exclude_min=True))
def test_half_of_the_mass_is_above_the_mean(mean: float, n: float) -> None:
    assert law.sf(mean, n - 1.0, mean) == 0.5


@pytest.mark.parametrize(
    ("n", "s", "values"), [(1.0, 0.0, {0.0, 1.0}), (1.0, 1.0, {0.0, 1.0}), (0.5, 0.2, {0.0, 1.0})]
)
def test_a_single_reward_leaves_a_coin(n: float, s: float, values: set[float]) -> None:
    """For n <= 1 the exponent vanishes: half of the mass at each end."""
    mean, exponent = law.parameters(n, s)
    rng = random.generator(1)
    assert {law.draw(mean, exponent, rng) for _ in range(100)} == values
    assert [law.sf(mean, exponent, c) for c in (-0.1, 0.0, 0.5, 1.0)] == [1.0, 0.5, 0.5, 0.0]
    assert [law.isf(mean, exponent, p) for p in (0.0, 0.4, 0.6, 1.0)] == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_a_mean_at_the_end_is_an_atom(mean: float) -> None:
    rng = random.generator(2)
    values = np.array([law.draw(mean, 9.0, rng) for _ in range(1000)])
    atoms = values == mean
    assert 400 < atoms.sum() < 600  # 500 and six standard errors of 16
    assert ((values[~atoms] > 0.0) & (values[~atoms] < 1.0)).all()
