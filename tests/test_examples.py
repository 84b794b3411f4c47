"""The examples at a small size."""

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from tests.support.chance import SIGMAS, assert_law, assert_share

Floats = NDArray[np.float64]


def example(name: str) -> ModuleType:
    path = Path(__file__).parent.parent / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


mcmc, cold_start = example("mcmc"), example("cold_start")


# Markov chains --------------------------------------------------------------------------------------------

FEW = [1.2, 0.3, 9.0]
MANY = (0.7 + 0.5 * np.random.default_rng(3).standard_t(3.0, 60)).tolist()
GRID = np.linspace(-6.0, 8.0, 2801)


def chain_of(rewards: list[float]) -> Any:
    chain = mcmc.Chain()
    for reward in rewards:
        chain.observe(reward)
    return chain


def masses(chain: Any) -> Floats:
    """The density of a chain on the grid, normalised by its plain sum: an integral to many digits, for a
    density that is smooth and vanishes at both ends."""
    logs = np.array([chain.log_density(theta) for theta in GRID.tolist()])
    heights: Floats = np.exp(logs - logs.max())
    heights /= heights.sum()
    return heights


def standard_error(values: Floats) -> float:
    """Of the mean of a stationary series: the variance is that of independent values times

        1 + 2 (rho_1 + rho_2 + ...),

    where rho_k is the correlation of values k apart, up to the first pair rho_2j + rho_2j+1 that is not
    positive (Geyer, "Practical Markov chain Monte Carlo", 1992).
    """
    centred = values - values.mean()
    covariances = [centred[: values.size - k] @ centred[k:] / values.size for k in range(100)]
    pairs = np.add(covariances[::2], covariances[1::2])
    (ends,) = np.nonzero(pairs <= 0.0)
    return math.sqrt((2.0 * pairs[: ends[0]].sum() - covariances[0]) / values.size)


def assert_moments(draws: Floats, mean: float, sd: float) -> None:
    """Draws of a chain have this mean and this standard deviation."""
    assert abs(draws.mean() - mean) < SIGMAS * standard_error(draws)
    squares = (draws - mean) ** 2
    assert abs(squares.mean() - sd**2) < SIGMAS * standard_error(squares)


def test_the_standard_error_of_a_series_whose_correlations_are_known() -> None:
    """x_k = x_k-1 / 2 + noise: the correlations are 1/2, 1/4, ..., and their sum is 1."""
    noise = np.random.default_rng(0).standard_normal(20_000)
    values = np.empty(noise.size)
    last = 0.0
    for k, shock in enumerate(noise.tolist()):
        values[k] = last = 0.5 * last + shock
    assert standard_error(values) == pytest.approx(2.0 / math.sqrt(values.size), rel=0.1)
    assert standard_error(noise) == pytest.approx(1.0 / math.sqrt(values.size), rel=0.1)


@pytest.mark.parametrize("rewards", [[], FEW, MANY], ids=["none", "few", "many"])
def test_a_chain_has_the_moments_of_its_density(rewards: list[float]) -> None:
    """It goes on from where it was, so that a few draws at a time are as good as many."""
    chain, rng = chain_of(rewards), np.random.default_rng(5)
    draws = np.concatenate([chain.draw(2, rng) for _ in range(5_000)])
    assert draws.shape == (10_000,)
    mean = float(GRID @ masses(chain))
    assert_moments(draws, mean, math.sqrt((GRID - mean) ** 2 @ masses(chain)))


def test_the_first_draw_after_rewards_has_the_law_of_the_density() -> None:
    """The chain was about one reward, and then about sixty: BURN steps let it forget where it was."""
    firsts = []
    for seed in range(1000):
        chain, rng = chain_of([-0.5]), np.random.default_rng([6, seed])
        chain.draw(1, rng)
        for reward in MANY:
            chain.observe(reward)
        firsts.append(chain.draw(1, rng).item())
    below = np.cumsum(masses(chain_of([-0.5, *MANY])))
    assert_law(np.array(firsts), lambda x: 1.0 - float(np.interp(x, GRID, below)))


