"""The picture and the tables of docs/changing.md: policies that forget, where means stay, jump and drift.

    uv run python docs/pictures/changing.py

Where means jump, each run has means of its own. Printed are mean regrets with their standard errors: of all
policies with some half-lives, of the best half-life for each time between changes, and on the problem of
Garivier and Moulines.
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
# Of each policy with each half-life, 0 for none: the regret of each run.
Found = dict[str, dict[float, Floats]]

ARMS, HORIZON, RUNS = 10, 40_000, 40
MEANS = [0.7, *np.linspace(0.3, 0.6, ARMS - 1).tolist()]
HALF_LIVES = (30, 100, 300, 1_000, 3_000, 10_000, 30_000)
SHOWN = (300, 1_000, 10_000)  # of these, in the first table


def jumping(rounds: int) -> list[thrifty.Problem]:
    """Every so many rounds each arm gets a new mean from 0.2 to 0.8: in each run another one."""
    starts, rng = range(1, HORIZON, rounds), np.random.default_rng(1)
    return [
        thrifty.Changing({t: thrifty.Bernoulli(rng.uniform(0.2, 0.8, ARMS)) for t in starts})
        for _ in range(RUNS)
    ]


def drifting(t: int) -> thrifty.Bernoulli:
    """Waves: each arm is the best for 2,000 rounds in turn, and 0.2 above the middle at its height."""
    phase = 2.0 * math.pi * (t / 20_000 - np.arange(ARMS) / ARMS)
    return thrifty.Bernoulli(0.5 + 0.2 * np.cos(phase))


PROBLEMS: dict[str, list[thrifty.Problem]] = {
    "stays": [thrifty.Bernoulli(MEANS)],
    "the best falls": [
        thrifty.Changing({1: thrifty.Bernoulli(MEANS), HORIZON // 2: thrifty.Bernoulli([0.3, *MEANS[1:]])})
    ],
    "jumps every 10,000": jumping(10_000),
    "jumps every 3,000": jumping(3_000),
    "jumps every 1,000": jumping(1_000),
    "drifts": [thrifty.Changing.of(drifting, arms=ARMS)],
}
PLAIN: dict[str, thrifty.Policy] = {
    "TS (Beta)": thrifty.ThompsonSampling("beta"),
    "KL-UCB": thrifty.KLUCB(),
    "UCB1": thrifty.UCB1(),
    "Uniform": thrifty.Uniform(),
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
UNFORGETTING = {name: f"{name}, forgets nothing" for name in PLAIN} | {"Uniform": "at random"}
COLOUR = dict(zip(FORGETFUL, COLOURS, strict=True)) | dict(
    zip(PLAIN, (COLOURS[0], COLOURS[3], COLOURS[4], "0.6"), strict=True)
)
MARKER = dict(zip(FORGETFUL, (*MARKERS, "X"), strict=True))


def finals(
    policies: list[thrifty.Policy], problems: list[thrifty.Problem], horizon: int, runs: int
) -> Floats:
    """The regret of each policy in each run. All play on the same rewards.

    Of several problems, each is a run of its own.
    """
    each = runs // len(problems)
    parts = [
        thrifty.simulate(policies, problem, horizon, each, seed=1 + number, checkpoints=[horizon])
        for number, problem in enumerate(problems)
    ]
    return np.concatenate([part.regret[:, :, -1] for part in parts], axis=1)


def measured(problems: list[thrifty.Problem]) -> Found:
    """All policies; not a window that holds the whole run."""
    asked: dict[tuple[str, float], thrifty.Policy] = {(name, 0): policy for name, policy in PLAIN.items()}
    for name, make in FORGETFUL.items():
        window = name.startswith("SW")
        asked |= {(name, h): make(h) for h in HALF_LIVES if not window or tau(h) < HORIZON}
    found: Found = {name: {} for name, _ in asked}
    for (name, h), row in zip(asked, finals([*asked.values()], problems, HORIZON, RUNS), strict=True):
        found[name][h] = row
    return found


def draw(ax: Axes, title: str, found: Found) -> None:
    """Regret against the half-life; a level for each who does not forget."""
    logarithmic(ax, "x", np.array(HALF_LIVES, float))
    logarithmic(ax, "y", np.array([row.mean() for rows in found.values() for row in rows.values()]))
    for name, rows in found.items():
        means = [row.mean() for row in rows.values()]
        if name in PLAIN:
            ax.axhline(means[0], color=COLOUR[name], linestyle="--", linewidth=1.2)
        else:
            ax.plot([*rows], means, color=COLOUR[name], marker=MARKER[name], markersize=4.5, linewidth=1.4)
    ax.set_xticks(HALF_LIVES, [f"{h:,}" for h in HALF_LIVES])
    ax.minorticks_off()
    ax.set_title(title, fontsize=9.5, loc="left")
    figures.finish(ax, "half-life, in decisions", "")


def compose(found: dict[str, Found]) -> Figure:
    figure = Figure(figsize=(11.0, 7.8), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    for ax, (title, part) in zip(panels, found.items(), strict=True):
        draw(ax, title, part)
    for ax in panels[::3]:
        ax.set_ylabel(f"mean regret at T = {HORIZON:,}", fontsize=9.0)
    lines = [
        Line2D([], [], color=COLOUR[name], marker=MARKER[name], markersize=4.5, label=name)
        for name in FORGETFUL
    ]
    lines += [Line2D([], [], color=COLOUR[name], linestyle="--", label=UNFORGETTING[name]) for name in PLAIN]
    figure.legend(handles=lines, loc="outside lower center", ncols=4, fontsize=9.0, frameon=False)
    return figure


def shown(row: Floats) -> str:
    return f"{row.mean():,.0f} ± {error(row):,.0f}"


def error(row: Floats) -> float:
    return float(row.std(ddof=1)) / math.sqrt(row.size)


def markdown(heading: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [heading, ["---"] * len(heading), *rows])


def regrets(found: dict[str, Found]) -> str:
    """A row for each policy with each of some half-lives, a column for each problem."""
    rows = []
    for name in (*PLAIN, *FORGETFUL):
        for h in (0,) if name in PLAIN else SHOWN:
            rows.append([name, f"{h:,}" if h else "–", *(shown(part[name][h]) for part in found.values())])
    return markdown(["policy", "half-life", *found], rows)


def best(found: dict[str, Found]) -> str:
    """The half-life with the least regret, and those that are not clearly worse, by two standard errors of
    the difference, run by run."""
    rows = []
    for name in FORGETFUL:
        row = [name]
        for part in found.values():
            least = min(part[name].values(), key=np.mean)
            good = [
                f"{h:,}"
                for h, other in part[name].items()
                if other is least or (other - least).mean() <= 2.0 * error(other - least)
            ]
            row.append(f"{' or '.join(good)}: {shown(least)}")
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
    found = finals(policies, [problem], horizon, runs)
    rows = [[policy.label, shown(row)] for policy, row in zip(policies, found, strict=True)]
    return markdown(["policy", f"regret at T = {horizon:,}, {runs} runs"], rows)


def main() -> None:
    found = {title: measured(problems) for title, problems in PROBLEMS.items()}
    print(f"T = {HORIZON:,}, K = {ARMS}, {RUNS} runs\n\n{regrets(found)}\n")
    print(f"The best half-lives, and the least regret\n\n{best(found)}\n")
    print(switching())
    figures.save(compose(found), Path(__file__).parent.parent / "changing.png")


if __name__ == "__main__":
    main()
