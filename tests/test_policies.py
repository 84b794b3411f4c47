"""Policies are values: frozen, equal by their parameters, hashable, and made again by their repr."""

import dataclasses
import inspect
import itertools
import json
import math
from dataclasses import FrozenInstanceError, dataclass, field, make_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.drive import new_run
from tests.support.policies import every_combination
from thrifty.engines import ENGINES, KINETIC_FROM, KINETIC_FROM_COSTLY, SLEEPERS_EPSILON, TOURNAMENT_FROM
from thrifty.numerics import families
from thrifty.policies import LAWS, POLICIES, Policy, described, restored
from thrifty.problems import REWARDS

NAMES = {name: getattr(thrifty, name) for name in POLICIES}
FAMILIES = tuple(families.CODES)
GRID = every_combination()


def test_public_names_are_the_contract() -> None:
    signatures = {
        thrifty.ThompsonSampling: "law='gaussian'",
        thrifty.EpsilonTS: "law='gaussian', epsilon=None",
        thrifty.ExpTS: "family='bernoulli'",
        thrifty.ExpTSPlus: "",
        thrifty.TSMA: "alpha=0.0, law='gaussian', phi=None, sampling='maximum', anytime=False",
        thrifty.TSTD: "alpha=0.0, law='gaussian', phi=None, anytime=False",
        thrifty.KLUCBPlusPlus: "anytime=False",
        thrifty.UCB1: "",
        thrifty.UCB1Tuned: "",
        thrifty.UCBV: "zeta=1.0, c=1.0",
        thrifty.KLUCB: "c=0.0, family='bernoulli'",
        thrifty.MOSS: "anytime=False",
        thrifty.BayesUCB: "c=0.0",
        thrifty.AdaUCB: "variance=0.25, anytime=False",
        thrifty.UCBImproved: "anytime=False",
        thrifty.DMED: "rule='original'",
        thrifty.IMED: "family='bernoulli'",
        thrifty.MOTS: "rho=0.9999, clip=4.0, variance=0.25, anytime=False",
        thrifty.MOTSJ: "clip=4.0, variance=0.25, anytime=False",
        thrifty.MaillardSampling: "variance=0.25, plus=False",
        thrifty.KLMS: "",
        thrifty.NPTS: "bound=1.0",
        thrifty.MultinomialTS: "levels=10",
        thrifty.DirichletSampling: "variant='bounded', bound=1.0",
        thrifty.batch_size: "horizon, alpha",
        thrifty.Bernoulli: "means",
        thrifty.Gaussian: "means, sd=1.0",
        thrifty.ClippedGaussian: "means, sd",
        thrifty.Beta: "a, b",
        thrifty.Discrete: "values, probabilities",
        thrifty.Poisson: "means",
        thrifty.Exponential: "means",
        thrifty.simulate: "policies, problem, horizon, runs=20, seed=0, prior=None, workers=None, "
        "engine='auto', checkpoints=None, delay=0, progress=None, control=0.0, control_arm=None, floor=0.0, "
        "burn_in=0",
        thrifty.Bandit: "policy, arms, horizon=None, seed=None, prior=None, reward_range=(0.0, 1.0), "
        "statistics=None, pending_for=1000, engine='auto', control=0.0, control_arm=None, floor=0.0, "
        "burn_in=0, probabilities=False",
        thrifty.GeometricDelay: "mean",
        thrifty.Result.plot: "self, path=None",
        thrifty.Result.save: "self, path",
        thrifty.Result.load: "path, problems=()",
        thrifty.Result.summary: "self",
    }
    for call, expected in signatures.items():
        parameters = inspect.signature(call).parameters.values()
        shown = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters]
        assert ", ".join(shown) == expected
    assert all(hasattr(thrifty, name) for name in thrifty.__all__)
    assert {*POLICIES, "Policy", "Posterior", "Problem"} <= {*thrifty.__all__}
    assert thrifty.Binarised() == thrifty.Binarised(thrifty.ThompsonSampling(law="beta"))


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


def test_a_table_describes_a_policy() -> None:
    """As in snapshots and results: plain values, from which an equal policy is made."""
    for policy in GRID:
        table = described(policy)
        assert table["name"] == type(policy).__name__
        assert restored(table) == policy
        assert restored(json.loads(json.dumps(table))) == policy


