"""Theorem J, on a plain implementation of its scheme: the law of the pulled arm, and what a round takes."""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtri_exp
from scipy.stats import norm

from thrifty.theory import sleepers_draws, sleepers_evaluations, tosses


class Marks:
    """Arms with Gaussian laws, their marks sorted; one round at a time."""

    def __init__(self, means, deviations):
        self.means, self.deviations = np.asarray(means), np.asarray(deviations)
        self.arms = len(self.means)
        self.depth = math.ceil(math.log2(self.arms))
        weights = 0.5 ** np.arange(self.depth + 1)
        marks = self.value(np.arange(self.arms)[:, None], weights[None, :])
        order = np.argsort(-marks, axis=None)
        total = self.arms * 0.5**self.depth + np.cumsum(np.tile(weights, self.arms)[order])
        enough = 2 * math.log(self.arms) + 1
        level = marks.ravel()[order][np.argmax(total >= enough)]
        self.level = level
        self.above = marks >= level
        self.lengths = self.above * weights
        self.weight = self.arms * 0.5**self.depth + self.lengths.sum()
        self.rates = -log_ndtr((level - self.means) / self.deviations)

    def value(self, arm, e):
        return self.means[arm] + self.deviations[arm] * ndtri_exp(-e)

    def round(self, rng):
        """The arm that is pulled, and the index draws that it took."""
        best, winner, draws = -math.inf, -1, 0
        awake = self.above[:, 0]
        pieces = np.concatenate([np.full(self.arms, 0.5**self.depth), self.lengths[:, 1:].ravel()])
        for arm in np.flatnonzero(awake):
            x = self.value(arm, rng.exponential())
            draws += 1
            if x > best:
                best, winner = x, arm
        ends = np.cumsum(pieces)
        for place in rng.uniform(0, ends[-1], rng.poisson(ends[-1])):
            draws += 1
            piece = int(np.searchsorted(ends, place, side="right"))
            if piece < self.arms:
                arm, e = piece, rng.uniform(0, 0.5**self.depth)
            else:
                arm, g = divmod(piece - self.arms, self.depth)
                e = rng.uniform(0.5 ** (g + 1), 0.5**g)
            x = self.value(arm, e)
            if x > self.level and not awake[arm] and x > best:
                best, winner = x, arm
        if best <= self.level:
            for arm in np.flatnonzero(~awake):
                draws += 1
                x = self.value(arm, self.rates[arm] + rng.exponential())
                if x > best:
                    best, winner = x, arm
        return winner, draws


def states(arms):
    rng = np.random.default_rng(7)
    yield np.full(arms, 0.5), np.ones(arms)  # all equal: every arm has a mark at the level
    yield np.linspace(0, 1, arms), 1 / np.sqrt(rng.integers(1, 500, arms))
    means = rng.random(arms)
    means[0] = 30.0  # far ahead
    yield means, np.full(arms, 0.1)
    yield rng.normal(size=arms) ** 3, np.exp(rng.normal(size=arms) * 3)


@pytest.mark.parametrize("arms", [2, 3, 64, 1000])
def test_weights_and_rates(arms):
    """omega <= W < 2 omega, each arm's places reach beyond its rate, and the rates sum to ln K at least."""
    omega = 2 * math.log(arms) + 1
    for means, deviations in states(arms):
        marks = Marks(means, deviations)
        assert omega <= marks.weight < 2 * omega
        reach = marks.lengths.sum(axis=1) + 0.5**marks.depth
        asleep = ~marks.above[:, 0]
        assert np.all(reach[asleep] > marks.rates[asleep] * (1 - 1e-9))
        assert np.all(reach <= 2 * np.minimum(marks.rates, 1) * (1 + 1e-9) + 0.5**marks.depth)
        assert marks.rates.sum() >= math.log(arms)


@pytest.mark.parametrize("arms", [3, 40])
def test_the_law_and_the_draws(arms):
    """4000 rounds of each state: pulls against the exact chances, and the mean draws below the bound."""
    rng = np.random.default_rng(8)
    rounds = 4000
    for means, deviations in states(arms):
        marks = Marks(means, deviations)
        pulled, draws = np.array([marks.round(rng) for _ in range(rounds)]).T
        z = np.linspace(-9, 9, 6001)
        x = means[:, None] + deviations[:, None] * z
        others = [
            sum(log_ndtr((x[i] - means[j]) / deviations[j]) for j in range(arms) if j != i)
            for i in range(arms)
        ]
        chances = np.trapezoid(norm.pdf(z) * np.exp(others), z, axis=1)
        assert chances.sum() == pytest.approx(1.0, abs=1e-3)
        apart = np.bincount(pulled, minlength=arms) - rounds * chances
        assert np.all(np.abs(apart) < 5 * np.sqrt(rounds * chances * (1 - chances)) + 3)
        error = draws.std(ddof=1) / math.sqrt(rounds)
        assert draws.mean() < 4 * math.log(arms) + 3 + 3 * error
        forced = arms * math.exp(-marks.rates.sum())
        assert draws.mean() == pytest.approx(marks.weight + forced, abs=5 * error + forced)


def test_the_formulas():
    assert sleepers_draws(1000) == pytest.approx(4 * math.log(1000) + 3)
    assert sleepers_draws(5) == pytest.approx(4 * math.log(5) + 3)  # also where that is more than 5
    assert sleepers_evaluations(1024) == pytest.approx(4 * math.log(1024) + 16)


def test_the_entropy_of_a_run():
    """Vanilla TS, two coins, 200 runs: the mean of the summed entropies, exact for each state: Theorem M."""
    rng = np.random.default_rng(11)
    horizon, runs = 2000, 200
    means = np.array([0.75, 0.25])
    sums, counts = (rng.random((runs, 2)) < means).astype(float), np.ones((runs, 2))
    bits, rows = np.zeros(runs), np.arange(runs)
    for _ in range(horizon - 2):
        mean = sums / counts
        apart = (mean[:, 0] - mean[:, 1]) / np.sqrt((1 / counts).sum(axis=1))
        logs = np.stack([log_ndtr(apart), log_ndtr(-apart)])
        bits -= (np.exp(logs) * logs).sum(axis=0) / math.log(2)
        arm = (rng.random(runs) >= np.exp(logs[0])).astype(int)
        sums[rows, arm] += rng.random(runs) < means[arm]
        counts[rows, arm] += 1
    bad = counts[:, 1]
    bound = tosses(bad.mean() - 5 * bad.std(ddof=1) / math.sqrt(runs), 2, horizon)
    assert 0.2 * bound < bits.mean() < bound
    assert tosses(10.0, 2, 1e6) < tosses(100.0, 2, 1e6) < tosses(100.0, 3, 1e6)
