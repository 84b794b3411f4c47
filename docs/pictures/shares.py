"""The table of docs/decisions.md on what control, a floor and a burn-in cost.

    uv run python docs/pictures/shares.py

Printed is the mean regret with its standard error on the paper's problem.
"""

from typing import Any

import numpy as np

import thrifty

PROBLEM = thrifty.Bernoulli([0.9] + [0.8] * 19)
HORIZON, RUNS = 100_000, 40
ALONE = "what is decided at random costs alone"
POLICIES = (thrifty.ThompsonSampling("beta"), thrifty.KLUCBPlusPlus())
OPTIONS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "`control=0.01`": {"control": 0.01},
    "`control=0.05`": {"control": 0.05},
    "`control=0.05`, `control_arm` the best": {"control": 0.05, "control_arm": 0},
    "`floor=0.001`": {"floor": 0.001},
    "`burn_in=100`": {"burn_in": 100},
}


def main() -> None:
    chance = HORIZON * float(PROBLEM.gaps.mean())
    rows = [["", *(policy.label for policy in POLICIES), ALONE], ["---"] * (len(POLICIES) + 2)]
    for name, options in OPTIONS.items():
        final = thrifty.simulate(
            POLICIES, PROBLEM, HORIZON, RUNS, seed=1, checkpoints=[HORIZON], **options
        ).final
        means, errors = final.mean(axis=1), final.std(axis=1, ddof=1) / np.sqrt(RUNS)
        share = options.get("control", 0.0) + PROBLEM.size * options.get("floor", 0.0)
        random = f"{share * chance:,.0f}" if share and "control_arm" not in options else ""
        cells = [f"{mean:,.0f} ± {error:,.0f}" for mean, error in zip(means, errors, strict=True)]
        rows.append([name, *cells, random])
    print(f"{RUNS} runs\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows))


if __name__ == "__main__":
    main()
