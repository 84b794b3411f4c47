"""Laws of a user's own: on every schedule and engine they are as good as thrifty's, and their faults are
refused by name."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.engines.test_sleepers import Setting, assert_same_law_of_runs
from tests.support.chance import assert_law
from tests.support.drive import new_run
from thrifty.laws import LAWS, Law
from thrifty.numerics import normal, random
from thrifty.policies import Policy

PROBLEM = thrifty.Bernoulli([0.5, 0.2, 0.9, 1.0, 0.0])


@dataclass(frozen=True)
class Bell(Law):
    """N(m, width^2 / n), drawn by its isf."""

    width: float = 1.0

    def parameters(self, n: float, s: float) -> tuple[float, float]:
        return s / n, self.width / math.sqrt(n)

    def sf(self, a: float, b: float, c: float) -> float:
        return float(normal.sf((c - a) / b))

    def isf(self, a: float, b: float, p: float) -> float:
        return float(a + b * normal.isf(p))


@dataclass(frozen=True)
class Drawn(Bell):
    """The same with a draw, that of the Gaussian law."""

    def draw(self, a: float, b: float, rng: Any) -> float:
        return float(a + b * random.normal(rng))


@dataclass(frozen=True)
class Failing(Bell):
    """One of its methods fails from a mean of 1/2 on: it returns NaN, or raises an error."""

    raises: int = 0

    def isf(self, a: float, b: float, p: float) -> float:
        if a >= 0.5 and self.raises:
            raise ValueError
        return math.nan if a >= 0.5 else a + b * normal.isf(p)


@dataclass(frozen=True)
class FailingOddly(Bell):
    """It never sleeps well."""

    def sf(self, a: float, b: float, c: float) -> float:
        return math.nan if a >= 0.5 else normal.sf((c - a) / b)


def policies(law: Any) -> list[Policy]:
    """Every schedule."""
    return [
        thrifty.ThompsonSampling(law),
        thrifty.EpsilonTS(law, 0.3),
        thrifty.TSMA(0.5, law),
        thrifty.TSMA(0.5, law, phi=3, sampling="batch"),
        thrifty.TSTD(0.5, law, phi=4),
    ]


@pytest.mark.parametrize("number", range(5))
def test_a_copy_of_the_gaussian_law_plays_its_very_trajectory(number: int) -> None:
    """With the same draws, on every engine."""
    ours, own = (policies(law)[number] for law in ("gaussian", Drawn()))
    assert own.runs_on == ours.runs_on
    for engine in ours.runs_on:
        for delay in (0, 3):
            first, second = (new_run(each, PROBLEM, 300, engine=engine, delay=delay) for each in (ours, own))
            assert first.play_all().tolist() == second.play_all().tolist()
            assert first.draws.tolist() == second.draws.tolist()
            for name in ("params", "index", "sums", "evaluations", "rng"):
                np.testing.assert_array_equal(getattr(first.state, name), getattr(second.state, name))


@pytest.mark.parametrize("sampling", ["maximum", "batch"])
def test_fields_are_what_they_say(sampling: str) -> None:
    """First indices of many arms with nothing but a prior: draws, each by one isf."""
    policy = thrifty.TSMA(0.0, Bell(0.7), phi=1, sampling=sampling)
    run = new_run(policy, thrifty.Bernoulli(np.full(100_000, 0.5)), 10**5, prior=(0.3, 12.0))
    run.play(0, 0)
    assert_law(run.state.index, stats.norm(0.3, 0.7 / math.sqrt(12.0)).sf)


@pytest.mark.parametrize("number", [0, 1, 4])
def test_runs_on_sleepers_have_the_law_of_scan(number: int) -> None:
    setting = Setting(policies(Bell(0.7))[number], thrifty.Bernoulli([0.6, 0.5, 0.0]), 120)
    assert_same_law_of_runs((setting, "scan"), (setting, "sleepers"), runs=300)


@pytest.mark.parametrize("engine", ["scan", "sleepers"])
def test_a_bandit_with_a_copy_of_the_gaussian_law(engine: str) -> None:
    bandits = [
        thrifty.Bandit(thrifty.ThompsonSampling(law), 4, seed=5, engine=engine)
        for law in (LAWS["gaussian"], Drawn())
    ]
    for t in range(100):
        first, second = (bandit.select() for bandit in bandits)
        assert first == second
        for bandit in bandits:
            bandit.update(first, float(t % 3 == 0))
            if t == 50:
                bandit.remove_arm(2)
                bandit.add_arm("new")


@pytest.mark.parametrize("law", [Failing(raises=1), FailingOddly()], ids=repr)
def test_what_is_not_a_number_is_refused(law: Law) -> None:
    """On every engine, whether it is drawn, committed to or slept by."""
    for policy in policies(law)[::2]:
        for engine in policy.runs_on:
            asks_sf = engine == "sleepers" and policy.schedule != "epsilon"
            if isinstance(law, Failing) or asks_sf:
                with pytest.raises(
                    thrifty.InvalidValue, match="must be a number, got NaN or an error in round"
                ):
                    thrifty.simulate(policy, PROBLEM, 200, runs=1, engine=engine)


@pytest.mark.parametrize("number", range(5))
def test_then_a_bandit_is_as_it_was(number: int) -> None:
    policy = policies(Failing())[number]
    for engine in policy.runs_on:
        bandit = thrifty.Bandit(policy, 3, 1000, seed=1, engine=engine, prior=(0.2, 1.0))
        seen = [bandit._player.core.memory.block.copy()]

        def play(bandit: thrifty.Bandit = bandit, seen: list[Any] = seen) -> None:
            for _ in range(1000):
                arm = bandit.select()
                seen.append(bandit._player.core.memory.block.copy())
                bandit.update(arm, 1.0)
                seen.append(bandit._player.core.memory.block.copy())

        with pytest.raises(thrifty.InvalidValue, match="must be a number, got NaN or an error after"):
            play()
        np.testing.assert_array_equal(bandit._player.core.memory.block, seen[-1])


@dataclass(frozen=True)
class NotCompiled(Bell):
    def sf(self, a: float, b: float, c: float) -> float:
        return float.fromhex(c.hex())


def test_a_method_that_does_not_compile_is_refused_by_name() -> None:
    """When it is needed: scan never asks for it."""
    thrifty.simulate(thrifty.ThompsonSampling(NotCompiled()), PROBLEM, 20, runs=1, engine="scan")
    for policy in (thrifty.ThompsonSampling(NotCompiled()), thrifty.TSTD(law=NotCompiled())):
        with pytest.raises(
            thrifty.InvalidValue, match=r"the sf of NotCompiled\(width=1.0\) cannot be compiled"
        ):
            thrifty.simulate(policy, PROBLEM, 20, runs=1, engine="sleepers")
        with pytest.raises(
            thrifty.InvalidValue, match=r"the sf of NotCompiled\(width=1.0\) cannot be compiled"
        ):
            thrifty.Bandit(policy, 3, 100, engine="sleepers")


@dataclass(frozen=True)
class Half(Law):
    def parameters(self, n: float, s: float) -> tuple[float, float]:
        return n, s

    def isf(self, a: float, b: float, p: float) -> float:
        return 0.0


class Undecorated(Bell):
    more: float = 1.0


@dataclass(frozen=True)
class Untempered(Bell):
    tempered = False


@dataclass(frozen=True)
class Hidden(Bell):
    _more: float = 1.0


@pytest.mark.parametrize(
    ("law", "error", "text"),
    [
        (Half(), thrifty.InvalidType, r"must have a method sf\(self, a, b, c\), got Half"),
        (Undecorated(), thrifty.InvalidType, "must be decorated with @dataclass.* got Undecorated"),
        (Bell("wide"), thrifty.InvalidType, "width of Bell must be a number, got 'wide'"),  # type: ignore
        (Bell(math.nan), thrifty.InvalidValue, "width of Bell must be finite, got nan"),
        (Hidden(), thrifty.InvalidType, "must not have a field _more"),
        (Bell, thrifty.InvalidType, "law must be one of gaussian"),
    ],
)
def test_laws_that_are_none(law: Any, error: type, text: str) -> None:
    for make in (thrifty.ThompsonSampling, thrifty.EpsilonTS, lambda law: thrifty.TSMA(law=law)):
        with pytest.raises(error, match=text):
            make(law)


@pytest.mark.parametrize("law", [Untempered(), LAWS["inverse-gamma"]], ids=repr)
def test_a_law_that_cannot_be_tempered_is_not(law: Law) -> None:
    thrifty.ThompsonSampling(law)
    for kind in (thrifty.TSMA, thrifty.TSTD):
        with pytest.raises(thrifty.InvalidValue, match="law must be one that can be tempered, got "):
            kind(law=law)


@dataclass(frozen=True)
class Indifferent(Bell):
    """It takes all of its kind for equal, and has no hash."""

    width: float = field(default=1.0, compare=False)

    __hash__ = None  # type: ignore[assignment]


def test_laws_are_told_apart_by_their_fields_whatever_they_take_for_equal() -> None:
    for width in (1.0, 2.0):
        policy = thrifty.ThompsonSampling(Indifferent(width))
        bandit = thrifty.Bandit(policy, 3, seed=1, prior=(0.5, 1.0), engine="scan")
        bandit.select()
        assert bandit._player.core.memory.field("params")[0].tolist() == [0.5, width]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"least": "few"}, "least of Odd must be a number"),
        ({"least": math.inf}, "least of Odd must be finite"),
        ({"sleeps": "well"}, "sleeps of Odd must be True or False"),
        ({"column": 5}, "column of Odd must be a method, got 5"),
        ({"draw": math.sqrt}, "draw of Odd must be a method"),
        ({"name": 1.0, "__annotations__": {"name": float}}, "must not have a field name"),
    ],
)
def test_what_a_law_says_of_itself_is_checked(body: dict[str, Any], text: str) -> None:
    kind: Any = dataclass(frozen=True)(type("Odd", (Bell,), body))
    with pytest.raises(thrifty.ThriftyError, match=text):
        thrifty.ThompsonSampling(kind())


@dataclass(frozen=True)
class Beyond(Bell):
    """It writes behind the generator's words."""

    def draw(self, a: float, b: float, rng: Any) -> float:
        rng[1000] = 1
        return a


def test_a_law_cannot_write_behind_the_generator() -> None:
    with pytest.raises(thrifty.InvalidValue, match="must be a number, got NaN or an error"):
        thrifty.simulate(thrifty.ThompsonSampling(Beyond()), PROBLEM, 20, runs=1, engine="scan")
