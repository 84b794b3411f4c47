"""Problems that change: means that jump or move, arms that come and go."""

import dataclasses
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.policies import every_policy
from thrifty import Bernoulli, Changing
from thrifty.engines.memory import reward_stream
from thrifty.numerics import random
from thrifty.problems import Problem
from thrifty.simulation import game, plan, timeline
from thrifty.state import ranks
from thrifty.sweeps import grid

A, B = Bernoulli([0.7, 0.5, 0.3]), Bernoulli([0.3, 0.5, 0.7])
POLICIES = [thrifty.ThompsonSampling(), thrifty.TSMA(), thrifty.UCB1(), thrifty.KLUCB(), thrifty.TSTD()]
ARRAYS = ("regret", "pulls", "draws", "evaluations")


def same(a: thrifty.Result, b: thrifty.Result) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ARRAYS)


class Always:
    """One arm, and a diary of rewards."""

    def __init__(self, arm: int, diary: list[Any] | None = None) -> None:
        self.arm, self.diary = arm, diary

    def __deepcopy__(self, memo: object) -> "Always":
        return self

    def begin(self, arms: int, horizon: int) -> None:
        pass

    def select(self, t: int, rng: Any) -> int:
        self.t = t
        return self.arm

    def update(self, arm: int, reward: float) -> None:
        if self.diary is not None:
            self.diary.append((self.t, arm, reward))

    def enter(self, arm: int) -> None:
        pass

    leave = enter


def function(t: int) -> Problem:
    """As ``Changing({1: A, 501: B})``."""
    return A if t < 501 else B


def test_a_problem_that_does_not_change_is_what_it_is() -> None:
    plain = thrifty.simulate(POLICIES, A, 1000, runs=2, delay=3)
    for problem in (Changing({1: A}), Changing.of(lambda t: A, 3), Changing.along(A, A, 700)):
        assert same(thrifty.simulate(POLICIES, problem, 1000, runs=2, delay=3), plain)


def test_three_ways_to_say_the_same_are_the_same() -> None:
    """In stretches, round by round, and in stretches cut anywhere."""
    one = thrifty.simulate(POLICIES, Changing({1: A, 501: B}), 1000, runs=2)
    assert same(thrifty.simulate(POLICIES, Changing.of(function, 3), 1000, runs=2), one)
    often = Changing({t: function(t) for t in (1, 2, 3, 4, 77, 501, 502, 503, 900, 999, 1000, 5000)})
    assert same(thrifty.simulate(POLICIES, often, 1000, runs=2), one)
    assert not same(thrifty.simulate(POLICIES, Changing({1: A, 502: B}), 1000, runs=2), one)


def test_a_line_is_what_a_function_says() -> None:
    along = Changing.along(A, B, 300)

    def line(t: int) -> Problem:
        share = min(1.0, (t - 1) / 299)
        return Bernoulli([(1.0 - share) * a + share * b for a, b in zip(A.means, B.means, strict=True)])

    result = thrifty.simulate(POLICIES, along, 500, runs=2)
    np.testing.assert_allclose(
        thrifty.simulate(POLICIES, Changing.of(line, 3), 500, runs=2).regret, result.regret, atol=1e-9
    )
    assert along.at(1)[0] == A
    assert along.at(300) == (B, math.inf)
    middle = Changing.along(thrifty.Gaussian([0.0, 2.0], sd=1.0), thrifty.Gaussian([1.0, 0.0], sd=3.0), 3).at(
        2
    )[0]
    assert middle == thrifty.Gaussian([0.5, 1.0], sd=2.0)