def quadrature(function: Callable[[float], float], rewards: list[float]) -> float:
    """The integral of a function times prior times likelihood, as SciPy writes them down."""

    def integrand(theta: float) -> float:
        prior = stats.norm.pdf(theta, mcmc.PRIOR_MEAN, mcmc.PRIOR_SD)
        likelihood = stats.t.pdf(rewards, mcmc.NU, loc=theta, scale=mcmc.SCALE).prod()
        return function(theta) * float(prior * likelihood)

    return float(integrate.quad(integrand, -6.0, 8.0, epsrel=1e-6, epsabs=0.0)[0])


def test_the_posterior_of_the_first_rewards() -> None:
    """Those of one arm, while another one has others."""
    posterior, rng = mcmc.StudentPosterior(), np.random.default_rng(7)
    for count, reward in enumerate(FEW, 1):
        posterior.observe("other", -3.0)
        posterior.observe("arm", reward)
        posterior.draw("other", 1, rng)
        rewards = FEW[:count]
        evidence = quadrature(lambda theta: 1.0, rewards)
        mean = quadrature(lambda theta: theta, rewards) / evidence
        variance = quadrature(lambda theta: theta**2, rewards) / evidence - mean**2
        assert_moments(posterior.draw("arm", 5_000, rng), mean, math.sqrt(variance))


def test_the_density_is_that_of_the_model() -> None:
    """With more rewards than there was room for at first."""
    chain, theta = chain_of(MANY), np.array([0.7, -0.4, 0.6, 0.9])
    here = np.array([chain.log_density(value) for value in theta.tolist()])
    there = stats.norm.logpdf(theta, mcmc.PRIOR_MEAN, mcmc.PRIOR_SD)
    there += stats.t.logpdf(np.array(MANY)[:, None], mcmc.NU, loc=theta, scale=mcmc.SCALE).sum(axis=0)
    assert here - here[0] == pytest.approx(there - there[0], rel=1e-9)


class Witness(mcmc.StudentPosterior):  # type: ignore[misc, name-defined]
    """A posterior that keeps what it was told and what it was asked."""

    every: list["Witness"]

    def __init__(self) -> None:
        super().__init__()
        self.arms: list[int] = []
        self.rewards: list[float] = []
        self.draws = 0
        self.every.append(self)

    def observe(self, arm: int, reward: float) -> None:
        super().observe(arm, reward)
        self.arms.append(arm)
        self.rewards.append(reward)

    def draw(self, arm: int, size: int, rng: np.random.Generator) -> Any:
        self.draws += size
        return super().draw(arm, size, rng)


def duel_draws(pulled: list[int], arms: int, phi: int) -> int:
    """One for each arm in each of the phi decisions after its pull, and none during the initial pulls."""
    total = 0
    for t in range(arms, len(pulled)):
        for arm in range(arms):
            last = max(s for s in range(t) if pulled[s] == arm)
            total += t - max(last, arms - 1) <= phi
    return total


def test_what_the_policies_draw_and_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    arms, horizon, runs = 4, 70, 2
    monkeypatch.setattr(Witness, "every", [], raising=False)
    monkeypatch.setattr(mcmc, "StudentPosterior", Witness)
    results = mcmc.experiment(arms, horizon, runs)
    assert [name for name, _ in results] == [policy.label for policy in mcmc.policies()]
    outcomes = [outcomes for _, outcomes in results]
    assert {len(of_policy) for of_policy in outcomes} == {runs}

    means, later = np.linspace(0.0, 1.0, arms), horizon - arms  # decisions after the initial pulls
    for run in range(runs):
        seen = Witness.every[4 * run : 4 * run + 4]
        noises = [np.array(witness.rewards) - means[witness.arms] for witness in seen]
        for witness, noise, of_policy in zip(seen, noises, outcomes, strict=True):
            assert sorted(witness.arms[:arms]) == list(range(arms))
            assert of_policy[run].draws == witness.draws
            assert of_policy[run].regret == pytest.approx((1.0 - means[witness.arms]).sum())
            assert of_policy[run].regret < 0.5 * horizon  # of pulling at random
            assert of_policy[run].seconds > 0.0
            np.testing.assert_allclose(noise, noises[0], atol=1e-12)  # every policy met the same
        dense, sometimes, best, duel = seen
        assert dense.draws == arms * later
        assert best.draws == 10 * (horizon - 1)  # for every pull but the last
        assert duel.draws == duel_draws(duel.arms, arms, 20) < dense.draws
        assert_share(sometimes.draws, arms * later, 1.0 / arms)
    assert Witness.every[0].rewards[:arms] != Witness.every[4].rewards[:arms]  # runs differ


