"""How things grow: draws with the horizon, draws and seconds with the number of arms."""

import math
from collections.abc import Sequence

from thrifty.paper.claim import Results, draws, draws_on, estimate, seconds_per_round, short, slope
from thrifty.paper.figures.panel import Curve, Exhibit, Reference, mark, panel, plot, share_limits
from thrifty.policies import TSMA, TSTD, EpsilonTS, KLUCBPlusPlus, Policy, ThompsonSampling, batch_size
from thrifty.report.style import styles
from thrifty.simulation.result import Result

GROWTH_ALPHAS = (0.0, 0.5, 0.8, 1.0)


def growth(results: Results) -> Exhibit:
    """Draws on a sub-optimal and on the optimal arm against the horizon."""
    by_horizon = {one.settings.horizon: one for name, one in results.items() if name.startswith("growth-")}
    horizons = sorted(by_horizon)
    panels, axes, exponents = {}, [], {}
    for policy, name in ((TSTD, "TS-TD"), (TSMA, "TS-MA")):
        for optimal in (False, True):
            curves = []
            for alpha, look in zip(GROWTH_ALPHAS, styles([name] * len(GROWTH_ALPHAS)), strict=True):
                counts = [draws_on(by_horizon[t], policy(alpha), optimal=optimal) for t in horizons]
                power = slope(horizons[-2:], [estimate(count) for count in counts[-2:]]).mean
                exponents[name, optimal, alpha] = power
                curves.append(Curve(f"α = {alpha:g}, $T^{{{power:.2f}}}$", horizons, counts, look))
            arm = "the optimal arm" if optimal else "a sub-optimal arm"
            drawing, ax = panel(f"{name}: draws of {arm}")
            plot(ax, curves, _guides(horizons), "T", "draws, mean and 5–95 % of runs")
            panels[f"growth-{name}-{'optimal' if optimal else 'suboptimal'}"] = drawing
            axes.append(ax)
    share_limits(axes)
    duel = {alpha: exponents["TS-TD", False, alpha] for alpha in GROWTH_ALPHAS}
    aggregate = [exponents["TS-MA", False, alpha] for alpha in GROWTH_ALPHAS]
    return Exhibit(
        "Growth with the horizon, sub-optimal arms apart",
        panels,
        "K = 20, one optimal arm; for a sub-optimal arm the mean over all nineteen. The exponents in the "
        f"labels are those between T = {short(horizons[-2])} and {short(horizons[-1])}. For a sub-optimal "
        "arm of TS-TD the paper proves the order √T ln^2.5 T at α = 0 and ln³ T at α = 1. Up to these "
        f"horizons the measured exponents are {duel[0.0]:.2f} at α = 0, {duel[0.8]:.2f} at 0.8 and "
        f"{duel[1.0]:.2f} at 1: as long as an arm is pulled again within φ rounds, it draws in every round, "
        "and φ itself is large (at α = 0 it exceeds T up to T = 656,804). TS-MA draws only for the arm "
        f"that it pulls; there the exponents have fallen to {min(aggregate):.2f} to {max(aggregate):.2f}.",
    )


def arms(results: Results) -> Exhibit:
    """Draws against the number of arms, at one horizon."""
    by_arms = _by_arms(results, "arms-")
    sizes = sorted(by_arms)
    last = by_arms[sizes[-1]]
    horizon = last.settings.horizon
    policies: tuple[Policy, ...] = (
        TSMA(0.8),
        TSMA(1.0, sampling="batch"),
        TSTD(0.8),
        ThompsonSampling(),
        EpsilonTS(),
    )
    looks = styles([policy.label for policy in policies])
    curves = [
        Curve(policy.label, sizes, [draws(by_arms[k], policy) for k in sizes], look)
        for policy, look in zip(policies, looks, strict=True)
    ]
    drawing, ax = panel(f"T = {short(horizon)}")
    plot(ax, curves, [], "arms K", "draws, mean and 5–95 % of runs")
    phi = batch_size(horizon, 1.0)
    mark(ax, phi, "K = φ")
    saved = 1.0 - float(draws(last, TSTD(0.8)).mean() / draws(last, ThompsonSampling()).mean())
    return Exhibit(
        "Draws against the number of arms",
        {"arms": drawing},
        f"TS-MA draws once a round whatever K is: T = {short(horizon)} draws. Drawing the φ samples of a "
        f"batch one by one costs Tφ; this is less than the KT of Vanilla TS from K = φ = {phi} on (dotted, "
        f"α = 1). At K = {sizes[-1]:,}, TS-TD-0.8 saves {100.0 * saved:.0f} % of Vanilla TS's draws, "
        "because most arms then wait for more than φ rounds. ε-TS with ε = 1/K draws about once a round, "
        "like TS-MA.",
    )


def cost(results: Results) -> Exhibit:
    """Processor time per round against the number of arms."""
    dense, committed = _by_arms(results, "cost-dense-"), _by_arms(results, "cost-committed-")
    series: tuple[tuple[Policy, dict[int, Result]], ...] = (
        (TSMA(0.8), committed),
        (TSTD(0.8), dense),
        (ThompsonSampling(), dense),
        (KLUCBPlusPlus(), committed),
    )
    looks = styles([policy.label for policy, _ in series])
    curves = [
        Curve(
            policy.label,
            sorted(by_arms),
            [[1e6 * seconds_per_round(by_arms[k], policy)] for k in sorted(by_arms)],
            look,
        )
        for (policy, by_arms), look in zip(series, looks, strict=True)
    ]
    drawing, ax = panel("one core")
    plot(ax, curves, [], "arms K", "microseconds per round")
    largest = max(dense.keys() & committed.keys())
    vanilla = seconds_per_round(dense[largest], ThompsonSampling())
    ratio = vanilla / seconds_per_round(committed[largest], TSMA(0.8))
    return Exhibit(
        "Cost of a round against the number of arms",
        {"cost": drawing},
        "Vanilla TS and TS-TD visit every arm in every round. TS-MA and KL-UCB++ change one index a round "
        f"and find the largest in a tree. With {largest:,} arms a round of TS-MA-0.8 takes {ratio:,.0f} "
        "times less than one of Vanilla TS. These times, which include the setting up, depend on the "
        "machine and on what else it did; all numbers on this page but the times are the same wherever it "
        "is made.",
    )


def _guides(horizons: Sequence[int]) -> list[Reference]:
    """A draw in every round, and the slope of the square root."""
    ends = [horizons[0], horizons[-1]]
    return [
        Reference("every round: $T$", ends, [float(t) for t in ends]),
        Reference("slope of $T^{0.5}$", ends, [math.sqrt(t * ends[0]) for t in ends]),
    ]


def _by_arms(results: Results, prefix: str) -> dict[int, Result]:
    return {one.settings.problem.gaps.size: one for name, one in results.items() if name.startswith(prefix)}