def test_the_regret_is_against_the_best_arm_of_each_round() -> None:
    """Of a policy that always pulls one arm it is a sum that can be written down."""
    jump = thrifty.simulate([Always(0), Always(1)], Changing({1: A, 501: B}), 1000, runs=1, checkpoints=[500])
    assert jump.regret[:, 0].round(9).tolist() == [[0.0, 200.0], [100.0, 200.0]]
    moving = thrifty.simulate(Always(0), Changing.along(A, B, 101), 101, runs=1)
    # the gap of arm 0 is 0 until the lines cross at round 51, and then rises to 0.4
    assert moving.final[0, 0] == pytest.approx(sum(0.4 * (t - 51) / 50 for t in range(51, 102)))
    absent = Changing({1: Bernoulli([0.2, 0.9]), 51: Bernoulli([0.2, None])})
    assert thrifty.simulate(Always(0), absent, 100, runs=1).final[0, 0] == pytest.approx(0.7 * 50)


def test_the_oracle_knows_the_best_arm_of_each_round() -> None:
    waves = Changing.of(lambda t: Bernoulli([0.5 + 0.4 * math.sin(t / 9 + i) for i in range(4)]), 4)
    for problem in (A, GO, waves, Changing.along(A, B, 100)):
        assert (thrifty.simulate(thrifty.Oracle(), problem, 400, runs=2, delay=5).regret == 0.0).all()


def test_rewards_follow_the_problem_in_force() -> None:
    diary: list[Any] = []
    sure = Changing(
        {1: Bernoulli([1.0, 0.0]), 11: Bernoulli([0.0, 1.0]), 21: thrifty.Gaussian([5.0, 0.0], sd=1e-9)}
    )
    thrifty.simulate(Always(0, diary), sure, 30, runs=1)
    assert [round(reward) for _, _, reward in diary] == [1] * 10 + [0] * 10 + [5] * 10


GO = Changing(
    {
        1: Bernoulli([0.5, None, 0.3, 0.6, None]),
        101: Bernoulli([0.5, 0.8, 0.3, None, None]),
        160: Bernoulli([None, 0.8, 0.3, 0.1, 0.7]),
        161: Bernoulli([0.5, 0.2, 0.3, 0.1, 0.7]),
        220: Bernoulli([None, None, None, 0.9, None]),
        230: Bernoulli([0.5, 0.2, 0.3, 0.1, 0.7]),
    }
)


def by_hand(policy: thrifty.Policy, engine: str, horizon: int, seed: int) -> tuple[list[int], float]:
    """The run of a bandit whose arms come and go in this order: pulls of each arm, and the regret."""
    bandit = thrifty.Bandit(policy, range(5), horizon=horizon, seed=seed, pending_for=None, engine=engine)
    there, pulls, regret, rng = {*range(5)}, [0] * 5, 0.0, reward_stream(seed, 0)
    for t in range(1, horizon + 1):
        means = GO.at(t)[0].expectations
        now = {arm for arm in range(5) if not np.isnan(means[arm])}
        for arm in sorted(there - now):
            bandit.remove_arm(arm)
        bandit.add_arms(sorted(now - there))
        there, arm = now, bandit.select()
        bandit.update(arm, float(random.uniform(rng) < means[arm]))
        pulls[arm] += 1
        regret += np.nanmax(means) - means[arm]
    return pulls, regret


@pytest.mark.parametrize(
    ("policy", "engine"),
    [
        (thrifty.ThompsonSampling(), "scan"),
        (thrifty.ThompsonSampling("beta"), "sleepers"),
        (thrifty.TSMA(), "tournament"),
        (thrifty.UCB1(), "kinetic"),
        (thrifty.KLUCBPlusPlus(), "scan"),
        (thrifty.NPTS(), "scan"),
        (thrifty.DMED(), "scan"),
        (thrifty.AdaUCB(), "scan"),
    ],
    ids=lambda value: str(getattr(value, "label", value)),
)
def test_arms_come_and_go_as_in_a_bandit(policy: thrifty.Policy, engine: str) -> None:
    """Same seed, same arms, same rewards: bit for bit what a Bandit does by hand."""
    result = thrifty.simulate(policy, GO, 400, runs=1, seed=5, engine=engine)
    pulls, regret = by_hand(policy, engine, 400, 5)
    assert result.pulls[0, 0].tolist() == pulls
    assert result.final[0, 0] == pytest.approx(regret, abs=1e-9)


