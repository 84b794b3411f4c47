"""Policies are values: frozen, equal by their parameters, hashable, and made again by their repr."""

import dataclasses
import inspect
import itertools
import math
from dataclasses import FrozenInstanceError, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty import laws
from thrifty.engines.state import AGGREGATE, DUEL, EPSILON, FRESH, KL_UCB_PLUS_PLUS
from thrifty.policies import LAWS, POLICIES, Policy

NAMES = {name: getattr(thrifty, name) for name in POLICIES}
ALPHAS, PHIS = (0.0, 0.5, 0.8, 0.85, 1.0), (None, 1.0, 2.5, 1000.0, 1e9)

GRID: list[Policy] = [
    *(thrifty.ThompsonSampling(law) for law in LAWS),
    *(thrifty.EpsilonTS(*values) for values in itertools.product(LAWS, (None, 1e-9, 0.05, 0.5, 1.0))),
    thrifty.ExpTS(),
    thrifty.ExpTSPlus(),
    *(thrifty.TSMA(*values) for values in itertools.product(ALPHAS, LAWS, PHIS, ("maximum", "batch"))),
    *(thrifty.TSTD(*values) for values in itertools.product(ALPHAS, LAWS, PHIS)),
    thrifty.KLUCBPlusPlus(),
]


def test_public_names_are_the_contract() -> None:
    signatures = {
        thrifty.ThompsonSampling: "law='gaussian'",
        thrifty.EpsilonTS: "law='gaussian', epsilon=None",
        thrifty.ExpTS: "",
        thrifty.ExpTSPlus: "",
        thrifty.TSMA: "alpha=0.0, law='gaussian', phi=None, sampling='maximum', anytime=False",
        thrifty.TSTD: "alpha=0.0, law='gaussian', phi=None, anytime=False",
        thrifty.KLUCBPlusPlus: "anytime=False",
        thrifty.batch_size: "horizon, alpha",
        thrifty.Bernoulli: "means",
        thrifty.Gaussian: "means, sd=1.0",
        thrifty.simulate: "policies, problem, horizon, runs=20, seed=0, prior=None, workers=None, "
        "engine='auto', checkpoints=None, delay=0, progress=False",
        thrifty.Bandit: "policy, arms, horizon=None, seed=None, prior=None, reward_range=(0.0, 1.0), "
        "statistics=None, engine='auto'",
        thrifty.GeometricDelay: "mean",
        thrifty.Result.plot: "self, path=None",
        thrifty.Result.save: "self, path",
        thrifty.Result.load: "path",
        thrifty.Result.summary: "self",
    }
    for call, expected in signatures.items():
        parameters = inspect.signature(call).parameters.values()
        shown = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters]
        assert ", ".join(shown) == expected
    assert all(hasattr(thrifty, name) for name in thrifty.__all__)


@pytest.mark.parametrize("policy", [cls() for cls in POLICIES.values()], ids=repr)
def test_policies_are_frozen(policy: Policy) -> None:
    with pytest.raises(FrozenInstanceError):
        policy.alpha = 0.5  # type: ignore[attr-defined]


def test_repr_is_the_call_that_makes_an_equal_policy() -> None:
    for policy in GRID:
        again = eval(repr(policy), NAMES)
        assert again == policy
        assert again is not policy
        assert hash(again) == hash(policy)


def test_policies_with_different_parameters_differ_in_value_and_label() -> None:
    assert len(set(GRID)) == len(GRID)
    assert len({policy.label for policy in GRID}) == len(GRID)


def test_policies_of_different_kinds_are_never_equal() -> None:
    assert thrifty.TSTD(0.5) != thrifty.TSMA(0.5)
    assert thrifty.ExpTS() != thrifty.ExpTSPlus()


@pytest.mark.parametrize("half", [np.float32(0.5), np.float64(0.5), Fraction(1, 2)], ids=repr)
def test_numbers_of_any_make_give_the_same_policy(half: Any) -> None:
    assert repr(thrifty.TSMA(half)) == repr(thrifty.TSMA(0.5))
    assert repr(thrifty.EpsilonTS(epsilon=half)) == repr(thrifty.EpsilonTS(epsilon=0.5))
    assert repr(thrifty.TSTD(phi=np.int64(7))) == repr(thrifty.TSTD(phi=7.0))


