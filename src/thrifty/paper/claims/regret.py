"""Figure 1: the regret of the policies at T = 10^5 (results ``figure1``)."""

import math
from itertools import combinations

import numpy as np

from thrifty.arrays import Floats
from thrifty.paper.claim import (
    DIRECTION,
    FAILS,
    HOLDS,
    Claim,
    Estimate,
    Results,
    estimate,
    plus_minus,
    regret,
    setting,
    trajectory,
)
from thrifty.paper.experiments import ALPHAS, ARMS
from thrifty.policies import (
    TSMA,
    TSTD,
    EpsilonTS,
    ExpTSPlus,
    KLUCBPlusPlus,
    Policy,
    ThompsonSampling,
    batch_size,
)
from thrifty.theory import lower_bound, vanilla_limit

ROOT = 1.0 / math.sqrt(ARMS)
PAPERS: tuple[Policy, ...] = (*(TSMA(a) for a in ALPHAS), *(TSTD(a) for a in ALPHAS))
OPTIMAL: tuple[Policy, ...] = (  # proved to be asymptotically optimal
    ThompsonSampling("beta"),
    EpsilonTS("beta"),
    EpsilonTS("beta", ROOT),
    ExpTSPlus(),
    KLUCBPlusPlus(),
)
# The same schedule with a Gaussian and with a Beta law: first the paper's pairs, then the new cells.
PAIRS: tuple[tuple[Policy, Policy], ...] = (
    (ThompsonSampling("gaussian"), ThompsonSampling("beta")),
    (EpsilonTS("gaussian"), EpsilonTS("beta")),
    (EpsilonTS("gaussian", ROOT), EpsilonTS("beta", ROOT)),
    (TSMA(0.0), TSMA(0.0, "beta")),
    (TSMA(0.8), TSMA(0.8, "beta")),
    (TSTD(0.8), TSTD(0.8, "beta")),
    (TSTD(1.0), TSTD(1.0, "beta")),
)
# Schedules that differ in nothing else: the same law and the same alpha (a larger alpha widens the law).
SCHEDULES: tuple[tuple[Policy, ...], ...] = (
    (
        ThompsonSampling("gaussian"),
        EpsilonTS("gaussian"),
        EpsilonTS("gaussian", ROOT),
        TSMA(0.0),
        TSTD(0.0),
    ),
    (TSMA(0.8), TSTD(0.8)),
    (TSMA(1.0), TSTD(1.0)),
    (ThompsonSampling("beta"), EpsilonTS("beta"), EpsilonTS("beta", ROOT), TSMA(0.0, "beta")),
    (TSMA(0.8, "beta"), TSTD(0.8, "beta")),
)


def ts_td_zero_is_vanilla(results: Results) -> Claim:
    """Holds if the regret is the same number at every checkpoint of every run (the streams are shared)."""
    figure = results["figure1"]
    ours, vanilla = trajectory(figure, TSTD(0.0)), trajectory(figure, ThompsonSampling())
    equal = int((ours == vanilla).all(axis=1).sum())
    phi = batch_size(figure.settings.horizon, 0.0)
    size = "more" if phi > figure.settings.horizon else "not more"
    return Claim(
        id="ts-td-0-is-vanilla",
        place="Section 5, Figure 1(a)",
        claim="With α = 0, TS-TD is Vanilla TS.",
        paper="it boils down to Vanilla TS",
        measured=f"the same trajectory in {equal} of {len(ours)} runs (φ = {phi:,} is {size} than T)",
        error=None,
        runs=figure.settings.runs,
        settings=f"{setting(figure)}, α=0",
        verdict=HOLDS if equal == len(ours) else FAILS,
    )


