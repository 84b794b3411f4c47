"""Control, floor and burn-in of a simulation: the law is a bandit's. That the numbers are too is tested in
``tests/online/test_bandit_follows_simulate.py``."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.simulation.test_own_problems import Coins, PlainCoins, same
from tests.support.chance import UNLUCKY
from thrifty import Bernoulli, Changing, FixedArm, storage
from thrifty.simulation.result import OTHERS
from thrifty.sweeps import grid

MEANS = [0.2, 0.5, 0.6, 0.3]
PROBLEM = Bernoulli(MEANS)
ALL: dict[str, Any] = {"control": 0.2, "control_arm": 1, "floor": 0.05, "burn_in": 3}


class Stubborn:
    """FixedArm(2) in plain Python."""

    def begin(self, arms: int, horizon: int) -> None:
        self.told = 0

    def select(self, t: int, rng: np.random.Generator) -> int:
        return 2

    def update(self, arm: int, reward: float) -> None:
        self.told += 1


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize(
    ("options", "law"),
    [
        ({"control": 0.4}, [0.1, 0.1, 0.7, 0.1]),
        ({"control": 0.4, "control_arm": 0}, [0.4, 0.0, 0.6, 0.0]),
        ({"control": 1.0}, [0.25] * 4),
        ({"floor": 0.1}, [0.1, 0.1, 0.7, 0.1]),
        ({"floor": 0.25}, [0.25] * 4),
        ({"control": 0.2, "floor": 0.05}, [0.09, 0.09, 0.73, 0.09]),
        ({"control": 0.2, "control_arm": 3, "floor": 0.05}, [0.04, 0.04, 0.68, 0.24]),
    ],
    ids=str,
)
def test_the_law(options: dict[str, Any], law: list[float], delay: int) -> None:
    """p = c/m + (1 - c)(f + (1 - m f) p), where the policy always has the third arm; of a policy in plain
    Python too."""
    policies = [FixedArm(2), Stubborn()]
    result = thrifty.simulate(policies, PROBLEM, 1500, runs=2, seed=3, delay=delay, **options)
    there = np.array(law) > 0.0
    for pulls in result.pulls.sum(axis=1):
        assert pulls.sum() == 2 * (1500 - delay)
        assert not pulls[~there].any()
        assert stats.chisquare(pulls[there], pulls.sum() * np.array(law)[there]).pvalue > UNLUCKY


def test_burn_in() -> None:
    """So many pulls of each arm come first, in turn or not, and none is made twice while rewards are late."""
    policies = [FixedArm(2), Stubborn(), thrifty.UCB1(), thrifty.ThompsonSampling("beta")]
    for delay in (0, 5):
        for problem in (PROBLEM, PlainCoins(MEANS)):
            made = thrifty.simulate(policies, problem, 12 + delay, runs=2, delay=delay, burn_in=3)
            assert (made.pulls == 3).all()
    prior = thrifty.simulate(thrifty.UCB1(), PROBLEM, 12, runs=1, prior=(0.5, 1.0), burn_in=3)
    assert (prior.pulls == 3).all()


@pytest.mark.parametrize("delay", [0, thrifty.GeometricDelay(5.0)], ids=["prompt", "late"])
def test_problems_of_your_own(delay: Any) -> None:
    """Bernoulli once more, compiled; and in plain Python, as a bandit by hand is paid."""
    policies = [thrifty.UCB1(), thrifty.TSMA(), thrifty.Forgetting(thrifty.UCB1(), 50.0)]
    ours, own = (
        thrifty.simulate(policies, kind(MEANS), 200, runs=2, delay=delay, **ALL)
        for kind in (Bernoulli, Coins)
    )
    assert same(ours, own)
    if delay != 0:
        return
    result = thrifty.simulate(policies, PlainCoins(MEANS), 200, runs=1, seed=7, **ALL)
    for p, policy in enumerate(policies):
        bandit = thrifty.Bandit(policy, 4, horizon=200, seed=7, pending_for=None, **ALL)
        rng = np.random.default_rng((7, 0, 1))
        for _ in range(200):
            decision = bandit.decide()
            bandit.reward(decision, PlainCoins(MEANS).reward(decision.arm, rng))
        assert result.pulls[p, 0].tolist() == bandit.statistics()["pulls"].tolist()


def test_arms_that_come_and_go() -> None:
    """The control arm stays itself when others go, new arms are burnt in, and a floor is that of the arms
    that are there."""
    parts = [[0.9, 0.1, 0.5, 0.3], [None, None, 0.5, 0.3], [0.2, None, 0.5, 0.6]]
    problem = Changing({1 + 100 * k: Bernoulli(part) for k, part in enumerate(parts)})
    policies = [thrifty.UCB1(), thrifty.ThompsonSampling("beta")]
    always = thrifty.simulate(policies, problem, 300, runs=1, control=1.0, control_arm=3)
    assert (always.pulls[:, :, 3] == 300).all()
    burnt = thrifty.simulate(policies, problem, 209, runs=1, burn_in=25)
    assert (burnt.pulls[:, 0, 0] == 25 + 9).all()
    floor = thrifty.simulate(FixedArm(2), problem, 300, runs=40, floor=0.25)
    expected = np.array([25 + 25, 25, 25 + 75 + 50, 25 + 25 + 25])
    assert stats.chisquare(floor.pulls.sum(axis=(0, 1)), 40 * expected).pvalue > UNLUCKY
    with pytest.raises(thrifty.InvalidValue, match=r"control_arm must be there in .* is not in round 101"):
        thrifty.simulate(policies, problem, 300, runs=1, control=0.1, control_arm=1)


def test_what_it_costs() -> None:
    """A share of control costs its share of what chance costs, and more where there is less to learn."""
    regrets = [
        thrifty.simulate(thrifty.ThompsonSampling("beta"), PROBLEM, 2000, runs=20, control=c).final.mean()
        for c in (0.0, 0.5, 1.0)
    ]
    chance = 2000 * PROBLEM.gaps.mean()
    assert regrets[0] < 0.5 * chance < regrets[1] < 0.5 * chance + regrets[0]
    assert regrets[2] == pytest.approx(chance, rel=0.05)


@pytest.mark.parametrize(
    "options",
    [
        {"control": 1.5},
        {"control": 1e-9},
        {"control": math.nan},
        {"control": "5%"},
        {"control": 0.1, "control_arm": 4},
        {"control_arm": -1},
        {"control_arm": "red"},
        {"floor": 0.26},
        {"floor": -0.1},
        {"burn_in": -1},
        {"burn_in": 0.5},
        {"burn_in": 10**10},
    ],
    ids=str,
)
def test_bad_options_are_refused_as_by_a_bandit(options: dict[str, Any]) -> None:
    with pytest.raises(thrifty.ThriftyError) as by_bandit:
        thrifty.Bandit(thrifty.TSMA(), 4, **options)
    with pytest.raises(by_bandit.type) as by_simulate:
        thrifty.simulate(thrifty.TSMA(), PROBLEM, 100, **options)
    assert str(by_simulate.value) == str(by_bandit.value)


def test_results_say_it(tmp_path: Path) -> None:
    plain = thrifty.simulate(thrifty.UCB1(), PROBLEM, 50, runs=1)
    result = thrifty.simulate(thrifty.UCB1(), PROBLEM, 50, runs=1, **ALL)
    assert repr(result).endswith("seed 0, control 0.2, control arm 1, floor 0.05, burn-in 3>")
    assert repr(plain).endswith("seed 0>")
    loaded = thrifty.Result.load(result.save(tmp_path / "r.npz"))
    assert loaded.settings == result.settings != plain.settings
    row = result.to_frame().row(-1, named=True)
    assert {name: row[name] for name in OTHERS} == ALL
    header, arrays = storage.read(tmp_path / "r.npz")
    for name in OTHERS:  # as before there were any
        del header["settings"][name]
    storage.write(tmp_path / "older.npz", {"settings": header["settings"]}, arrays)
    assert thrifty.Result.load(tmp_path / "older.npz").settings == plain.settings
    header["settings"]["floor"] = 0.5
    storage.write(tmp_path / "wrong.npz", {"settings": header["settings"]}, arrays)
    with pytest.raises(thrifty.FileError, match=r"floor must be at most 1/4 with 4 arms, got 0\.5"):
        thrifty.Result.load(tmp_path / "wrong.npz")


def test_sweeps_tell_them_apart() -> None:
    table = {"horizon": 100, "problem": {"kind": "bernoulli", "means": MEANS}, "policies": [{"name": "UCB1"}]}
    texts = [
        grid.written(grid.read(table | options)) for options in ({}, *({key: ALL[key]} for key in OTHERS))
    ]
    assert len(set(texts)) == 5
    with pytest.raises(thrifty.InvalidValue, match="floor must be at most 1/4"):
        grid.read(table | {"floor": 0.5})