def test_policies_of_different_kinds_are_never_equal() -> None:
    assert thrifty.TSTD(0.5) != thrifty.TSMA(0.5)
    assert thrifty.ExpTS() != thrifty.ExpTSPlus()
    assert thrifty.UCB1() != thrifty.UCB1Tuned()
    assert thrifty.KLUCB(c=3.0) != thrifty.BayesUCB(c=3.0)


@pytest.mark.parametrize("half", [np.float32(0.5), np.float64(0.5), Fraction(1, 2)], ids=repr)
def test_numbers_of_any_make_give_the_same_policy(half: Any) -> None:
    assert repr(thrifty.TSMA(half)) == repr(thrifty.TSMA(0.5))
    assert repr(thrifty.EpsilonTS(epsilon=half)) == repr(thrifty.EpsilonTS(epsilon=0.5))
    assert repr(thrifty.TSTD(phi=np.int64(7))) == repr(thrifty.TSTD(phi=7.0))
    assert repr(thrifty.UCBV(half, half)) == repr(thrifty.UCBV(0.5, 0.5))
    assert repr(thrifty.KLUCB(half)) == repr(thrifty.KLUCB(0.5))
    assert repr(thrifty.BayesUCB(half)) == repr(thrifty.BayesUCB(0.5))
    assert repr(thrifty.AdaUCB(half)) == repr(thrifty.AdaUCB(0.5))
    assert repr(thrifty.MOTS(half, half, half)) == repr(thrifty.MOTS(0.5, 0.5, 0.5))
    assert repr(thrifty.MOTSJ(half, half)) == repr(thrifty.MOTSJ(0.5, 0.5))
    assert repr(thrifty.MaillardSampling(half)) == repr(thrifty.MaillardSampling(0.5))
    assert repr(thrifty.NPTS(1 + half)) == repr(thrifty.NPTS(1.5))
    assert repr(thrifty.DirichletSampling(bound=1 + half)) == repr(thrifty.DirichletSampling(bound=1.5))
    assert repr(thrifty.MultinomialTS(np.int8(7))) == repr(thrifty.MultinomialTS(7))


