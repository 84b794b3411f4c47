"""Regret: Figure 1, regret against draws for every law and schedule, bounded rewards, the hard instance."""

import math
from collections.abc import Sequence

import numpy as np

from thrifty.paper.claim import Results, draws, estimate, regret, short, slope
from thrifty.paper.experiments import ALPHAS, ARMS
from thrifty.paper.figures.panel import Curve, Exhibit, Reference, panel, plot, runs, share_limits, subset
from thrifty.policies import TSMA, TSTD, Policy, ThompsonSampling
from thrifty.report import figures
from thrifty.report.style import styles
from thrifty.simulation.result import Result


def figure1(results: Results) -> Exhibit:
    """One panel for each alpha: TS-MA, TS-TD and all the others, on common axes."""
    result = results["figure1"]
    others = [
        (label, policy.get("law") == "gaussian")
        for label, policy in zip(result.labels, result.settings.policies, strict=True)
        if policy["name"] not in ("TSMA", "TSTD", "ExpTS")
    ]
    panels, axes = {}, []
    for alpha in ALPHAS:
        drawing, ax = panel(f"α = {alpha:g}" + (" (not a panel of the paper)" if alpha == 0.9 else ""))
        chosen = [TSMA(alpha).label, TSTD(alpha).label, *(label for label, _ in others)]
        figures.regret(subset(result, chosen), ax)
        panels[f"figure1-alpha{alpha:g}"] = drawing
        axes.append(ax)
    share_limits(axes)
    final = dict(zip(result.labels, result.regret[:, :, -1].mean(axis=1).tolist(), strict=True))
    gaussian = min((label for label, is_gaussian in others if is_gaussian), key=final.__getitem__)
    other = max((label for label, is_gaussian in others if not is_gaussian), key=final.__getitem__)
    vanilla, aggregate, duel = (final[p.label] for p in (ThompsonSampling(), TSMA(0.8), TSTD(0.8)))
    same = np.array_equal(regret(result, TSTD(0.0)), regret(result, ThompsonSampling()))
    return Exhibit(
        "Figure 1. Regret",
        panels,
        f"{figures.setting(result)}; bands from the 5 % to the 95 % quantile. At α = 0, TS-TD is "
        f"{'' if same else 'not '}Vanilla TS, number for number (regret {vanilla:,.0f}). A larger α moves "
        f"the two algorithms of the paper up: at α = 0.8 TS-MA has {aggregate:,.0f} and TS-TD {duel:,.0f}, "
        f"{aggregate / vanilla:.1f} and {duel / vanilla:.1f} times Vanilla TS. The law separates the "
        f"baselines: the best baseline with a Gaussian law, {gaussian}, has "
        f"{final[gaussian]:,.0f}, the worst of the others, {other}, {final[other]:,.0f}. The lower bound is "
        "asymptotic: at this horizon good policies lie below it, and only slopes can be compared with it.",
    )


def trade(results: Results) -> Exhibit:
    """Regret against draws for every law and schedule that was simulated."""
    result = results["figure1"]
    drawing, ax = panel("", height=6.4)
    twins = {TSTD(0.0).label, *(label for label in result.labels if label.endswith("ε=1)"))}
    figures.trade(subset(result, [label for label in result.labels if label not in twins]), ax)
    fresh, beta = _mean(result, ThompsonSampling()), _mean(result, ThompsonSampling("beta"))
    fewer = draws(result, ThompsonSampling()).mean() / draws(result, TSMA(0.0)).mean()
    return Exhibit(
        "Ours: what a draw buys, for every law and schedule",
        {"trade": drawing},
        f"{figures.setting(result)}. Lower is better, further left is cheaper. Going from the Gaussian to "
        f"the Beta law divides the regret of Thompson sampling by {fresh / beta:.1f}. Committing to the "
        f"best of φ draws (TS-MA-0) multiplies it by {_mean(result, TSMA(0.0)) / fresh:.1f} and needs "
        f"{fewer:.0f} times fewer draws. TS-MA with a Beta law, a combination that is not in the paper, has "
        f"{_mean(result, TSMA(0.0, 'beta')):,.0f}, or {_mean(result, TSMA(0.0, 'beta', phi=1000.0)):,.0f} "
        f"with φ = 1000, at one draw a round, where Thompson sampling with a Beta law has {beta:,.0f} at "
        f"{ARMS} draws. TS-MA with a Beta law has theorems (docs/theory.md, K, L and N), TS-TD with one is "
        "only measured. TS-TD-0 and "
        "ε-TS with ε = 1 are left out, because they are Thompson sampling.",
    )


