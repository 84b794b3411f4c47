"""Problems: what a pull pays, what it costs, and what is refused."""

import itertools
import math
from dataclasses import FrozenInstanceError
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray
from scipy import stats

import thrifty
from thrifty import problems
from thrifty.numerics import random
from thrifty.problems import PROBLEMS, REWARDS, Problem

PULLS = 20_000


class State(NamedTuple):
    """What a pull looks at."""

    arms: NDArray[np.float64]
    values: NDArray[np.float64]
    reward_rng: NDArray[np.uint64]


def rewards(problem: Problem, arm: int) -> NDArray[np.float64]:
    arms = problem.ready()
    state, pull = State(arms.params, arms.values, random.generator(1, arm)), njit(arms.pull)
    return np.array([pull(state, arm) for _ in range(PULLS)])


EXAMPLES = {
    "bernoulli": thrifty.Bernoulli([0.3, 0.9]),
    "gaussian": thrifty.Gaussian([-2.0, 0.5], sd=3.0),
    "beta": problems.Beta([0.3, 2.0], [0.7, 5.0]),
    "clipped-gaussian": problems.ClippedGaussian([0.1, 0.9], sd=0.4),
    "discrete": problems.Discrete([0.0, 0.25, 1.0], [[0.5, 0.3, 0.2], [0.1, 0.0, 0.9]]),
    "poisson": problems.Poisson([0.4, 30.0]),
    "exponential": problems.Exponential([0.2, 7.0]),
    "empirical": problems.Empirical([[0.2, 0.7, -3.0], [1.0, 2.0, 3.0, 4.0]]),
}

RANGES = {
    "binary": (0.0, 1.0),
    "unit": (0.0, 1.0),
    "non-negative": (0.0, math.inf),
    "any": (-math.inf, math.inf),
}

FAMILIES = {"empirical": "bounded", "beta": "bounded", "clipped-gaussian": "bounded", "discrete": "bounded"}


def test_there_is_an_example_of_every_kind() -> None:
    assert EXAMPLES.keys() == {kind for kind in PROBLEMS if not issubclass(PROBLEMS[kind], problems.Timed)}
    for kind, problem in EXAMPLES.items():
        assert type(problem) is PROBLEMS[kind]
        assert problem.kind == kind


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("arm", [0, 1])
def test_rewards_have_the_mean_that_regret_counts_with(kind: str, arm: int) -> None:
    problem = EXAMPLES[kind]
    got = rewards(problem, arm)
    error = got.std(ddof=1) / math.sqrt(PULLS)
    assert abs(got.mean() - problem.expectations[arm]) < 4.0 * error
    lowest, highest = RANGES[problem.rewards]
    assert lowest <= got.min() < got.max() <= highest
    assert set(got) == {0.0, 1.0} or problem.rewards != "binary"
    assert RANGES.keys() == set(REWARDS)


def test_kinds_of_rewards_widen() -> None:
    """Policies rely on the order: what is made for a kind takes every kind before it."""
    for narrow, wide in itertools.pairwise(REWARDS):
        assert RANGES[wide][0] <= RANGES[narrow][0] <= RANGES[narrow][1] <= RANGES[wide][1]


@pytest.mark.parametrize(("kind", "problem"), EXAMPLES.items())
def test_families(kind: str, problem: Problem) -> None:
    assert problem.family == FAMILIES.get(kind, kind)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("gaussian", stats.norm(-2.0, 3.0)),
        ("beta", stats.beta(0.3, 0.7)),
        ("exponential", stats.expon(scale=0.2)),
    ],
)
def test_continuous_rewards_have_their_law(kind: str, law: Any) -> None:
    assert stats.kstest(rewards(EXAMPLES[kind], 0), law.cdf).pvalue > 1e-3


def test_clipped_rewards_have_their_atoms() -> None:
    got = rewards(EXAMPLES["clipped-gaussian"], 0)
    for value, share in [(0.0, stats.norm.cdf(-0.25)), (1.0, stats.norm.sf(2.25))]:
        error = math.sqrt(share * (1.0 - share) / PULLS)
        assert abs(np.mean(got == value) - share) < 4.0 * error


def test_discrete_rewards_have_their_probabilities() -> None:
    problem = EXAMPLES["discrete"]
    assert isinstance(problem, problems.Discrete)
    for arm, row in enumerate(problem.probabilities):
        got = rewards(problem, arm)
        for value, share in zip(problem.values, row, strict=True):
            assert abs(np.mean(got == value) - share) <= 4.0 * math.sqrt(share * (1.0 - share) / PULLS)


def test_poisson_rewards_have_their_probabilities() -> None:
    got = rewards(EXAMPLES["poisson"], 0)
    for count in range(4):
        share = stats.poisson.pmf(count, 0.4)
        assert abs(np.mean(got == count) - share) < 4.0 * math.sqrt(share * (1.0 - share) / PULLS)


def test_a_poisson_mean_of_0_never_pays() -> None:
    assert set(rewards(problems.Poisson([0.0, 1.0]), 0)) == {0.0}


def test_exponential_rewards_are_positive() -> None:
    assert rewards(EXAMPLES["exponential"], 1).min() > 0.0


def test_gaps_are_the_losses_against_the_best_arm() -> None:
    assert thrifty.Bernoulli([0.5, 0.75, 0.25, 0.75]).gaps.tolist() == [0.25, 0.0, 0.5, 0.0]
    assert thrifty.Gaussian([-3.0, -1.0]).gaps.tolist() == [2.0, 0.0]
    assert thrifty.Bernoulli([0.3]).gaps.tolist() == [0.0]
    assert problems.Beta([1.0, 3.0], [1.0, 1.0]).gaps.tolist() == [0.25, 0.0]