FOUR, FIVE = ", ".join(FAMILIES), "gaussian, beta, gamma, inverse-gamma, inverse-gamma-flat"


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
        (thrifty.TSMA, {"law": "poisson"}, "law must be one of gaussian, beta, gamma, got 'poisson'"),
        (thrifty.TSTD, {"alpha": 2}, "alpha must be in [0, 1], got 2"),
        (thrifty.TSTD, {"phi": -3}, "phi must be at least 1, got -3"),
        (thrifty.TSTD, {"law": None}, "law must be one of gaussian, beta, gamma, got None"),
        (thrifty.EpsilonTS, {"epsilon": 0.0}, "epsilon must be in (0, 1], got 0.0"),
        (thrifty.EpsilonTS, {"epsilon": 1.01}, "epsilon must be in (0, 1], got 1.01"),
        (thrifty.EpsilonTS, {"epsilon": -math.inf}, "epsilon must be finite, got -inf"),
        (thrifty.EpsilonTS, {"epsilon": False}, "epsilon must be a number, got False"),
        (thrifty.EpsilonTS, {"law": "Beta"}, f"law must be one of {FIVE}, got 'Beta'"),
        (thrifty.ThompsonSampling, {"law": 1}, f"law must be one of {FIVE}, got 1"),
        (thrifty.TSMA, {"law": "inverse-gamma"}, "law must be one of gaussian, beta, gamma, got 'inverse-g"),
        (thrifty.TSTD, {"law": "inverse-gamma-flat"}, "law must be one of gaussian, beta, gamma, got 'inv"),
        (thrifty.TSMA, {"anytime": 1}, "anytime must be True or False, got 1"),
        (thrifty.ExpTS, {"family": "bounded"}, f"family must be one of {FOUR}, got 'bounded'"),
        (thrifty.KLUCB, {"family": "Bernoulli"}, f"family must be one of {FOUR}, got 'Bernoulli'"),
        (thrifty.KLUCB, {"c": -1.0}, "c must be at least 0, got -1.0"),
        (thrifty.KLUCB, {"c": math.inf}, "c must be finite, got inf"),
        (thrifty.IMED, {"family": None}, f"family must be one of {FOUR}, bounded, got None"),
        (thrifty.UCBV, {"zeta": 0.0}, "zeta must be above 0, got 0.0"),
        (thrifty.UCBV, {"c": -0.5}, "c must be at least 0, got -0.5"),
        (thrifty.UCBV, {"zeta": "1"}, "zeta must be a number, got '1'"),
        (thrifty.BayesUCB, {"c": -1}, "c must be at least 0, got -1"),
        (thrifty.BayesUCB, {"c": 101.0}, "c must be at most 100, got 101.0"),
        (thrifty.AdaUCB, {"variance": 0.0}, "variance must be above 0, got 0.0"),
        (thrifty.MOTS, {"rho": 0.0}, "rho must be in (0, 1], got 0.0"),
        (thrifty.MOTS, {"rho": 1.5}, "rho must be in (0, 1], got 1.5"),
        (thrifty.MOTS, {"clip": 0}, "clip must be above 0, got 0"),
        (thrifty.MOTSJ, {"clip": math.nan}, "clip must be finite, got nan"),
        (thrifty.MOTSJ, {"variance": -0.25}, "variance must be above 0, got -0.25"),
        (thrifty.MaillardSampling, {"variance": True}, "variance must be a number, got True"),
        (thrifty.MaillardSampling, {"plus": 1}, "plus must be True or False, got 1"),
        (thrifty.NPTS, {"bound": 0.5}, "bound must be at least 1, got 0.5"),
        (thrifty.MultinomialTS, {"levels": 0}, "levels must be at least 1, got 0"),
        (thrifty.MultinomialTS, {"levels": 2.5}, "levels must be an integer, got 2.5"),
        (thrifty.MultinomialTS, {"levels": 10**7}, "levels must be at most 1000000, got 10000000"),
        (thrifty.DMED, {"rule": "dmed"}, "rule must be one of original, log-t, got 'dmed'"),
        (
            thrifty.DirichletSampling,
            {"variant": "known"},
            "variant must be one of bounded, unknown-bound, quantile, robust, got 'known'",
        ),
        (thrifty.DirichletSampling, {"bound": 0.0}, "bound must be at least 1, got 0.0"),
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
    with pytest.raises(thrifty.InvalidType, match=r"horizon must be an integer, got 100\.5"):
        thrifty.batch_size(100.5, 0.5)  # type: ignore[arg-type]


def first_rounds(policy: Policy, horizon: int) -> list[float]:
    """What happens in the first 200 rounds of a run with this horizon."""
    run = new_run(policy, thrifty.Bernoulli([0.5, 0.7, 0.9, 0.1, 0.4]), horizon, seed=1)
    run.play(0, 200)
    return [*run.state.regret[:200], *run.state.sums, *run.state.rng.tolist()]


def test_a_horizon_is_needed_where_it_changes_the_beginning() -> None:
    for policy in GRID:
        if not policy.needs_horizon:
            assert first_rounds(policy, 200) == first_rounds(policy, 20_000), policy
    for kind in POLICIES.values():
        policy = kind(alpha=0.8) if issubclass(kind, thrifty.TSMA | thrifty.TSTD) else kind()
        if policy.needs_horizon:
            assert first_rounds(policy, 200) != first_rounds(policy, 20_000), policy
    assert first_rounds(thrifty.BayesUCB(3.0), 200) != first_rounds(thrifty.BayesUCB(3.0), 20_000)


def test_anytime_policies_double_the_horizon() -> None:
    for policy in GRID:
        stages = policy.stages(20, 5000)
        inner = policy.policy if isinstance(policy, thrifty.Binarised) else policy
        if getattr(inner, "anytime", False):
            guesses = [1024, 2048, 4096, 8192]
            assert stages == [
                (start, policy.resolve(20, guess))
                for start, guess in zip([0, *guesses], guesses, strict=False)
            ]
        else:
            assert stages == [(0, policy.resolve(20, 5000))]


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
        assert policy.engines[0] == "scan"
        assert {*policy.engines} <= {*ENGINES}
        assert policy.citation[-4:].isdigit()
        assert policy.__doc__
        assert policy().rewards in REWARDS
        assert policy().runs_on[0] == "scan"


