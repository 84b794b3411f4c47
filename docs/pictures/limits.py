"""The picture of docs/theory.md: one panel for each of Theorems E to N.

    uv run python docs/pictures/limits.py [--horizon 1e8] [--runs 10]

Coins 0.95 and 0.45 where nothing else is said. What is drawn is printed, with standard errors, and in how
many runs TS-TD-0 has the pulls of Vanilla TS. A policy that knows T is run once for each T.
"""

import argparse
import math
from collections.abc import Iterable
from functools import cache
from itertools import repeat
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp
from scipy.stats import binom

import thrifty
from thrifty import theory
from thrifty.policies import Policy
from thrifty.report import figures
from thrifty.report.style import styles

Floats = NDArray[np.float64]
BEST, BAD = 0.95, 0.45
GAP = BEST - BAD
OPTIMUM = theory.lower_bound([BEST, BAD]) / GAP  # pulls per ln T
LOOKS = styles([str(k) for k in range(6)])
GREYS = ((0.65, ":"), (0.65, "-."), (0.4, ":"), (0.4, "-."))


@cache
def pulls(policy: Policy, horizons: tuple[int, ...], runs: int) -> Floats:
    """(run, horizon): pulls of the bad arm."""
    result = thrifty.simulate(
        policy,
        thrifty.Bernoulli([BEST, BAD]),
        horizons[-1],
        runs,
        seed=1,
        checkpoints=list(horizons),
        progress=False,
    )
    return np.asarray(result.regret[0] / GAP)


def known(policies: Iterable[Policy], horizons: tuple[int, ...], runs: int) -> Floats:
    """The same for a policy that knows T: a run for each T."""
    return np.column_stack(
        [pulls(policy, (t,), runs)[:, -1] for policy, t in zip(policies, horizons, strict=False)]
    )


class Panel:
    """Axes on which curves get the next look; measured ones are printed too."""

    def __init__(self, ax: Axes, title: str, x: str = "T", scale: str = "log"):
        self.ax, self.measured, self.computed = ax, 0, 0
        ax.set(title=title, xlabel=x, xscale="log", yscale=scale)
        print(f"\n{title}", flush=True)

    def points(self, x: tuple[int, ...], values: Floats, label: str) -> None:
        """The mean over runs, the rows of ``values``, with its standard error."""
        look, self.measured = LOOKS[self.measured], self.measured + 1
        mean, alone = values.mean(axis=0), len(values) == 1
        error = np.zeros_like(mean) if alone else values.std(axis=0, ddof=1) / math.sqrt(len(values))
        self.ax.errorbar(
            x, mean, error, label=label, color=look.colour, ls=look.line, marker=look.marker, ms=3
        )
        cells = [
            f"{t:.0e}: {m:.4g}" + ("" if alone else f" ± {e:.2g}")
            for t, m, e in zip(x, mean, error, strict=True)
        ]
        print(f"  {label}: {', '.join(cells)}", flush=True)

    def bound(self, x: tuple[int, ...], values: list[float], label: str) -> None:
        shade, line = GREYS[self.computed]
        self.computed += 1
        self.ax.plot(x, values, color=str(shade), ls=line, label=label)

    def limit(self, value: float, label: str, line: str = "-") -> None:
        self.ax.axhline(value, color="k", lw=1.0, ls=line, label=label)


def theorem_e(ax: Axes, horizons: tuple[int, ...], runs: int) -> None:
    panel, logs = Panel(ax, "Theorem E: E[n] Δ²/ln T"), np.log(horizons)
    panel.points(horizons, pulls(thrifty.ThompsonSampling(), horizons, runs) * GAP**2 / logs, "Vanilla TS")
    for bound, label in ((theory.sharp, "Theorem B"), (theory.theorem1, "the paper's Theorem 1")):
        panel.bound(horizons, [bound(GAP, t).pulls * GAP**2 / math.log(t) for t in horizons], label)
    panel.limit(2.0, "the limit, 2")
    panel.limit(OPTIMUM * GAP**2, f"the optimum, {OPTIMUM * GAP**2:.3f}", "--")


