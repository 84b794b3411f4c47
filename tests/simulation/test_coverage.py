"""How often intervals of comparisons hold for policies that are rarely very bad, where the truth is known.

The table of docs/sweeps.md is what the slow test prints:

    uv run pytest -m slow -n 0 -s tests/simulation/test_coverage.py
"""

import dataclasses
import math
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import thrifty
from tests.support.chance import UNLUCKY
from thrifty.policies import Policy
from thrifty.simulation import comparison

Floats = NDArray[np.float64]

LEAST = 0.93  # of the intervals that say 95 %
PAPER = thrifty.Bernoulli([0.9] + [0.8] * 19)
HEAVY = thrifty.EpsilonTS("beta")


@pytest.fixture(autouse=True)
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bootstrap is for the band, which is not looked at here."""
    monkeypatch.setattr(comparison, "SAMPLES", comparison.BATCH)


@cache
def pool(problem: thrifty.Bernoulli, horizon: int, runs: int, *policies: Policy) -> thrifty.Result:
    return thrifty.simulate(policies, problem, horizon, runs, seed=5, checkpoints=())


def blocks(whole: thrifty.Result, runs: int, times: int = 1) -> Iterator[thrifty.Result]:
    """Results of so many runs: the pool is shuffled and cut, so many times."""
    rng = np.random.default_rng(6)
    for _ in range(times):
        shuffled = whole.regret[:, rng.permutation(whole.settings.runs)]
        for start in range(0, whole.settings.runs - runs + 1, runs):
            yield dataclasses.replace(whole, regret=shuffled[:, start : start + runs])


@dataclasses.dataclass
class Held:
    """Shares of the data sets."""

    ours: float  # whose interval holds the truth
    students: float  # the same for m +- q s alone
    wrong: float  # that call the worse policy the better one
    right: float  # that call the better one so
    longer: float  # and how much longer than Student's interval ours is, on average


def held(results: Iterator[thrifty.Result], first: str, second: str, truth: float) -> Held:
    marks = []
    for result in results:
        difference = result.compare(first, second)
        low, high = difference.interval[:, -1].tolist()
        mean, error, runs = difference.mean[-1], difference.error[-1], difference.runs
        reach = stats.t.ppf(0.975, runs - 1) * error
        sign = math.copysign(1.0, truth) * ((low > 0.0) - (high < 0.0))  # of the verdict, 1 if it is right
        students, longer = abs(mean - truth) <= reach, (high - low) / (2.0 * reach) - 1.0
        marks.append((low <= truth <= high, students, sign < 0.0, sign > 0.0, longer))
    return Held(*np.mean(marks, axis=0).tolist())


def test_the_unseen_part_by_hand() -> None:
    """Five runs: medians 3 and 5, the worst ones 4 and 3 above them, the largest regret 100 x 0.1 = 10."""
    whole = pool(thrifty.Bernoulli([0.5, 0.4]), 100, 5, thrifty.UCB1(), thrifty.IMED())
    first, second = np.array([1.0, 2.0, 3.0, 4.0, 7.0]), np.array([5.0, 2.0, 6.0, 8.0, 2.0])
    result = dataclasses.replace(whole, regret=np.stack([first, second])[:, :, None])
    difference = result.compare(*whole.labels)
    above = 2.0 * (4.0 / 5.0) * math.log(7.0 / 4.0)
    below = 2.0 * (3.0 / 5.0) * math.log(5.0 / 3.0)
    students = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert difference.interval[:, 0] == pytest.approx([students.low - below, students.high + above])
    reach = difference.band[1, 0] - above - difference.mean[0]
    assert difference.band[0, 0] == pytest.approx(difference.mean[0] - reach - below)
    assert "\n\n5 runs are too few for intervals: " in str(difference)


def test_the_ranking_of_two_is_their_band() -> None:
    (result, *_) = blocks(pool(PAPER, 1000, 100, HEAVY, thrifty.KLUCBPlusPlus()), 50)
    ranking = result.ranking()
    first, second = (rank.policy for rank in ranking.ranks)
    difference, worse = result.compare(second, first), ranking.ranks[1]
    assert (worse.low, worse.high) == pytest.approx(tuple(difference.band[:, -1]), rel=1e-12)
    assert "too few" not in f"{ranking}{difference}"


@pytest.mark.parametrize(
    ("runs", "noise", "least"),
    [
        (10, 20.0, LEAST),
        (20, 20.0, LEAST),
        (100, 20.0, LEAST),
        (20, 1e-6, 0.9),
    ],  # the last: nothing but a tail
)
def test_a_tail_that_falls_like_one_over_x(runs: int, noise: float, least: float) -> None:
    """60 + 5/u for a uniform u, normal noise on top, against 80 and noise. Student's interval fails."""
    sets, rng = 1000, np.random.default_rng(7)
    whole = pool(PAPER, 10_000, 2, thrifty.UCB1(), thrifty.IMED())
    regrets = rng.normal([[[60.0]], [[80.0]]], [[[noise]], [[10.0]]], (2, sets, runs))
    regrets[0] += np.minimum(5.0 / rng.random((sets, runs)), 900.0)
    truth = 60.0 + 5.0 * (1.0 + math.log(180.0)) - 80.0
    results = (dataclasses.replace(whole, regret=regrets[:, i, :, None]) for i in range(sets))
    found = held(results, *whole.labels, truth)
    print(found)
    assert found.ours >= least
    assert found.wrong < 0.05
    assert stats.binomtest(round(sets * found.students), sets, LEAST, "less").pvalue < UNLUCKY


def test_a_policy_that_is_rarely_very_bad() -> None:
    problem, sets = thrifty.Bernoulli([0.9] + [0.8] * 9), 200
    whole = pool(problem, 2000, 20 * sets, HEAVY, thrifty.KLUCBPlusPlus())
    truth = float(np.subtract(*whole.regret[:, :, -1]).mean())
    found = held(blocks(whole, 20), *whole.labels, truth)
    assert stats.binomtest(round(sets * found.ours), sets, LEAST, "less").pvalue > UNLUCKY
    assert found.ours > found.students + 0.03


PAIRS = (
    (HEAVY, thrifty.KLUCBPlusPlus()),
    (HEAVY, thrifty.ExpTSPlus()),
    (thrifty.ExpTSPlus(), thrifty.KLUCBPlusPlus()),
    (thrifty.ThompsonSampling("beta"), thrifty.TSMA()),
    (thrifty.UCB1(), thrifty.IMED()),
)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: " - ".join(policy.label for policy in pair))
def test_coverage_on_the_papers_problem(pair: tuple[Policy, Policy]) -> None:
    """1,000 data sets, and more of 5, 10 and 20 runs, out of 20,000 runs. Their mean is taken for the truth:
    its error is a fourteenth, or less, of those of the data sets."""
    whole = pool(PAPER, 10_000, 20_000, *pair)
    truth = float(np.subtract(*whole.regret[:, :, -1]).mean())
    print(f"\n{' minus '.join(whole.labels)}, {truth:.1f}")
    for runs, times in ((5, 1), (10, 1), (20, 2), (40, 2), (100, 5)):
        found = held(blocks(whole, runs, times), *whole.labels, truth)
        shares = ", ".join(f"{name} {100 * share:.1f} %" for name, share in vars(found).items())
        print(f"  {runs} runs: {shares}")
        assert runs < comparison.FEW or (found.ours >= LEAST and found.wrong < 0.05)