def test_policies_say_for_which_rewards_they_are() -> None:
    expected = {
        "binary": [
            *(policy for policy in GRID if getattr(policy, "law", None) == "beta"),
            thrifty.ExpTS(),
            thrifty.ExpTSPlus(),
            *(policy for policy in GRID if isinstance(policy, thrifty.BayesUCB)),
            *(policy for policy in GRID if policy.label.startswith(("dTS", "SW-TS"))),
        ],
        "non-negative": [
            *(policy for policy in GRID if getattr(policy, "law", None) in LAWS[2:]),
            *(policy for policy in GRID if getattr(policy, "family", None) in ("poisson", "exponential")),
        ],
        "any": [
            *(policy for policy in GRID if getattr(policy, "law", None) == "gaussian"),
            *(policy for policy in GRID if getattr(policy, "family", None) == "gaussian"),
            *(policy for policy in GRID if hasattr(policy, "variance")),
            *(policy for policy in GRID if policy.group == "Baselines"),
            *(thrifty.DirichletSampling(variant) for variant in ("unknown-bound", "quantile", "robust")),
        ],
    }
    around = [policy for policy in GRID if isinstance(policy, thrifty.Forgetting)]
    rest = [policy for policy in GRID if policy not in itertools.chain(around, *expected.values())]
    for kind, policies in (expected | {"unit": rest}).items():
        assert policies
        assert {policy.rewards for policy in policies} == {kind}
    assert all(policy.rewards == policy.policy.rewards for policy in around)


# Engines -------------------------------------------------------------------------------------------------


def first_arms(policy: Policy, engine: str) -> int | None:
    """From how many arms on this engine is chosen; None: never."""
    able = [arms for arms in range(1, 2000) if policy.engine_for(arms) == engine]
    assert able == list(range(able[0], 2000)) if able else True
    return able[0] if able else None


@pytest.mark.parametrize(
    ("policy", "engine", "arms"),
    [
        (thrifty.TSMA(), "tournament", TOURNAMENT_FROM),
        (thrifty.TSMA(0.5, "beta", phi=9, sampling="batch"), "tournament", TOURNAMENT_FROM),
        (thrifty.KLUCBPlusPlus(), "tournament", TOURNAMENT_FROM),
        (thrifty.MOSS(), "tournament", TOURNAMENT_FROM),
        (thrifty.UCB1(), "kinetic", KINETIC_FROM),
        (thrifty.UCB1Tuned(), "kinetic", KINETIC_FROM),
        (thrifty.UCBV(), "kinetic", KINETIC_FROM),
        (thrifty.KLUCB(), "kinetic", KINETIC_FROM_COSTLY),
        (thrifty.BayesUCB(), "kinetic", KINETIC_FROM_COSTLY),
        (thrifty.ThompsonSampling(), "sleepers", 384),
        (thrifty.ThompsonSampling("beta"), "sleepers", 24),
        (thrifty.ThompsonSampling("gamma"), "sleepers", 24),
        (thrifty.ThompsonSampling("inverse-gamma"), "sleepers", 24),
        (thrifty.ThompsonSampling("inverse-gamma-flat"), "sleepers", None),
        (thrifty.EpsilonTS(), "sleepers", 64),
        (thrifty.EpsilonTS("beta"), "sleepers", 64),
        (thrifty.EpsilonTS(epsilon=SLEEPERS_EPSILON), "sleepers", 64),
        (thrifty.EpsilonTS(epsilon=1.1 * SLEEPERS_EPSILON), "sleepers", None),
        (thrifty.ExpTS(), "sleepers", 8),
        (thrifty.ExpTS("poisson"), "sleepers", None),
        (thrifty.ExpTSPlus(), "sleepers", 64),
        (thrifty.TSTD(), "sleepers", 48),
        (thrifty.TSTD(0.8, "beta"), "sleepers", 24),
        (thrifty.Binarised(), "sleepers", 24),
        (thrifty.Binarised(thrifty.KLUCBPlusPlus()), "tournament", TOURNAMENT_FROM),
        (thrifty.Binarised(thrifty.UCB1()), "kinetic", KINETIC_FROM),
    ],
    ids=repr,
)
def test_auto_is_a_constant_of_the_code(policy: Policy, engine: str, arms: int | None) -> None:
    assert first_arms(policy, engine) == arms


