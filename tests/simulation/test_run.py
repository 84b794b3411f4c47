"""simulate: the same numbers whatever happens around them, right answers at the edges, clear refusals."""

import io
import itertools
import math
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.own import Sampler
from tests.support.policies import every_policy
from thrifty.engines import TOURNAMENT_FROM
from thrifty.engines.memory import policy_stream, reward_stream
from thrifty.errors import InvalidType
from thrifty.numerics import random
from thrifty.policies import POLICIES, Policy
from thrifty.policies.base import HorizonPolicy
from thrifty.policies.catalogue import chosen
from thrifty.simulation import progress
from thrifty.simulation import run as run_module

EVERY = every_policy()
COMMITTED = [policy for policy in EVERY if "tournament" in policy.runs_on]
CLOCKED = [policy for policy in EVERY if "kinetic" in policy.runs_on]
ARRAYS = ("checkpoints", "regret", "pulls", "draws", "evaluations")


def same(a: thrifty.Result, b: thrifty.Result) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ARRAYS)


def row(result: thrifty.Result, policy: int, arrays: tuple[str, ...] = ARRAYS[1:]) -> list[Any]:
    return [getattr(result, name)[policy].tolist() for name in arrays]


def sevenths(arms: int) -> thrifty.Bernoulli:
    """Means 0, 1/7 ... 6/7, round and round."""
    return thrifty.Bernoulli([i % 7 / 7.0 for i in range(arms)])


# Reproducible -------------------------------------------------------------------------------------------


def test_workers_change_nothing() -> None:
    one, two, five = (
        thrifty.simulate(EVERY, sevenths(9), 200, runs=6, seed=3, workers=workers) for workers in (1, 2, 5)
    )
    assert same(one, two)
    assert same(one, five)


def test_company_and_order_change_nothing() -> None:
    together = thrifty.simulate(EVERY, sevenths(9), 200, runs=3, seed=3)
    backwards = thrifty.simulate(EVERY[::-1], sevenths(9), 200, runs=3, seed=3)
    for p, policy in enumerate(EVERY):
        alone = thrifty.simulate(policy, sevenths(9), 200, runs=3, seed=3)
        assert row(together, p) == row(alone, 0) == row(backwards, len(EVERY) - 1 - p)


