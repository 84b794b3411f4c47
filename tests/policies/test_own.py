"""Policies of the user's own get what they ask for, or are told why not; and engines trust what they say."""

import functools
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty.numerics import random


@dataclass(frozen=True)
class Kept(thrifty.IndexPolicy):
    """A draw after each pull."""

    changes = "when pulled"
    draws_index = True

    def index(self, n: float, mean: float, rng: Any) -> float:
        return float(mean + random.normal(rng) / math.sqrt(n))


@dataclass(frozen=True)
class ByNumber(thrifty.IndexPolicy):
    """Arms with equal statistics have equal indices at first, and later have not."""

    changes = "with time"

    def index(self, n: float, mean: float, i: int, t: int) -> float:
        return mean + 1.0 / n + 0.001 * max(t - 40 * (i + 1), 0)

    def reach(self, n: float, mean: float, i: int, level: float) -> float:
        return 1000.0 * (level - mean - 1.0 / n) - 1.0 if level > mean + 1.0 / n else 0.0


@dataclass(frozen=True)
class SinceLast(thrifty.IndexPolicy):
    """The same by when an arm was last pulled."""

    changes = "with time"

    def index(self, n: float, last: int, t: int) -> float:
        return 1.0 / n + 0.01 * max(t - last - 7, 0)

    def reach(self, level: float) -> float:
        return 0.0


@dataclass(frozen=True)
class Told(thrifty.IndexPolicy):
    """Keeps what ``observed`` was told."""

    own_columns = 4

    def observed(self, own: Any, n: float, mean: float, reward: float, t: int) -> None:
        own[0], own[1], own[2], own[3] = n, mean, reward, t

    def index(self, mean: float) -> float:
        return mean


PROBLEM = thrifty.Gaussian([0.1 * i for i in range(9)])


def test_a_draw_after_each_pull_is_counted_on_every_engine() -> None:
    results = [
        thrifty.simulate(Kept(), PROBLEM, 300, runs=2, engine=engine) for engine in ("scan", "tournament")
    ]
    for result in results:
        assert np.array_equal(result.draws, results[0].pulls)
        assert result.evaluations.tolist() == [[300, 300]]


@pytest.mark.parametrize("policy", [ByNumber(), SinceLast()], ids=repr)
def test_kinetic_does_not_take_arms_for_alike_that_differ_in_more_than_statistics(policy: Any) -> None:
    """All rewards are 0: arms tie again and again, and part later."""
    problem = thrifty.Bernoulli([0.0] * 6)
    scan, kinetic = (
        thrifty.simulate(policy, problem, 400, runs=4, seed=2, engine=engine) for engine in policy.runs_on
    )
    assert np.array_equal(scan.pulls, kinetic.pulls)


def test_observed_is_told_of_the_reward_after_it_counts() -> None:
    bandit = thrifty.Bandit(Told(), 2, seed=1)
    for reward in (1.0, 0.5, 0.25):
        arm = bandit.select()
        bandit.update(arm, reward)
        n, mean, last, t = bandit._core.memory.field("own").reshape(2, 4)[arm]
        assert (last, t) == (reward, bandit.decisions)
        assert n == bandit._core.pulls[arm]
        assert mean == bandit._core.sums[arm] / n


def made(changes: str, hook: str, asks: str) -> Any:
    """A policy with this function, which asks for this."""
    names: dict[str, Any] = {}
    exec(f"def {hook}(self, {asks}):\n    return 0.0", names)
    body = {"index": lambda self, n: 0.0, "changes": changes, "own_columns": 1, hook: names[hook]}
    return dataclass(frozen=True)(type("Made", (thrifty.IndexPolicy,), body))


@pytest.mark.parametrize(
    ("changes", "hook", "asks", "text"),
    [
        ("when pulled", "index", "t", "index must not ask for t, or changes must not be 'when pulled'"),
        (
            "when pulled",
            "index",
            "log_t",
            "index must not ask for log_t, or changes must not be 'when pulled'",
        ),
        ("with time", "reach", "log_t", "reach must not ask for log_t: it is not given it"),
        ("when pulled", "index", "best", "index must not ask for best, or changes must not be 'when pulled'"),
        ("with time", "index", "means", "index must not ask for means, or changes must not be 'with time'"),
        ("with time", "index", "rng", "index must not ask for rng, or changes must not be 'with time'"),
        ("with time", "reach", "t", "reach must not ask for t: it is not given it"),
        ("with time", "reach", "pulls", "reach must not ask for pulls, or changes must not be 'with time'"),
        ("in every round", "index", "level", "index must not ask for level: it is not given it"),
        ("in every round", "index", "reward", "index must not ask for reward: it is not given it"),
        ("in every round", "observed", "best", "observed must not ask for best: it is not given it"),
        (
            "in every round",
            "index",
            "state",
            "index must ask for some of n, mean, variance",
        ),
    ],
)
def test_what_a_function_cannot_be_given_is_refused(changes: str, hook: str, asks: str, text: str) -> None:
    with pytest.raises(thrifty.InvalidValue) as error:
        made(changes, hook, asks)()
    assert str(error.value).startswith(text)


def test_what_is_refused_of_an_index_is_fine_elsewhere() -> None:
    made("when pulled", "observed", "t, means, rng, own, reward")()
    made("with other arms", "index", "t, best, means, pulls, rng, i")()


def of(index: Any, name: str = "Made") -> Any:
    return dataclass(frozen=True)(type(name, (thrifty.IndexPolicy,), {"index": index}))


@pytest.mark.parametrize(
    "index",
    [functools.partial(max), classmethod(lambda cls, n: 0.0), math.sqrt, int],
    ids=lambda index: type(index).__name__,
)
def test_an_index_that_is_no_method(index: Any) -> None:
    with pytest.raises(thrifty.InvalidType, match="index of Made must be a method"):
        of(index)()


@pytest.mark.parametrize("name", ["My Policy", "class"])
def test_a_name_that_python_does_not_allow(name: str) -> None:
    with pytest.raises(thrifty.InvalidType, match=f"a name that Python allows, got '{name}'"):
        of(lambda self, n: 0.0, name)()


INTERPRETED = """
import thrifty
from tests.policies.test_own import of
for index in (lambda self, n: 1j, lambda self, means: means):
    try:
        thrifty.Bandit(of(index)(), 2, prior=(0.5, 1.0)).select()
    except thrifty.InvalidValue as error:
        print(error)
"""


def test_interpreted_what_is_no_number_is_refused_too() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERPRETED], env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.count("must be a number, got NaN or an error") == 2


@pytest.mark.parametrize("into", ["means[0]", "pulls[0]", "rewards[0][0]", "rewards[1][0]", "own[0]"])
def test_an_index_reads_and_does_not_write(into: str) -> None:
    names: dict[str, Any] = {}
    exec(f"def index(self, {into.partition('[')[0]}):\n    {into} = 7\n    return 0.0", names)
    body = {"index": names["index"], "own_columns": 1}
    policy = dataclass(frozen=True)(type("Writing", (thrifty.IndexPolicy,), body))()
    with pytest.raises(thrifty.InvalidValue, match=r"cannot be compiled: .*setitem|must be a number"):
        thrifty.Bandit(policy, 3, prior=(0.5, 1.0)).select()
