"""When an index is drawn, and how often: each schedule against its definition."""

import math

import numpy as np
import pytest

from tests.support.chance import assert_law, assert_same_law, assert_share
from tests.support.drive import Run, new_run
from thrifty import (
    DMED,
    IMED,
    KLUCB,
    MOSS,
    NPTS,
    TSMA,
    TSTD,
    UCB1,
    UCBV,
    AdaUCB,
    BayesUCB,
    Bernoulli,
    Binarised,
    EpsilonTS,
    ExpTS,
    ExpTSPlus,
    Gaussian,
    KLUCBPlusPlus,
    MultinomialTS,
    ThompsonSampling,
    UCB1Tuned,
    UCBImproved,
)
from thrifty.numerics import families
from thrifty.policies import LAWS, Policy
from thrifty.policies.law_policy import TEMPERED
from thrifty.problems import Problem

PROBLEM = Bernoulli([0.5, 0.4, 0.6, 0.1, 0.5])
ROUNDS = 1000  # after the initial pulls
K = len(PROBLEM.means)
MANY = 100_000


def played(policy: Policy) -> Run:
    run = new_run(policy, PROBLEM, K + ROUNDS)
    run.play(0, K + ROUNDS)
    return run


def first_indices(policy: Policy, prior: tuple[float, float], horizon: int = 10**5) -> np.ndarray:
    """The committed indices of many arms with nothing but a prior: as many independent draws."""
    run = new_run(policy, Bernoulli(np.full(MANY, 0.5)), horizon, prior=prior)
    run.play(0, 0)
    return run.state.index


@pytest.mark.parametrize(
    "policy",
    [
        *(ThompsonSampling(law) for law in LAWS),
        *(ExpTS(family) for family in families.CODES),
        NPTS(),
        MultinomialTS(),
        Binarised(),
    ],
    ids=repr,
)
def test_fresh_draws_every_arm_in_every_round(policy: Policy) -> None:
    state = played(policy).state
    assert state.draws.tolist() == [ROUNDS] * K
    assert state.evaluations[0] == K * ROUNDS


@pytest.mark.parametrize(
    ("policy", "epsilon"),
    [
        (EpsilonTS(), 1 / K),
        (EpsilonTS(law="beta", epsilon=0.7), 0.7),
        (ExpTSPlus(), 1 / K),
        (EpsilonTS(epsilon=1.0), 1.0),
        (EpsilonTS(law="gamma", epsilon=0.3), 0.3),
        (EpsilonTS(law="inverse-gamma"), 1 / K),
    ],
    ids=repr,
)
def test_epsilon_tosses_one_coin_per_arm_and_round(policy: Policy, epsilon: float) -> None:
    state = played(policy).state
    assert_share(state.draws.sum(), K * ROUNDS, epsilon)
    assert state.evaluations[0] == K * ROUNDS + state.draws.sum()  # the coins are random numbers too


def test_epsilon_coins_of_different_arms_are_independent() -> None:
    """Between all and none, the number of arms that use their mean is binomial."""
    run = new_run(EpsilonTS(epsilon=0.5), Gaussian([0.0] * K), K + ROUNDS)
    run.play(0, K)
    tosses = np.empty((ROUNDS, K), bool)
    for t in range(K, K + ROUNDS):
        before = run.state.draws.copy()
        run.play(t, t + 1)
        tosses[t - K] = run.state.draws > before
    for count in range(K + 1):
        assert_share((tosses.sum(axis=1) == count).sum(), ROUNDS, math.comb(K, count) * 0.5**K)


def test_epsilon_uses_the_mean_when_it_does_not_draw() -> None:
    run = new_run(EpsilonTS(epsilon=0.3), PROBLEM, K + ROUNDS)
    run.play(0, K)
    for t in range(K, K + 100):
        before, means = run.state.draws.copy(), run.state.means.copy()
        run.play(t, t + 1)
        kept = run.state.draws == before
        assert (run.state.index[kept] == means[kept]).all()
        assert (run.state.index[~kept] != means[~kept]).all()


@pytest.mark.parametrize(
    ("policy", "each"),
    [
        (TSMA(), 1),
        (TSMA(alpha=0.8, law="beta"), 1),
        (TSMA(phi=7, sampling="batch"), 7),
        (TSMA(phi=6.2, sampling="batch"), 7),
    ],
    ids=repr,
)
def test_aggregate_draws_once_per_pull(policy: Policy, each: int) -> None:
    """One draw of the maximum, or the whole batch; the initial pulls included."""
    state = played(policy).state
    assert state.draws.tolist() == (each * state.pulls).tolist()
    assert state.evaluations[0] == each * (K + ROUNDS)


