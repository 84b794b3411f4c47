"""The picture and the tables of docs/changing.md: policies that forget, where means stay, jump and drift.

    uv run python docs/pictures/changing.py

Printed are mean regrets with their standard errors: of all policies with some half-lives, of the best
half-life for each time between changes, and on the problem of Garivier and Moulines.
"""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

import thrifty
from thrifty.look import COLOURS
from thrifty.report import figures
from thrifty.report.scale import logarithmic
from thrifty.report.style import MARKERS

Floats = NDArray[np.float64]
Cell = tuple[float, float]  # the mean regret and its standard error

ARMS, HORIZON, RUNS = 10, 40_000, 40
MEANS = [0.7, *np.linspace(0.3, 0.6, ARMS - 1).tolist()]
HALF_LIVES = (30, 100, 300, 1_000, 3_000, 10_000, 30_000)
SHOWN = (300, 1_000, 10_000)  # of these, in the first table


def jumping(rounds: int) -> thrifty.Changing:
    """Every so many rounds each arm gets a new mean from 0.2 to 0.8."""
    rng = np.random.default_rng(1)
    starts = range(1, HORIZON, rounds)
    return thrifty.Changing({t: thrifty.Bernoulli(rng.uniform(0.2, 0.8, ARMS)) for t in starts})


def drifting(t: int) -> thrifty.Bernoulli:
    """Waves: each arm is the best for 2,000 rounds in turn, and 0.2 above the middle at its height."""
    phase = 2.0 * math.pi * (t / 20_000 - np.arange(ARMS) / ARMS)
    return thrifty.Bernoulli(0.5 + 0.2 * np.cos(phase))


