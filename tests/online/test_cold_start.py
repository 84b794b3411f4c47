"""Before the first reward: priors in the place of first pulls, and what an earlier bandit has learnt."""

import numpy as np
import pytest

import thrifty
from tests.support.live import (
    EVERYWHERE,
    LASTING,
    PATIENT,
    Coins,
    Widening,
    column,
    decide,
    needs_every_reward,
    state,
    warm,
)
from thrifty.policies import Policy, kl_ucb_plus_plus

MANY = 20_000


@pytest.mark.parametrize(
    ("policy", "engine"),
    [
        (thrifty.TSMA(), "tournament"),
        (thrifty.KLUCBPlusPlus(), "tournament"),
        (thrifty.ThompsonSampling(), "sleepers"),
        (thrifty.EpsilonTS(), "sleepers"),
        (thrifty.TSTD(phi=100), "sleepers"),
        (thrifty.ThompsonSampling(law="beta"), "sleepers"),
    ],
    ids=str,
)
def test_many_more_arms_than_decisions(policy: Policy, engine: str) -> None:
    """With a prior, nothing has to be pulled first."""
    horizon, means = 500, np.linspace(0.0, 1.0, MANY)
    result = thrifty.simulate(policy, thrifty.Bernoulli(means), horizon, 1, 3, (0.5, 1.0))
    assert result.settings.engines == (engine,)
    assert result.pulls.sum() == horizon
    bandit = thrifty.Bandit(policy, MANY, horizon, 3, prior=(0.5, 1.0))
    decide(bandit, Coins(means.tolist(), 3), horizon)
    np.testing.assert_array_equal(bandit.statistics()["pulls"], result.pulls[0, 0])
    assert np.flatnonzero(bandit.statistics()["pulls"]).max() > MANY / 2


@EVERYWHERE
def test_a_prior_for_each_arm_that_is_the_same_for_all(policy: Policy, engine: str) -> None:
    means = [0.2, 0.9, 0.4, 0.6, 0.1]
    bandits = [
        thrifty.Bandit(policy, 5, 1000, 4, prior, engine=engine)
        for prior in ((0.5, 2.0), ([0.5] * 5, 2.0), (0.5, np.full(5, 2)), (np.full(5, 0.5), [2.0] * 5))
    ]
    first, *others = [decide(bandit, Coins(means, 1), 200) for bandit in bandits]
    assert others == [first] * 3


@LASTING
def test_a_prior_is_worth_as_many_pulls(policy: Policy, engine: str) -> None:
    """Pseudo-observations: the same decisions as with as many real ones, arm by arm, at the same time. Where
    single rewards or their variance count, they are as many rewards at the mean."""
    if isinstance(policy, thrifty.Forgetting):  # each reward that comes unasked is a decision
        policy = thrifty.Forgetting(policy.policy, 1e12)
    pulls = [3, 1, 2, 8, 5]
    exact = [1.0, 0.0, 0.0, 1.0, 1.0]
    prior = thrifty.Bandit(policy, 5, 1000, 4, (exact, pulls), engine=engine)
    shares = exact if state(prior).history.size or state(prior).squares.size else [1.0, 0.0, 0.5, 0.75, 0.2]
    prior = thrifty.Bandit(policy, 5, 1000, 4, (shares, pulls), engine=engine)
    if policy.keeps_rewards:
        real = thrifty.Bandit(policy, 5, 1000, 4, engine=engine)
        real.update_many(np.repeat(range(5), pulls), np.repeat(shares, pulls))
        state(real).rng[:] = state(prior).rng
    else:
        real = warm(policy, pulls, shares, horizon=1000, seed=4, engine=engine)
    for bandit in (prior, real):
        bandit._player.t = bandit._player.before = sum(pulls)
    chosen = [decide(bandit, Coins([0.2, 0.9, 0.4, 0.6, 0.1], 1), 300) for bandit in (prior, real)]
    assert chosen[0] == chosen[1]
    assert column(real, "pulls") == {arm: n + pulls[arm] for arm, n in column(prior, "pulls").items()}
    assert column(prior, "draws") == column(real, "draws")


def test_priors_are_in_the_unit_of_the_caller() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 2, prior=([-1.0, 4.0], [1.0, 2.0]), reward_range=(-2.0, 8.0))
    assert state(bandit).prior.tolist() == [[0.1, 1.0], [0.6, 2.0]]
    common = thrifty.Bandit(thrifty.TSMA(), 2, prior=(3.0, 1.0), reward_range=(-2.0, 8.0))
    assert state(common).means.tolist() == [0.5, 0.5]
    assert thrifty.Bandit(thrifty.TSMA(), 2, prior=(-7.5, 1.0), reward_range=None).select() in (0, 1)


