"""A posterior of the user's own, asked for draws: the decisions have the law of the compiled policies."""

import math
from collections import defaultdict, deque
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.support.chance import UNLUCKY, assert_uniform
from tests.support.live import Coins, column, refused
from thrifty.policies import Policy

VALUE, TYPE = thrifty.InvalidValue, thrifty.InvalidType
MEANS = [0.5, 0.8, 0.65]


class Exact:
    """The Gaussian law, N(mean, 1/n), as somebody would write it down."""

    def __init__(self) -> None:
        self.rewards: dict[Hashable, list[float]] = defaultdict(list)
        self.asked: dict[Hashable, int] = defaultdict(int)

    def observe(self, arm: Hashable, reward: float) -> None:
        self.rewards[arm].append(reward)

    def draw(self, arm: Hashable, size: int, rng: np.random.Generator) -> Any:
        self.asked[arm] += size
        n = len(self.rewards[arm])
        return rng.normal(sum(self.rewards[arm]) / n, 1.0 / math.sqrt(n), size)


POLICIES: list[tuple[type[Policy], dict[str, Any]]] = [
    (thrifty.ThompsonSampling, {}),
    (thrifty.EpsilonTS, {"epsilon": 0.4}),
    (thrifty.TSMA, {"phi": 4, "sampling": "batch"}),
    (thrifty.TSTD, {"phi": 3}),
]


def play(bandit: thrifty.Bandit, seed: int, rounds: int, delay: int) -> tuple[list[int], list[int]]:
    """The decisions, and the draws of each arm."""
    coins, chosen, held = Coins(MEANS, seed), [], deque()
    for _ in range(rounds):
        chosen.append(arm := bandit.select())
        held.append((arm, coins.toss(arm)))
        if len(held) > delay:
            bandit.update(*held.popleft())
    return [*chosen, bandit.select()], bandit.statistics()["draws"].tolist()


@pytest.mark.parametrize("runs", [120, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize(("policy", "options"), POLICIES, ids=lambda part: getattr(part, "__name__", ""))
def test_the_law_of_the_compiled_policy(
    policy: type[Policy], options: dict[str, Any], delay: int, runs: int
) -> None:
    """Two samples of one law: decisions at several moments, how often each arm was chosen, and its draws."""
    rounds = 25
    own, compiled = [], []
    for seed in range(runs):
        own.append(play(thrifty.Bandit(policy(**options, law=Exact()), 3, seed=seed), seed, rounds, delay))
        compiled.append(play(thrifty.Bandit(policy(**options), 3, seed=seed), runs + seed, rounds, delay))
    samples = [
        np.array([[*chosen[::5], *np.bincount(chosen, minlength=3), *draws] for chosen, draws in half])
        for half in (own, compiled)
    ]
    pairs = list(zip(samples[0].T, samples[1].T, strict=True))
    assert len(pairs) == 6 + 3 + 3
    assert min(stats.ks_2samp(*pair, method="asymp").pvalue for pair in pairs) > UNLUCKY / len(pairs)


@pytest.mark.parametrize(("policy", "options"), POLICIES, ids=lambda part: getattr(part, "__name__", ""))
def test_draws_are_counted(policy: type[Policy], options: dict[str, Any]) -> None:
    """As many as the posterior was asked for."""
    posterior = Exact()
    bandit = thrifty.Bandit(policy(**options, law=posterior), 3, seed=1)
    play(bandit, 1, 200, 3)
    assert column(bandit, "draws") == dict(posterior.asked)
    assert column(bandit, "pulls") == {arm: len(rewards) for arm, rewards in posterior.rewards.items()}
    assert bandit.statistics()["pending"].sum() == 4


def test_nothing_is_drawn_before_it_is_needed() -> None:
    posterior = Exact()
    bandit = thrifty.Bandit(thrifty.TSMA(law=posterior, sampling="batch", phi=7), 2, seed=0)
    bandit.update_many([0, 1, 1, 1, 0], [0.5] * 5)
    assert not posterior.asked
    bandit.select()
    assert dict(posterior.asked) == {0: 7, 1: 7}
    bandit.select()
    assert sum(posterior.asked.values()) in (
        14,
        21,
    )  # the spent index is drawn anew only if it is still the best


def test_a_committed_index_is_spent() -> None:
    """Hundreds of requests in flight do not all get one arm."""
    for policy in (thrifty.TSMA(law=Exact(), sampling="batch", phi=3), thrifty.TSTD(law=Exact(), phi=1)):
        bandit = thrifty.Bandit(policy, 12, seed=3)
        bandit.update_many(list(range(12)) * 3, [0.5] * 36)
        counts = np.bincount(bandit.select_many(300), minlength=12)
        assert np.count_nonzero(counts) > 8
        assert counts.max() < 150


def test_initial_pulls_then_all_are_equal() -> None:
    posterior = Exact()
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=posterior), list("abcd"), seed=0)
    bandit.update("c", 1.0)
    assert bandit.select_many(3) == ["a", "b", "d"]
    assert bandit.select() == "c"
    assert dict(posterior.asked) == {"c": 1}
    other = thrifty.Bandit(thrifty.TSTD(law=Exact()), 4, seed=0)
    assert other.select_many(4) == [0, 1, 2, 3]
    assert_uniform(np.bincount(other.select_many(4000)))