@pytest.mark.parametrize("problem", EXAMPLES.values(), ids=EXAMPLES)
def test_problems_are_values(problem: Problem) -> None:
    again = eval(repr(problem), {cls.__name__: cls for cls in PROBLEMS.values()})
    assert again == problem
    assert hash(again) == hash(problem)
    with pytest.raises(FrozenInstanceError):
        problem.sd = 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "means",
    [[0.5, 0.25], (0.5, 0.25), np.array([0.5, 0.25]), np.array([0.5, 0.25], np.float32), iter([0.5, 0.25])],
    ids=lambda means: type(means).__name__,
)
def test_means_come_in_any_container(means: Any) -> None:
    assert thrifty.Bernoulli(means) == thrifty.Bernoulli((0.5, 0.25))


def test_a_problem_does_not_follow_the_array_it_was_made_of() -> None:
    means = np.array([0.5, 0.25])
    problem = thrifty.Bernoulli(means)
    means[0] = 0.0
    assert problem.means == (0.5, 0.25)


@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_means_of_exactly_0_and_1_always_pay_the_same(edge: float) -> None:
    assert set(rewards(thrifty.Bernoulli([edge]), 0)) == {edge}


@pytest.mark.parametrize(
    ("kind", "arguments", "text"),
    [
        ("bernoulli", ([],), "means must have at least one entry, got none"),
        ("bernoulli", ([0.5, 1.5],), "means[1] of a Bernoulli problem must be in [0, 1], got 1.5"),
        ("bernoulli", ([-0.1],), "means[0] of a Bernoulli problem must be in [0, 1], got -0.1"),
        ("bernoulli", ([0.5, math.nan],), "means[1] must be finite, got nan"),
        ("bernoulli", ([math.inf],), "means[0] must be finite, got inf"),
        ("bernoulli", (["0.5"],), "means[0] must be a number, got '0.5'"),
        ("bernoulli", ([[0.5, 0.4]],), "means must be a flat sequence of numbers, got [[0.5, 0.4]]"),
        ("bernoulli", (0.5,), "means must be a sequence of numbers, got 0.5"),
        ("bernoulli", (None,), "means must be a sequence of numbers, got None"),
        ("bernoulli", ("0.5",), "means must be a sequence of numbers, got '0.5'"),
        ("gaussian", ([0.0, -math.inf],), "means[1] must be finite, got -inf"),
        ("gaussian", ([0.0], 0.0), "sd must be above 0, got 0.0"),
        ("gaussian", ([0.0], -1.0), "sd must be above 0, got -1.0"),
        ("gaussian", ([0.0], math.nan), "sd must be finite, got nan"),
        ("gaussian", ([0.0], 1.7e308), "sd must be at most 1e+100 in size, got 1.7e+308"),
        ("gaussian", ([0.0], "1"), "sd must be a number, got '1'"),
        ("gaussian", ([0.0], [1.0, 2.0]), "sd must be a number, or have one for each of 1 arms, got 2"),
        ("gaussian", ([0.0], [0.0]), "sd[0] must be above 0, got 0.0"),
        ("gaussian", ([0.0], [None]), "sd[0] must be a number, got None"),
        ("empirical", (3,), "samples must be a row of rewards per arm, got 3"),
        ("empirical", ([],), "samples must have at least one row (one per arm), got none"),
        ("empirical", ([[1.0], []],), "samples[1] must have at least one entry, got none"),
        ("empirical", ([[1.0, "x"]],), "samples[0][1] must be a number, got 'x'"),
        ("clipped-gaussian", ([0.5], -0.1), "sd must be above 0, got -0.1"),
        ("beta", ([1.0], [0.0]), "b[0] must be above 0, got 0.0"),
        ("beta", ([1.0, 2.0], [1.0]), "a and b must have one shape per arm each, got 2 and 1"),
        ("poisson", ([0.0, -0.1],), "means[1] of a Poisson problem must be at least 0, got -0.1"),
        ("poisson", ([math.inf],), "means[0] must be finite, got inf"),
        ("poisson", ([],), "means must have at least one entry, got none"),
        ("exponential", ([1.0, 0.0],), "means[1] of an exponential problem must be above 0, got 0.0"),
        ("exponential", ([-2.0],), "means[0] of an exponential problem must be above 0, got -2.0"),
        ("exponential", ([math.nan],), "means[0] must be finite, got nan"),
        ("discrete", ([0.0, 2.0], [[0.5, 0.5]]), "values[1] must be in [0, 1], got 2.0"),
        ("discrete", ([0.0, 1.0], []), "probabilities must have at least one row"),
        ("discrete", ([0.0, 1.0], 0.5), "probabilities must be a row of numbers per arm, got 0.5"),
        ("discrete", ([0.0, 1.0], [[1.0]]), "probabilities[0] must have 2 entries, one per value, got 1"),
        ("discrete", ([0.0, 1.0], [[0.5, 0.6]]), "probabilities[0] must not be negative and must sum to 1"),
        ("discrete", ([0.0, 1.0], [[1.5, -0.5]]), "probabilities[0] must not be negative and must sum to 1"),
    ],
)
def test_bad_problems_are_named(kind: str, arguments: tuple[Any, ...], text: str) -> None:
    with pytest.raises(thrifty.ThriftyError) as error:
        PROBLEMS[kind](*arguments)
    assert str(error.value).startswith(text)
    assert isinstance(error.value, ValueError | TypeError)