def theorem_f(ax: Axes, horizons: tuple[int, ...], runs: int) -> None:
    panel = Panel(ax, "Theorem F: TS-MA, E[n] Δ²/(2 ln^α(T) ln φ)")
    for alpha in (0.0, 1.0):
        order = np.array([theory.first_order(GAP, t, alpha) for t in horizons])
        fixed = known(repeat(thrifty.TSMA(alpha)), horizons, runs)
        panel.points(horizons, fixed / order, f"TS-MA-{alpha:g}")
        for bound, label in ((theory.ts_ma_sharp, "Theorem C"), (theory.ts_ma, "the paper")):
            shares = [bound(GAP, t, alpha).pulls / theory.first_order(GAP, t, alpha) for t in horizons]
            panel.bound(horizons, shares, f"{label}, α = {alpha:g}")
    panel.limit(1.0, "the limit, 1")


def theorem_g(ax: Axes, horizons: tuple[int, ...], runs: int) -> None:
    panel, logs = Panel(ax, "Theorem G: TS-TD-0, E[n] Δ²/ln T", scale="linear"), np.log(horizons)
    vanilla = pulls(thrifty.ThompsonSampling(), horizons, runs)
    duel = known(repeat(thrifty.TSTD(0.0)), horizons, runs)
    panel.points(horizons, vanilla * GAP**2 / logs, "Vanilla TS")
    panel.points(horizons, duel * GAP**2 / logs, "TS-TD-0")
    same = (duel == vanilla).sum(axis=0).tolist()
    print(f"  TS-TD-0 has the pulls of Vanilla TS in {same} of {runs} runs")
    for bound, label in ((theory.ts_td_sharp, "Theorem D"), (theory.ts_td_repaired, "the paper, repaired")):
        above = [bound(GAP, t, 0.0).pulls * GAP**2 / math.log(t) for t in horizons]
        panel.bound(horizons, above, f"{label}: far above, {above[-1]:.3g} at the end")
    first = [theory.first_order(1.0, t, 0.0) / math.log(t) for t in horizons]
    panel.bound(horizons, first, "first order, 2 ln φ/ln T")
    panel.limit(2.0, "the limit of Vanilla TS, 2", "--")
    panel.limit(1.0, "the limit of TS-TD-0, 1")
    ax.set_ylim(0.5, 3.0)


def theorem_h(ax: Axes, horizons: tuple[int, ...], runs: int) -> None:
    panel = Panel(ax, "Theorem H: E[n], T not known / known", scale="linear")
    for make, name in ((thrifty.TSMA, "TS-MA"), (thrifty.TSTD, "TS-TD")):
        for alpha in (0.0, 1.0):
            fixed = known(repeat(make(alpha)), horizons, runs)
            free = pulls(make(alpha, anytime=True), horizons, runs)
            ratio = free.mean(axis=0) / fixed.mean(axis=0)
            apart = (free - ratio * fixed) / fixed.mean(axis=0)  # run by run: its error is that of the ratio
            panel.points(horizons, ratio + apart, f"{name}-{alpha:g}")
    for anytime, sharp, label in (
        (theory.ts_ma_anytime, theory.ts_ma_sharp, "Theorem H / C, α = "),
        (theory.ts_td_anytime, theory.ts_td_sharp, "Theorem H / D, α = "),
    ):
        for alpha in (0.0, 1.0):
            dearer = [anytime(GAP, t, alpha).pulls / sharp(GAP, t, alpha).pulls for t in horizons]
            panel.bound(horizons, dearer, f"{label}{alpha:g}")
    panel.limit(1.0, "the limit, 1")


def theorem_i(ax: Axes, horizons: tuple[int, ...], runs: int) -> None:
    panel, logs = Panel(ax, "Theorem I: ε-TS, E[n] Δ²/ln T"), np.log(horizons)
    for epsilon in (0.5, 0.1):
        halved = pulls(thrifty.EpsilonTS("gaussian", epsilon), horizons, runs)
        panel.points(horizons, halved * GAP**2 / logs, f"ε = {epsilon:g}")
        bound = [theory.epsilon_ts_sharp(GAP, t, epsilon).pulls * GAP**2 / math.log(t) for t in horizons]
        panel.bound(horizons, bound, f"Theorem I, ε = {epsilon:g}")
    panel.limit(2.0, "the limit, 2")