@PATIENT
def test_a_warm_start(policy: Policy, engine: str) -> None:
    """The laws are those of before. Arms without a reward are pulled first, and the others are not. Policies
    that need every single reward say so."""
    names = ["a", "b", "c", "d", "e", "f"]
    old = thrifty.Bandit(policy, names, seed=1, engine=engine)
    old.update_many(["a", "c", "c", "f", "a", "c"], [1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    if needs_every_reward(policy):
        with pytest.raises(thrifty.InvalidValue) as error:
            thrifty.Bandit(policy, names, engine=engine, statistics=old.statistics())
        assert str(error.value) == (
            f"statistics must not be given to {policy!r}, which needs every reward: use update_many"
        )
        return
    new = thrifty.Bandit(policy, names, seed=2, engine=engine, statistics=old.statistics())
    for name in ("pulls", "mean"):
        np.testing.assert_array_equal(new.statistics()[name], old.statistics()[name])
    np.testing.assert_allclose(state(new).params, state(old).params, rtol=1e-15)
    assert new.decisions == 0
    assert new.select_many(3) == ["b", "d", "e"]
    assert set(new.select_many(25)) <= {"a", "c", "f"}


def test_a_warm_start_of_some_arms_in_any_order() -> None:
    table = {
        "arm": ["z", "x"],
        "pulls": np.array([4, 0], np.uint8),
        "mean": (0.25, None),
        "notes": "kept apart",
    }
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law="beta"), ["x", "y", "z"], statistics=table)
    assert column(bandit, "pulls") == {"x": 0, "y": 0, "z": 4}
    assert column(bandit, "mean")["z"] == 0.25
    assert bandit.select_many(2) == ["x", "y"]
    nothing = thrifty.Bandit(thrifty.TSMA(), 2, statistics={"arm": [], "pulls": [], "mean": []})
    assert nothing.select_many(2) == [0, 1]


def test_a_warm_start_with_a_prior() -> None:
    table = {"arm": [0, 1], "pulls": [3, 0], "mean": [1.0, np.nan]}
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(), 3, prior=(0.5, 1.0), statistics=table, seed=0)
    np.testing.assert_allclose(state(bandit).means, [0.875, 0.5, 0.5])
    np.testing.assert_allclose(state(bandit).params[:, 1], [0.5, 1.0, 1.0])
    assert set(bandit.select_many(200)) == {0, 1, 2}


def test_a_warm_start_in_the_unit_of_the_caller() -> None:
    old = thrifty.Bandit(thrifty.TSMA(), 3, reward_range=(-5.0, 5.0))
    old.update_many([0, 0, 1, 2, 2, 2], [-5.0, 5.0, 5.0, -1.0, -2.0, 0.5])
    new = thrifty.Bandit(thrifty.TSMA(), 3, reward_range=(-5.0, 5.0), statistics=old.statistics())
    np.testing.assert_allclose(new.statistics()["mean"], [0.0, 5.0, -2.5 / 3.0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(state(new).sums, state(old).sums, rtol=1e-12)


def test_the_guess_of_the_horizon_counts_earlier_pulls() -> None:
    """Else KL-UCB++, whose bonus is gone from n = T/K on, would not explore at all."""
    pulls, means = [40_000, 60_000, 50_000], [0.5, 0.51, 0.49]
    bandit = warm(thrifty.KLUCBPlusPlus(), pulls, means, seed=0)
    bandit.select()
    assert bandit.horizon == 1024 * 2**8 > sum(pulls)
    expected = [kl_ucb_plus_plus.index(n, m, 3, bandit.horizon) for n, m in zip(pulls, means, strict=True)]
    np.testing.assert_allclose(state(bandit).index, expected, rtol=1e-15)
    assert expected[1] > 0.51
    assert warm(thrifty.KLUCBPlusPlus(), pulls, means, horizon=2000).horizon == 2000


def test_an_index_of_your_own_counts_earlier_pulls() -> None:
    """t is the number of pulls made so far: with t = 0 this index would be the mean, and arm 0 the best."""
    bandit = warm(Widening(), [90, 10], [0.5, 0.4], seed=0)
    assert bandit.select() == 1
    assert bandit.decisions == 1
