"""How many samples each kind of policy draws, against the number of arms (results ``arms-K*``)."""

import math
from collections.abc import Sequence

from thrifty.paper.claim import (
    DIRECTION,
    FAILS,
    HOLDS,
    Claim,
    Estimate,
    Results,
    draws,
    estimate,
    fewest_runs,
    plus_minus,
    setting,
    short,
)
from thrifty.policies import TSMA, TSTD, EpsilonTS, ThompsonSampling, batch_size
from thrifty.simulation.result import Result

BATCH = TSMA(1.0, sampling="batch")


def vanilla_draws(results: Results) -> Claim:
    """Holds if every run draws K (T - K): one sample per arm and round, after K initial pulls without any."""
    sizes = _by_arms(results)
    exact = all(
        bool((draws(one, ThompsonSampling()) == k * (one.settings.horizon - k)).all())
        for k, one in sizes.items()
    )
    return _count(
        results,
        name="vanilla-draws",
        place="Section 1; Section 4.2",
        claim="Vanilla TS draws K T samples.",
        paper="K T",
        measured="exactly K (T - K), the initial pulls need none" if exact else "not K (T - K)",
        verdict=HOLDS if exact else FAILS,
    )


def epsilon_draws(results: Results) -> Claim:
    """Holds if the mean is within 5 standard errors of epsilon K (T - K) = T - K at every K.

    There are K (T - K) coins in a run, so the variance is known: (T - K) (1 - 1/K).
    """
    sizes = _by_arms(results)
    ratios = []
    for k, one in sizes.items():
        expected = one.settings.horizon - k
        error = math.sqrt((1.0 - 1.0 / k) / (expected * one.settings.runs))
        ratios.append(Estimate(float(draws(one, EpsilonTS()).mean()) / expected, error))
    return _count(
        results,
        name="epsilon-draws",
        place="Section 3; Section 4.3",
        claim="ε-TS draws ε K T samples in expectation.",
        paper="ε K T",
        measured=", ".join(f"{ratio.mean:.4f}" for ratio in ratios) + " times ε K (T - K), for growing K",
        error=plus_minus([ratio.error for ratio in ratios]),
        verdict=HOLDS if all(ratio.near(1.0, 0.0) for ratio in ratios) else FAILS,
    )


def ts_ma_draws(results: Results) -> Claim:
    """Holds if every run draws T samples and the engine made no more random numbers for indices than that."""
    exact = all(
        bool((draws(one, TSMA(0.8)) == one.settings.horizon).all())
        and bool((one.evaluations[one.labels.index(TSMA(0.8).label)] == one.settings.horizon).all())
        for one in results.values()
    )
    return _count(
        results,
        name="ts-ma-draws",
        place="Section 4.2, discussion of TS-MA",
        claim="Implemented efficiently, TS-MA draws T samples.",
        paper="T",
        measured="exactly T, one draw of the maximum per pull" if exact else "not T",
        verdict=HOLDS if exact else FAILS,
    )


def ts_ma_batch_draws(results: Results) -> Claim:
    """Holds if every run draws T ceil(phi)."""
    one = next(iter(results.values()))
    phi = batch_size(one.settings.horizon, 1.0)
    exact = all(bool((draws(one, BATCH) == one.settings.horizon * phi).all()) for one in results.values())
    return _count(
        results,
        name="ts-ma-batch-draws",
        place="Section 4.2, discussion of TS-MA",
        claim="Implemented as written, TS-MA draws T φ samples.",
        paper="T φ",
        measured=f"exactly T φ, φ = {phi} at α = 1: (2/c₀) ln T, rounded up" if exact else "not T φ",
        verdict=HOLDS if exact else FAILS,
    )


def ts_ma_draws_free_of_arms(results: Results) -> Claim:
    """Holds if both forms of TS-MA draw the same number at every K."""
    sizes = _by_arms(results)
    seen = {
        policy.label: sorted({int(total) for one in sizes.values() for total in draws(one, policy)})
        for policy in (TSMA(0.8), BATCH)
    }
    return _count(
        results,
        name="ts-ma-draws-free-of-arms",
        place="Section 1; Section 4.2",
        claim="The number of TS-MA's draws does not depend on K.",
        paper="independent of K",
        measured="; ".join(
            f"{label}: {' to '.join(short(total) for total in dict.fromkeys((totals[0], totals[-1])))}"
            for label, totals in seen.items()
        )
        + f" for every K from {min(sizes)} to {max(sizes)}",
        verdict=HOLDS if all(len(totals) == 1 for totals in seen.values()) else FAILS,
    )


def batch_pays(results: Results) -> Claim:
    """Holds if the batch form draws less than Vanilla TS at each K above phi = (2/c0) ln T and more below."""
    sizes = _by_arms(results)
    phi = batch_size(next(iter(sizes.values())).settings.horizon, 1.0)
    fewer = [
        k for k, one in sizes.items() if draws(one, BATCH).mean() < draws(one, ThompsonSampling()).mean()
    ]
    return _count(
        results,
        name="batch-pays",
        place="Section 1; Section 4.2",
        claim="Even as a batch TS-MA-1 saves draws when K is much larger than ln T, and not when K is small.",
        paper="K ≫ O(ln T)",
        measured=f"φ = {phi}; fewer draws than Vanilla TS at {_sizes(fewer)}",
        verdict=HOLDS if fewer == [k for k in sizes if k > phi] else FAILS,
    )


def ts_td_many_arms(results: Results) -> Claim:
    """Holds if at the largest K, TS-TD-0.8 draws at most 2 T samples (one arm is optimal).

    In direction if it draws a smaller share of Vanilla TS's K T than at the smallest K.
    """
    sizes = _by_arms(results)
    shares = {k: estimate(draws(one, TSTD(0.8)) / draws(one, ThompsonSampling())) for k, one in sizes.items()}
    largest = max(sizes)
    total = draws(sizes[largest], TSTD(0.8)).mean() / sizes[largest].settings.horizon
    falls = shares[largest].mean < shares[min(sizes)].mean
    return _count(
        results,
        name="ts-td-many-arms",
        place="Section 1; Section 4.3",
        claim="TS-TD is extremely efficient when there are many sub-optimal arms.",
        paper="extremely efficient",
        measured=", ".join(f"{100 * share.mean:.0f} % (K={k})" for k, share in shares.items())
        + f" of Vanilla TS's draws; {total:.0f} a round at K={largest} (2 or fewer would be "
        "extremely efficient), where TS-MA needs 1",
        error=plus_minus([100.0 * share.error for share in shares.values()], "points"),
        verdict=HOLDS if total <= 2.0 else DIRECTION if falls else FAILS,
    )


def _count(
    results: Results,
    *,
    name: str,
    place: str,
    claim: str,
    paper: str,
    measured: str,
    verdict: str,
    error: str | None = None,
) -> Claim:
    sizes = _by_arms(results)
    settings = f"{_sizes(list(sizes))}, {setting(sizes[min(sizes)], arms=False)}"
    return Claim(name, place, claim, paper, measured, error, fewest_runs(results), settings, verdict)


def _sizes(values: Sequence[int]) -> str:
    return f"K = {', '.join(map(str, values))}" if values else "no K of these"


def _by_arms(results: Results) -> dict[int, Result]:
    sizes = {one.settings.problem.gaps.size: one for one in results.values()}
    return dict(sorted(sizes.items()))
