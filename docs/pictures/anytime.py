"""The tables of docs/online.md on the horizon that is not known: what guessing it costs.

    uv run python docs/pictures/anytime.py

Printed are the mean regret with its standard error when the horizon is known and when it is guessed and
doubled, on the paper's problem; and how long the one decision takes at which a million arms are made anew.
"""

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import thrifty

Floats = NDArray[np.float64]
Guessing = thrifty.TSMA | thrifty.TSTD | thrifty.KLUCBPlusPlus

PROBLEM = thrifty.Bernoulli([0.9] + [0.8] * 19)
HORIZONS = (10_000, 100_000, 1_000_000)
RUNS = 40
POLICIES: tuple[Guessing, ...] = (
    thrifty.TSMA(alpha=0.0),
    thrifty.TSMA(alpha=0.5),
    thrifty.TSMA(alpha=1.0),
    thrifty.TSTD(alpha=0.0),
    thrifty.TSTD(alpha=0.5),
    thrifty.TSTD(alpha=1.0),
    thrifty.KLUCBPlusPlus(),
)
MANY = 1_000_000
DOUBLINGS = 3


def regrets(horizon: int) -> tuple[Floats, Floats]:
    """(policy, run), with the horizon known and without."""
    guessing = [replace(policy, anytime=True) for policy in POLICIES]
    result = thrifty.simulate([*POLICIES, *guessing], PROBLEM, horizon, RUNS, seed=1, checkpoints=[horizon])
    final = result.regret[:, :, -1]
    return final[: len(POLICIES)], final[len(POLICIES) :]


def cells(known: Floats, guessed: Floats) -> list[str]:
    """Both means with their standard errors, and by how much the second is larger: run by run, for the
    runs of both have the same random streams."""
    columns = [known, guessed, 100.0 * (guessed - known) / known.mean()]
    means = [values.mean() for values in columns]
    errors = [values.std(ddof=1) / np.sqrt(RUNS) for values in columns]
    shown = [f"{mean:,.0f} ± {error:,.0f}" for mean, error in zip(means, errors, strict=True)]
    return [*shown[:2], f"{means[2]:+.1f} ± {errors[2]:.1f} %".replace("-", "−")]


def pause(policy: Guessing) -> list[float]:
    """Seconds of processor time of the decision in which the guess is doubled, with MANY arms."""
    bandit = thrifty.Bandit(policy, MANY, seed=1, prior=(0.5, 1.0))
    seconds = []
    for _ in range(DOUBLINGS):
        assert bandit.horizon is not None
        bandit.select_many(bandit.horizon - bandit.decisions)
        began = time.process_time()
        bandit.select()
        seconds.append(time.process_time() - began)
    return seconds


def markdown(heading: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [heading, ["---"] * len(heading), *rows])


def main() -> None:
    rows: list[list[str]] = []
    for horizon in HORIZONS:
        known, guessed = regrets(horizon)
        for i, policy in enumerate(POLICIES):
            rows.append([f"{horizon:,}", policy.label, *cells(known[i], guessed[i])])
    print(f"{RUNS} runs\n\n{markdown(['T', 'policy', 'known horizon', 'anytime', 'cost'], rows)}\n")
    chosen = (thrifty.TSMA(), thrifty.TSTD(), thrifty.KLUCBPlusPlus())
    pauses = [[policy.label, f"{1000 * max(pause(policy)):.0f} ms"] for policy in chosen]
    print(f"{MANY:,} arms: the longest of {DOUBLINGS} doublings\n\n{markdown(['policy', 'pause'], pauses)}")


if __name__ == "__main__":
    main()
