"""More arms than decisions: a million arms, fifty thousand decisions, and what a prior is worth.

    uv run python examples/cold_start.py

Nobody can pull each of a million arms once before learning anything, so every arm starts with
pseudo-observations, ``prior=(mean, weight)``. Two kinds are compared:

- one for all: the average of the arms' means, with the weight of one observation. It replaces the
  initial pulls and says nothing about which arm is good;
- one for each: a forecast of each arm's mean that is off by FORECAST_SD, from a model of the items, say.
  Its weight is the number n of rewards whose average would be off by as much: of rewards of 0 or 1 with
  mean m it has the variance m (1 - m) / n, at most FORECAST_SD^2 if n = 1 / (4 FORECAST_SD^2).

"pulling at random" is what a policy loses that learns nothing.
"""

import math

import numpy as np
from numpy.typing import NDArray

import thrifty
from thrifty.online.known import Prior
from thrifty.table import aligned

Floats = NDArray[np.float64]

ARMS, HORIZON, RUNS = 1_000_000, 50_000, 3
BEST = 0.9  # means are uniform between 0 and this
FORECAST_SD = 0.1
WEIGHT = 0.25 / FORECAST_SD**2
POLICIES: tuple[thrifty.Policy, ...] = (
    thrifty.ThompsonSampling(law="beta"),
    thrifty.TSMA(law="beta"),
    thrifty.EpsilonTS(law="beta"),
    thrifty.KLUCBPlusPlus(),
)


def play(bandit: thrifty.Bandit, means: Floats, horizon: int, rng: np.random.Generator) -> float:
    """The regret of so many decisions, each with its reward at once."""
    best, regret = float(means.max()), 0.0
    for luck in rng.random(horizon).tolist():
        arm = bandit.select()
        bandit.update(arm, float(luck < means[arm]))
        regret += best - means[arm]
    return regret


def experiment(arms: int, horizon: int, runs: int) -> dict[tuple[str, str], list[float]]:
    """The regret of each run, by policy and kind of prior."""
    regrets: dict[tuple[str, str], list[float]] = {}
    for run in range(runs):
        world = np.random.default_rng([run, 0])
        means = world.uniform(0.0, BEST, arms)
        forecast = np.clip(means + FORECAST_SD * world.standard_normal(arms), 0.0, 1.0)
        priors: dict[str, Prior] = {"one for all": (BEST / 2.0, 1.0), "one for each": (forecast, WEIGHT)}
        gap = float(means.max() - means.mean())
        regrets.setdefault(("pulling at random", "none"), []).append(horizon * gap)
        for policy in POLICIES:
            for kind, prior in priors.items():
                bandit = thrifty.Bandit(policy, arms, horizon=horizon, seed=run, prior=prior)
                regret = play(bandit, means, horizon, np.random.default_rng([run, 1]))
                regrets.setdefault((policy.label, kind), []).append(regret)
    return regrets


def table(regrets: dict[tuple[str, str], list[float]]) -> str:
    """Mean regrets with their standard errors."""
    rows = []
    for (policy, kind), values in regrets.items():
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        rows.append((policy, kind, f"{np.mean(values):,.0f}", f"{error:,.0f}"))
    return aligned(("policy", "prior", "regret", "± s.e."), rows, left=2)


if __name__ == "__main__":
    print(f"{ARMS:,} arms, {HORIZON:,} decisions; means of {RUNS} runs\n")
    print(table(experiment(ARMS, HORIZON, RUNS)))
