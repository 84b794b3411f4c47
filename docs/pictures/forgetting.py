"""The picture and the table of docs/forgetting.md: the regret with smaller and larger steps of forgetting.

    uv run python docs/pictures/forgetting.py [--runs 1000]

Ten arms, of which another one is the best in every 10,000 rounds; half-life 2,000. A step multiplies by 0.9
or more, by 0.99 or more, as thrifty does, by 0.999 or more, or there is one for every arm in every decision,
which is the definition without any staggering.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import thrifty
from thrifty.policies import Policy, forgetting
from thrifty.report import figures
from thrifty.report.style import styles

STEPS = {"0.9": 0.9, "0.99": 0.99, "0.999": 0.999, "every decision": 1.0 - 1e-9}
POLICIES: tuple[Policy, ...] = (
    thrifty.ThompsonSampling(),
    thrifty.ThompsonSampling("beta"),
    thrifty.KLUCB(),
    thrifty.UCB1(),
)
HALF_LIFE, PART, ARMS = 2000.0, 10_000, 10
PRIOR = (0.5, 1.0)


def problem() -> thrifty.Changing:
    """The best arm has a mean of 0.6, all others of 0.5."""
    means = np.where(np.eye(4, ARMS), 0.6, 0.5)
    return thrifty.Changing([(1 + part * PART, thrifty.Bernoulli(row)) for part, row in enumerate(means)])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    rounds = np.linspace(PART / 10, 4 * PART, 40).astype(int)
    figure = Figure(figsize=(9.0, 6.4))
    panels = figure.subplots(2, 2, sharex=True).ravel()
    looks = styles([*STEPS])
    print("| policy | " + " | ".join(STEPS) + " |")
    print("|---|" + "---|" * len(STEPS))
    for policy, panel in zip(POLICIES, panels, strict=True):
        cells = []
        for (name, step), look in zip(STEPS.items(), looks, strict=True):
            forgetting.STEP = step
            result = thrifty.simulate(
                forgetting.Forgetting(policy, HALF_LIFE),
                problem(),
                4 * PART,
                runs=runs,
                seed=1,
                prior=PRIOR,
                checkpoints=rounds,
                progress=False,
            )
            regret = np.asarray(result.regret)[0]
            panel.plot(rounds, regret.mean(axis=0), color=look.colour, ls=look.line, label=name)
            error = regret[:, -1].std(ddof=1) / np.sqrt(runs)
            cells.append(f"{regret[:, -1].mean():,.0f} ({error:.0f})")
        print(f"| {policy.label} | {' | '.join(cells)} |", flush=True)
        figures.finish(panel, "", "")
        panel.set_title(f"{policy.label}, half-life {HALF_LIFE:,.0f}", fontsize=10)
        panel.set_ylim(0.0)
    panels[0].legend(title="a step multiplies by at least", fontsize=8, frameon=False)
    figure.supxlabel("round", fontsize=9)
    figure.supylabel("regret", fontsize=9)
    figure.tight_layout()
    figures.save(figure, Path(__file__).parents[1] / "forgetting.png")


if __name__ == "__main__":
    main()