def test_an_engine_that_is_asked_for_is_used_or_refused() -> None:
    for policy in GRID:
        able = policy.runs_on
        assert policy.engine_for(1) == "scan"
        for engine in ENGINES:
            if engine in able:
                assert policy.engine_for(2, engine) == engine
            else:
                with pytest.raises(thrifty.InvalidValue) as error:
                    policy.engine_for(2, engine)
                right = f"engine must be one of {', '.join(able)} for {policy!r}, got {engine!r}"
                assert str(error.value) == right
    allowed = ", ".join(("auto", *ENGINES))
    with pytest.raises(thrifty.InvalidValue, match=f"engine must be one of {allowed}, got 'abacus'"):
        thrifty.TSMA().engine_for(2, "abacus")


# Binarised -----------------------------------------------------------------------------------------------


def test_binarised_is_for_policies_of_rewards_in_the_unit_interval() -> None:
    for policy in GRID:
        if policy.rewards not in ("binary", "unit"):
            continue
        if isinstance(policy, thrifty.Binarised | thrifty.MultinomialTS):  # they round rewards themselves
            with pytest.raises(thrifty.InvalidValue, match="policy must be one for rewards of 0 and 1 or in"):
                thrifty.Binarised(policy)
            continue
        if isinstance(policy, thrifty.Forgetting):
            with pytest.raises(thrifty.InvalidValue, match="policy must not be around another one"):
                thrifty.Binarised(policy)
            continue
        coin = thrifty.Binarised(policy)
        assert (coin.rewards, coin.runs_on) == ("unit", policy.runs_on)
        assert coin.needs_horizon == policy.needs_horizon
        assert coin.label == f"{policy.label}, binarised"
        assert coin.resolve(5, 100) == policy.resolve(5, 100)._replace(grid=1)


