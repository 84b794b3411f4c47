"""Figure 2 and TS-TD: the draws at T = 10^6, with m optimal arms (results ``draws-m*``)."""

from itertools import pairwise

from thrifty.paper.claim import (
    DIRECTION,
    FAILS,
    HOLDS,
    MARGIN,
    Claim,
    Estimate,
    Results,
    by_m,
    draws,
    draws_on,
    estimate,
    optimal_share,
    plus_minus,
    regret,
    rising,
    rising_rows,
    setting,
    short,
)
from thrifty.paper.claims.grid import figure2_setting
from thrifty.paper.experiments import ALPHAS, OPTIMAL
from thrifty.policies import TSTD, ThompsonSampling, batch_size
from thrifty.theory import ts_td_draws

LARGE = tuple(alpha for alpha in ALPHAS if alpha > 0.5)


def ts_td_zero_basically_vanilla(results: Results) -> Claim:
    """Holds if TS-TD-0 spares less than 0.1 % of the draws of Vanilla TS (phi < T: it could spare some)."""
    one = results["draws-m1"]
    spared = estimate(1.0 - draws(one, TSTD(0.0)) / draws(one, ThompsonSampling()))
    phi = batch_size(one.settings.horizon, 0.0)
    size = "less" if phi < one.settings.horizon else "not less"
    return Claim(
        id="ts-td-0-basically-vanilla",
        place="Section 5, Figure 2",
        claim="With α = 0, TS-TD basically is Vanilla TS also at T = 10^6.",
        paper="basically Vanilla TS",
        measured=f"{100 * spared.mean:.2g} % of the draws are spared (φ = {phi:,} is {size} than T)",
        error=plus_minus([100.0 * spared.error], "%"),
        runs=one.settings.runs,
        settings=f"{setting(one)}, α=0",
        verdict=HOLDS if spared.mean < 0.001 else FAILS,
    )


def ts_td_zero_draws(results: Results) -> Claim:
    """Holds if the draws are within 1 % of K T for every m."""
    totals = {m: estimate(draws(results[f"draws-m{m}"], TSTD(0.0))) for m in OPTIMAL}
    one = results["draws-m1"]
    full = one.settings.problem.gaps.size * one.settings.horizon
    return Claim(
        id="ts-td-0-draws",
        place="Section 5, Figure 2",
        claim="With α = 0, TS-TD draws K T samples, however many arms are optimal.",
        paper="2e7 for every m",
        measured=by_m({m: short(value.mean) for m, value in totals.items()}),
        error=plus_minus([value.error for value in totals.values()]),
        runs=one.settings.runs,
        settings=f"{setting(one, optimal=False)}, α=0",
        verdict=HOLDS if all(value.near(full, 0.01 * full) for value in totals.values()) else FAILS,
    )


def ts_td_draws_ten(results: Results) -> Claim:
    """See ``_published_draws``."""
    return _published_draws(results, 10, "1.0e7")


def ts_td_draws_one(results: Results) -> Claim:
    """See ``_published_draws``."""
    return _published_draws(results, 1, "0.25e7")


def _published_draws(results: Results, m: int, published: str) -> Claim:
    """Holds if the draws are within 10 % or 5 standard errors of the published number.

    Beside it, if the grid was simulated: which phi and variance would give both published numbers.
    """
    result = results[f"draws-m{m}"]
    total = estimate(draws(result, TSTD(0.8)))
    return Claim(
        id=f"ts-td-0.8-draws-m{m}",
        place="Section 5, Figure 2",
        claim=f"TS-TD-0.8 draws about {published} samples in all.",
        paper=f"around {published}",
        measured=short(total.mean) + (f"; {figure2_setting(results)}" if "grid-m1" in results else ""),
        error=plus_minus([total.error]),
        runs=result.settings.runs,
        settings=f"{setting(result)}, α=0.8, φ and variance as stated",
        verdict=HOLDS if total.near(float(published), MARGIN * float(published)) else FAILS,
    )


def ts_td_draws_grow(results: Results) -> Claim:
    """Holds if, for each alpha > 0, the draws clearly grow from each m to the next.

    In direction if they do from the first m to the last.
    """
    one = results["draws-m1"]
    totals = {a: [estimate(draws(results[f"draws-m{m}"], TSTD(a))) for m in OPTIMAL] for a in LARGE}
    return Claim(
        id="ts-td-draws-grow-with-m",
        place="Section 5, Figure 2",
        claim="For α > 0, TS-TD draws more when more arms are optimal.",
        paper="0.25e7 to 1.0e7 for α = 0.8",
        measured="; ".join(
            f"α={a:g}: " + ", ".join(short(value.mean) for value in row) for a, row in totals.items()
        )
        + f" (m = {', '.join(map(str, OPTIMAL))})",
        error=plus_minus([value.error for row in totals.values() for value in row]),
        runs=one.settings.runs,
        settings=setting(one, optimal=False),
        verdict=rising_rows(totals.values()),
    )


