"""Problems of the user's own: compiled and in plain Python, and what is refused."""

import math
import random as python_random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from examples.own_problems import EXAMPLES, ClippedStudent, Mixture, Visitors
from thrifty import problems
from thrifty.cli import main
from thrifty.numerics import random
from thrifty.problems import Problem
from thrifty.problems.compiled import RANGES
from thrifty.state import history

POLICIES = [thrifty.ThompsonSampling(), thrifty.TSMA(), thrifty.KLUCB(), thrifty.KLUCBPlusPlus()]


@dataclass(frozen=True)
class Coins(Problem):
    """What Bernoulli is, made by hand."""

    means: Sequence[float | None]

    rewards = "binary"

    @property
    def expectations(self) -> Any:
        return np.array(self.means, float)

    def reward(self, arm, rng):  # type: ignore[no-untyped-def]
        return 1.0 if random.uniform(rng) < self.means[arm] else 0.0


@dataclass(frozen=True)
class PlainCoins(Problem):
    """The same in plain Python, from a NumPy Generator."""

    means: Sequence[float]

    rewards = "binary"
    compiled = False

    @property
    def expectations(self) -> Any:
        return np.array(self.means)

    def reward(self, arm: int, rng: np.random.Generator) -> float:
        return float(rng.random() < self.means[arm])


@dataclass(frozen=True)
class PlainNoise(Problem):
    """Normal rewards of mean 0, in plain Python."""

    sd: float

    compiled = False

    @property
    def expectations(self) -> Any:
        return np.zeros(2)

    def reward(self, arm: int, rng: np.random.Generator) -> float:
        return self.sd


@dataclass(frozen=True)
class PlainNumbers(Problem):
    """Each reward is another number in [0, 1]."""

    count: int

    rewards = "unit"
    compiled = False

    @property
    def expectations(self) -> Any:
        return np.full(self.count, 0.5)

    def reward(self, arm: int, rng: np.random.Generator) -> float:
        return rng.random()


def same(a: thrifty.Result, b: thrifty.Result) -> bool:
    names = ("regret", "pulls", "draws", "evaluations")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


@pytest.mark.parametrize("delay", [0, thrifty.GeometricDelay(5.0)], ids=["prompt", "late"])
def test_coins_made_by_hand_are_bernoulli_bit_for_bit(delay: Any) -> None:
    means = np.linspace(0.1, 0.8, 40)
    for engine in ("scan", "auto"):
        settings: dict[str, Any] = {"horizon": 600, "runs": 2, "seed": 4, "engine": engine, "delay": delay}
        ours = thrifty.simulate(POLICIES, thrifty.Bernoulli(means), **settings)
        assert same(thrifty.simulate(POLICIES, Coins(means), **settings), ours)


@pytest.mark.parametrize("delay", [0, thrifty.GeometricDelay(5.0)], ids=["prompt", "late"])
def test_coins_made_by_hand_come_and_go_as_bernoulli_ones_do(delay: Any) -> None:
    """Kernels give arms other numbers then, and a reward is told the problem's."""
    means = [[0.9, 0.1, 0.5, 0.3], [None, 0.1, 0.5, 0.3], [0.2, None, None, 0.6], [0.2, 0.7, 0.1, None]]
    ours, coins = (
        thrifty.Changing({1 + 100 * k: kind(part) for k, part in enumerate(means)})
        for kind in (thrifty.Bernoulli, Coins)
    )
    expected = thrifty.simulate(POLICIES, ours, 400, runs=2, delay=delay)
    assert same(thrifty.simulate(POLICIES, coins, 400, runs=2, delay=delay), expected)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_plain_python_pays_what_a_bandit_by_hand_is_paid(policy: thrifty.Policy) -> None:
    problem, horizon, seed = PlainCoins([0.2, 0.5, 0.6, 0.3]), 300, 7
    result = thrifty.simulate(policy, problem, horizon, runs=1, seed=seed)
    bandit = thrifty.Bandit(policy, 4, horizon=horizon, seed=seed, pending_for=None)
    rng, regret = np.random.default_rng((seed, 0, 1)), 0.0
    for _ in range(horizon):
        arm = bandit.select()
        bandit.update(arm, problem.reward(arm, rng))
        regret += problem.gaps[arm]
    assert result.final.tolist() == [[pytest.approx(regret, abs=1e-9)]]
    assert result.pulls[0, 0].tolist() == bandit.statistics()["pulls"].tolist()