@pytest.mark.parametrize("arms", [9, 70])
def test_slices_change_nothing(arms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On every engine, with and without a prior and late rewards, and where a guessed horizon is reached."""
    guessing = {type(policy) for policy in EVERY if getattr(policy, "anytime", False)}
    assert guessing >= {policy for policy in POLICIES.values() if issubclass(policy, HorizonPolicy)}
    settings: dict[str, Any] = {"horizon": 300, "seed": 8, "checkpoints": [9, 10, 77, 300]}
    worlds: list[dict[str, Any]] = [{}, {"prior": (0.5, 2.0)}, {"delay": thrifty.GeometricDelay(5)}]

    def results() -> list[thrifty.Result]:
        problem = sevenths(arms)
        return [thrifty.simulate(EVERY, problem, runs=1, **settings, **world) for world in worlds]

    def cut(start: int, stop: int, *_: Any) -> Iterator[tuple[int, int]]:
        for length in itertools.cycle(lengths):
            if start < stop:
                yield start, min(start + length, stop)
                start += length
            else:
                return

    whole = results()
    monkeypatch.setattr(run_module, "slices", cut)
    for lengths in ((1,), (1, 2, 37, 5)):
        assert all(map(same, whole, results())), lengths


def test_more_runs_keep_the_earlier_ones() -> None:
    few = thrifty.simulate(EVERY, sevenths(9), 200, runs=3, seed=4)
    many = thrifty.simulate(EVERY, sevenths(9), 200, runs=7, seed=4)
    for name in ARRAYS[1:]:
        assert np.array_equal(getattr(few, name), getattr(many, name)[:, :3])


def test_checkpoints_change_nothing_but_what_is_recorded() -> None:
    coarse = thrifty.simulate(EVERY, sevenths(9), 200, runs=3, checkpoints=[50])
    fine = thrifty.simulate(EVERY, sevenths(9), 200, runs=3, checkpoints=range(1, 201))
    assert coarse.checkpoints.tolist() == [50, 200]
    assert np.array_equal(coarse.regret, fine.regret[:, :, [49, 199]])
    assert np.array_equal(coarse.pulls, fine.pulls)


@pytest.mark.parametrize("prior", [None, (0.3, 1.5)])
@pytest.mark.parametrize("arms", [1, 2, 7, TOURNAMENT_FROM, 100])
def test_auto_tournament_and_kinetic_give_the_trajectory_of_scan(
    arms: int, prior: tuple[float, float] | None
) -> None:
    for policies, name in ((COMMITTED, "tournament"), (CLOCKED, "kinetic")):
        scan, other, auto = (
            thrifty.simulate(policies, sevenths(arms), 500, runs=2, seed=2, prior=prior, engine=engine)
            for engine in ("scan", name, "auto")
        )
        assert same(scan, other)
        assert same(scan, auto)


def test_auto_is_what_each_policy_says() -> None:
    for arms in (TOURNAMENT_FROM - 1, TOURNAMENT_FROM):
        engines = thrifty.simulate(EVERY, sevenths(arms), 100, runs=1).settings.engines
        assert engines == tuple(policy.engine_for(arms) for policy in EVERY)
    assert {"scan", "tournament", "sleepers", "kinetic"} == {*engines}


def test_seeds_and_runs_differ() -> None:
    policies: list[Policy] = [thrifty.ThompsonSampling(), thrifty.TSMA(), thrifty.TSTD(0.5)]
    a = thrifty.simulate(policies, sevenths(9), 300, runs=20, seed=0)
    b = thrifty.simulate(policies, sevenths(9), 300, runs=20, seed=1)
    for p in range(len(policies)):
        trajectories = {r.tobytes() for r in np.concatenate([a.regret[p], b.regret[p]])}
        assert len(trajectories) == 40


def test_no_two_of_a_thousand_runs_share_a_stream() -> None:
    streams = {
        stream(seed, run).tobytes()
        for stream in (policy_stream, reward_stream)
        for seed in (0, 1, 2, 2**64)
        for run in range(1000)
    }
    assert len(streams) == 2 * 4 * 1000


# The contract on random streams -------------------------------------------------------------------------


@dataclass(frozen=True)
class Wordy(thrifty.IndexPolicy):
    """It has no such field."""

    def index(self, n: float, mean: float, t: int, rng: Any) -> float:
        return mean + self.bonus  # type: ignore[attr-defined,no-any-return]


@dataclass(frozen=True)
class Raising(thrifty.IndexPolicy):
    until: float

    def index(self, n: float, mean: float, t: int, rng: Any) -> float:
        if t == self.until:
            raise ValueError("no more")
        return mean


def test_an_index_that_is_not_a_number_or_cannot_be_compiled_is_refused() -> None:
    for policy in (Sampler(until=10), Raising(until=10)):
        text = rf"index of {type(policy).__name__}\(.*\) must be a number, got NaN or an error in round 11"
        with pytest.raises(thrifty.InvalidValue, match=text):
            thrifty.simulate(policy, thrifty.Bernoulli([0.5, 0.5]), 100, runs=1)
    with pytest.raises(
        thrifty.InvalidValue, match=r"index of Wordy cannot be compiled: Unknown attribute 'bonus'"
    ):
        thrifty.simulate(Wordy(), thrifty.Bernoulli([0.5, 0.5]), 100, runs=1)


def test_a_run_can_be_played_by_hand_from_its_two_streams() -> None:
    problem, horizon, run = thrifty.Gaussian([0.1, 0.4, 0.0], sd=0.5), 120, 3
    result = thrifty.simulate(Sampler(), problem, horizon, runs=run + 1, seed=9)
    policy, rewards = policy_stream(9, run), reward_stream(9, run)
    pulls, sums, regret = np.zeros(3, int), np.zeros(3), 0.0
    for t in range(horizon):
        indices = (
            [sums[i] / pulls[i] + random.normal(policy) / math.sqrt(pulls[i]) for i in range(3)]
            if t > 2
            else []
        )
        arm = int(np.argmax(indices)) if indices else t
        pulls[arm] += 1
        sums[arm] += problem.means[arm] + 0.5 * random.normal(rewards)
        regret += 0.4 - problem.means[arm]
    assert result.pulls[0, run].tolist() == pulls.tolist()
    assert result.regret[0, run, -1] == pytest.approx(regret, rel=1e-12)


def test_a_users_own_thompson_sampling_is_the_built_in_one() -> None:
    result = thrifty.simulate([Sampler(), thrifty.ThompsonSampling()], sevenths(5), 1000, runs=5, seed=6)
    assert row(result, 0, ("regret", "pulls")) == row(result, 1, ("regret", "pulls"))


@pytest.mark.parametrize("law", ["gaussian", "beta"])
def test_ts_td_with_alpha_0_and_a_long_batch_is_thompson_sampling_number_for_number(law: str) -> None:
    policies: list[Policy] = [
        thrifty.ThompsonSampling(law),
        thrifty.TSTD(0.0, law),
        thrifty.TSTD(0.0, law, 2000),
    ]
    assert thrifty.batch_size(2000, 0.0) >= 2000
    result = thrifty.simulate(policies, thrifty.Bernoulli([0.9] + 9 * [0.8]), 2000, runs=10, seed=1)
    assert row(result, 0) == row(result, 1) == row(result, 2)


def test_ts_td_with_a_short_batch_is_another_policy() -> None:
    policies: list[Policy] = [thrifty.ThompsonSampling(), thrifty.TSTD(phi=20)]
    result = thrifty.simulate(policies, thrifty.Bernoulli([0.9] + 9 * [0.8]), 2000, runs=2, seed=1)
    assert row(result, 0) != row(result, 1)


# Right answers at the edges -----------------------------------------------------------------------------


def test_one_arm_has_no_regret() -> None:
    for horizon in (1, 2, 50):
        result = thrifty.simulate(EVERY, thrifty.Bernoulli([0.4]), horizon, runs=3)
        assert np.all(result.regret == 0.0)
        assert np.all(result.pulls == horizon)


def test_a_horizon_of_k_is_one_pull_of_each_arm() -> None:
    problem = thrifty.Bernoulli([0.5, 0.25, 1.0])
    able = [policy for policy in EVERY if policy.resolve(3, 3).first]
    result = thrifty.simulate(able, problem, 3, runs=2, checkpoints=[1, 2, 3])
    assert np.all(result.pulls == 1)
    assert np.all(result.regret == [0.5, 1.25, 1.25])


def test_equal_arms_have_no_regret() -> None:
    for mean in (0.0, 0.3, 1.0):
        result = thrifty.simulate(EVERY, thrifty.Bernoulli(5 * [mean]), 300, runs=4)
        assert np.all(result.regret == 0.0)
        assert np.all(result.pulls.sum(axis=2) == 300)


def test_means_of_exactly_0_and_1_are_told_apart() -> None:
    """Rewards are certain. KL-UCB++ never returns to a mean of 0 when another is 1, whose index is 1; the
    others return at most a few times, as long as their law gives the dead arm a chance."""
    kinds = [kind for kind in POLICIES.values() if kind.group != "Baselines"]
    policies = [policy for kind in kinds for policy in chosen(kind)]  # not with a bound of 10^6
    result = thrifty.simulate(policies, thrifty.Bernoulli([0.0, 1.0, 0.0]), 3000, runs=10, seed=1)
    assert np.all(result.regret[:, :, -1] == result.pulls[:, :, [0, 2]].sum(axis=2))
    assert np.all(result.pulls[policies.index(thrifty.KLUCBPlusPlus()), :, [0, 2]] == 1)
    assert np.all(result.pulls[:, :, 1] > 2700)


@pytest.mark.parametrize("policy", EVERY, ids=lambda policy: policy.label)
def test_a_prior_replaces_the_initial_pulls(policy: Policy) -> None:
    result = thrifty.simulate(policy, sevenths(50), 10, runs=20, prior=(0.5, 1.0), checkpoints=range(1, 11))
    assert np.all(result.pulls.sum(axis=2) == 10)
    sure = (thrifty.DMED, thrifty.UCBImproved, thrifty.ExploreThenCommit, thrifty.FixedArm, thrifty.Oracle)
    in_order = isinstance(policy, sure)  # and others not the same every time
    assert (np.ptp(result.pulls[0].argmax(axis=1)) == 0) == in_order
    assert result.settings.prior == (0.5, 1.0)


def test_a_strong_prior_is_hard_to_change() -> None:
    """Beside a weight of 10^10 a thousand rewards are nothing, and both arms keep the same law."""
    settings: dict[str, Any] = {"horizon": 1000, "runs": 50}
    beta, problem = thrifty.ThompsonSampling("beta"), thrifty.Bernoulli([0.0, 1.0])
    strong = thrifty.simulate(beta, problem, prior=(0.5, 1e10), **settings)
    assert abs(strong.pulls[0, :, 0].mean() / 1000 - 0.5) < 4.0 * 0.5 / math.sqrt(50 * 1000)
    weak = thrifty.simulate(beta, problem, prior=(0.5, 1.0), **settings)
    assert weak.pulls[0, :, 0].max() < 50


def test_a_hundred_thousand_arms_and_a_thousand_rounds() -> None:
    """No arm ever pays, so an arm that was pulled falls behind the many that were not: a pull lowers its mean
    from 1/2 to 1/4 and narrows its law. KL-UCB++ with T < K is greedy: it never pulls an arm twice."""
    arms, horizon = 10**5, 1000
    policies: list[Policy] = [thrifty.TSMA(1.0), thrifty.KLUCBPlusPlus()]
    settings: dict[str, Any] = {"horizon": horizon, "runs": 2, "prior": (0.5, 1.0)}
    result = thrifty.simulate(policies, thrifty.Bernoulli(arms * [0.0]), **settings)
    assert result.settings.engines == ("tournament", "tournament")
    assert np.all(result.regret == 0.0)
    assert np.all(result.pulls.sum(axis=2) == horizon)
    assert result.pulls.max() == 1
    assert result.draws[0].sum(axis=1).tolist() == 2 * [arms + horizon]
    scan = thrifty.simulate(policies, thrifty.Bernoulli(arms * [0.0]), **settings, engine="scan")
    assert np.array_equal(result.pulls, scan.pulls)


def test_phi_may_be_enormous() -> None:
    policies: list[Policy] = [
        thrifty.TSMA(phi=1e300),
        thrifty.TSMA(law="beta", phi=1e300),
        thrifty.TSTD(phi=1e300),
    ]
    result = thrifty.simulate(policies, sevenths(5), 200, runs=2)
    assert np.isfinite(result.regret).all()


def test_memory_does_not_grow_with_the_horizon() -> None:
    short, long = (
        thrifty.simulate(thrifty.KLUCBPlusPlus(), thrifty.Bernoulli([0.9, 0.1]), horizon, runs=2)
        for horizon in (10**3, 10**6)
    )
    for result in (short, long):
        assert result.checkpoints.size <= 100
        assert result.checkpoints[0] == 1
        assert result.checkpoints[-1] == result.settings.horizon
        assert np.all(np.diff(result.checkpoints) > 0)
    for name in ("pulls", "draws", "evaluations"):
        assert getattr(short, name).nbytes == getattr(long, name).nbytes


def test_one_policy_needs_no_list_and_numpy_numbers_are_numbers() -> None:
    result = thrifty.simulate(
        thrifty.TSMA(np.float64(0.5)),
        thrifty.Bernoulli(np.array([0.5, 0.25])),
        np.int64(100),
        runs=np.int32(2),
        seed=np.uint64(7),
        workers=np.int64(1),
        checkpoints=np.array([10, 20]),
    )
    plain = thrifty.simulate(
        [thrifty.TSMA(0.5)], thrifty.Bernoulli([0.5, 0.25]), 100, runs=2, seed=7, checkpoints=[10, 20, 100]
    )
    assert same(result, plain)
    assert result.settings == plain.settings


def test_labels_tell_close_parameters_apart() -> None:
    policies = [thrifty.TSMA(0.1234567), thrifty.TSMA(0.1234568), thrifty.TSMA()]
    result = thrifty.simulate(policies, sevenths(3), 20, runs=1)
    assert result.labels == (repr(policies[0]), repr(policies[1]), "TS-MA-0")


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_standard_error_alone_if_that_is_a_terminal(
    terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    threads = threading.active_count()
    thrifty.simulate(thrifty.KLUCBPlusPlus(), sevenths(3), 100, runs=2, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    if terminal:
        assert re.search(r"\rsimulating .* 100% elapsed 00:0\d left 00:00\s*\n$", shown.err)
    else:
        assert shown.err == ""
    assert threading.active_count() == threads


def test_progress_shows_by_itself_only_of_what_takes_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for after, seen in ((math.inf, False), (0.0, True)):
        monkeypatch.setattr(progress, "AFTER", after)
        thrifty.simulate(thrifty.KLUCBPlusPlus(), sevenths(3), 100, runs=2)
        assert ("simulating" in capsys.readouterr().err) is seen
        thrifty.simulate(thrifty.KLUCBPlusPlus(), sevenths(3), 100, runs=2, progress=False)
        assert capsys.readouterr().err == ""


def test_a_bar_that_comes_late_shows_all_that_was_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After two seconds of a clock that the test turns."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    now = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    with progress.bar(100, "working", shown=None) as advance:
        for second, percent in ((1.0, ""), (1.9, ""), (2.1, "60%")):
            now[0] = second
            advance(20)
            assert (percent in capsys.readouterr().err) if percent else not capsys.readouterr().err
    assert capsys.readouterr().err


def test_nobody_need_look(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        for shown in (None, True):
            thrifty.simulate(thrifty.KLUCBPlusPlus(), sevenths(3), 100, runs=2, progress=shown)


def test_progress_must_be_a_flag_or_nothing() -> None:
    for wrong in ("yes", 1, 0):
        with pytest.raises(InvalidType, match=f"progress must be True, False or None, got {wrong!r}"):
            thrifty.simulate(thrifty.UCB1(), sevenths(3), 10, progress=wrong)  # type: ignore[arg-type]


# Refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"horizon": 2}, "horizon must be at least the number of arms, 3, unless a prior replaces"),
        ({"horizon": 0}, "horizon must be at least 1, got 0"),
        ({"horizon": 0, "prior": (0.5, 1.0)}, "horizon must be at least 1, got 0"),
        ({"horizon": 1.5}, "horizon must be an integer, got 1.5"),
        ({"horizon": 10.5}, "horizon must be an integer, got 10.5"),
        ({"horizon": True}, "horizon must be an integer, got True"),
        ({"horizon": "100"}, "horizon must be an integer, got '100'"),
        ({"horizon": None}, "horizon must be an integer, got None"),
        ({"horizon": 2**53 + 1}, "horizon must be at most 9007199254740992, got 9007199254740993"),
        ({"horizon": 10**400}, "horizon must be at most 9007199254740992, got 1000"),
        ({"runs": 0}, "runs must be at least 1, got 0"),
        ({"runs": -3}, "runs must be at least 1, got -3"),
        ({"runs": 2.5}, "runs must be an integer, got 2.5"),
        ({"runs": True}, "runs must be an integer, got True"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": 0.5}, "seed must be an integer, got 0.5"),
        ({"seed": None}, "seed must be an integer, got None"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
        ({"workers": 1.5}, "workers must be an integer, got 1.5"),
        ({"engine": "sleepers!"}, "engine must be one of auto, scan, tournament"),
        ({"engine": None}, "engine must be one of auto, scan, tournament"),
        (
            {"engine": "tournament"},
            "engine must be one of scan, sleepers for ThompsonSampling(law='gaussian'), got 'tournament'",
        ),
        ({"policies": []}, "policies must have at least one policy, got none"),
        ({"policies": None}, "policies must be policies such as ThompsonSampling(), got None"),
        (
            {"policies": thrifty.TSMA},
            "policies must be policies such as ThompsonSampling(), got the class TSMA: make",
        ),
        (
            {"policies": [thrifty.TSMA]},
            "policies[0] must be a policy such as TSMA(), got the class TSMA: make an",
        ),
        ({"policies": ["TSMA"]}, "policies[0] must be a policy such as TSMA(), got 'TSMA'"),
        (
            {"policies": [thrifty.TSMA(1), thrifty.TSTD(), thrifty.TSMA(1.0)]},
            "policies[2] is the same as policies[0], TSMA(alpha=1.0, law='gaussian', phi=None, "
            "anytime=False, sampling='maximum')",
        ),
        ({"problem": [0.9, 0.8]}, "problem must be a problem such as Bernoulli([0.9, 0.8]), got [0.9, 0.8]"),
        (
            {"problem": thrifty.Bernoulli},
            "problem must be a problem such as Bernoulli([0.9, 0.8]), got <class",
        ),
        (
            {"problem": thrifty.Gaussian([0.5, 0.4]), "policies": thrifty.ThompsonSampling("beta")},
            "ThompsonSampling(law='beta') needs rewards of 0 or 1, and those of a gaussian problem are not",
        ),
        (
            {"problem": thrifty.Gaussian([0.5, 0.4]), "policies": thrifty.KLUCBPlusPlus()},
            "KLUCBPlusPlus(anytime=False) needs rewards in [0, 1], and those of a gaussian problem are not",
        ),
        ({"prior": 0.5}, "prior must be a pair (mean, weight), got 0.5"),
        ({"prior": (0.5,)}, "prior must be a pair (mean, weight), got (0.5,)"),
        ({"prior": (0.5, 1.0, 2.0)}, "prior must be a pair (mean, weight), got (0.5, 1.0, 2.0)"),
        ({"prior": (0.5, 0.0)}, "prior weight must be above 0, got 0.0"),
        ({"prior": (0.5, -1)}, "prior weight must be above 0, got -1"),
        ({"prior": (math.nan, 1.0)}, "prior mean must be finite, got nan"),
        ({"prior": (0.5, math.inf)}, "prior weight must be finite, got inf"),
        ({"prior": "ab"}, "prior must be a pair (mean, weight), got 'ab'"),
        (
            {"prior": (1.5, 1.0), "policies": thrifty.ExpTS()},
            "prior mean must be in [0, 1] for ExpTS(family='bernoulli'), got 1.5",
        ),
        (
            {"prior": (-0.5, 1.0), "policies": thrifty.ThompsonSampling("gamma")},
            "prior mean must be at least 0 for ThompsonSampling(law='gamma'), got -0.5",
        ),
        (
            {"problem": thrifty.Gaussian([0.5, 0.4]), "policies": thrifty.IMED("poisson")},
            "IMED(family='poisson') needs rewards of at least 0, and those of a gaussian problem are not",
        ),
        (
            {"problem": thrifty.Beta([0.5, 0.4], [1.0, 1.0]), "policies": thrifty.BayesUCB()},
            "BayesUCB(c=0.0) needs rewards of 0 or 1, and those of a beta problem are not",
        ),
        (
            {"problem": thrifty.Poisson([0.5, 0.4]), "policies": thrifty.Binarised()},
            "Binarised(policy=ThompsonSampling(law='beta')) needs rewards in [0, 1], and those of a poisson",
        ),
        ({"checkpoints": 50}, "checkpoints must be None or a sequence of rounds, got 50"),
        ({"checkpoints": [0, 5]}, "checkpoints[0] must be at least 1, got 0"),
        ({"checkpoints": [5, 2.5]}, "checkpoints[1] must be an integer, got 2.5"),
        ({"checkpoints": [5, 101]}, "checkpoints must increase and not exceed the horizon 100, got [5, 101]"),
        ({"checkpoints": [5, 5]}, "checkpoints must increase and not exceed the horizon 100, got [5, 5]"),
        ({"checkpoints": [9, 5]}, "checkpoints must increase and not exceed the horizon 100, got [9, 5]"),
        ({"checkpoints": "9"}, "checkpoints[0] must be an integer, got '9'"),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_bad_input_is_named(change: dict[str, Any], text: str) -> None:
    settings = {
        "policies": thrifty.ThompsonSampling(),
        "problem": thrifty.Bernoulli([0.9, 0.8, 0.7]),
        "horizon": 100,
    }
    with pytest.raises(thrifty.ThriftyError) as error:
        thrifty.simulate(**settings | change)
    assert str(error.value).startswith(text)
    assert isinstance(error.value, ValueError | TypeError)


def test_an_engine_that_cannot_run_a_policy_names_both() -> None:
    for policy in EVERY:
        if policy not in COMMITTED:
            with pytest.raises(thrifty.InvalidValue) as error:
                thrifty.simulate(policy, sevenths(3), 100, engine="tournament")
            assert repr(policy) in str(error.value)
            assert "'tournament'" in str(error.value)
