"""Every policy at its edges: rewards of exactly 0 or 1, all equal, huge or tiny; one arm, pull or round.

Whatever the history, every call returns, the chosen arm is one of the arms, and no number is NaN.
"""

import math
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thrifty
from tests.support.policies import every_policy
from thrifty.engines import ENGINES
from thrifty.policies import Policy
from thrifty.problems import REWARDS, Problem

EVERY = every_policy()
EVERYWHERE = pytest.mark.parametrize(
    ("policy", "engine"),
    [
        pytest.param(policy, engine, id=f"{policy!r}-{engine}")
        for policy in EVERY
        if not policy.told
        for engine in policy.runs_on
    ],
)

# Indices that may be infinite, as their formulas say. An arm with a law is chosen all the same, or never.
INFINITE: dict[Policy, set[float]] = {
    thrifty.ExpTS("gaussian"): {-math.inf, math.inf},  # one pull: half the mass at each end
    thrifty.ExpTS("poisson"): {math.inf},
    thrifty.ExpTS("exponential"): {math.inf},
    thrifty.KLMS(): {-math.inf},  # a mean below 1 where the best is 1: probability 0
    thrifty.IMED("bernoulli"): {-math.inf},
    thrifty.Forgetting(thrifty.IMED("bernoulli"), 50.0): {-math.inf},
    thrifty.IMED("bounded"): {-math.inf},
    thrifty.IMED("exponential"): {-math.inf},  # a mean of 0
    # Nothing in the window: next, and then never until there is something.
    thrifty.SlidingWindowUCB(tau=1): {-math.inf, math.inf},
    thrifty.SlidingWindowUCB(tau=7): {-math.inf, math.inf},
}
INFINITE_LAWS = ("inverse-gamma", "inverse-gamma-flat")  # draws overflow; there is no posterior yet

LEAST = 5e-324  # the smallest number above 0
EDGES = {
    "binary": [0.0, 1.0],
    "unit": [0.0, 1.0, 0.5, 1 / 3, LEAST, 1e-17, 1.0 - 2.0**-53],
    "non-negative": [0.0, 1.0, 3.0, LEAST, 1e-100, 1e-17, 1e17, 1e100],
    "any": [0.0, 1.0, -1.0, LEAST, 1e-17, 1e17, -1e17, 1e100, -1e100],
}
WEIGHTS = [1e-3, 1.0, 1e6]


class Step(NamedTuple):
    """Select so many arms at once, then tell so many of the rewards that are missing, and perhaps one of a
    pull that nobody asked for."""

    select: int
    update: int
    newest_first: bool
    unasked: bool


class History(NamedTuple):
    arms: int
    horizon: int | None
    prior: tuple[Any, Any] | None
    rewards: list[list[float]]  # of each arm, again and again: a single one means that all are equal
    steps: list[Step]
    seed: int


STEP = st.builds(Step, st.integers(0, 6), st.integers(0, 8), st.booleans(), st.booleans())


@st.composite
def histories(draw: st.DrawFn, kind: str) -> History:
    arms = draw(st.integers(1, 4))
    mean, weight = st.sampled_from(EDGES[kind]), st.sampled_from(WEIGHTS)
    each = st.tuples(st.lists(mean, min_size=arms, max_size=arms), weight)
    return History(
        arms=arms,
        horizon=draw(st.sampled_from([1, 2, 3, 50, None])),
        prior=draw(st.none() | st.tuples(mean, weight) | each),
        rewards=draw(st.lists(st.lists(mean, min_size=1, max_size=2), min_size=arms, max_size=arms)),
        steps=draw(st.lists(STEP, min_size=3, max_size=8)),
        seed=draw(st.integers(0, 100)),
    )


HISTORIES = {kind: histories(kind) for kind in EDGES}


def test_these_are_all_there_are() -> None:
    assert set(EDGES) == set(REWARDS)
    assert set(INFINITE) < set(EVERY)


@EVERYWHERE
@settings(max_examples=4)
@given(data=st.data())
def test_any_history(policy: Policy, engine: str, data: st.DataObject) -> None:
    play(policy, engine, data.draw(HISTORIES[policy.rewards]))


