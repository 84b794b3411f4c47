"""Policies in plain Python: any object with begin, select and update."""

import copy
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from examples.plain_policies import EXP3, PLAIN, DecayingGreedy, SlidingWindow
from thrifty import Bernoulli
from thrifty.engines.memory import reward_stream
from thrifty.numerics import random
from thrifty.simulation.plan import plan
from thrifty.simulation.run import STEP, play_run
from thrifty.simulation.spec import Spec

MEANS = [0.2, 0.5, 0.6, 0.3]


class PlainUCB1:
    """UCB1 once more, with the first of ties: on Gaussian rewards there are none."""

    def begin(self, arms: int, horizon: int) -> None:
        self.pulls, self.sums = np.zeros(arms), np.zeros(arms)

    def select(self, t: int, rng: np.random.Generator) -> int:
        if (self.pulls == 0).any():
            return int(np.argmin(self.pulls))
        bonus = np.array([math.sqrt(2.0 * math.log(t - 1) / n) for n in self.pulls])
        return int(np.argmax(self.sums / self.pulls + bonus))

    def update(self, arm: int, reward: float) -> None:
        self.pulls[arm] += 1
        self.sums[arm] += reward


@dataclass
class Diary:
    """Pulls the arms in turn and writes down what it is told; shared by all copies."""

    log: Any

    def __deepcopy__(self, memo: object) -> "Diary":
        return self

    def begin(self, arms: int, horizon: int) -> None:
        self.arms = arms
        self.log.append(("begin", arms, horizon))

    def select(self, t: int, rng: np.random.Generator) -> int:
        self.log.append(("select", t))
        return (t - 1) % self.arms

    def update(self, arm: int, reward: float) -> None:
        self.log.append(("update", arm, reward))


def test_it_is_a_second_implementation_of_ucb1() -> None:
    """The same rewards for the same seed: so the same decisions, and the same regret."""
    problem = thrifty.ClippedGaussian(np.linspace(0.2, 0.8, 7), sd=0.2)
    settings: dict[str, Any] = {"horizon": 500, "runs": 3, "seed": 9, "checkpoints": [7, 100]}
    result = thrifty.simulate([thrifty.UCB1(), PlainUCB1()], problem, **settings)
    assert np.array_equal(result.regret[0], result.regret[1])
    assert np.array_equal(result.pulls[0], result.pulls[1])
    assert result.settings.engines == ("scan", "python")
    assert result.draws[1].sum() == result.evaluations[1].sum() == 0


def by_hand(policy: Any, run: int, horizon: int, seed: int) -> tuple[list[int], float]:
    """Copy, begin, and one round after the other."""
    policy = copy.deepcopy(policy)
    policy.begin(4, horizon)
    rng, rewards = np.random.default_rng((seed, run)), reward_stream(seed, run)
    pulls, regret = [0] * 4, 0.0
    for t in range(1, horizon + 1):
        arm = policy.select(t, rng)
        policy.update(arm, 1.0 if random.uniform(rewards) < MEANS[arm] else 0.0)
        pulls[arm] += 1
        regret += 0.6 - MEANS[arm]
    return pulls, regret


@pytest.mark.parametrize("policy", PLAIN, ids=lambda policy: type(policy).__name__)
def test_two_runs_are_two_runs_by_hand(policy: Any) -> None:
    result = thrifty.simulate(policy, Bernoulli(MEANS), 400, runs=2, seed=3)
    for run in range(2):
        pulls, regret = by_hand(policy, run, 400, 3)
        assert result.pulls[0, run].tolist() == pulls
        assert result.final[0, run] == pytest.approx(regret, abs=1e-9)
    assert not hasattr(policy, "pulls"), "it was a copy that played"


def test_workers_and_company_change_nothing() -> None:
    policies = [*PLAIN, thrifty.TSMA()]
    settings: dict[str, Any] = {"horizon": 200, "seed": 2, "delay": thrifty.GeometricDelay(3.0)}
    one = thrifty.simulate(policies, Bernoulli(MEANS), runs=3, workers=1, **settings)
    many = thrifty.simulate(policies, Bernoulli(MEANS), runs=3, workers=4, **settings)
    alone = thrifty.simulate(policies[1], Bernoulli(MEANS), runs=2, **settings)
    assert np.array_equal(one.regret, many.regret)
    assert np.array_equal(alone.regret[0], one.regret[1, :2])