def test_plain_python_with_late_rewards_is_the_same_whoever_else_plays() -> None:
    settings: dict[str, Any] = {"horizon": 200, "seed": 1, "delay": thrifty.UniformDelay(0, 9)}
    together = thrifty.simulate(POLICIES, PlainCoins([0.2, 0.5, 0.6]), runs=3, workers=3, **settings)
    for p, policy in enumerate(POLICIES):
        alone = thrifty.simulate(policy, PlainCoins([0.2, 0.5, 0.6]), runs=2, workers=1, **settings)
        assert np.array_equal(alone.regret[0], together.regret[p, :2])


def test_plain_python_moves_in_lines_too() -> None:
    """Though all means are 0, all the time."""
    seen: list[float] = []

    class Reads:
        def __deepcopy__(self, memo: object) -> "Reads":
            return self

        def begin(self, arms: int, horizon: int) -> None:
            pass

        def select(self, t: int, rng: Any) -> int:
            return 0

        def update(self, arm: int, reward: float) -> None:
            seen.append(reward)

    thrifty.simulate(Reads(), thrifty.Changing.along(PlainNoise(1.0), PlainNoise(3.0), 5), 6, runs=1)
    assert seen == [1.0, 1.5, 2.0, 2.5, 3.0, 3.0]


def test_rows_of_arms_that_are_not_there() -> None:
    """None for a row, wherever it is."""

    @dataclass(frozen=True)
    class Rows(Problem):
        rows: Any
        rewards = "unit"

        @property
        def expectations(self) -> Any:
            return np.array([math.nan if row is None else row[0] for row in self.rows])

        def reward(self, arm, rng):  # type: ignore[no-untyped-def]
            return self.rows[arm, 0]

    problem = thrifty.Changing({1: Rows([None, [0.25, 0.0]]), 11: Rows([[0.75, 0.0], None])})
    result = thrifty.simulate(thrifty.UCB1(), problem, 20, runs=1)
    assert result.pulls.tolist() == [[[10, 10]]]


def test_a_memory_that_grows_amid_late_rewards_loses_none_and_has_none_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def played() -> thrifty.Result:
        return thrifty.simulate(
            thrifty.NPTS(), PlainNumbers(3), 300, runs=4, seed=1, delay=thrifty.UniformDelay(0, 20)
        )

    enough = played()
    monkeypatch.setattr(history, "entries", lambda arms, rewards: history.LEAST * arms)
    assert same(played(), enough)


@pytest.mark.parametrize("problem", EXAMPLES, ids=lambda problem: type(problem).__name__)
def test_rewards_of_the_examples_have_the_means_that_they_state(problem: Problem) -> None:
    """By a policy that pulls every arm in turn: the mean of what it saw, within 4.5 standard errors."""
    seen: list[list[float]] = [[] for _ in range(problem.size)]

    class Turns:
        def begin(self, arms: int, horizon: int) -> None:
            self.arms = arms

        def select(self, t: int, rng: Any) -> int:
            return t % self.arms

        def update(self, arm: int, reward: float) -> None:
            seen[arm].append(reward)

    thrifty.simulate(Turns(), problem, 6000, runs=1, seed=3)
    low, high = RANGES[problem.rewards]
    for arm, mean in enumerate(problem.expectations):
        got = np.array(seen[arm])
        assert low <= got.min() < got.max() <= high
        assert abs(got.mean() - mean) < 4.5 * got.std(ddof=1) / math.sqrt(got.size)