def epsilon_one_is_ts(results: Results) -> Claim:
    """Holds if the means of paired differences are within 5 standard errors of 0.

    The trajectories differ, because the coins shift the random numbers.
    """
    figure = results["figure1"]
    apart = {
        law: estimate(regret(figure, EpsilonTS(law, 1.0)) - regret(figure, ThompsonSampling(law)))
        for law in ("gaussian", "beta")
    }
    return Claim(
        id="epsilon-1-is-ts",
        place="Section 5, list of algorithms",
        claim="With ε = 1, ε-TS is Thompson sampling.",
        paper="it boils down to Vanilla TS",
        measured="regret differs by "
        + ", ".join(f"{value.mean:+.0f} ({law.title()})" for law, value in apart.items()),
        error=plus_minus([value.error for value in apart.values()]),
        runs=figure.settings.runs,
        settings=setting(figure),
        verdict=HOLDS if all(value.near(0.0, 0.0) for value in apart.values()) else FAILS,
    )


def order_of_figure1(results: Results) -> Claim:
    """Holds if each of the paper's algorithms clearly has more regret than each asymptotically optimal one.

    By paired runs; in direction if so by the means alone.
    """
    figure = results["figure1"]
    apart = [estimate(regret(figure, ours) - regret(figure, theirs)) for ours in PAPERS for theirs in OPTIMAL]
    best = min(PAPERS, key=lambda policy: float(regret(figure, policy).mean()))
    worst = max(OPTIMAL, key=lambda policy: float(regret(figure, policy).mean()))
    edges = [estimate(regret(figure, policy)) for policy in (best, worst)]
    return Claim(
        id="order-of-figure-1",
        place="Section 5, Figure 1",
        claim="TS-MA and TS-TD do not beat the asymptotically optimal algorithms.",
        paper="they cannot beat them",
        measured=f"the better of the two is {best.label} with {edges[0].mean:,.0f}, "
        f"the worst of those {worst.label} with {edges[1].mean:,.0f}",
        error=plus_minus([edge.error for edge in edges]),
        runs=figure.settings.runs,
        settings=f"{setting(figure)}, α in {{{', '.join(f'{a:g}' for a in ALPHAS)}}}",
        verdict=_all_above(apart),
    )


def law_over_schedule(results: Results) -> Claim:
    """Holds if at each schedule the Gaussian law clearly has more regret than the Beta law (paired runs).

    Beside it, by medians over the cells: what the law changes and what the schedule changes.
    """
    figure = results["figure1"]
    apart = [estimate(regret(figure, wide) - regret(figure, narrow)) for wide, narrow in PAIRS]
    laws = [_ratio(regret(figure, wide), regret(figure, narrow)) for wide, narrow in PAIRS]
    schedules = [
        max(
            _ratio(regret(figure, one), regret(figure, other)),
            _ratio(regret(figure, other), regret(figure, one)),
        )
        for group in SCHEDULES
        for one, other in combinations(group, 2)
    ]
    return Claim(
        id="law-over-schedule",
        place="Section 5, discussion of Figure 1",
        claim="Beta samples explore less than Gaussian ones and so lose less.",
        paper="less exploration leads to better performance",
        measured=f"at the same schedule the Gaussian law multiplies the regret by {_spread(laws)}; with the "
        f"same law and α the worse of two schedules does by {_spread(schedules)}",
        error=plus_minus([value.error for value in (*laws, *schedules)], "on a ratio"),
        runs=figure.settings.runs,
        settings=f"{setting(figure)}; TS, ε-TS, and TS-MA and TS-TD with a Beta law (ours)",
        verdict=_all_above(apart),
    )