def test_aggregate_draws_every_arm_of_a_prior() -> None:
    run = new_run(TSMA(), PROBLEM, 100, prior=(0.5, 2.0))
    run.play(0, 100)
    assert run.state.draws.tolist() == (run.state.pulls + 1).tolist()


def test_aggregate_keeps_an_index_until_its_arm_is_pulled() -> None:
    run = new_run(TSMA(), PROBLEM, K + 100)
    run.play(0, K)
    for t in range(K, K + 100):
        index, pulls = run.state.index.copy(), run.state.pulls.copy()
        run.play(t, t + 1)
        pulled = run.state.pulls > pulls
        assert np.flatnonzero(pulled).tolist() == [np.argmax(index)]
        assert (run.state.index != index).tolist() == pulled.tolist()


@pytest.mark.parametrize("phi", [1, 3.5, 100])
@pytest.mark.parametrize("name", TEMPERED)
def test_batch_and_maximum_have_the_same_law(name: str, phi: float) -> None:
    batch = first_indices(TSMA(alpha=0.5, law=name, phi=phi, sampling="batch"), prior=(0.3, 12.0))
    maximum = first_indices(TSMA(alpha=0.5, law=name, phi=phi), prior=(0.3, 12.0))
    assert_same_law(batch, maximum)


def test_gaussian_indices_of_ts_ma_have_the_law_of_the_paper() -> None:
    """The maximum of phi draws from N(m, ln^alpha(T) / n), phi rounded up."""
    values = first_indices(TSMA(alpha=0.8), prior=(0.3, 12.0))
    scale = math.sqrt(math.log(1e5) ** 0.8 / 12.0)
    assert_law(values, lambda x: 1.0 - (1.0 - 0.5 * math.erfc((x - 0.3) / scale * math.sqrt(0.5))) ** 769)


@pytest.mark.parametrize("phi", [1, 4, 6.5, 10**9])
@pytest.mark.parametrize(
    "problem", [PROBLEM, Gaussian([-3.0, -2.0, -2.5, -2.0, -9.0])], ids=["unit", "negative"]
)
def test_duel_draws_phi_times_after_a_pull_then_keeps_the_best(problem: Problem, phi: float) -> None:
    """The history by hand: fresh values in phase I, their maximum in phase II, all anew after a pull."""
    run = new_run(TSTD(alpha=0.5, phi=phi), problem, K + 300)
    run.play(0, K)
    history: list[list[float]] = [[] for _ in range(K)]
    draws = np.zeros(K, np.int64)
    phase_two = 0
    for t in range(K, K + 300):
        pulls = run.state.pulls.copy()
        run.play(t, t + 1)
        index = run.state.index
        for i in range(K):
            if len(history[i]) < phi:
                assert index[i] not in history[i]
                history[i].append(index[i])
                draws[i] += 1
            else:
                assert index[i] == max(history[i])
                phase_two += 1
        (pulled,) = np.flatnonzero(run.state.pulls > pulls)
        assert pulled == np.argmax(index)
        history[pulled] = []
    assert run.state.draws.tolist() == draws.tolist()
    assert run.state.evaluations[0] == draws.sum()
    assert (phase_two > 0) == (phi < 300)


def test_duel_that_never_ends_is_vanilla_thompson_sampling() -> None:
    """With alpha = 0 and phi not below the horizon, number for number."""
    duel, fresh = (
        new_run(policy, PROBLEM, 2000) for policy in (TSTD(alpha=0.0, phi=2000), ThompsonSampling())
    )
    assert duel.play_all().tolist() == fresh.play_all().tolist()
    assert duel.state.draws.tolist() == fresh.state.draws.tolist()


@pytest.mark.parametrize(
    "policy",
    [
        KLUCBPlusPlus(),
        MOSS(),
        UCB1(),
        UCB1Tuned(),
        UCBV(),
        *(KLUCB(family=family) for family in families.CODES),
        BayesUCB(),
        AdaUCB(),
        *(IMED(family) for family in families.CODES),
        UCBImproved(),
    ],
    ids=repr,
)
def test_a_deterministic_index_draws_nothing(policy: Policy) -> None:
    state = played(policy).state
    assert state.draws.sum() == state.evaluations[0] == 0


@pytest.mark.parametrize("policy", [DMED(), DMED(rule="log-t"), IMED(family="bounded")], ids=repr)
def test_a_divergence_is_not_a_draw(policy: Policy) -> None:
    assert played(policy).state.draws.sum() == 0