def bounded(results: Results) -> Exhibit:
    """Regret on rewards in [0, 1] that are not Bernoulli."""
    titles = {
        "beta": "Beta, U-shaped",
        "discrete": "four values in [0, 1]",
        "clipped-gaussian": "clipped Gaussian",
    }
    panels, axes, ratios = {}, [], []
    for kind, title in titles.items():
        result = results[f"bounded-{kind}"]
        drawing, ax = panel(f"rewards: {title}")
        figures.regret(result, ax)
        axes.append(ax)
        panels[f"bounded-{kind}"] = drawing
        ratios.append(_mean(result, TSTD(0.8)) / _mean(result, ThompsonSampling()))
    share_limits(axes)
    return Exhibit(
        "Any bounded reward",
        panels,
        f"{ARMS} arms, one with mean 0.6, the others with 0.5, T = {short(result.settings.horizon)}, "
        f"{runs(result)}. The Gaussian law knows the rewards by their mean alone, so the policies of the "
        f"paper behave as they do on Bernoulli rewards: TS-TD-0.8 has {_range(ratios, 1)} times the regret "
        "of Vanilla TS. KL-UCB++ takes every bounded reward for a Bernoulli one, which is safe.",
    )


def worst_case(results: Results) -> Exhibit:
    """Regret on the hard instance against T and against K, as a share of what no learning at all costs."""
    hard = {
        (one.settings.problem.gaps.size, one.settings.horizon): one
        for name, one in results.items()
        if name.startswith("hard-")
    }
    horizon = max(t for k, t in hard if k != ARMS)
    along = {
        "T": [size for size in sorted(hard) if size[0] == ARMS],
        "K": [size for size in sorted(hard) if size[1] == horizon],
    }
    panels, axes, exponents = {}, [], {}
    for name, sizes in along.items():
        fixed = f"T = {short(horizon)}" if name == "K" else f"K = {ARMS}"
        drawing, ax = panel(f"{fixed}, against {name}")
        x = [k if name == "K" else t for k, t in sizes]
        exponents[name] = _exponents([hard[size] for size in sizes], x)
        labels = hard[sizes[0]].labels
        curves = [
            Curve(
                f"{label}, ${name}^{{{exponents[name][p]:.2f}}}$",
                x,
                [100.0 * hard[size].regret[p, :, -1] / _unlearned(*size) for size in sizes],
                look,
            )
            for p, (label, look) in enumerate(zip(labels, styles(labels), strict=True))
        ]
        even = Reference("all arms alike", x, [100.0] * len(x))
        plot(ax, curves, [even], name, "regret, % of that without learning", log=False)
        panels[f"worst-case-{name}"] = drawing
        axes.append(ax)
    for ax in axes:
        ax.set_ylim(min(one.get_ylim()[0] for one in axes), max(one.get_ylim()[1] for one in axes))
    return Exhibit(
        "Worst case: the hard instance of the minimax bounds",
        panels,
        "One arm is better than the others by √(K ln K / T). So no policy can lose more than √(KT ln K), "
        "the order of Vanilla TS's worst-case bound, and pulling all arms alike (dashed) comes close to "
        f"that. The exponents in the labels are fitted to the regret: {_range(exponents['T'])} in T, "
        f"{_range(exponents['K'])} in K, mostly those of the instance. What tells the policies apart is the "
        f"level: at K = {ARMS} and the longest T, {_levels(hard[along['T'][-1]])}. The logarithm of T that "
        "separates TS-MA and TS-TD from Vanilla TS in the bounds cannot be seen at these sizes.",
    )


def _unlearned(arms: int, horizon: int) -> float:
    """The regret of pulling all arms equally often: T gap (K - 1)/K, with gap = sqrt(K ln K / T)."""
    return math.sqrt(arms * math.log(arms) * horizon) * (arms - 1) / arms


def _levels(result: Result) -> str:
    unlearned = _unlearned(result.settings.problem.gaps.size, result.settings.horizon)
    shares = 100.0 * result.regret[:, :, -1].mean(axis=1) / unlearned
    return ", ".join(f"{label} has {share:.0f} %" for label, share in zip(result.labels, shares, strict=True))


def _exponents(series: Sequence[Result], x: Sequence[int]) -> list[float]:
    """The fitted exponent of each policy's regret in x."""
    policies = range(len(series[0].labels))
    return [slope(x, [estimate(one.regret[p, :, -1]) for one in series]).mean for p in policies]


def _range(values: Sequence[float], digits: int = 2) -> str:
    ends = (f"{min(values):.{digits}f}", f"{max(values):.{digits}f}")
    return " to ".join(dict.fromkeys(ends))


def _mean(result: Result, policy: Policy) -> float:
    return float(regret(result, policy).mean())