@pytest.mark.parametrize("prior", [None, (0.5, 2.0)], ids=["no prior", "prior"])
@pytest.mark.parametrize("delay", [0, thrifty.GeometricDelay(20.0)], ids=["prompt", "late"])
def test_every_policy_lives_with_arms_that_come_and_go(delay: Any, prior: Any) -> None:
    """On every engine. Nobody pulls an arm that is not there: its gap would be NaN."""
    for engine in ("scan", "tournament", "kinetic", "sleepers"):
        able = [one for one in every_policy() if engine in one.runs_on and type(one) is not thrifty.FixedArm]
        result = thrifty.simulate(able, GO, 300, runs=1, engine=engine, prior=prior, delay=delay)
        assert np.isfinite(result.regret).all()
        assert (np.diff(result.regret, axis=2) >= 0.0).all()
        if delay == 0:
            assert (result.pulls.sum(axis=2) == 300).all()


def test_a_deterministic_policy_decides_alike_on_kinetic_and_scan() -> None:
    """Rewards with a density have no ties."""
    problem = Changing.of(
        lambda t: thrifty.Gaussian(
            [math.sin(t / 30.0 + i) if (t // 40 + i) % 5 else None for i in range(30)]
        ),
        30,
    )
    policies = [thrifty.KLUCB(family="gaussian"), thrifty.KLUCB(c=3.0, family="gaussian")]
    scan = thrifty.simulate(policies, problem, 900, runs=2, engine="scan")
    kinetic = thrifty.simulate(policies, problem, 900, runs=2, engine="kinetic")
    assert np.array_equal(scan.pulls, kinetic.pulls)
    assert np.array_equal(scan.regret, kinetic.regret)


def test_late_rewards_of_an_arm_that_went_are_dropped() -> None:
    """Also if it is back when they come: it is a new arm then."""
    diary: list[Any] = []

    class Turns(Always):
        def select(self, t: int, rng: Any) -> int:
            self.t = t
            return 0 if t <= 10 or t > 15 else 1

    problem = Changing({1: A, 11: Bernoulli([None, 0.5, 0.3]), 16: A})
    result = thrifty.simulate(Turns(0, diary), problem, 40, runs=1, delay=8)
    # rewards of rounds 1 and 2 came in time; those of 3 to 10 were on their way when the arm went
    assert [(t, arm) for t, arm, _ in diary] == [(9, 0), (10, 0), *((t + 8, 1) for t in range(11, 16)),
                                                 *((t + 8, 0) for t in range(16, 33))]  # fmt: skip
    assert result.pulls[0, 0].tolist() == [2 + 17, 5, 0]


def test_an_arm_that_comes_back_is_a_new_one() -> None:
    """Greedy sums would stay with what they knew of it."""
    problem = Changing({1: Bernoulli([1.0, 0.4]), 51: Bernoulli([None, 0.4]), 101: Bernoulli([0.0, 0.4])})
    result = thrifty.simulate(thrifty.KLUCB(), problem, 300, runs=5)
    assert (result.final < 30.0).all()


def test_priors_are_those_of_every_arm_that_comes() -> None:
    result = thrifty.simulate(thrifty.ThompsonSampling("beta"), GO, 400, runs=3, prior=(0.5, 2.0))
    assert np.isfinite(result.regret).all()
    assert not same(result, thrifty.simulate(thrifty.ThompsonSampling("beta"), GO, 400, runs=3))


def test_all_arms_are_replaced_at_once() -> None:
    """Then there is none for a moment: kernels must not look at the first one. In Python they would fail."""
    fill = getattr(ranks.fill, "py_func", ranks.fill)
    empty = np.empty(0, np.int64)
    fill(np.empty(0), empty, empty, np.empty(0), np.empty(0))
    problem = Changing({1: Bernoulli([0.5, 0.4, None]), 31: Bernoulli([None, None, 0.3]), 32: A})
    assert thrifty.simulate(thrifty.AdaUCB(), problem, 60, runs=1).pulls.sum() == 60


def test_there_is_room_for_the_rewards_of_arms_that_come_with_a_prior() -> None:
    """Each of them takes some of the room that a run has for its rewards: it was a segmentation fault."""
    arms, horizon = 200, 700
    first, second = [i < 100 for i in range(arms)], [i >= 100 for i in range(arms)]

    def problem(there: list[bool]) -> Problem:
        return thrifty.Beta(*([shape if here else None for here in there] for shape in (1.0, 2.0)))

    changing = Changing({t: problem(second if t % 2 else first) for t in range(1, 18)})
    ready = plan.plan(thrifty.NPTS(), changing, horizon, 1, prior=(0.5, 1.0))
    playing = game.Game(ready, 0, 0)
    for stretch in ready.timeline:
        playing.enter(stretch)
        playing.play(stretch.start, stretch.stop, anew=stretch.start == 0)
        used, room = playing.memory.field("used")[0], len(playing.memory.field("history"))
        assert used + 4 * (horizon - stretch.stop) <= room


def test_a_moving_problem_is_computed_once_for_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def ask(t: int) -> Problem:
        asked.append(t)
        return Bernoulli([0.5 + 0.4 * math.sin(t / 50), 0.5])

    policies = [thrifty.UCB1(), thrifty.KLUCB()]
    one = thrifty.simulate(policies, Changing.of(ask, 2), 700, runs=4, workers=1)
    assert max(asked.count(t) for t in range(2, 701)) <= 2
    monkeypatch.setattr(timeline, "LONGEST", 64)
    monkeypatch.setattr(timeline, "KEPT", 0)  # and cuts and memory change nothing
    assert same(thrifty.simulate(policies, Changing.of(ask, 2), 700, runs=4, workers=1), one)


def test_values_may_grow_and_kinds_may_change_on_the_way() -> None:
    def ask(t: int) -> Problem:
        return thrifty.Empirical([[0.5] * (1 + t % 40), [0.25, 0.75]]) if t % 3 else Bernoulli([0.5, 0.4])

    result = thrifty.simulate([thrifty.TSMA(), Always(1)], Changing.of(ask, 2), 200, runs=2)
    assert result.regret[1, 0, -1] == pytest.approx(sum(0.0 if t % 3 else 0.1 for t in range(1, 201)))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Changing({}), r"problems must begin with round 1, and have each round once, got \[\]"),
        (lambda: Changing({2: A}), r"problems must begin with round 1, and have each round once, got \[2\]"),
        (lambda: Changing([(1, A), (1, B)]), r"have each round once, got \[1, 1\]"),
        (lambda: Changing({0: A}), "a round of problems must be at least 1, got 0"),
        (lambda: Changing({1: 3}), r"problems\[1\] must be a problem such as Bernoulli"),
        (
            lambda: Changing(3),
            "problems must have a problem for each round from which on it is in force, got 3",
        ),
        (lambda: Changing([3]), "problems must be pairs of a round and a problem, got 3"),
        (
            lambda: Changing({1: A, 5: Bernoulli([0.5])}),
            r"problems\[5\] must have 3 arms, as the others have",
        ),
        (lambda: Changing({1: Bernoulli([None])}), r"problems\[1\] must have at least one arm that is there"),
        (
            lambda: Changing({1: Changing({1: A})}),
            r"problems\[1\] must be a problem that does not change itself",
        ),
        (
            lambda: Changing.along(A, thrifty.Gaussian([0.1] * 3), 5),
            "first and last must be problems of one kind",
        ),
        (lambda: Changing.along(A, Bernoulli([0.1]), 5), "last must have 3 arms"),
        (
            lambda: Changing.along(A, Bernoulli([0.1, None, 0.2]), 5),
            r"means\[1\] must be a number in first and in last",
        ),
        (lambda: Changing.along(A, B, 1), "rounds must be at least 2, got 1"),
        (lambda: Changing.of(3, 2), "function must be a function of the round, got 3"),
        (lambda: Changing.of(partial(function), 3), "function must have a name, as from def, got functools"),
        (lambda: Changing.of(function, 0), "arms must be at least 1, got 0"),
    ],
)
def test_bad_changes_are_named(make: Any, match: str) -> None:
    with pytest.raises(thrifty.ThriftyError, match=match):
        make()


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (lambda t: 0.5 if t == 30 else A, r"function\(30\) must be a problem such as Bernoulli"),
        (lambda t: Bernoulli([0.5]) if t == 30 else A, r"function\(30\) must have 3 arms"),
        (
            lambda t: thrifty.Gaussian([0.5] * 3) if t == 30 else A,
            "rewards must be binary in round 30, .* got any",
        ),
    ],
)
def test_bad_answers_are_named_by_their_round(answer: Any, match: str) -> None:
    with pytest.raises(thrifty.ThriftyError, match=match):
        thrifty.simulate(thrifty.UCB1(), Changing.of(answer, 3), 100, runs=1)