def test_the_table_of_the_example_with_markov_chains() -> None:
    results = [
        ("TS", [mcmc.Outcome(1_500, 0.5, 12.0), mcmc.Outcome(2_500, 1.0, 14.0)]),
        ("TS-MA, phi=10", [mcmc.Outcome(10, 0.25, 2.5), mcmc.Outcome(20, 0.25, 2.5)]),
    ]
    assert mcmc.table(results).splitlines() == [
        "policy         draws  seconds  regret  ± s.e.",
        "─────────────  ─────  ───────  ──────  ──────",
        "TS             2,000     0.75    13.0     1.0",
        "TS-MA, phi=10     15     0.25     2.5     0.0",
    ]


# A cold start ---------------------------------------------------------------------------------------------


def test_a_forecast_for_each_arm_where_there_are_more_arms_than_decisions() -> None:
    """It leaves a tenth of the regret of pulling at random. One prior for all leaves policies to their luck,
    some of them to little more than that, so these are held against forecasts together."""
    arms, horizon, runs = 500, 200, 2
    regrets = cold_start.experiment(arms, horizon, runs)
    random = np.array(regrets.pop(("pulling at random", "none")))
    assert random == pytest.approx(np.full(runs, 0.45 * horizon), rel=0.1)
    kinds = ("one for all", "one for each")
    alike, own = (np.array([regrets.pop((p.label, kind)) for p in cold_start.POLICIES]) for kind in kinds)
    assert not regrets
    assert alike.shape == own.shape == (len(cold_start.POLICIES), runs)
    assert (own > 0.0).all()
    assert (own < 0.25 * random).all()
    assert (alike < 1.25 * random).all()
    assert (own.sum(axis=0) < 0.5 * alike.sum(axis=0)).all()


class Script:
    """A bandit that selects these arms in turn and keeps what it is told."""

    def __init__(self, arms: list[int]) -> None:
        self._arms = iter(arms)
        self.told: list[tuple[int, float]] = []

    def select(self) -> int:
        return next(self._arms)

    def update(self, arm: int, reward: float) -> None:
        self.told.append((arm, reward))


def test_regret_and_rewards_of_a_cold_start() -> None:
    bandit, arms = Script([0, 1, 2] * 200), 3
    regret = cold_start.play(bandit, np.array([0.0, 1.0, 0.7]), 200 * arms, np.random.default_rng(8))
    assert regret == pytest.approx(200 * (1.0 + 0.3))
    assert [arm for arm, _ in bandit.told] == [0, 1, 2] * 200
    assert {reward for arm, reward in bandit.told if arm == 0} == {0.0}
    assert {reward for arm, reward in bandit.told if arm == 1} == {1.0}
    assert_share(int(sum(reward for arm, reward in bandit.told if arm == 2)), 200, 0.7)


def test_the_table_of_the_example_of_a_cold_start() -> None:
    regrets = {
        ("pulling at random", "none"): [22_000.0, 23_000.0],
        ("TS", "one for all"): [4.0, 6.0],
        ("TS", "one for each"): [3.0, 3.0],
    }
    assert cold_start.table(regrets).splitlines() == [
        "policy             prior         regret  ± s.e.",
        "─────────────────  ────────────  ──────  ──────",
        "pulling at random  none          22,500     500",
        "TS                 one for all        5       1",
        "TS                 one for each       3       0",
    ]