def suboptimal_draws_negligible(results: Results) -> Claim:
    """Holds if, for each alpha > 0.5, at most 10 % of all draws at T = 10^6 go to sub-optimal arms.

    The paper says it for T large enough, and our upper bound on these draws shows it: in direction if they
    are more, unless a longer horizon was simulated and the share has not fallen there.
    """
    one = results["draws-m1"]
    shares = {a: estimate(1.0 - optimal_share(one, TSTD(a))) for a in LARGE}
    means = one.settings.problem.expectations.tolist()
    growth = [result for name, result in results.items() if name.startswith("growth-")]
    longest = max(growth, key=lambda result: result.settings.horizon, default=one)
    later = {
        a: estimate(1.0 - optimal_share(longest, TSTD(a)))
        for a in LARGE
        if longest.settings.horizon > one.settings.horizon and TSTD(a).label in longest.labels
    }
    falls = all(value.mean < shares[a].mean for a, value in later.items())
    small = all(value.mean <= 0.10 for value in shares.values())
    return Claim(
        id="ts-td-suboptimal-draws-negligible",
        place="Section 4.3, discussion of TS-TD",
        claim="When T is large enough and α > 0.5, TS-TD's draws on sub-optimal arms are negligible.",
        paper="negligible, when T is large enough",
        measured=f"{_percentages(shares)} of all draws at T={short(one.settings.horizon)}"
        + (f", {_percentages(later)} at T={short(longest.settings.horizon)}" if later else "")
        + "; our bound brings them below 10 % from "
        + ", ".join(f"T={_small_from(means, a):.0e} (α={a:g})".replace("e+", "e") for a in LARGE)
        + "; of the 0.25e7 draws that the paper prints at most 0.1e7 can be those of the optimal arm",
        error=plus_minus([100.0 * value.error for value in (*shares.values(), *later.values())], "points"),
        runs=one.settings.runs if not later else min(one.settings.runs, longest.settings.runs),
        settings=setting(one, horizon=False),
        verdict=HOLDS if small else DIRECTION if falls else FAILS,
    )


def _percentages(shares: dict[float, Estimate]) -> str:
    return ", ".join(f"{100 * value.mean:.0f} % (α={a:g})" for a, value in shares.items())


def _small_from(means: list[float], alpha: float) -> float:
    """The first power of ten from which the bound on sub-optimal draws is at most a tenth of all draws."""
    best = max(means)
    horizon = 10.0
    while ts_td_draws(means, horizon, alpha) > means.count(best) * horizon / 0.9:
        horizon *= 10.0
    return horizon


def two_phases(results: Results) -> Claim:
    """Holds if, for each alpha > 0.5, optimal arms draw in over 90 % of the rounds, the others in under half.

    An arm draws in phase I alone. In direction if sub-optimal arms draw clearly less often than optimal ones.
    """
    one = results["draws-m1"]
    horizon = one.settings.horizon
    best = {a: draws_on(one, TSTD(a), optimal=True) / horizon for a in LARGE}
    other = {a: draws_on(one, TSTD(a), optimal=False) / horizon for a in LARGE}
    holds = all(best[a].mean() > 0.9 and other[a].mean() < 0.5 for a in LARGE)
    apart = [estimate(best[a] - other[a]) for a in LARGE]
    return Claim(
        id="ts-td-two-phases",
        place="Section 4.3",
        claim="In TS-TD optimal arms mostly stay in phase I and sub-optimal ones in phase II.",
        paper="mostly",
        measured="rounds with a draw: "
        + ", ".join(
            f"α={a:g}: {100 * best[a].mean():.1f} % optimal, {100 * other[a].mean():.0f} % sub-optimal"
            for a in LARGE
        ),
        error=plus_minus([100.0 * value.error for value in apart], "points"),
        runs=one.settings.runs,
        settings=setting(one),
        verdict=HOLDS if holds else DIRECTION if all(value.positive for value in apart) else FAILS,
    )


def alpha_trades_ts_td(results: Results) -> Claim:
    """Holds if from each alpha to the next regret clearly rises and draws clearly fall (paired runs).

    In direction if both do so from the smallest alpha to the largest.
    """
    one = results["draws-m1"]
    lost = [regret(one, TSTD(a)) for a in ALPHAS]
    spent = [draws(one, TSTD(a)) for a in ALPHAS]
    steps = [estimate(b - a) for a, b in pairwise(lost)] + [estimate(a - b) for a, b in pairwise(spent)]
    whole = [estimate(lost[-1] - lost[0]), estimate(spent[0] - spent[-1])]
    return Claim(
        id="alpha-trades-ts-td",
        place="Section 1; Section 4.3",
        claim="α trades regret for draws in TS-TD.",
        paper="larger α: fewer draws, more regret",
        measured="; ".join(
            f"α={a:g}: regret {loss.mean():,.0f}, draws {short(cost.mean())}"
            for a, loss, cost in zip(ALPHAS, lost, spent, strict=True)
        ),
        error=plus_minus([estimate(loss).error for loss in lost], "on a regret"),
        runs=one.settings.runs,
        settings=setting(one),
        verdict=rising(steps, whole),
    )
