"""Estimates of how long a sweep takes, from timings that are made up: the clock decides nothing here."""

import math

import numpy as np
import pytest

import thrifty
from thrifty.simulation.run import play_run
from thrifty.simulation.spec import Spec
from thrifty.sweeps import estimate
from thrifty.sweeps.estimate import ENOUGH, FIRST, SHARE, extrapolated

NEAR = 1.5  # what an estimate may be wrong by


@pytest.mark.parametrize("each", [2e-8, 1e-6, 1e-3])
@pytest.mark.parametrize("setup", [0.0, 3e-4, 0.05])
@pytest.mark.parametrize("rounds", [50, 2_000, 100_000, 10**8])
def test_rounds_that_cost_the_same(each: float, setup: float, rounds: int) -> None:
    """Setting up a run is not taken for rounds, however long it takes and however few are played."""
    guess = extrapolated(lambda played: setup + played * each, rounds, 40, grows=False)
    assert guess == pytest.approx(setup + rounds * each)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("rounds", [2_000, 20_000])
def test_rounds_that_cost_more_and_more(power: float, rounds: int) -> None:
    def cost(played: int) -> float:
        return 2e-4 + 1e-7 * played + 1e-8 * played**power

    guess = extrapolated(cost, rounds, 40, grows=True)
    assert cost(rounds) / NEAR < guess < cost(rounds) * NEAR


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_not_taken_for_a_power(seed: int) -> None:
    """Timings are a tenth off, and where no reward is kept they are still good for a thousand times as
    many rounds: those that were added cost total - before, which is off by 0.1 (total + before) at most."""
    rng = np.random.default_rng(seed)
    guess = extrapolated(lambda played: played * 2e-7 * rng.uniform(0.9, 1.1), 10**8, 40, grows=False)
    assert 0.69 < guess / 20.0 < 1.31


@pytest.mark.parametrize("each", [0.0, 1e-9, 1e-6, 1e-2])
@pytest.mark.parametrize("runs", [1, 40])
def test_little_is_played(each: float, runs: int) -> None:
    """Until it can be measured, or a share of all rounds, in steps of two; but three times."""
    rounds, played = 10**6, []

    def play(some: int) -> float:
        played.append(some)
        return each * some

    extrapolated(play, rounds, runs, grows=False)
    enough = min(ENOUGH / each if each else math.inf, SHARE * runs * rounds, rounds)
    assert max(played) <= max(4 * FIRST, 2 * enough)
    assert played == [min(FIRST * 2**step, rounds) for step in range(len(played))]


def test_a_run_as_short_as_the_first_try_is_played_once() -> None:
    played = []

    def play(some: int) -> float:
        played.append(some)
        return 0.25

    assert extrapolated(play, FIRST, grows=False) == 0.25
    assert played == [FIRST]


def test_the_beginning_of_a_run_is_played_with_the_rules_of_the_whole() -> None:
    """Also where the horizon is guessed, and stages follow each other."""
    problem = thrifty.Bernoulli([0.5, 0.4, 0.3])
    policies = (thrifty.TSMA(), thrifty.TSMA(anytime=True), thrifty.KLUCBPlusPlus())
    ready = Spec(5000, problem, policies, checkpoints=(1500,)).plan()
    for p in range(3):
        whole = play_run(ready, p, 0)
        part = play_run(estimate._beginning(ready, 1500), p, 0)
        assert whole is not None
        assert part is not None
        assert part.regret.tolist() == whole.regret[:1].tolist()
