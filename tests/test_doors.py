"""Nothing reaches a kernel unchecked: functions, sizes and addresses are thrifty's own, or are refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import thrifty
from thrifty.delays import Delay
from thrifty.engines.late import Delays
from thrifty.engines.memory import Rule
from thrifty.policies import SETTINGS, TRUSTED, Policy
from thrifty.problems import PULLS, Arms, Empirical, Problem
from thrifty.problems.standard import STANDARD

BERNOULLI = thrifty.Bernoulli([0.9, 0.8])


def forced(value: Any, **fields: Any) -> Any:
    """A frozen value whose fields were changed by force."""
    for name, field in fields.items():
        object.__setattr__(value, name, field)
    return value


# Problems --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mine(Problem):
    """A pull that is none, and fewer rows than arms."""

    kind: ClassVar[str] = "mine"
    rewards: ClassVar[str] = "binary"
    family: ClassVar[str] = "bernoulli"

    @property
    def expectations(self) -> Any:
        return np.array([0.5, 0.4, 0.3])

    def ready(self) -> Arms:
        return Arms(print, np.zeros((1, 1)), np.zeros(0), self.gaps)  # type: ignore[arg-type]


class Longer(thrifty.Bernoulli):
    """A known pull, and fewer rows than arms."""

    @property
    def expectations(self) -> Any:
        return np.linspace(0.0, 1.0, 1000)

    def ready(self) -> Arms:
        return thrifty.Bernoulli(self.means).ready()


@pytest.mark.parametrize("problem", [Mine(), Longer([0.5])], ids=["Mine", "Longer"])
def test_what_kernels_trust_a_problem_with_is_not_the_users_own(problem: Problem) -> None:
    name = type(problem).__name__
    with pytest.raises(
        thrifty.InvalidType,
        match=rf"^{name} must not have ready of its own: a problem of your own is a Problem, with "
        "expectations and a reward$",
    ):
        thrifty.simulate(thrifty.UCB1(), problem, 1000, runs=1)


def discrete(**fields: Any) -> Problem:
    changed: Problem = forced(thrifty.Discrete([0.0, 1.0], [[0.5, 0.5], [1, 0]]), **fields)
    return changed


@pytest.mark.parametrize(
    ("problem", "match"),
    [
        (forced(thrifty.Bernoulli([0.5]), means=(2.0, 0.5)), r"means\[0\] of a Bernoulli problem must be in"),
        (forced(thrifty.Gaussian([0.5, 0.4]), sd=0.0), "sd must be above 0, got 0.0"),
        (
            forced(thrifty.Beta([1, 2], [1, 2]), b=(1.0,)),
            "a and b must have one shape per arm each",
        ),
        (forced(thrifty.Beta([1, 2], [1, 2]), b=(1.0, -1.0)), r"b\[1\] must be above 0, got -1.0"),
        (discrete(values=(0.5,)), r"probabilities\[0\] must have 1 entries, one per value, got 2"),
        (discrete(probabilities=((0.5, 0.1),)), r"probabilities\[0\] must not be negative and must sum to 1"),
        (forced(thrifty.Poisson([1, 2]), means=(float("nan"), 1.0)), r"means\[0\] must be finite, got nan"),
    ],
    ids=str,
)
def test_a_problem_that_was_changed_by_force_is_checked_again(problem: Problem, match: str) -> None:
    with pytest.raises(thrifty.ThriftyError, match=match):
        thrifty.simulate(thrifty.UCB1(), problem, 100, runs=1)


@pytest.mark.parametrize("problem", [*STANDARD, Empirical], ids=lambda problem: problem.__name__)
def test_kernels_are_given_a_row_for_each_arm_and_every_value_it_points_at(problem: type[Problem]) -> None:
    fields: dict[str, Any] = {
        "Empirical": {"samples": [[0.0, 0.5], [1.0, 1.0], [0.5, 1.0]]},
        "Beta": {"a": [1, 2, 3], "b": [2, 2, 2]},
        "Discrete": {"values": [0.0, 0.5], "probabilities": [[1, 0], [0.5, 0.5], [0, 1]]},
        "ClippedGaussian": {"means": [0.1, 0.2, 0.3], "sd": 1.0},
    }
    arms = problem(**fields.get(problem.__name__, {"means": [0.1, 0.2, 0.3]})).ready()
    assert arms.params.shape == (3, 2)
    assert arms.gaps.shape == (3,)
    assert arms.pull in PULLS
    if problem is Empirical:  # where each arm's samples begin, and how many there are
        assert arms.params.tolist() == [[0.0, 2.0], [2.0, 2.0], [4.0, 2.0]]
        assert arms.values.tolist() == [0.0, 0.5, 1.0, 1.0, 0.5, 1.0]
    elif arms.values.size:  # two values, and where each arm's cumulative probabilities of them begin
        assert arms.params[:, 0].tolist() == [2.0, 4.0, 6.0]
        assert arms.values.tolist() == [0.0, 0.5, 1.0, 1.0, 0.5, 1.0, 0.0, 1.0]


# Delays ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Endless(Delay):
    """Of no kind that kernels know."""

    kind: ClassVar[str] = "endless"

    def late(self) -> Delays:
        return Delays(99, 10, -20)


@pytest.mark.parametrize(
    ("delay", "match"),
    [
        (Endless(), "delay must be a number of decisions or a delay such as .* got Endless"),
        (forced(thrifty.ConstantDelay(3), rounds=-3), "rounds must be at least 0, got -3"),
        (forced(thrifty.UniformDelay(3, 5), high=2), "low must be at most high, 2, got 3"),
        (forced(thrifty.GeometricDelay(3), mean=float("inf")), "mean must be finite, got inf"),
    ],
    ids=str,
)
def test_delays_that_kernels_do_not_know(delay: Delay, match: str) -> None:
    with pytest.raises(thrifty.ThriftyError, match=match):
        thrifty.simulate(thrifty.UCB1(), BERNOULLI, 100, runs=1, delay=delay)


# Policies --------------------------------------------------------------------------------------------------


def refused(policy: Policy, match: str) -> None:
    plays: list[Callable[[], object]] = [
        lambda: thrifty.simulate(policy, BERNOULLI, 100, runs=1),
        lambda: thrifty.simulate([thrifty.UCB1(), policy], BERNOULLI, 100, runs=1),
        lambda: thrifty.Bandit(policy, 2),
    ]
    for play in plays:
        with pytest.raises(thrifty.ThriftyError, match=match):
            play()


class Strange(thrifty.KLUCB):
    """A rule for other arms."""

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(10**6, horizon)


class Elsewhere(thrifty.KLUCB):
    """A function that kernels would call, and that nobody checked."""

    def functions(self) -> dict[str, Any]:
        return {"choose": lambda self, t: 10**6}


class Backwards(thrifty.KLUCB):
    def stages(self, arms: int, horizon: int) -> list[tuple[int, Rule]]:
        return [(-5, self.resolve(arms, horizon)), (10**6, self.resolve(arms, horizon))]


class Wrong(thrifty.KLUCB):
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")


@dataclass(frozen=True)
class Bare(Policy):
    """Nothing of thrifty's."""

    label = "bare"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(arms + 1, horizon)