def test_what_depends_on_the_round_is_not_answered_without_one() -> None:
    for name in ("expectations", "gaps"):
        with pytest.raises(thrifty.InvalidCall, match=r"ask at\(t\)"):
            getattr(GO, name)
    result = thrifty.simulate(thrifty.UCB1(), GO, 100, runs=1)
    with pytest.raises(thrifty.InvalidCall, match="who is stuck cannot be said of a problem that changes"):
        _ = result.stuck
    assert math.isnan(result.summary().rows[0].stuck)
    assert "–" in str(result.summary())


SPEC = """
horizon = 400
runs = 2
[problem]
{problem}
[[policies]]
name = "UCB1"
"""
TABLES = {
    "changing": (
        'kind = "changing"\n[[problem.problems]]\nfrom = 1\nkind = "bernoulli"\nmeans = [0.5, nan]\n'
        '[[problem.problems]]\nfrom = 201\nkind = "bernoulli"\nmeans = [0.5, 0.9]',
        Changing({1: Bernoulli([0.5, None]), 201: Bernoulli([0.5, 0.9])}),
    ),
    "changing-along": (
        'kind = "changing-along"\nrounds = 300\n[problem.first]\nkind = "bernoulli"\nmeans = [0.5, 0.1]\n'
        '[problem.last]\nkind = "bernoulli"\nmeans = [0.5, 0.9]',
        Changing.along(Bernoulli([0.5, 0.1]), Bernoulli([0.5, 0.9]), 300),
    ),
    "changing-of": (
        'kind = "changing-of"\nfunction = "moods:mood"\narms = 2',
        None,
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_spec_says_how_a_problem_changes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moods.py").write_text(
        "import thrifty\ndef mood(t):\n    return thrifty.Bernoulli([0.5, 0.1 + 0.8 * (t % 100 < 50)])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    text, problem = TABLES[kind]
    (tmp_path / "spec.toml").write_text(SPEC.format(problem=text))
    if problem is None:
        import moods  # type: ignore[import-not-found]

        problem = Changing.of(moods.mood, 2)
    [case] = grid.load(tmp_path / "spec.toml")
    assert case.name == f"{kind}-T400"
    assert case.spec.problem == problem
    expected = thrifty.simulate(thrifty.UCB1(), problem, 400, runs=2)
    assert same(case.spec.simulate(), expected)
    if kind == "changing-of":  # in another process, and from files
        for _ in range(2):
            [swept] = thrifty.sweep(tmp_path / "spec.toml", tmp_path / "out", workers=1).values()
            assert same(swept, expected)
            assert swept.settings == expected.settings


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('kind = "changing"\nproblems = 3', "problems must have a problem for each round"),
        ('kind = "changing"\nproblems = [3]', r"problem.problems\[0\] must be a table with the key from"),
        (
            'kind = "changing"\n[[problem.problems]]\nfrom = 1\nkind = "bernouli"',
            r"problems\[0\].kind must be one of",
        ),
        (
            'kind = "changing-of"\nfunction = "os"\narms = 2',
            "problem.function must be module:function, got 'os'",
        ),
        ('kind = "changing-of"\nfunction = "nowhere:f"\narms = 2', "can be imported, got 'nowhere:f'"),
        ('kind = "changing-along"\nrounds = 3', "problem.first is missing"),
    ],
)
def test_mistakes_in_a_spec_are_named(text: str, match: str, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SPEC.format(problem=text))
    with pytest.raises(thrifty.ThriftyError, match=match):
        thrifty.sweep(tmp_path / "spec.toml", tmp_path / "out", workers=1)


