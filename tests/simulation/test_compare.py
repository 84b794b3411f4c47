"""Comparisons of policies, against SciPy, a second implementation, and the truth where it is known."""

import dataclasses
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import thrifty
from tests.support.chance import SIGMAS, UNLUCKY
from thrifty.cli import main
from thrifty.simulation import comparison

Floats = NDArray[np.float64]

POLICIES = (thrifty.ThompsonSampling(), thrifty.TSMA(), thrifty.UCB1(), thrifty.KLUCBPlusPlus())
LABELS = tuple(policy.label for policy in POLICIES)


@cache
def simulated(policies: int, runs: int, moments: int) -> thrifty.Result:
    problem, checkpoints = thrifty.Bernoulli([0.5, 0.4]), range(2, moments + 2)
    return thrifty.simulate(POLICIES[:policies], problem, moments + 1, runs, checkpoints=checkpoints)


def result_of(*regrets: Floats) -> thrifty.Result:
    """A result with these regrets, (run, checkpoint) for each policy."""
    return dataclasses.replace(simulated(len(regrets), *regrets[0].shape), regret=np.stack(regrets))


def walks(seed: int, sets: int, runs: int, moments: int) -> Floats:
    """Skewed random walks with mean 0, (set, run, checkpoint)."""
    steps = np.random.default_rng(seed).exponential(size=(sets, runs, moments)) - 1.0
    return steps.cumsum(axis=2)


def test_rounding_is_not_a_difference() -> None:
    """The same pulls, added up in another order."""
    first = np.full((5, 3), 3.0)
    second = np.nextafter(first, 4.0)
    found = result_of(first, second).compare(*simulated(2, 5, 3).labels[:2])
    assert found.verdict.startswith("no difference")
    assert (found.wins, found.ties) == (0.0, 1.0)
    assert not found.mean.any()