def little_reward_given_up(results: Results) -> Claim:
    """Judged by what uniform play loses, since even that collects nine tenths of the reward here.

    Holds if each of the paper's algorithms loses at most 1.5 times what Vanilla TS loses; in direction if
    each loses at most half of what uniform play loses.
    """
    figure = results["figure1"]
    problem, horizon = figure.settings.problem, figure.settings.horizon
    ceiling = float(problem.expectations.max()) * horizon
    uniform = float(problem.gaps.mean()) * horizon
    vanilla = float(regret(figure, ThompsonSampling()).mean())
    finals = {policy.label: estimate(regret(figure, policy)) for policy in PAPERS}
    most = max(finals, key=lambda label: finals[label].mean)
    worst = finals[most].mean
    return Claim(
        id="little-reward-given-up",
        place="Appendix A",
        claim="The algorithms do not sacrifice a lot of reward.",
        paper="not a lot",
        measured=f"of what uniform play loses, Vanilla TS loses {100 * vanilla / uniform:.0f} %, they lose "
        f"{100 * min(final.mean for final in finals.values()) / uniform:.0f} to {100 * worst / uniform:.0f} "
        f"% ({most}); a lot is counted from 1.5 times Vanilla TS on, and from half of uniform play. "
        f"{most} collects {100 * (ceiling - worst) / (ceiling - vanilla):.1f} % of the reward of Vanilla "
        f"TS, uniform play {100 * (ceiling - uniform) / (ceiling - vanilla):.1f} %",
        error=plus_minus([100.0 * final.error / uniform for final in finals.values()], "points"),
        runs=figure.settings.runs,
        settings=f"{setting(figure)}, α in {{{', '.join(f'{a:g}' for a in ALPHAS)}}}",
        verdict=HOLDS if worst <= 1.5 * vanilla else DIRECTION if worst <= 0.5 * uniform else FAILS,
    )


def gaussian_never_optimal(results: Results) -> Claim:
    """Holds if the limit of Vanilla TS, a theorem, is above the lower bound; the slopes illustrate it."""
    figure = results["figure1"]
    means = figure.settings.problem.expectations.tolist()
    optimum, limit = lower_bound(means), vanilla_limit(means)
    policies = (ThompsonSampling("gaussian"), ThompsonSampling("beta"), ExpTSPlus(), KLUCBPlusPlus())
    slopes = {
        policy.label: _last_decade(trajectory(figure, policy), figure.checkpoints) for policy in policies
    }
    return Claim(
        id="gaussian-never-optimal",
        place="Section 6",
        claim="Gaussian priors never reach asymptotic optimality for bounded rewards (a conjecture).",
        paper="conjectured",
        measured=f"proved (docs/theory.md, Theorem E): regret over ln T tends to {limit:.0f} here, where "
        f"{optimum:.1f} is optimal; on every problem it is more than 4 times too large. Slopes over the last "
        "decade: " + ", ".join(f"{label} {value.mean:.0f}" for label, value in slopes.items()),
        error=plus_minus([value.error for value in slopes.values()]),
        runs=figure.settings.runs,
        settings=f"a theorem for any rewards in [0, 1]; slopes: {setting(figure)}, t from T/10 to T",
        verdict=HOLDS if limit > optimum else FAILS,
    )


def _ratio(first: Floats, second: Floats) -> Estimate:
    """The ratio r of two means over paired runs; its error is that of (first - r second) / mean second."""
    ratio = float(first.mean() / second.mean())
    return Estimate(ratio, estimate((first - ratio * second) / second.mean()).error)


def _spread(ratios: list[Estimate]) -> str:
    means = [ratio.mean for ratio in ratios]
    return f"{np.median(means):.1f} (median of {len(means)}; {min(means):.1f} to {max(means):.1f})"


def _last_decade(path: Floats, checkpoints: np.ndarray) -> Estimate:
    """The slope of the regret in ln t from T/10 to T, per run, then averaged."""
    start = int(np.abs(checkpoints - checkpoints[-1] / 10.0).argmin())
    slopes = (path[:, -1] - path[:, start]) / math.log(checkpoints[-1] / checkpoints[start])
    return estimate(slopes)


def _all_above(apart: list[Estimate]) -> str:
    if all(value.positive for value in apart):
        return HOLDS
    return DIRECTION if all(value.mean > 0.0 for value in apart) else FAILS