def test_it_is_told_ids_and_rewards_as_they_are() -> None:
    """Not scaled to [0, 1]: so the mean, which epsilon-TS may use, and the draws have one unit."""
    posterior = Exact()
    bandit = thrifty.Bandit(
        thrifty.EpsilonTS(law=posterior, epsilon=1e-9), ["a", ("b", 2)], reward_range=(-100.0, 100.0)
    )
    bandit.update_many([("b", 2), "a", ("b", 2)], [40.0, -99.5, 60.0])
    assert dict(posterior.rewards) == {("b", 2): [40.0, 60.0], "a": [-99.5]}
    assert column(bandit, "mean") == {"a": -99.5, ("b", 2): 50.0}
    assert bandit.select_many(5) == [("b", 2)] * 5
    assert bandit._player.core._arms["index"].tolist() == [-99.5, 50.0]  # type: ignore[union-attr]
    with refused(VALUE, r"reward must be in \[-100.0, 100.0\], got 101.0", bandit):
        bandit.update("a", 101.0)


def test_arms_come_and_go() -> None:
    posterior = Exact()
    bandit = thrifty.Bandit(thrifty.TSTD(law=posterior, phi=2), ["a", "b", "c"], seed=0, pending_for=None)
    assert bandit.select_many(2) == ["a", "b"]
    bandit.update_many(["a", "b"], [0.25, 0.75])
    bandit.add_arm("d")
    bandit.remove_arm("a")
    assert sorted(bandit.select_many(2)) == ["c", "d"]
    bandit.update_many(["c", "d", "d"], [0.5, 0.0, 1.0])
    bandit.add_arm("e")
    assert column(bandit, "pulls") == {"b": 1, "c": 1, "d": 2, "e": 0}
    assert column(bandit, "mean")["b"] == 0.75
    assert bandit.select() == "e"
    assert set(bandit.select_many(50)) == {"b", "c", "d"}
    with refused(VALUE, "prior must be None, as no arm has its own", bandit):
        bandit.add_arm("f", (0.5, 1.0))
    for arm in "cde":
        bandit.remove_arm(arm)
    with refused(VALUE, "must keep at least one arm", bandit):
        bandit.remove_arm("b")


def test_without_a_horizon() -> None:
    bandit = thrifty.Bandit(thrifty.TSTD(law=Exact(), phi=1), 2, seed=0)
    bandit.update_many([0, 1], [0.0, 1.0])
    bandit.select_many(1022)
    assert bandit._player.core._arms["age"].min() > 1  # type: ignore[union-attr]
    bandit.select()
    assert bandit.horizon == 2048
    assert bandit._player.core._arms["age"].tolist() == [1, 1]  # type: ignore[union-attr]