def marks(means: Floats, deviations: Floats) -> float:
    """Index draws of a round of Theorem J in this state, on average: W(c) + (arms asleep) exp(-rates)."""
    arms = len(means)
    weights = 0.5 ** np.arange(math.ceil(math.log2(arms)) + 1)
    values = means[:, None] + deviations[:, None] * ndtri_exp(-weights)
    order = np.argsort(-values, axis=None)
    total = arms * weights[-1] + np.cumsum(np.tile(weights, arms)[order])
    level = values.ravel()[order][np.argmax(total >= 2 * math.log(arms) + 1)]
    weight = arms * weights[-1] + ((values >= level) * weights).sum()
    asleep = int((values[:, 0] < level).sum())
    return float(weight + asleep * math.exp(log_ndtr((level - means) / deviations).sum()))


def theorem_j(ax: Axes, _: tuple[int, ...], __: int) -> None:
    """Means spread over [0, 0.85] and one of 0.9, from round 2K to 3K."""
    panel, sizes = Panel(ax, "Theorem J: draws a round of Vanilla TS against K", "K"), (10, 100, 1000, 10_000)
    scheme, engine = [], []
    for arms in sizes:
        problem = thrifty.Bernoulli([0.9, *np.linspace(0.0, 0.85, arms - 1)])
        rng, bandit = np.random.default_rng(1), thrifty.Bandit(thrifty.ThompsonSampling(), arms, seed=1)
        spent = []
        for t in range(3 * arms):
            arm = bandit.select()
            bandit.update(arm, float(rng.random() < problem.expectations[arm]))
            if t >= 2 * arms and t % max(1, arms // 20) == 0:
                state = bandit.statistics()
                means, counts = (np.asarray(state[name], float) for name in ("mean", "pulls"))
                spent.append(marks(means, 1.0 / np.sqrt(counts)))
        scheme.append(float(np.mean(spent)))
        until = [
            thrifty.simulate(
                thrifty.ThompsonSampling(), problem, t, 3, seed=1, engine="sleepers", progress=False
            ).evaluations.mean()
            for t in (2 * arms, 3 * arms)
        ]
        engine.append(float(until[1] - until[0]) / arms)
    panel.points(sizes, np.array([scheme]), "on marks, index draws")
    panel.points(sizes, np.array([engine]), "the engine sleepers, evaluations")
    panel.bound(sizes, [4 * math.log(arms) + 3 for arms in sizes], "4 ln K + 3")
    panel.bound(sizes, [theory.sleepers_evaluations(arms) for arms in sizes], "4 ln K + log₂ K + 6")
    panel.bound(sizes, [float(arms) for arms in sizes], "scan, K")


def theorem_k(ax: Axes, horizons: tuple[int, ...], runs: int) -> None:
    panel, logs = Panel(ax, "Theorem K: Beta samples, E[n] kl/ln T"), np.log(horizons)
    aggregated = known((thrifty.TSMA(law="beta", phi=t) for t in horizons), horizons, runs)
    panel.points(horizons, aggregated / OPTIMUM / logs, "TS-MA-0 (beta, φ = T)")
    beta = pulls(thrifty.ThompsonSampling("beta"), horizons, runs)
    panel.points(horizons, beta / OPTIMUM / logs, "TS (beta)")
    bound = [theory.ts_ma_beta_sharp(BAD, BEST, t).pulls / OPTIMUM / math.log(t) for t in horizons]
    panel.bound(horizons, bound, "Theorem K")
    panel.limit(1.0, "the limit of both, 1")
    panel.limit(2.0 / GAP**2 / OPTIMUM, f"the limit of Vanilla TS, {2.0 / GAP**2 / OPTIMUM:.2f}", "--")


def stuck(best: float, second: float, samples: float) -> float:
    """The sum over s of P(all samples of the best arm at s are at most the second mean), exactly."""
    total = 0.0
    for s in range(1, 800):
        k = np.arange(s + 1)
        above = binom.cdf(k, s + 1, second)  # a Beta(k + 1, s - k + 1) sample is above the second mean
        with np.errstate(divide="ignore"):
            total += float(binom.pmf(k, s, best) @ np.exp(samples * np.log1p(-above)))
    return total


def theorem_l(ax: Axes, _: tuple[int, ...], __: int) -> None:
    horizons = tuple(10**k for k in range(3, 21))
    panel = Panel(ax, "Theorem L: rounds with no good sample of arm 1, coins 0.9, 0.8")
    for label, samples in (("the paper's φ", lambda t: theory.phi(t, 0.0)), ("φ = T", float)):
        rounds = [t * stuck(0.9, 0.8, samples(t)) for t in horizons]
        panel.points(horizons, np.array([rounds]), label)
        if label != "φ = T":
            power, end = theory.ts_ma_beta_exponent([0.9, 0.8]), horizons[-1]
            panel.bound(horizons, [rounds[-1] * (t / end) ** power for t in horizons], f"T^{power:.3f}")
    panel.bound(horizons, [math.log(t) for t in horizons], "ln T")


def theorem_m(ax: Axes, _: tuple[int, ...], runs: int) -> None:
    """Vanilla TS, by its exact chances: two arms."""
    panel, horizons = (
        Panel(ax, "Theorem M: bits of all decisions to T, Vanilla TS"),
        tuple(10**k for k in range(2, 6)),
    )
    rng, runs = np.random.default_rng(1), 5 * runs
    sums, counts, rows = (
        (rng.random((runs, 2)) < (BEST, BAD)).astype(float),
        np.ones((runs, 2)),
        np.arange(runs),
    )
    bits, found, bad = np.zeros(runs), [], []
    for t in range(3, horizons[-1] + 1):
        mean = sums / counts
        apart = (mean[:, 0] - mean[:, 1]) / np.sqrt((1.0 / counts).sum(axis=1))
        logs = np.stack([log_ndtr(apart), log_ndtr(-apart)])
        bits -= (np.exp(logs) * logs).sum(axis=0) / math.log(2.0)
        arm = (rng.random(runs) >= np.exp(logs[0])).astype(int)
        sums[rows, arm] += rng.random(runs) < np.where(arm == 0, BEST, BAD)
        counts[rows, arm] += 1
        if t in horizons:
            found.append(bits.copy())
            bad.append(float(counts[:, 1].mean()))
    panel.points(horizons, np.column_stack(found), "the entropy of the decisions")
    measured = [theory.tosses(n, 2, t) for n, t in zip(bad, horizons, strict=True)]
    panel.bound(horizons, measured, "Theorem M, with the pulls that were measured")
    proved = [theory.tosses(min(t, theory.sharp(GAP, t).pulls), 2, t) for t in horizons]
    panel.bound(horizons, proved, "Theorem M, with those of Theorem B")
    panel.bound(horizons, [106.0 * t for t in horizons], "two draws of 53 bits a round")


def theorem_n(ax: Axes, _: tuple[int, ...], __: int) -> None:
    panel, horizons = (
        Panel(ax, "Theorem N: TS-MA-1 (beta), coins 1.0, 0.98"),
        (10**3, 10**4, 10**5),
    )
    lost, runs = [], 1000
    for t in horizons:
        policy, problem = thrifty.TSMA(1.0, "beta"), thrifty.Bernoulli([1.0, 0.98])
        result = thrifty.simulate(policy, problem, t, runs, seed=1, checkpoints=[t], progress=False)
        lost.append(result.pulls[0, :, 0] == 1)
    panel.points(horizons, np.column_stack(lost).astype(float), f"share of {runs} runs that pull arm 1 once")
    chance = [0.98 ** (math.ceil(theory.phi(t, 1.0)) * (1 + 1 / math.log(t))) for t in horizons]
    panel.bound(horizons, chance, "all first samples of arm 1 are at most 0.98")


THEOREMS = (
    theorem_e,
    theorem_f,
    theorem_g,
    theorem_h,
    theorem_i,
    theorem_j,
    theorem_k,
    theorem_l,
    theorem_m,
    theorem_n,
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--horizon", type=float, default=1e8)
    parser.add_argument("--runs", type=int, default=10)
    asked = parser.parse_args()
    horizons = tuple(10**k for k in range(3, round(math.log10(asked.horizon)) + 1))
    figure = Figure(figsize=(10.0, 20.0), layout="constrained")
    for theorem, ax in zip(THEOREMS, figure.subplots(5, 2).flat, strict=True):
        theorem(ax, horizons, asked.runs)
        ax.title.set_fontsize(10)
        ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncol=2, frameon=False)
    figures.save(figure, Path(__file__).parents[1] / "limits.png")


if __name__ == "__main__":
    main()