def test_fields_are_numbers_flags_and_arrays_inside_of_reward() -> None:
    @dataclass(frozen=True)
    class Every(Problem):
        row: Any
        rows: Any
        whole: int = 3
        flag: bool = True
        text: str = "not seen by reward"

        @property
        def expectations(self) -> Any:
            return np.array([row[1] for row in self.rows]) + 0.5

        def reward(self, arm, rng):  # type: ignore[no-untyped-def]
            right = self.flag and self.whole % 2 == 1 and self.row.size == 2 and self.rows.shape[1] == 3
            return self.rows[arm, 1] + self.row[1] if right else -1.0

    problem = Every([0.25, 0.5], np.arange(6.0).reshape(2, 3))
    assert problem.rows == ((0.0, 1.0, 2.0), (3.0, 4.0, 5.0))
    assert problem == Every((0.25, 0.5), ((0, 1, 2), (3, 4, 5)))
    result = thrifty.simulate(thrifty.UCB1Tuned(), thrifty.Bernoulli([0.5, 0.1]), 10, runs=1)
    assert result.pulls.sum() == 10
    result = thrifty.simulate(thrifty.ThompsonSampling(), problem, 50, runs=1)
    assert result.regret[0, 0, -1] == 3.0 * result.pulls[0, 0, 0]


def broken(paid: str, *, rewards: str = "binary", compiled: bool = True) -> Problem:
    """A problem whose reward is this expression."""
    text = (
        "@dataclass(frozen=True)\nclass Broken(Problem):\n    means: Any = (0.5, 0.4)\n"
        f"    rewards = {rewards!r}\n    compiled = {compiled}\n"
        "    expectations = property(lambda self: np.array(self.means))\n"
        f"    def reward(self, arm, rng):\n        return {paid}\n"
    )
    space: dict[str, Any] = {**globals(), "__name__": "broken", "np_random": np.random}
    space["python_random"] = python_random
    exec(text, space)
    problem: Problem = space["Broken"]()
    return problem


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    ("rewards", "paid"),
    [
        ("binary", "0.5"),
        ("unit", "1.5"),
        ("unit", "-0.1"),
        ("non-negative", "-1.0"),
        ("any", "math.nan"),
        ("any", "math.inf"),
        ("any", "1e101"),
    ],
)
def test_a_reward_that_is_not_what_the_problem_says_is_refused(
    rewards: str, paid: str, compiled: bool
) -> None:
    problem = broken(f"{paid} if arm == 1 else 1.0", rewards=rewards, compiled=compiled)
    with pytest.raises(thrifty.InvalidValue, match=r"the reward of broken:Broken must be"):
        thrifty.simulate(thrifty.ThompsonSampling(), problem, 50, runs=1)


@pytest.mark.parametrize(
    ("problem", "kind", "match"),
    [
        (
            broken("self.means[5]"),
            thrifty.InvalidValue,
            "must be 0 or 1, got another number or an error in round 1",
        ),
        (broken("'x'"), thrifty.InvalidValue, "the reward of Broken cannot be compiled: .*compiled = False"),
        (broken("self.nothing"), thrifty.InvalidValue, "the reward of Broken cannot be compiled"),
        (
            broken("'x'", compiled=False),
            thrifty.InvalidType,
            "the reward of broken:Broken must be a number, got 'x'",
        ),
        (
            broken("0.0", rewards="great"),
            thrifty.InvalidValue,
            "rewards of Broken must be one of binary, unit",
        ),
    ],
    ids=["bounds", "text", "field", "plain text", "kind"],
)
def test_what_cannot_be_a_reward_is_refused_by_name(problem: Problem, kind: type, match: str) -> None:
    with pytest.raises(kind, match=match):
        thrifty.simulate(thrifty.ThompsonSampling(), problem, 50, runs=1)


def test_a_reward_cannot_change_the_fields() -> None:
    @dataclass(frozen=True)
    class Writes(Problem):
        means: Any = (0.5, 0.4)
        expectations = property(lambda self: np.array(self.means))

        def reward(self, arm, rng):  # type: ignore[no-untyped-def]
            self.means[arm] = 1.0
            return 1.0

    with pytest.raises(thrifty.InvalidValue, match=r"the reward of Writes cannot be compiled: .*setitem"):
        thrifty.simulate(thrifty.ThompsonSampling(), Writes(), 50, runs=1)


@pytest.mark.parametrize("paid", ["np.random.random()", "python_random.random()", "np_random.random()"])
def test_randomness_that_no_seed_reaches_is_refused(paid: str) -> None:
    with pytest.raises(thrifty.InvalidValue, match="the reward of Broken must draw from rng"):
        thrifty.simulate(thrifty.ThompsonSampling(), broken(paid, rewards="unit"), 50, runs=1)


def test_errors_of_plain_python_are_the_users_own() -> None:
    with pytest.raises(ZeroDivisionError):
        thrifty.simulate(thrifty.UCB1(), broken("1 / 0", compiled=False), 50, runs=1)