PROBLEMS: dict[str, thrifty.Problem] = {
    "stays": thrifty.Bernoulli(MEANS),
    "the best falls": thrifty.Changing(
        {1: thrifty.Bernoulli(MEANS), HORIZON // 2: thrifty.Bernoulli([0.3, *MEANS[1:]])}
    ),
    "jumps every 10,000": jumping(10_000),
    "jumps every 3,000": jumping(3_000),
    "jumps every 1,000": jumping(1_000),
    "drifts": thrifty.Changing.of(drifting, arms=ARMS),
}
PLAIN: dict[str, thrifty.Policy] = {
    "TS (Beta)": thrifty.ThompsonSampling("beta"),
    "KL-UCB": thrifty.KLUCB(),
    "UCB1": thrifty.UCB1(),
}


def gamma(half_life: float) -> float:
    return float(0.5 ** (1.0 / half_life))


def tau(half_life: float) -> int:
    """A window that holds as much: 1/(1 - gamma) rewards."""
    return round(1.0 / (1.0 - gamma(half_life)))


FORGETFUL: dict[str, Callable[[float], thrifty.Policy]] = {
    "Forgetting TS (Beta)": lambda h: thrifty.Forgetting(thrifty.ThompsonSampling("beta"), h),
    "dTS": lambda h: thrifty.DiscountedTS(gamma(h)),
    "SW-TS": lambda h: thrifty.SlidingWindowTS(tau(h)),
    "Forgetting KL-UCB": lambda h: thrifty.Forgetting(thrifty.KLUCB(), h),
    "Forgetting UCB1": lambda h: thrifty.Forgetting(thrifty.UCB1(), h),
    "D-UCB": lambda h: thrifty.DiscountedUCB(gamma(h)),
    "SW-UCB": lambda h: thrifty.SlidingWindowUCB(tau(h)),
}
COLOUR = dict(zip(FORGETFUL, COLOURS, strict=True)) | dict(
    zip(PLAIN, (COLOURS[0], COLOURS[3], COLOURS[4]), strict=True)
)
MARKER = dict(zip(FORGETFUL, (*MARKERS, "X"), strict=True))


def cells(policies: list[thrifty.Policy], problem: thrifty.Problem, horizon: int, runs: int) -> list[Cell]:
    result = thrifty.simulate(policies, problem, horizon, runs, seed=1, checkpoints=[horizon])
    final = result.regret[:, :, -1]
    return [(float(row.mean()), float(row.std(ddof=1)) / math.sqrt(runs)) for row in final]


def measured(problem: thrifty.Problem) -> tuple[dict[str, Cell], dict[str, list[Cell]]]:
    """Of who does not forget, and of the others at each half-life."""
    plain = dict(zip(PLAIN, cells([*PLAIN.values()], problem, HORIZON, RUNS), strict=True))
    others = {
        name: cells([make(h) for h in HALF_LIVES], problem, HORIZON, RUNS) for name, make in FORGETFUL.items()
    }
    return plain, others


def draw(ax: Axes, title: str, plain: dict[str, Cell], others: dict[str, list[Cell]]) -> None:
    """Regret against the half-life; a level for each who does not forget."""
    means = {name: np.array([mean for mean, _ in row]) for name, row in others.items()}
    logarithmic(ax, "x", np.array(HALF_LIVES, float))
    logarithmic(ax, "y", np.concatenate([*means.values(), np.array([mean for mean, _ in plain.values()])]))
    for name, row in means.items():
        ax.plot(HALF_LIVES, row, color=COLOUR[name], marker=MARKER[name], markersize=4.5, linewidth=1.4)
    for name, (mean, _) in plain.items():
        ax.axhline(mean, color=COLOUR[name], linestyle="--", linewidth=1.2)
    ax.set_title(title, fontsize=9.5, loc="left")
    figures.finish(ax, "half-life, in rewards", "")


def compose(found: dict[str, tuple[dict[str, Cell], dict[str, list[Cell]]]]) -> Figure:
    figure = Figure(figsize=(11.0, 7.8), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    for ax, (title, (plain, others)) in zip(panels, found.items(), strict=True):
        draw(ax, title, plain, others)
    for ax in panels[::3]:
        ax.set_ylabel(f"mean regret at T = {HORIZON:,}", fontsize=9.0)
    lines = [
        Line2D([], [], color=COLOUR[name], marker=MARKER[name], markersize=4.5, label=name)
        for name in FORGETFUL
    ]
    lines += [
        Line2D([], [], color=COLOUR[name], linestyle="--", label=f"{name}, forgets nothing") for name in PLAIN
    ]
    figure.legend(handles=lines, loc="outside lower center", ncols=4, fontsize=9.0, frameon=False)
    return figure


def shown(cell: Cell) -> str:
    return f"{cell[0]:,.0f} ± {cell[1]:,.0f}"


def markdown(heading: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [heading, ["---"] * len(heading), *rows])


def regrets(found: dict[str, tuple[dict[str, Cell], dict[str, list[Cell]]]]) -> str:
    """A row for each policy with each of some half-lives, a column for each problem."""
    rows = [[name, "–", *(shown(found[title][0][name]) for title in found)] for name in PLAIN]
    for name in FORGETFUL:
        for h in SHOWN:
            at = HALF_LIVES.index(h)
            rows.append([name, f"{h:,}", *(shown(found[title][1][name][at]) for title in found)])
    return markdown(["policy", "half-life", *found], rows)


def best(found: dict[str, tuple[dict[str, Cell], dict[str, list[Cell]]]]) -> str:
    """The half-life with the least regret, and those that are not clearly worse: within two standard errors
    of the difference."""
    rows = []
    for name in FORGETFUL:
        row = [name]
        for _, others in found.values():
            least = min(others[name])
            good = [
                h
                for h, (mean, error) in zip(HALF_LIVES, others[name], strict=True)
                if mean - least[0] <= 2.0 * math.hypot(error, least[1])
            ]
            span = f"{good[0]:,}" if len(good) == 1 else f"{good[0]:,} to {good[-1]:,}"
            row.append(f"{span}: {shown(least)}")
        rows.append(row)
    return markdown(["policy", *found], rows)


def switching() -> str:
    """Garivier and Moulines' problem, with the parameters of their experiments."""
    before, after = thrifty.Bernoulli([0.5, 0.3, 0.4]), thrifty.Bernoulli([0.5, 0.3, 0.9])
    problem = thrifty.Changing({1: before, 3_000: after, 5_000: before})
    horizon, runs = 10_000, 500
    policies: list[thrifty.Policy] = [
        thrifty.UCB1(),
        thrifty.DiscountedUCB(1.0 - 0.25 / math.sqrt(horizon)),
        thrifty.SlidingWindowUCB(round(4.0 * math.sqrt(horizon * math.log(horizon)))),
        thrifty.DiscountedUCB.for_changes(horizon, 2),
        thrifty.SlidingWindowUCB.for_changes(horizon, 2),
    ]
    rows = [
        [p.label, shown(cell)]
        for p, cell in zip(policies, cells(policies, problem, horizon, runs), strict=True)
    ]
    return markdown(["policy", f"regret at T = {horizon:,}, {runs} runs"], rows)


def main() -> None:
    found = {title: measured(problem) for title, problem in PROBLEMS.items()}
    print(f"T = {HORIZON:,}, K = {ARMS}, {RUNS} runs\n\n{regrets(found)}\n")
    print(f"The best half-lives, and the least regret\n\n{best(found)}\n")
    print(switching())
    figures.save(compose(found), Path(__file__).parent.parent / "changing.png")


if __name__ == "__main__":
    main()