class Broken(Exact):
    """One that returns something else, from some draw on."""

    def __init__(self, value: Any, after: int) -> None:
        super().__init__()
        self.value, self.left = value, after

    def draw(self, arm: Hashable, size: int, rng: np.random.Generator) -> Any:
        self.left -= 1
        if self.left >= 0:
            return super().draw(arm, size, rng)
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize(
    ("value", "match"),
    [
        (0.5, r"draw must return an array of 1 finite numbers for the arm '[ab]', got 0.5"),
        ([0.5, 0.6], r"draw must return an array of 1 finite numbers for the arm .*, got \[0.5, 0.6\]"),
        ([math.nan], r"draw must return an array of 1 finite numbers .*, got \[nan\]"),
        ([math.inf], r"draw must return an array of 1 finite numbers .*, got \[inf\]"),
        (["x"], r"draw must return an array of 1 finite numbers .*, got \['x'\]"),
        (None, "draw must return an array of 1 finite numbers .*, got None"),
        ([[0.5]], r"draw must return an array of 1 finite numbers .*, got \[\[0.5\]\]"),
        (ValueError("chain has diverged"), "^chain has diverged$"),
        (KeyboardInterrupt("stop"), "stop"),
    ],
    ids=repr,
)
def test_a_posterior_that_fails(value: Any, match: str, after: int) -> None:
    """Nothing changes here, the decisions of the same batch included; and its own error is not hidden."""
    posterior = Broken(value, after)
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=posterior), ["a", "b"], seed=0)
    bandit.update_many(["a", "b"], [0.5, 1.0])
    with refused(type(value) if isinstance(value, BaseException) else VALUE, match, bandit):
        bandit.select_many(3)
    posterior.left = 100
    assert bandit.select() in ("a", "b")


def test_a_posterior_that_fails_after_the_horizon_was_doubled() -> None:
    """Decisions from before that, in the same batch, are not made either."""
    posterior = Broken([0.5, 0.5], after=10_000)
    bandit = thrifty.Bandit(thrifty.TSTD(law=posterior, phi=10**6), ["a", "b"], seed=0)
    bandit.update_many(["a", "b"], [0.5, 1.0])
    bandit.select_many(1000)
    posterior.left = 2 * 50  # draws: for 50 decisions, of which 24 come before the doubling
    with refused(VALUE, "draw must return an array of 1 finite numbers", bandit):
        bandit.select_many(100)
    assert bandit.horizon == 1024
    assert bandit.statistics()["pending"].sum() == bandit.decisions == 1000


def test_a_reward_that_the_posterior_refuses() -> None:
    """It is not counted; those before it in the same batch were taken, and are."""

    class Strict(Exact):
        def observe(self, arm: Hashable, reward: float) -> None:
            if reward == 0.5:
                raise RuntimeError("not half")
            super().observe(arm, reward)

    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=Strict()), ["a", "b"], seed=0)
    with refused(RuntimeError, "not half", bandit):
        bandit.update("a", 0.5)
    with pytest.raises(RuntimeError, match="not half"):
        bandit.update_many(["a", "b", "b"], [1.0, 0.5, 0.0])
    assert column(bandit, "pulls") == {"a": 1, "b": 0}


class OnlyDraws:
    def draw(self, arm: Hashable, size: int, rng: np.random.Generator) -> Any:
        return rng.random(size)


@pytest.mark.parametrize("law", [OnlyDraws(), Exact, object(), None, 3], ids=lambda law: type(law).__name__)
def test_what_is_not_a_posterior(law: Any) -> None:
    for policy in (thrifty.ThompsonSampling, thrifty.EpsilonTS, thrifty.TSTD):
        with pytest.raises(TYPE, match="law must be one of gaussian, beta"):
            policy(law=law)


def test_where_a_posterior_cannot_be_used() -> None:
    """In a simulation and in a file, both of which would need to know what it is made of."""
    with pytest.raises(VALUE, match="alpha must be 0 with a posterior of your own"):
        thrifty.TSTD(alpha=0.5, law=Exact())
    with pytest.raises(VALUE, match="sampling must be batch with a posterior of your own, got 'maximum'"):
        thrifty.TSMA(law=Exact())
    policy = thrifty.ThompsonSampling(law=Exact())
    for settings, match in (
        ({"prior": (0.5, 1.0)}, "prior must be None with a posterior of your own"),
        ({"prior": ([0.5, 0.5], 1.0)}, "prior must be None with a posterior of your own"),
        ({"statistics": {"arm": [], "pulls": [], "mean": []}}, "statistics must not be given to a posterior"),
        ({"engine": "sleepers"}, "engine must be one of auto, scan, got 'sleepers'"),
    ):
        with pytest.raises(VALUE, match=match):
            thrifty.Bandit(policy, 2, **settings)
    with pytest.raises(VALUE, match="a posterior of your own works in Bandit, not in simulate, got Thompson"):
        thrifty.simulate(policy, thrifty.Bernoulli([0.5, 0.4]), 10)
    with pytest.raises(VALUE, match="a posterior of your own works in Bandit, not in simulate"):
        thrifty.simulate([thrifty.TSMA(), policy], thrifty.Bernoulli([0.5, 0.4]), 10)