def test_what_is_no_problem_is_refused_by_name() -> None:
    def refused(problem: Any, match: str) -> None:
        with pytest.raises(thrifty.ThriftyError, match=match):
            thrifty.simulate(thrifty.UCB1(), problem, 100, runs=1)

    refused(Coins, r"problem must be a problem such as Bernoulli")
    refused([0.9, 0.8], r"problem must be a problem such as Bernoulli")

    class NoDataclass(Coins):
        pass

    refused(NoDataclass([0.5]), "NoDataclass must be decorated with @dataclass")

    @dataclass(frozen=True)
    class NoReward(Problem):
        expectations = property(lambda self: np.array([0.5, 0.5]))

    refused(NoReward(), r"NoReward must have a method reward\(self, arm, rng\)")

    @dataclass(frozen=True)
    class WrongMeans(Coins):
        expectations = property(lambda self: [0.5])

    refused(WrongMeans([0.5]), "expectations of WrongMeans must be an array")

    @dataclass(frozen=True)
    class Infinite(Coins):
        expectations = property(lambda self: np.array([math.inf]))

    refused(Infinite([0.5]), "expectations of Infinite must be finite")
    refused(
        Coins([0.5, 5.0]),
        r"expectations of Coins must be finite, and means of rewards that are binary, got array",
    )

    @dataclass(frozen=True)
    class Hidden(Coins):
        _more: float = 1.0

    refused(Hidden([0.5]), "Hidden must not have a field _more: choose another name")

    @dataclass(frozen=True)
    class Lists(Coins):
        more: list[int] = field(default_factory=list)

        def __post_init__(self) -> None:
            pass

    refused(Lists((0.5,)), r"Lists must be frozen .* super\(\).__post_init__\(\)")
    with pytest.raises(thrifty.InvalidType, match="Named must not have a field size: choose another name"):

        class Named(Problem):
            size: int

    refused(
        thrifty.Bernoulli([0.5, None]),
        "problem must have a mean for each arm, unless it is part of a Changing",
    )


def test_ragged_rows_are_refused_where_they_are_compiled() -> None:
    @dataclass(frozen=True)
    class Ragged(Problem):
        rows: Any
        expectations = property(lambda self: np.array([0.5, 0.5]))

        def reward(self, arm, rng):  # type: ignore[no-untyped-def]
            return self.rows[arm, 0]

    with pytest.raises(thrifty.InvalidValue, match=r"rows must have rows of one length, got \[1, 2\]"):
        thrifty.simulate(thrifty.ThompsonSampling(), Ragged([[0.0], [0.5, 1.0]]), 50, runs=1)


SPEC = """
horizon = 200
runs = 2
[problem]
kind = "examples.own_problems:ClippedStudent"
centre = [0.6, 0.5]
freedom = 3
[[policies]]
name = "UCB1"
"""


def test_a_spec_names_a_problem_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    found = thrifty.sweep(tmp_path / "spec.toml", tmp_path / "out", workers=1)
    result = thrifty.simulate(thrifty.UCB1(), ClippedStudent((0.6, 0.5), freedom=3), 200, runs=2)
    [(name, swept)] = found.items()
    assert name == "clippedstudent-T200"
    assert same(swept, result)
    assert swept.settings.problem == result.settings.problem
    again = thrifty.sweep(tmp_path / "spec.toml", tmp_path / "out", workers=1)
    assert same(again[name], result)
    path = tmp_path / "out" / f"{name}.npz"
    with pytest.raises(thrifty.FileError, match=r"cannot be read: 'examples.own_problems:ClippedStudent' is"):
        thrifty.Result.load(path)
    assert same(thrifty.Result.load(path, problems=[ClippedStudent]), result)
    thrifty.register(ClippedStudent)
    assert same(thrifty.Result.load(path), result)