@pytest.mark.slow
@EVERYWHERE
@settings(max_examples=100)
@given(data=st.data())
def test_any_of_many_histories(policy: Policy, engine: str, data: st.DataObject) -> None:
    play(policy, engine, data.draw(HISTORIES[policy.rewards]))


def play(policy: Policy, engine: str, history: History) -> None:
    span = (0.0, 1.0) if policy.rewards in ("binary", "unit") else None
    arms, horizon, prior, rewards, steps, seed = history
    bandit = thrifty.Bandit(policy, arms, horizon, seed, prior, span, engine=engine)
    missing: list[int] = []
    coming = [cycle(of_arm) for of_arm in rewards]
    for step in steps:
        known = all_known(bandit)
        chosen = bandit.select_many(step.select) if step.select != 1 else [bandit.select()]
        assert len(chosen) == step.select
        assert set(chosen) <= set(range(arms))
        missing += chosen
        assert_numbers(bandit)
        if chosen and known and engine == "scan" and "choose" not in policy.functions():
            assert_finite(policy, bandit)
        for _ in range(min(step.update, len(missing))):
            arm = missing.pop(-1 if step.newest_first else 0)
            bandit.update(arm, next(coming[arm]))
        if step.unasked:
            bandit.update(arms - 1, next(coming[-1]))
        assert_numbers(bandit)


def all_known(bandit: thrifty.Bandit) -> bool:
    """Whether every arm has a reward or a prior, so that all indices are made in the next choice."""
    return not state_of(bandit).waiting[0]


def state_of(bandit: thrifty.Bandit) -> Any:
    return bandit._player.core.memory.state  # type: ignore[union-attr]


def assert_numbers(bandit: thrifty.Bandit) -> None:
    """What decides is a number; the mean that is shown is one as soon as there is a reward."""
    state = state_of(bandit)
    law = (state.waiting[0] == 0) | (state.pulls > 0)
    kept = [numbers[law] for numbers in (state.index, state.means, state.params) if len(numbers)]
    assert len(kept) == 3 - (bandit.policy.played.drawn_from is None)
    for numbers in (*kept, state.sums, state.squares):
        assert not np.isnan(numbers).any()
    table = bandit.statistics()
    assert np.isfinite(table["mean"]).tolist() == (table["pulls"] > 0).tolist()


def assert_finite(policy: Policy, bandit: thrifty.Bandit) -> None:
    """Every index is finite, or infinite as documented."""
    index = state_of(bandit).index
    allowed = {math.inf} if getattr(policy, "law", "") in INFINITE_LAWS else INFINITE.get(policy, set())
    assert set(index[np.isinf(index)].tolist()) <= allowed


@pytest.mark.parametrize("prior", [None, (1.0, 0.5)], ids=["pulls", "prior"])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "problem",
    [
        thrifty.Bernoulli([0.0, 1.0]),
        thrifty.Bernoulli([1.0, 1.0]),
        thrifty.Bernoulli([0.0, 0.0, 0.0]),
        thrifty.Bernoulli([0.0]),
        thrifty.Bernoulli([1.0]),
        thrifty.Discrete([0.0, 0.5, 1.0], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
        thrifty.Discrete([0.3], [[1.0], [1.0]]),
        thrifty.Poisson([0.0, 1.0]),
        thrifty.Poisson([0.0, 0.0]),
        thrifty.Exponential([1e-300, 1.0]),
        thrifty.Exponential([1e99, 1e-99]),
        thrifty.Gaussian([0.0, 0.0], sd=1e-300),
        thrifty.Gaussian([1e99, -1e99], sd=1e90),
    ],
    ids=repr,
)
def test_sure_rewards(problem: Problem, engine: str, prior: tuple[float, float] | None) -> None:
    """Means of exactly 0 and 1, and rewards without any spread, or with a wide one."""
    able = [
        policy
        for policy in EVERY
        if REWARDS.index(problem.rewards) <= REWARDS.index(policy.rewards) and engine in policy.runs_on
    ]
    result = thrifty.simulate(able, problem, 40, 2, prior=prior, engine=engine, workers=1)
    assert np.isfinite(result.regret).all()
    assert (result.pulls.sum(axis=2) == 40).all()
    np.testing.assert_allclose(result.regret[:, :, -1], result.pulls @ problem.gaps, rtol=1e-12)