@pytest.mark.parametrize(
    ("policy", "parameters", "text"),
    [
        (thrifty.TSMA, {"alpha": 1.5}, "alpha must be in [0, 1], got 1.5"),
        (thrifty.TSMA, {"alpha": -0.1}, "alpha must be in [0, 1], got -0.1"),
        (thrifty.TSMA, {"alpha": math.nan}, "alpha must be finite, got nan"),
        (thrifty.TSMA, {"alpha": 10**400}, "alpha must be finite, got 1000"),
        (thrifty.TSMA, {"alpha": "0.8"}, "alpha must be a number, got '0.8'"),
        (thrifty.TSMA, {"alpha": None}, "alpha must be a number, got None"),
        (thrifty.TSMA, {"alpha": True}, "alpha must be a number, got True"),
        (thrifty.TSMA, {"phi": 0.5}, "phi must be at least 1, got 0.5"),
        (thrifty.TSMA, {"phi": 0}, "phi must be at least 1, got 0"),
        (thrifty.TSMA, {"phi": math.inf}, "phi must be finite, got inf"),
        (thrifty.TSMA, {"phi": "9"}, "phi must be a number, got '9'"),
        (thrifty.TSMA, {"sampling": "naive"}, "sampling must be one of maximum, batch, got 'naive'"),
        (thrifty.TSMA, {"law": "poisson"}, "law must be one of gaussian, beta, got 'poisson'"),
        (thrifty.TSTD, {"alpha": 2}, "alpha must be in [0, 1], got 2"),
        (thrifty.TSTD, {"phi": -3}, "phi must be at least 1, got -3"),
        (thrifty.TSTD, {"law": None}, "law must be one of gaussian, beta, got None"),
        (thrifty.EpsilonTS, {"epsilon": 0.0}, "epsilon must be in (0, 1], got 0.0"),
        (thrifty.EpsilonTS, {"epsilon": 1.01}, "epsilon must be in (0, 1], got 1.01"),
        (thrifty.EpsilonTS, {"epsilon": -math.inf}, "epsilon must be finite, got -inf"),
        (thrifty.EpsilonTS, {"epsilon": False}, "epsilon must be a number, got False"),
        (thrifty.EpsilonTS, {"law": "Beta"}, "law must be one of gaussian, beta, got 'Beta'"),
        (thrifty.ThompsonSampling, {"law": 1}, "law must be one of gaussian, beta, got 1"),
    ],
)
def test_bad_parameters_are_named(policy: type[Policy], parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(thrifty.ThriftyError) as error:
        policy(**parameters)
    assert str(error.value).startswith(text)
    assert isinstance(error.value, ValueError | TypeError)


# phi = (2/c0) T^((1-alpha)/2) (ln T)^((3-alpha)/2) with 1/c0 = 2 sqrt(2 e pi), evaluated apart.
@pytest.mark.parametrize(
    ("horizon", "sizes"),
    [
        (10**3, (9490.79, 1041.04, 276.42, 177.66, 114.19)),
        (10**4, (46207.31, 2652.42, 477.53, 269.64, 152.26)),
        (10**5, (204209.39, 6234.18, 768.42, 382.42, 190.32)),
        (10**6, (848882.49, 13923.74, 1182.23, 519.62, 228.38)),
    ],
)
def test_batch_size_is_the_papers_rounded_up(horizon: int, sizes: tuple[float, ...]) -> None:
    for alpha, size in zip((0.0, 0.5, 0.8, 0.9, 1.0), sizes, strict=True):
        assert thrifty.batch_size(horizon, alpha) == math.ceil(size)


def test_batch_size_at_the_edges() -> None:
    assert [thrifty.batch_size(1, alpha) for alpha in (0.0, 0.5, 1.0)] == [1, 1, 1]
    assert thrifty.batch_size(656_803, 0.0) >= 656_803  # from here on phi < T, and TS-TD-0 is not TS
    assert thrifty.batch_size(660_000, 0.0) < 660_000
    assert thrifty.batch_size(np.int64(10**5), np.float64(0.8)) == 769
    for horizon, alpha in [(0, 0.5), (-5, 0.5), (2**53 + 1, 0.5), (100, 1.1)]:
        with pytest.raises(thrifty.InvalidValue):
            thrifty.batch_size(horizon, alpha)
    with pytest.raises(thrifty.InvalidType, match=r"horizon must be an integer, got 100\.0"):
        thrifty.batch_size(100.0, 0.5)  # type: ignore[arg-type]


def test_rules_hold_what_the_policies_say() -> None:
    arms, horizon = 20, 10**5

    def rule(policy: Policy) -> dict[str, Any]:
        made = policy.resolve(arms, horizon)
        assert (made.arms, made.horizon, made.prior_weight) == (arms, horizon, 0.0)
        plain = FRESH, arms, horizon
        return {k: v for k, v in made._asdict().items() if v != type(made)(*plain)._asdict()[k]}

    log = math.log(horizon)
    assert rule(thrifty.ThompsonSampling()) == {}
    assert rule(thrifty.ThompsonSampling("beta")) == {"law": laws.BETA}
    assert rule(thrifty.EpsilonTS()) == {"schedule": EPSILON, "epsilon": 1.0 / 20.0}
    assert rule(thrifty.EpsilonTS(epsilon=1)) == {"schedule": EPSILON}
    assert rule(thrifty.ExpTS()) == {"law": laws.EXPONENTIAL_FAMILY}
    assert rule(thrifty.ExpTSPlus()) == {
        "schedule": EPSILON,
        "law": laws.EXPONENTIAL_FAMILY,
        "epsilon": 1.0 / 20.0,
    }
    assert rule(thrifty.TSMA()) == {"schedule": AGGREGATE, "phi": 204210.0}
    assert rule(thrifty.TSMA(1.0, "beta", 7.5, "batch")) == {
        "schedule": AGGREGATE,
        "law": laws.BETA,
        "temper": log,
        "phi": 8.0,
        "batch": True,
    }
    assert rule(thrifty.TSTD(0.8)) == {"schedule": DUEL, "temper": log**0.8, "phi": 769.0}
    assert rule(thrifty.KLUCBPlusPlus()) == {"schedule": KL_UCB_PLUS_PLUS}


@pytest.mark.parametrize("horizon", [1, 2])
def test_phi_and_the_tempering_are_never_below_one(horizon: int) -> None:
    for policy in (thrifty.TSMA(1.0), thrifty.TSMA(0.5), thrifty.TSTD(1.0)):
        rule = policy.resolve(1, horizon)
        assert rule.temper == 1.0  # ln 1 = 0 and ln 2 = 0.69 would make the law narrower, not wider
        assert rule.phi >= 1.0


def test_every_policy_says_what_the_table_of_policies_needs() -> None:
    for name, policy in POLICIES.items():
        assert getattr(thrifty, name) is policy
        assert dataclasses.is_dataclass(policy)
        assert policy.schedule in {"fresh", "epsilon", "aggregate", "duel", "index"}
        assert policy.engines[0] == "scan"
        assert policy.citation[-4:].isdigit()
        assert policy.__doc__


def test_policies_say_for_which_rewards_they_are() -> None:
    binary = [policy for policy in GRID if getattr(policy, "law", None) == "beta"]
    assert {policy.rewards for policy in [*binary, thrifty.ExpTS(), thrifty.ExpTSPlus()]} == {"binary"}
    assert thrifty.KLUCBPlusPlus().rewards == "unit"
    assert {policy.rewards for policy in GRID if getattr(policy, "law", None) == "gaussian"} == {"any"}


@dataclass(frozen=True)
class Own(thrifty.IndexPolicy):
    """A policy with two parameters."""

    a: float = 2
    b: float = 0.5

    def index(self, n: float, mean: float, t: int, rng: Any) -> float:
        return mean


def test_an_index_policy_hands_its_fields_and_the_setting_to_the_kernel_by_name() -> None:
    policy = Own(b=np.float32(0.25))  # type: ignore[arg-type]
    own: Any = policy.resolve(3, 100).own
    assert own._asdict() == {"a": 2.0, "b": 0.25, "arms": 3, "horizon": 100}
    assert policy == Own(2.0, 0.25)
    assert policy.label == repr(policy) == "Own(a=2.0, b=0.25)"
    assert (policy.engines, policy.schedule, policy.rewards) == (("scan",), "index", "any")


def test_an_index_policy_refuses_what_it_cannot_run() -> None:
    @dataclass(frozen=True)
    class Empty(thrifty.IndexPolicy):
        pass

    with pytest.raises(thrifty.InvalidType, match="Empty must have a method index"):
        Empty()

    class Bare(thrifty.IndexPolicy):
        width: float = 2.0  # not a field without the decorator, and so not a parameter either
        index = Own.index

    with pytest.raises(thrifty.InvalidType, match=r"Bare must be decorated with @dataclass\(frozen=True\)"):
        Bare()

    with pytest.raises(thrifty.InvalidType, match="b must be a number, got 'wide'"):
        Own(b="wide")  # type: ignore[arg-type]
    with pytest.raises(thrifty.InvalidValue, match="a must be finite, got nan"):
        Own(a=math.nan)