def test_a_result_file_makes_us_import_nothing(tmp_path: Path) -> None:
    result = thrifty.simulate(thrifty.UCB1(), Visitors([0.5, 0.2]), 20, runs=1)
    path = result.save(tmp_path / "r.npz")
    code = (
        f"import sys, thrifty\ntry:\n    thrifty.Result.load({str(path)!r})\n"
        "except thrifty.FileError as error:\n    print(error)\n"
        "assert not any(name.startswith('examples') for name in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "is a problem that this program does not know" in done.stdout


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        ("os:system", "name must be that of a problem, got 'os:system'"),
        ("nowhere:Problem", "name must be module:Class of what can be imported, got 'nowhere:Problem'"),
    ],
)
def test_a_spec_with_what_is_no_problem_is_refused(tmp_path: Path, kind: str, match: str) -> None:
    (tmp_path / "spec.toml").write_text(SPEC.replace("examples.own_problems:ClippedStudent", kind))
    with pytest.raises(thrifty.ThriftyError, match=match):
        thrifty.sweep(tmp_path / "spec.toml", tmp_path / "out", workers=1)


def test_summaries_say_where_own_rewards_are_not_what_is_assumed() -> None:
    wide = Mixture([[-5.0, 5.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]])
    [note] = thrifty.simulate(thrifty.ThompsonSampling(), wide, 50, runs=1).notes
    assert "these have 25.01" in note
    narrow = Mixture([[0.0, 1.0], [0.0, 1.0]], [[0.5, 0.5], [0.4, 0.6]])
    assert thrifty.simulate(thrifty.ThompsonSampling(), narrow, 50, runs=1).notes == ()


# New ones of thrifty's own ------------------------------------------------------------------------------


def test_each_arm_may_have_its_standard_deviation() -> None:
    from thrifty.report.figures import bound_constant

    problem = thrifty.Gaussian([0.0, 1.0], sd=[0.5, 2.0])
    assert problem.ready().params.tolist() == [[0.0, 0.5], [1.0, 2.0]]
    assert problem.sub_gaussian == 4.0
    assert bound_constant(problem) == pytest.approx(
        2.0 * 0.25
    )  # gap / (gap^2 / (2 sd^2)), sd of the worse arm
    with pytest.raises(
        thrifty.InvalidValue, match="variance must be a number, or have one for each of 2 arms, got 3"
    ):
        problems_lower([0.0, 1.0], "gaussian", [1.0, 1.0, 1.0])


def problems_lower(*arguments: Any) -> float:
    from thrifty.theory import lower_bound

    return lower_bound(*arguments)


def test_empirical_rewards_come_as_often_as_they_are_in_the_data() -> None:
    """Chi-square of 12,000 draws from four values; 20.5 is exceeded with probability 0.013 %, 3 degrees."""
    problem = thrifty.Empirical([[0.1, 0.2, 0.3, 0.3, 0.4], [0.0]])
    counts: dict[float, int] = {}

    class First:
        def begin(self, arms: int, horizon: int) -> None:
            pass

        def select(self, t: int, rng: Any) -> int:
            return 0

        def update(self, arm: int, reward: float) -> None:
            counts[reward] = counts.get(reward, 0) + 1

    thrifty.simulate(First(), problem, 12_000, runs=1)
    expected = {0.1: 2400, 0.2: 2400, 0.3: 4800, 0.4: 2400}
    assert counts.keys() == expected.keys()
    assert sum((counts[x] - e) ** 2 / e for x, e in expected.items()) < 20.5


@pytest.mark.parametrize(
    ("samples", "kind"),
    [
        ([[0, 1]], "binary"),
        ([[0.5, 1]], "unit"),
        ([[0.5, 2]], "non-negative"),
        ([[-1, 0]], "any"),
        ([None, [1]], "binary"),
    ],
)
def test_empirical_rewards_are_of_the_narrowest_kind(samples: Any, kind: str) -> None:
    assert thrifty.Empirical(samples).rewards == kind
    assert problems.Empirical(samples).size == len(samples)


def test_the_commands_read_results_of_a_problem_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = thrifty.simulate([thrifty.UCB1(), thrifty.TSMA()], Visitors([0.5, 0.2]), 60, runs=2)
    path = str(result.save(tmp_path / "r.npz"))
    for command in (
        ["compare", path],
        ["plot", path],
        ["export", path, "--parquet", str(tmp_path / "r.parquet")],
    ):
        assert main([*command]) == 2
        assert "'examples.own_problems:Visitors' is a problem that this" in capsys.readouterr().err
        assert main([*command, "--problem", "examples.own_problems:Visitors"]) == 0