@pytest.mark.parametrize(
    ("policy", "error", "text"),
    [
        (
            thrifty.ThompsonSampling(),
            thrifty.InvalidValue,
            "policy must be one for rewards of 0 and 1 or in [0, 1], got ThompsonSampling(law='gaussian')",
        ),
        (thrifty.ThompsonSampling("gamma"), thrifty.InvalidValue, "policy must be one for rewards of 0 and"),
        (thrifty.MOTS(), thrifty.InvalidValue, "policy must be one for rewards of 0 and 1 or in [0, 1], got"),
        (thrifty.KLUCB(family="gaussian"), thrifty.InvalidValue, "policy must be one for rewards of 0 and 1"),
        (
            "ThompsonSampling",
            thrifty.InvalidType,
            "policy must be a policy such as ThompsonSampling('beta'), got 'ThompsonSampling'",
        ),
        (thrifty.KLUCB, thrifty.InvalidType, "policy must be a policy such as ThompsonSampling('beta'), got"),
        (None, thrifty.InvalidType, "policy must be a policy such as ThompsonSampling('beta'), got None"),
    ],
    ids=repr,
)
def test_binarised_refuses_what_it_cannot_binarise(policy: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        thrifty.Binarised(policy)
    assert str(caught.value).startswith(text)


# A policy of the user's own ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Own(thrifty.IndexPolicy):
    """A policy with two parameters."""

    a: float = 2
    b: float = 0.5

    def index(self, n: float, mean: float, t: int, rng: Any) -> float:
        """Not a number, unless everything is as in the test below."""
        known = (self.a, self.b) == (2.0, 0.25) and (self.arms, self.horizon // 100) == (3, 1)
        return mean if known and t <= self.horizon else math.nan


def test_an_index_policy_hands_its_fields_and_the_setting_to_the_kernel_by_name() -> None:
    policy = Own(b=np.float32(0.25))  # type: ignore[arg-type]
    problem = thrifty.Bernoulli([0.2, 0.5, 0.8])
    thrifty.simulate(policy, problem, horizon=100, runs=1)
    with pytest.raises(thrifty.InvalidValue, match=r"b=0.5\) must be a number, got NaN"):
        thrifty.simulate(Own(), problem, horizon=100, runs=1)
    assert policy == Own(2.0, 0.25)
    assert policy.label == repr(policy) == "Own(a=2.0, b=0.25)"
    assert (policy.runs_on, policy.changes, policy.rewards) == (("scan",), "in every round", "any")


@dataclass(frozen=True)
class Alike(thrifty.IndexPolicy):
    """Equal to each other, whatever the parameter."""

    wanted: float = field(default=0.0, compare=False)

    def index(self, n: float, mean: float, t: int, rng: Any) -> float:
        return -abs(n - self.wanted)


def test_policies_that_are_equal_keep_their_parameters() -> None:
    problem = thrifty.Bernoulli([0.5, 0.5, 0.5])
    pulls = [thrifty.simulate(Alike(x), problem, 30, runs=1).pulls[0, 0].tolist() for x in (0.0, 100.0)]
    assert [max(each) for each in pulls] == [10, 28]


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

    for name in ("law", "anytime", "engines", "rewards", "label", "_hidden"):
        kind = make_dataclass("Taken", [(name, float, 1.0)], bases=(Own,), frozen=True)
        with pytest.raises(
            thrifty.InvalidType, match=f"Taken must not have a field {name}: choose another name"
        ):
            kind()

    with pytest.raises(thrifty.InvalidType, match="b must be a number, got 'wide'"):
        Own(b="wide")  # type: ignore[arg-type]
    with pytest.raises(thrifty.InvalidValue, match="a must be finite, got nan"):
        Own(a=math.nan)


def text(self, n, mean, t, rng):
    return "1.5"


def imports(self, n, mean, t, rng):
    import math

    return math.sqrt(n)


def nothing(self, n, mean, t, rng):
    pass


def pair(self, n, mean, t, rng):
    return n, mean


def better_than_even(self, n, mean, t, rng):
    return mean > 0.5


@pytest.mark.parametrize("index", [text, imports, nothing, pair])
def test_an_index_that_is_no_formula_is_refused(index: Any) -> None:
    """By name, with the reason and with what to do."""
    policy = make_dataclass(
        "Bad", [], bases=(thrifty.IndexPolicy,), namespace={"index": index}, frozen=True
    )()
    hint = r" \(it may only compute, and must return a number; import modules outside of it\)"
    match = f"^the index of Bad cannot be compiled: .*{hint}$"
    for play in (
        lambda: thrifty.simulate(policy, thrifty.Bernoulli([0.5, 0.4]), 100, runs=1),
        lambda: thrifty.Bandit(policy, 2, prior=(0.5, 1.0)).select(),
    ):
        with pytest.raises(thrifty.InvalidValue, match=match):
            play()


def test_an_index_is_given_what_it_asks_for_by_name_and_nothing_else() -> None:
    """Not the state of the engine, either."""
    known = "n, mean, variance, best, log_t, h, rewards, last, own, i, pulls, means, t, level, reward, rng"
    for index, text in (
        (lambda self, n, weather: n, f"<lambda> must ask for some of {known}, got 'weather'"),
        (lambda self, state: 0.0, f"<lambda> must ask for some of {known}, got 'state'"),
        (lambda self, to: 0.0, f"<lambda> must ask for some of {known}, got 'to'"),
        (lambda self, level: level, "<lambda> must not ask for level: it is not given it"),
    ):
        bad = make_dataclass("Bad", [], bases=(thrifty.IndexPolicy,), namespace={"index": index}, frozen=True)
        with pytest.raises(thrifty.InvalidValue, match=f"{text}$"):
            bad()


def test_an_index_may_be_true_or_false() -> None:
    policy = make_dataclass(
        "Even", [], bases=(thrifty.IndexPolicy,), namespace={"index": better_than_even}, frozen=True
    )()
    bandit = thrifty.Bandit(policy, 2, statistics={"arm": [0, 1], "pulls": [4, 4], "mean": [0.25, 0.75]})
    assert bandit.select_many(5) == [1] * 5
