"""The picture and the tables of docs/online.md on late rewards: regret against delay.

    uv run python docs/pictures/delay.py

Three tables are printed: mean regrets with their standard errors on two problems, and how a thousand
decisions in flight are spread over the arms.
"""

from collections import Counter
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import thrifty
from thrifty.delays import ConstantDelay, GeometricDelay
from thrifty.look import GREY
from thrifty.report import figures
from thrifty.report.labels import EndLabels
from thrifty.report.scale import logarithmic
from thrifty.report.style import styles

Floats = NDArray[np.float64]

HORIZON = 100_000
DELAYS = (0, 10, 100, 1_000, 10_000)
KINDS = {"constant": ConstantDelay, "geometric": GeometricDelay}
MANY = np.random.default_rng(0).permutation(np.linspace(0.5, 0.9, 1000))
PROBLEMS: dict[str, tuple[thrifty.Problem, int]] = {  # each with its number of runs
    "K = 20: one mean of 0.9, nineteen of 0.8": (thrifty.Bernoulli([0.9] + [0.8] * 19), 40),
    "K = 1,000: means from 0.5 to 0.9": (thrifty.Bernoulli(MANY), 20),
}
POLICIES: tuple[thrifty.Policy, ...] = (
    thrifty.ThompsonSampling(),
    thrifty.ThompsonSampling(law="beta"),
    thrifty.TSMA(),
    thrifty.TSMA(law="beta"),
    thrifty.TSTD(alpha=0.5),
    thrifty.KLUCBPlusPlus(),
)
LABELS = [policy.label for policy in POLICIES]
LOOKS = styles(LABELS)
BEFORE, FLIGHT, FLIGHTS = 200, 1_000, 40  # decisions with rewards, then decisions in flight; how often


def simulated(problem: thrifty.Problem, runs: int, kind: str) -> Floats:
    """Regrets at the horizon; the axes are policy, delay and run."""
    finals = []
    for delay in DELAYS:
        late = KINDS[kind](delay)
        result = thrifty.simulate(POLICIES, problem, HORIZON, runs, seed=1, delay=late, checkpoints=[HORIZON])
        finals.append(result.regret[:, :, -1])
    return np.stack(finals, axis=1)


def draw(ax: Axes, regrets: Floats, kind: str) -> None:
    """One problem and one kind of delay."""
    means = regrets.mean(axis=2)
    low, high = np.quantile(regrets, figures.BAND, axis=2)
    x = np.array(DELAYS, float)
    x = np.maximum(x, logarithmic(ax, "x", x))
    for i, look in enumerate(LOOKS):
        ax.fill_between(x, low[i], high[i], color=look.colour, alpha=0.15, linewidth=0.5)
        ax.plot(x, means[i], look.marker, color=look.colour, linestyle=look.line, markersize=4.5, lw=1.4)
    mean = "" if kind == "constant" else "mean "
    figures.finish(ax, f"{kind} delay: {mean}decisions until a reward is there", "")


def compose(regrets: dict[tuple[str, str], Floats]) -> Figure:
    """A row for each problem, a column for each kind of delay."""
    figure = Figure(figsize=(11.0, 8.0), layout="constrained")
    grid = figure.subplots(len(PROBLEMS), len(KINDS), squeeze=False)
    for row, (title, (problem, runs)) in zip(grid, PROBLEMS.items(), strict=True):
        random = HORIZON * problem.gaps.mean()
        shown = np.concatenate([regrets[title, kind].ravel() for kind in KINDS])
        for ax, kind in zip(row, KINDS, strict=True):
            logarithmic(ax, "y", np.append(shown, random))
            draw(ax, regrets[title, kind], kind)
            ax.axhline(random, color=GREY, linestyle="--", linewidth=1.2)
            ax.set_title(f"{title}; {runs} runs", fontsize=9.5, loc="left")
        row[0].set_ylabel(f"regret at T = {HORIZON:,} (mean, 5–95 %)", fontsize=9.0)
        ends = [(DELAYS[-1], mean) for mean in regrets[title, kind][:, -1].mean(axis=1)]
        colours = [look.colour for look in LOOKS]
        ends.append((DELAYS[-1], random))
        EndLabels(row[-1], ends, [*LABELS, "pulling at random"], [*colours, GREY])
    return figure


def spread(policy: thrifty.Policy) -> tuple[float, float]:
    """Of FLIGHT decisions without a reward: how many arms they are for, and the most frequent one's share."""
    arms, shares = [], []
    means = [0.9] + [0.8] * 19
    for seed in range(FLIGHTS):
        bandit = thrifty.Bandit(policy, len(means), horizon=HORIZON, seed=seed)
        for luck in np.random.default_rng(seed).random(BEFORE).tolist():
            arm = bandit.select()
            bandit.update(arm, float(luck < means[arm]))
        counts = Counter(bandit.select_many(FLIGHT))
        arms.append(len(counts))
        shares.append(max(counts.values()) / FLIGHT)
    return float(np.mean(arms)), float(np.mean(shares))


def markdown(heading: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [heading, ["---"] * len(heading), *rows])


def table(regrets: dict[tuple[str, str], Floats], title: str) -> str:
    """Mean regrets and standard errors: a row for each delay, a column for each policy."""
    rows = []
    for kind in KINDS:
        values = regrets[title, kind]
        errors = values.std(axis=2, ddof=1) / np.sqrt(values.shape[2])
        for d, delay in enumerate(DELAYS):
            cells = [
                f"{mean:,.0f} ± {error:,.0f}"
                for mean, error in zip(values.mean(axis=2)[:, d], errors[:, d], strict=True)
            ]
            if delay > 0 or kind == "constant":
                rows.append([f"{kind}, {delay:,}" if delay else "none", *cells])
    return markdown(["delay", *LABELS], rows)


def main() -> None:
    regrets = {
        (title, kind): simulated(problem, runs, kind)
        for title, (problem, runs) in PROBLEMS.items()
        for kind in KINDS
    }
    for title in PROBLEMS:
        print(f"{title}, T = {HORIZON:,}\n\n{table(regrets, title)}\n")
    rows = [[policy.label, *map("{:.2f}".format, spread(policy))] for policy in POLICIES]
    print(f"{FLIGHT:,} decisions in flight after {BEFORE} with their rewards\n")
    print(markdown(["policy", "arms", "share of one"], rows))
    figures.save(compose(regrets), Path(__file__).parent.parent / "delay.png")


if __name__ == "__main__":
    main()