def test_figures_mark_the_changes_and_leave_out_the_bound() -> None:
    from thrifty.report import figures

    stays = thrifty.simulate(POLICIES, A, 1000, runs=2)
    jumps = thrifty.simulate(POLICIES, Changing({1: A, 501: B, 2000: A}), 1000, runs=2)
    assert figures.marks(stays) == []
    assert figures.marks(jumps) == [501]

    def dotted(result: thrifty.Result) -> list[float]:
        ax = result.plot().axes[0]
        assert any("lower bound" in str(line.get_label()) for line in ax.lines) == (result is stays)
        verticals = [
            line for line in ax.lines if line.get_linestyle() == ":" and len(set(line.get_xdata())) == 1
        ]
        return [float(line.get_xdata()[0]) for line in verticals if len(line.get_xdata()) == 2]

    assert dotted(stays) == []
    assert dotted(jumps) == [501.0]
    assert "Bernoulli rewards whose means change 2 times (dotted)" in figures.setting(jumps)
    moves = thrifty.simulate(POLICIES, Changing.along(A, B, 300), 1000, runs=2)
    assert dotted(moves) == [300.0]
    assert "whose means change up to round 300 (dotted)" in figures.setting(moves)


def test_a_changing_problem_is_a_value() -> None:
    assert Changing({1: A, 501: B}) == Changing([(501, B), (1, A)])
    assert hash(GO) == hash(dataclasses.replace(GO))
    assert eval(repr(GO), {"Changing": Changing, "Bernoulli": Bernoulli}) == GO


def test_results_of_a_changing_problem_are_shown() -> None:
    result = thrifty.simulate(POLICIES, GO, 100, runs=2)
    assert "changing, K = 5" in repr(result)
    assert "<img" in result._repr_html_()
    assert "from round" in GO._repr_html_()
    assert "220" in GO._repr_html_()
    assert "from round" in Changing.of(function, 3)._repr_html_()


def test_a_fixed_arm_must_be_there() -> None:
    """Another one in its place would be shown under its name."""
    first, second = thrifty.Bernoulli([0.1, None, 0.5]), thrifty.Bernoulli([0.1, 0.9, 0.5])
    for problem, t in (
        (thrifty.Changing({1: first, 51: second}), 1),
        (thrifty.Changing({1: second, 51: first}), 51),
    ):
        with pytest.raises(
            thrifty.InvalidValue, match=rf"FixedArm\(arm=1\) must be .*, and is not in round {t}$"
        ):
            thrifty.simulate(thrifty.FixedArm(1), problem, 100, runs=1)
        assert thrifty.simulate(thrifty.FixedArm(2), problem, 100, runs=1).pulls.tolist() == [[[0, 0, 100]]]
