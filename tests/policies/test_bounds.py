"""The bound of NPTS and Dirichlet Sampling is on the scale of [0, 1], whatever the range of rewards is."""

from collections.abc import Callable

import pytest

import thrifty
from thrifty.policies import Policy, dirichlet_sampling

BOUNDED = pytest.mark.parametrize("kind", [thrifty.NPTS, thrifty.DirichletSampling])


@BOUNDED
@pytest.mark.parametrize("bound", [1.0, 2.5])
def test_another_range_of_rewards_changes_no_decision(kind: Callable[..., Policy], bound: float) -> None:
    unit = thrifty.Bandit(kind(bound=bound), 3, seed=1)
    scaled = thrifty.Bandit(kind(bound=bound), 3, seed=1, reward_range=(-4.0, 4.0))
    for step in range(60):
        arm = unit.select()
        assert scaled.select() == arm
        reward = (step * (arm + 3)) % 9 / 8
        unit.update(arm, reward)
        scaled.update(arm, 8.0 * reward - 4.0)


@BOUNDED
def test_it_does_not_begin_below_the_rewards(kind: Callable[..., Policy]) -> None:
    assert kind(bound=1).label == kind().label
    assert kind(bound=1.5).label.endswith("B=1.5)")
    with pytest.raises(thrifty.InvalidValue, match=r"^bound must be at least 1, got 0\.5$"):
        kind(bound=0.5)


@pytest.mark.parametrize("variant", [name for name in dirichlet_sampling.VARIANTS if name != "bounded"])
def test_variants_without_a_bound_refuse_one(variant: str) -> None:
    assert thrifty.DirichletSampling(variant, bound=1.0) == thrifty.DirichletSampling(variant)
    with pytest.raises(thrifty.InvalidValue) as error:
        thrifty.DirichletSampling(variant, bound=5)
    assert str(error.value) == f"bound must be 1 for the variant {variant}, which has none, got 5.0"