@pytest.mark.parametrize(
    ("policy", "what"),
    [(Strange(), "resolve"), (Elsewhere(), "functions"), (Backwards(), "stages"), (Wrong(), "engines")]
    + [(Bare(), "resolve"), (forced(thrifty.TSMA(), resolve=Strange().resolve), "resolve")]
    + [(type("Own", (thrifty.UCB1,), {name: None})(), name) for name in (*TRUSTED, *SETTINGS)],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_rules_are_made_by_thrifty_alone(policy: Policy, what: str) -> None:
    name = type(policy).__name__
    refused(policy, rf"must not have {what} of its own, got {name}: a policy of your own is an IndexPolicy")
    if isinstance(policy, thrifty.KLUCB):
        inside = forced(thrifty.Binarised(), policy=policy)
        refused(inside, rf"\.policy must not have {what} of its own, got {name}")


@pytest.mark.parametrize(
    ("policy", "match"),
    [
        (forced(thrifty.TSMA(), phi=-1.0), "phi must be at least 1, got -1.0"),
        (forced(thrifty.TSMA(), law="cauchy"), "law must be one of gaussian, beta, gamma, got 'cauchy'"),
        (forced(thrifty.EpsilonTS(), epsilon=7.0), r"epsilon must be in \(0, 1\], got 7.0"),
        (forced(thrifty.KLUCB(), family="gamma"), "family must be one of .* got 'gamma'"),
        (forced(thrifty.MultinomialTS(), levels=0), "levels must be at least"),
        (forced(thrifty.NPTS(), bound=float("nan")), "bound must be finite, got nan"),
        (forced(thrifty.MOSS(), anytime=3), "anytime must be True or False, got 3"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_policy_that_was_changed_by_force_is_checked_again(policy: Policy, match: str) -> None:
    refused(policy, match)


def test_a_policy_with_a_name_of_its_own_is_welcome() -> None:
    class Renamed(thrifty.TSMA):
        @property
        def label(self) -> str:
            return "mine"

    assert thrifty.simulate(Renamed(), BERNOULLI, 100, runs=1).labels == ("mine",)
    assert thrifty.Bandit(Renamed(), 2).select() in (0, 1)


def test_rewards_that_are_none_of_the_kinds() -> None:
    class Odd(thrifty.UCB1):
        rewards = "small"

    refused(Odd(), r"rewards of .*Odd\(\) must be one of binary, unit, non-negative, any, got 'small'")