def test_an_update_comes_when_the_reward_does() -> None:
    log: list[Any] = []
    thrifty.simulate(Diary(log), Bernoulli([1.0, 0.0]), 6, runs=1, delay=2)
    played = log[next(i for i in reversed(range(len(log))) if log[i][0] == "begin") :]
    assert played == [
        ("begin", 2, 6),
        ("select", 1),
        ("select", 2),
        ("select", 3),
        ("update", 0, 1.0),
        ("select", 4),
        ("update", 1, 0.0),
        ("select", 5),
        ("update", 0, 1.0),
        ("select", 6),
        ("update", 1, 0.0),
    ]


@pytest.mark.parametrize("runs", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_known_regrets(runs: int) -> None:
    """EXP3 learns, its regret is far below that of an arm at random; a window adapts where a mean of all
    rounds does not. Means of all runs, 4.5 standard errors."""
    horizon = 3000
    calm = thrifty.simulate([EXP3(), DecayingGreedy()], Bernoulli(MEANS), horizon, runs)
    random_arm = horizon * (0.6 - np.mean(MEANS))
    bound = 2.0 * math.sqrt(horizon * 4 * math.log(4))  # of the mean, Lattimore & Szepesvari, theorem 11.2
    error = calm.final[0].std(ddof=1) / math.sqrt(runs)
    assert calm.final[0].mean() < bound + 4.5 * error
    assert calm.final[0].mean() + 4.5 * error < random_arm
    jump = thrifty.Changing({1: Bernoulli([0.8, 0.5]), 1501: Bernoulli([0.2, 0.5])})
    result = thrifty.simulate([SlidingWindow(300), DecayingGreedy(1.0)], jump, horizon, runs)
    gap = result.final[1] - result.final[0]
    assert gap.mean() > 4.5 * gap.std(ddof=1) / math.sqrt(runs)


@pytest.mark.parametrize(
    ("arm", "match"),
    [
        (4, "must return an arm from 0 to 3, got 4, in round 1"),
        (-1, "from 0 to 3, got -1"),
        (True, "number of an arm, got True"),
        (1.0, "number of an arm, got 1.0"),
        (None, "number of an arm, got None"),
        ("x", "number of an arm, got 'x'"),
    ],
)
def test_bad_decisions_are_named(arm: Any, match: str) -> None:
    class Bad(Diary):
        def select(self, t: int, rng: Any) -> Any:
            return arm

    with pytest.raises(thrifty.ThriftyError, match=f"^select of Bad.*{match}"):
        thrifty.simulate(Bad([]), Bernoulli(MEANS), 10, runs=1)
    Bad.select = lambda self, t, rng: np.int64(2)  # type: ignore[method-assign]
    assert thrifty.simulate(Bad([]), Bernoulli(MEANS), 10, runs=1).pulls[0, 0, 2] == 10


def test_its_own_errors_are_its_own() -> None:
    class Fails(Diary):
        def update(self, arm: int, reward: float) -> None:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        thrifty.simulate(Fails([]), Bernoulli(MEANS), 10, runs=1)


def test_what_is_no_policy_is_refused() -> None:
    class Half:
        def select(self, t: int, rng: Any) -> int:
            return 0

    for wrong, why in (
        (Half(), "lacks begin, update"),
        (PlainUCB1, "the class PlainUCB1: make an"),
        (3, "3"),
    ):
        with pytest.raises(
            thrifty.InvalidType, match=rf"policies\[1\] must be a policy such as TSMA\(\), got .*{why}"
        ):
            thrifty.simulate([thrifty.UCB1(), wrong], Bernoulli(MEANS), 10, runs=1)  # type: ignore[list-item]
    with pytest.raises(thrifty.InvalidType, match=r"policies must be policies .*, got 'TSMA\(\)'"):
        thrifty.simulate("TSMA()", Bernoulli(MEANS), 10, runs=1)  # type: ignore[arg-type]

    class NoCopy(PlainUCB1):
        def __deepcopy__(self, memo: object) -> Any:
            raise TypeError("never")

    with pytest.raises(thrifty.InvalidType, match="NoCopy must be an object that can be copied"):
        thrifty.simulate(NoCopy(), Bernoulli(MEANS), 10, runs=1)


def test_arms_that_come_and_go_have_to_be_heard_of() -> None:
    problem = thrifty.Changing({1: Bernoulli([0.5, None]), 6: Bernoulli([None, 0.5])})
    with pytest.raises(
        thrifty.InvalidType, match=r"PlainUCB1 must have a method leave\(arm\), as arms come and go"
    ):
        thrifty.simulate(PlainUCB1(), problem, 10, runs=1)

    class Listens(Diary):
        def enter(self, arm: int) -> None:
            self.log.append(("enter", arm))

        def leave(self, arm: int) -> None:
            self.log.append(("leave", arm))

        def select(self, t: int, rng: Any) -> int:
            return 0 if t < 6 else 1

    log: list[Any] = []
    thrifty.simulate(Listens(log), problem, 10, runs=1)
    assert [entry for entry in log if entry[0] in ("enter", "leave")][-3:] == [
        ("leave", 1),
        ("leave", 0),
        ("enter", 1),
    ]

    class Deaf(Listens):
        def select(self, t: int, rng: Any) -> int:
            return 0

    with pytest.raises(thrifty.InvalidValue, match="must return an arm that is there, in round 6"):
        thrifty.simulate(Deaf([]), problem, 10, runs=1)


class Holds(PlainUCB1):
    """With something to hold."""

    def __init__(self, held: Any) -> None:
        self.held = held


def test_labels_tell_objects_apart() -> None:
    class Labelled(PlainUCB1):
        label = "mine"

    policies = [
        PlainUCB1(),
        PlainUCB1(),
        Labelled(),
        DecayingGreedy(2.0),
        Holds(0.5),
        Holds(0.7),
        thrifty.UCB1(),
    ]
    result = thrifty.simulate(policies, Bernoulli(MEANS), 10, runs=1)
    assert result.labels == (
        "PlainUCB1 #1", "PlainUCB1 #2", "mine", "DecayingGreedy(c=2.0)", "Holds(held=0.5)",
        "Holds(held=0.7)", "UCB1",
    )  # fmt: skip
    assert result.settings.policies[3] == {"name": "examples.plain_policies:DecayingGreedy", "c": 2.0}


def test_a_name_of_its_own_is_not_that_of_its_class() -> None:
    """A policy called UCB1 is none; and what is called 3 is in nobody's way."""

    class Named(PlainUCB1):
        def __init__(self, name: Any) -> None:
            super().__init__()
            self.name = name

    result = thrifty.simulate(
        [Named("UCB1"), Named({"name": 3}), thrifty.TSMA()], Bernoulli(MEANS), 9, runs=1
    )
    assert result.settings.policies[0]["name"].endswith("Named")
    assert result.settings.policies[0]["its name"] == "UCB1"
    assert result["TSMA()"].labels == ("TS-MA-0",)
    with pytest.raises(thrifty.InvalidValue, match="got 'UCB1"):
        result["UCB1()"]


def test_objects_that_cannot_be_compared_are_others() -> None:
    @dataclass
    class Weights(PlainUCB1):
        weights: Any

    policies = [Weights(np.zeros(2)), Weights(np.ones(2))]
    result = thrifty.simulate(policies, Bernoulli(MEANS), 10, runs=1)
    assert result.labels == tuple(map(repr, policies))
    with pytest.raises(thrifty.InvalidValue, match=r"policies\[1\] is the same as policies\[0\]"):
        thrifty.simulate(policies[:1] * 2, Bernoulli(MEANS), 10, runs=1)
    spec = Spec(10, Bernoulli(MEANS), tuple(policies))
    assert spec == spec
    assert spec != Spec(10, Bernoulli(MEANS), tuple(copy.deepcopy(policies)))


def test_a_slice_begins_with_one_round() -> None:
    """A round may take seconds, and Ctrl-C waits for a slice."""
    ready = plan(PlainUCB1(), Bernoulli(MEANS), 1000, 1)
    asked, rounds = [], []

    def stopped() -> bool:
        asked.append(True)
        return len(asked) > 1

    assert play_run(ready, 0, 0, rounds.append, stopped) is None
    assert rounds == [STEP]


def test_results_are_saved_and_drawn(tmp_path: Path) -> None:
    result = thrifty.simulate([*PLAIN, thrifty.TSMA()], Bernoulli(MEANS), 100, runs=2)
    loaded = thrifty.Result.load(result.save(tmp_path / "r.npz"))
    assert loaded.settings == result.settings
    assert str(loaded.summary()) == str(result.summary())
    result.plot(tmp_path / "r.svg")


SPEC = """
horizon = 200
runs = 3
[problem]
kind = "bernoulli"
means = [0.2, 0.5, 0.6, 0.3]
[[policies]]
name = "examples.plain_policies:DecayingGreedy"
c = [1.0, 5.0]
[[policies]]
name = "examples.plain_policies:EXP3"
[[policies]]
name = "TSMA"
"""


def test_a_sweep_plays_them_in_other_processes_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    [swept] = thrifty.sweep(tmp_path / "spec.toml", tmp_path / "out", workers=2).values()
    policies = [DecayingGreedy(1.0), DecayingGreedy(5.0), EXP3(), thrifty.TSMA()]
    result = thrifty.simulate(policies, Bernoulli(MEANS), 200, runs=3)
    assert np.array_equal(swept.regret, result.regret)
    assert swept.settings == result.settings
    [again] = thrifty.sweep(tmp_path / "spec.toml", tmp_path / "out", workers=2).values()
    assert np.array_equal(again.regret, result.regret)


def test_one_experiment_takes_no_lists(tmp_path: Path) -> None:
    """A class of plain Python might take one for a value."""
    (tmp_path / "spec.toml").write_text(SPEC)
    with pytest.raises(
        thrifty.InvalidValue, match=r"policies\[0\].c must be one value, .* thrifty sweep plays each"
    ):
        Spec.load(tmp_path / "spec.toml")


@pytest.mark.parametrize(
    ("before", "after", "match"),
    [
        ("c = [1.0, 5.0]", "d = 1.0", r"policies\[0\].*d is unknown; allowed: name, c"),
        (":EXP3", ':EXP3"\nc = "1', r"policies\[1\].*examples.plain_policies:EXP3 cannot be made"),
        (":EXP3", ":PROBLEM", "name must be that of a policy, got 'examples.plain_policies:PROBLEM'"),
    ],
)
def test_mistakes_in_a_spec_are_named(tmp_path: Path, before: str, after: str, match: str) -> None:
    (tmp_path / "spec.toml").write_text(SPEC.replace(before, after))
    with pytest.raises(thrifty.ThriftyError, match=match):
        thrifty.sweep(tmp_path / "spec.toml", tmp_path / "out", workers=1)


def test_a_sweep_must_be_able_to_tell_it_from_others(tmp_path: Path) -> None:
    table: dict[str, Any] = {"problem": Bernoulli(MEANS), "horizon": 20, "runs": 1}
    with pytest.raises(
        thrifty.InvalidType, match="held of Holds must be what JSON can hold, so that a sweep"
    ):
        thrifty.sweep(table | {"policies": [Holds(print)]}, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    held = [{"b", "a", "c"}, np.arange(3), np.float64(0.5), (1, None), "text"]
    [found] = thrifty.simulate(Holds(held), Bernoulli(MEANS), 10, runs=1).settings.policies
    assert found["held"] == [["a", "b", "c"], [0, 1, 2], 0.5, [1, None], "text"]
    assert thrifty.simulate(Holds(print), Bernoulli(MEANS), 10, runs=1).settings.policies[0]["held"] == (
        "builtin_function_or_method"
    )