# Two policies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("runs", [2, 3, 40])
def test_the_interval_is_that_of_students_paired_test(runs: int, level: float) -> None:
    first, second = 5.0 + walks(1, 2, runs, 9)
    difference = result_of(first, second).compare(LABELS[0], LABELS[1], level)
    theirs = stats.ttest_rel(first, second)
    low, high = theirs.confidence_interval(level)
    np.testing.assert_allclose(difference.interval, [low, high], rtol=1e-9)
    np.testing.assert_allclose(difference.mean, (first - second).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(difference.mean / difference.error, theirs.statistic, rtol=1e-9)
    np.testing.assert_array_equal(difference.checkpoints, range(2, 11))


def slow_maxima(values: Floats, samples: int, seed: int) -> Floats:
    """The largest t statistic of resampled runs, one sample at a time."""
    rng, runs = np.random.default_rng(seed), len(values)
    largest = []
    for _ in range(samples):
        drawn = values[rng.integers(runs, size=runs)]
        errors = drawn.std(axis=0, ddof=1) / math.sqrt(runs)
        largest.append(np.max(np.abs(drawn.mean(axis=0) - values.mean(axis=0)) / errors))
    return np.array(largest)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_band_is_the_bootstrap_of_the_largest_statistic(level: float) -> None:
    """Both are quantiles of samples: that of 2,000 is among those of 8,000 whose levels it may be mistaken
    for."""
    (values,) = walks(2, 1, 25, 12)
    result = result_of(50.0 + values, np.full_like(values, 50.0))
    difference = result.compare(LABELS[0], LABELS[1], level)
    reach = (difference.band[1] - difference.mean) / difference.error
    assert reach == pytest.approx(reach[0])
    np.testing.assert_allclose(difference.band.mean(axis=0), difference.mean, atol=1e-12)
    error = math.sqrt(level * (1.0 - level) * (1.0 / comparison.SAMPLES + 1.0 / 8_000))
    maxima = slow_maxima(values, 8_000, 3)
    low, high = np.quantile(maxima, [level - SIGMAS * error, min(1.0, level + SIGMAS * error)])
    assert low < reach[0] < high


def test_how_often_the_band_holds() -> None:
    """300 data sets of 25 runs: all of the true difference, 0, is inside in 95 % of them. Of the intervals
    for each t by itself, one or another is wrong far more often than that."""
    sets = 300
    inside = alone = 0
    for values in walks(4, sets, 25, 30):
        difference = result_of(100.0 + values, np.full_like(values, 100.0)).compare(LABELS[0], LABELS[1])
        for name, (low, high) in (("band", difference.band), ("alone", difference.interval)):
            holds = bool(((low <= 0.0) & (high >= 0.0)).all())
            inside += holds and name == "band"
            alone += holds and name == "alone"
    assert stats.binomtest(inside, sets, 0.95, "less").pvalue > UNLUCKY
    assert stats.binomtest(inside, sets, 0.99, "greater").pvalue > UNLUCKY
    assert stats.binomtest(alone, sets, 0.95, "less").pvalue < UNLUCKY


def test_wins_and_ties() -> None:
    first = np.array([[0.0, 1.0], [0.0, 3.0], [0.0, 5.0], [0.0, 2.0]])
    second = np.array([[0.0, 2.0], [0.0, 3.0 + 1e-15], [0.0, 4.0], [0.0, 6.0]])
    difference = result_of(first, second).compare(LABELS[0], LABELS[1])
    assert (difference.wins, difference.ties) == (0.5, 0.25)
    assert difference.error[0] == 0.0
    np.testing.assert_array_equal(difference.band[:, 0], [0.0, 0.0])


def test_who_is_better() -> None:
    rng = np.random.default_rng(5)
    low, high = rng.normal(10.0, 1.0, (20, 1)), rng.normal(12.0, 1.0, (20, 1))
    result = result_of(low, high, low + rng.normal(0.0, 1.0, (20, 1)))
    a, b, c = LABELS[:3]
    assert result.compare(a, b).verdict == f"{a} has less regret than {b} at the horizon"
    assert result.compare(b, a).verdict == f"{a} has less regret than {b} at the horizon"
    assert result.compare(a, c).verdict == "no difference at the horizon that 95 % intervals show"


def test_identical_policies() -> None:
    """TS-TD with alpha = 0 is Thompson sampling, number for number."""
    problem = thrifty.Bernoulli([0.9, 0.5])
    result = thrifty.simulate([thrifty.ThompsonSampling(), thrifty.TSTD()], problem, 50, runs=3)
    for pair in (result.labels, result.labels[:1] * 2):
        difference = result.compare(*pair)
        for name in ("mean", "error", "interval", "band"):
            assert not getattr(difference, name).any()
        assert (difference.wins, difference.ties) == (0.0, 1.0)
        assert difference.verdict.startswith("no difference")
    assert [(rank.excess, rank.high, rank.best, rank.worst) for rank in result.ranking().ranks] == [
        (0.0, 0.0, 1, 2)
    ] * 2


def test_rounding_is_no_difference() -> None:
    """A column of one constant, whose sums come out in different ways, leaves the others' band alone."""
    (values,) = walks(6, 1, 25, 8)
    rng = np.random.default_rng(7)
    constant = 0.1 + 1e-17 * rng.integers(-3, 4, (25, 1)) + rng.choice([0.0, 1.4e-17], (25, 1))
    assert np.ptp(constant) > 0.0
    alone = result_of(50.0 + values, np.full_like(values, 50.0)).compare(LABELS[0], LABELS[1])
    zeros = np.zeros((25, 1))
    both = result_of(np.hstack([constant, 50.0 + values]), np.hstack([zeros, np.full_like(values, 50.0)]))
    difference = both.compare(LABELS[0], LABELS[1])
    np.testing.assert_allclose(difference.band[:, 1:], alone.band, rtol=1e-12)
    np.testing.assert_allclose(difference.band[:, 0], [0.1, 0.1], rtol=1e-12)
    assert difference.error[0] == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("TS (Gaussian)", "nobody"),
         "policy must be one of 'TS (Gaussian)', 'TS-MA-0', or the call that makes one of them, "
         "got 'nobody'"),
        (("TS (Gaussian)", "TS-MA-0", 1.0), "level must be in (0, 1), got 1.0"),
        (("TS (Gaussian)", "TS-MA-0", 0.0), "level must be in (0, 1), got 0.0"),
        (("TS (Gaussian)", "TS-MA-0", 95), "level must be in (0, 1), got 95"),
    ],
)  # fmt: skip
def test_mistakes(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(thrifty.InvalidValue) as caught:
        result_of(*walks(8, 2, 4, 3)).compare(*arguments)
    assert str(caught.value) == message


def test_one_run_tells_nothing() -> None:
    result = result_of(*walks(8, 2, 1, 3))
    for call in (lambda: result.compare(*result.labels), result.ranking):
        with pytest.raises(thrifty.InvalidValue, match=r"^a comparison needs at least 2 runs, got 1$"):
            call()


# All policies ----------------------------------------------------------------------------------------------


def test_ranks_of_policies_that_are_far_apart() -> None:
    rng = np.random.default_rng(9)
    regrets = [rng.normal(mean, 1.0, (30, 1)) for mean in (20.0, 10.0, 30.0, 20.1)]
    ranking = result_of(*regrets).ranking(0.9)
    means = [float(values.mean()) for values in regrets]
    order = sorted(range(4), key=means.__getitem__)
    assert [rank.policy for rank in ranking.ranks] == [LABELS[p] for p in order]
    assert [rank.regret for rank in ranking.ranks] == pytest.approx(sorted(means))
    assert [(rank.best, rank.worst) for rank in ranking.ranks] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    for rank, p in zip(ranking.ranks, order, strict=True):
        assert rank.excess == pytest.approx(means[p] - means[1])
        assert rank.low <= rank.excess <= rank.high
    assert (ranking.ranks[0].low, ranking.ranks[0].high) == (0.0, 0.0)
    lines = str(ranking).splitlines()
    assert lines[0].split("  ")[0].strip() == "policy"
    assert [line.split()[-1] for line in lines[2:]] == ["1", "3", "3", "4"]
    assert "2 to 3" in lines[3]


def test_ranks_hold_together() -> None:
    """True ranks, where two policies share a place, are among those left open, for all of them at once, in 95
    of 100 data sets."""
    sets, means = 200, np.array([10.0, 10.4, 10.4, 11.0])
    rng, fine, decided = np.random.default_rng(10), 0, 0
    possible = [(1, 1), (2, 3), (2, 3), (4, 4)]
    for _ in range(sets):
        regrets = means[:, None, None] + rng.exponential(size=(4, 25, 1)) - 1.0
        ranks = {rank.policy: rank for rank in result_of(*regrets).ranking().ranks}
        pairs = [(ranks[label], truth) for label, truth in zip(LABELS, possible, strict=True)]
        fine += all(rank.best <= truth[0] and truth[1] <= rank.worst for rank, truth in pairs)
        decided += sum(rank.worst - rank.best < 3 for rank, _ in pairs)
    assert stats.binomtest(fine, sets, 0.95, "less").pvalue > UNLUCKY
    assert decided > sets  # more than one of the four, on average: the ranks do say something


def test_a_policy_alone_is_the_first() -> None:
    (rank,) = result_of(walks(11, 1, 4, 3)[0]).ranking().ranks
    assert (rank.policy, rank.excess, rank.low, rank.high, rank.best, rank.worst) == (
        LABELS[0],
        0,
        0,
        0,
        1,
        1,
    )


# The command line ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    problem = thrifty.Bernoulli([0.9, 0.5, 0.5])
    result = thrifty.simulate(POLICIES, problem, 2000, runs=12, seed=2)
    return result.save(tmp_path_factory.mktemp("compare") / "result.npz")


def test_the_ranking_is_printed(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(saved), "--level", "0.9"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(str(thrifty.Result.load(saved).ranking(0.9)))
    assert out.endswith("\n\n12 runs; all intervals and ranks together hold at 90 %\n")


def test_two_policies_are_compared(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure = tmp_path / "difference.png"
    assert main(["compare", str(saved), LABELS[3], LABELS[1], "--plot", str(figure)]) == 0
    difference = thrifty.Result.load(saved).compare(LABELS[3], LABELS[1])
    out = capsys.readouterr().out
    assert out == f"{difference}\n\nwrote {figure}\n"
    assert figure.read_bytes().startswith(b"\x89PNG")
    lines = out.splitlines()
    assert lines[0] == f"{LABELS[3]} minus {LABELS[1]}"
    last = lines[lines.index("", 2) - 1].split()
    values = difference.mean[-1], difference.error[-1], *difference.interval[:, -1], *difference.band[:, -1]
    assert last == ["2,000", *(f"{value:,.2f}" for value in values)]
    assert len(lines[4 : lines.index("", 2)]) == comparison.SHOWN
    assert f"{LABELS[3]} has less regret than {LABELS[1]} at the horizon; " in out


def test_every_result_of_a_folder_is_compared(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(saved)]) == 0
    alone = capsys.readouterr().out
    assert main(["compare", str(saved.parent)]) == 0
    assert capsys.readouterr().out == alone
    for name in ("b", "a"):
        (tmp_path / f"{name}.npz").write_bytes(saved.read_bytes())
    assert main(["compare", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"a\n\n{alone}\nb\n\n{alone}"
    assert main(["compare", str(tmp_path), LABELS[3], LABELS[1], "--plot", str(tmp_path / "x.png")]) == 2
    said = f"--plot draws one result, and {tmp_path} has 2: name one"
    assert capsys.readouterr().err == f"thrifty: error: {said}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["TS-MA-0"], "policies must be two, or none for a ranking, got 1"),
        (
            ["TS-MA-0", "TS-MA-1"],
            "policy must be one of 'TS (Gaussian)', 'TS-MA-0', 'UCB1', 'KL-UCB++', or the call that makes "
            "one of them, got 'TS-MA-1'",
        ),
        (["--plot", "x.png"], "--plot draws the difference of two policies: name them"),
        (["--level", "2"], "level must be in (0, 1), got 2.0"),
    ],
)
def test_mistakes_on_the_command_line(
    saved: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(saved), *arguments]) == 2
    assert capsys.readouterr().err == f"thrifty: error: {message}\n"
