"""Policies of the user's own get what they ask for, or are told why not; and engines trust what they say."""

import functools
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty.numerics import random
from thrifty.policies import described, times
from thrifty.simulation.spec import Spec


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
        n, mean, last, t = bandit._player.core.memory.field("own").reshape(2, 4)[arm]
        assert (last, t) == (reward, bandit.decisions)
        assert n == bandit._player.core.pulls[arm]
        assert mean == bandit._player.core.sums[arm] / n


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


# Helper methods and bool fields -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Helped(thrifty.IndexPolicy):
    """UCB1 in pieces: a helper calls another one, has a default, or is static."""

    width: float = 2.0
    wide: bool = True

    changes = "with time"

    def index(self, n: float, mean: float, log_t: float) -> float:
        return mean + self.bonus(n, log_t)

    def reach(self, n: float, mean: float, level: float) -> float:
        return 0.0 if self.index(n, mean, 0.0) >= level else self._time(n, mean, level=level)

    def bonus(self, n: float, log_t: float, scale: float = 1.0) -> float:
        return self.root(scale * self.width * log_t / n) if self.wide else 0.0

    def _time(self, n: float, mean: float, level: float) -> float:
        gap = times.lowered(level, mean) - mean
        return float(times.time(n * gap * gap / self.width)) if self.wide and gap > 0.0 else 0.0

    @staticmethod
    def root(x: float) -> float:
        return math.sqrt(x)

    def shown(self) -> str:
        """No kernel calls it, so it may be anything."""
        return f"{self.width!s} wide"


@dataclass(frozen=True)
class Overridden(Helped):
    @staticmethod
    def root(x: float) -> float:
        return 0.5 * math.sqrt(x)


@dataclass(frozen=True)
class Doubled(thrifty.IndexPolicy):
    """A helper may write where its caller may; and a field may have the name of another class's helper."""

    bonus: float = 0.25
    root: bool = False

    own_columns = 1

    def add(self, own: Any, more: float) -> None:
        own[0] += more

    def observed(self, own: Any, reward: float) -> None:
        self.add(own, 2.0 * reward)

    def index(self, n: float, own: Any) -> float:
        return own[0] / n if self.root else float(own[0] / n + self.bonus)


def test_helpers_make_the_index_of_the_formula_on_every_engine() -> None:
    def pulls(policy: Any, engine: str) -> Any:
        return thrifty.simulate(policy, PROBLEM, 400, runs=3, seed=2, engine=engine).pulls

    plain = of(lambda self, n, mean, log_t: mean + math.sqrt(2.0 * log_t / n))()
    expected = pulls(plain, "scan")
    for engine in ("scan", "kinetic"):
        assert np.array_equal(pulls(Helped(), engine), expected)
    assert np.array_equal(pulls(Overridden(), "scan"), pulls(Helped(width=0.5), "scan"))
    greedy = thrifty.simulate(thrifty.Greedy(), PROBLEM, 400, runs=3, seed=2, engine="scan").pulls
    assert np.array_equal(pulls(Helped(wide=False), "scan"), greedy)
    assert Helped().shown() == "2.0 wide"


def test_a_helper_writes_where_its_caller_may() -> None:
    bandit = thrifty.Bandit(Doubled(), 2, seed=1)
    bandit.update_many([0, 1, 1], [1.0, 0.5, 0.25])
    assert bandit._player.core.memory.field("own").tolist() == [2.0, 1.5]
    assert bandit.select() == 0


def test_a_bool_field_is_a_value_like_others(tmp_path: Path) -> None:
    policy = Helped(wide=False)
    assert repr(policy) == "Helped(width=2.0, wide=False)"
    assert policy != Helped()
    assert policy == Helped(2.0, False)
    assert hash(policy) == hash(Helped(wide=False))
    assert described(policy) == {"name": "tests.policies.test_own:Helped", "width": 2.0, "wide": False}
    bandit = thrifty.Bandit(policy, 3, seed=1)
    bandit.save(tmp_path / "bandit.npz")
    again = thrifty.Bandit.load(tmp_path / "bandit.npz", policies=[Helped])
    assert again.policy == policy
    assert again.policy.wide is False  # type: ignore[attr-defined]
    (tmp_path / "spec.toml").write_text(
        "horizon = 50\nruns = 2\n[problem]\nkind = 'bernoulli'\nmeans = [0.6, 0.5]\n"
        "[[policies]]\nname = 'tests.policies.test_own:Helped'\nwide = false\n"
    )
    assert Spec.load(tmp_path / "spec.toml").policies == (policy,)
    for wrong in (1, 0.0, "yes", None):
        with pytest.raises(thrifty.InvalidType, match=f"wide must be True or False, got {wrong!r}"):
            Helped(wide=wrong)  # type: ignore[arg-type]
    with pytest.raises(thrifty.InvalidType, match="width must be a number, got True"):
        Helped(width=True)


@pytest.mark.parametrize(
    ("helper", "call", "text"),
    [
        ("def helper(self, n): return open(n)", "self.helper(n)", "Untyped global name 'open'.* in helper"),
        ("def helper(self, n): return n", "self.helper(n, n)", "too many positional arguments.* in helper"),
        ("def helper(self, n): return n", "self.helpers(n)", "Unknown attribute 'helpers'"),
        (
            "def helper(self, n): return missing(n)",
            "self.helper(n)",
            "'missing' is not defined in helper",
        ),
        ("helper = property(lambda self: 1.0)", "self.helper", "Unknown attribute 'helper'"),
    ],
)
def test_a_helper_that_cannot_be_compiled_is_named(helper: str, call: str, text: str) -> None:
    names: dict[str, Any] = {}
    exec(f"{helper}\ndef index(self, n): return {call}", names)
    body = {name: names[name] for name in ("helper", "index")}
    policy = dataclass(frozen=True)(type("Badly", (thrifty.IndexPolicy,), body))()
    with pytest.raises(
        thrifty.InvalidValue, match=f"the index of Badly cannot be compiled: .*{text}|got NaN"
    ):
        thrifty.Bandit(policy, 3, prior=(0.5, 1.0)).select()


def test_interpreted_helpers_do_the_same() -> None:
    code = (
        "import thrifty\nfrom tests.policies.test_own import PROBLEM, Doubled, Helped\n"
        "for policy in (Helped(), Helped(wide=False), Doubled()):\n"
        "    print(thrifty.simulate(policy, PROBLEM, 60, runs=1, seed=2).pulls.tolist())"
    )
    env = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True)
    here = [
        thrifty.simulate(policy, PROBLEM, 60, runs=1, seed=2).pulls.tolist()
        for policy in (Helped(), Helped(wide=False), Doubled())
    ]
    assert done.stdout.splitlines() == list(map(str, here))
