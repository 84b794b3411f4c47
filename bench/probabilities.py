"""How exact the probabilities of decisions are, what they cost, and what stopping by the outlook gives.

    uv run python bench/probabilities.py accuracy    # against numerical integration, half a minute
    uv run python bench/probabilities.py rewards     # after ten million rewards, a minute
    uv run python bench/probabilities.py cost        # with a million arms, two minutes; --arms for others
    uv run python bench/probabilities.py stopping    # a minute

Costs are processor time of the calling thread, so that other programs do not count.
"""

import argparse
import math
import time
from typing import Any

import numpy as np
from scipy import special

import thrifty
from thrifty.table import aligned

POINTS = 4001


def exact(law: str, pulls: Any, sums: Any) -> Any:
    """P(arm i has the largest index), by Simpson's rule."""
    if law == "gaussian":
        mean, sd = sums / pulls, pulls**-0.5
        x = np.linspace((mean - 8 * sd).max(), (mean + 8 * sd).max(), POINTS)
        z = (x - mean[:, None]) / sd[:, None]
        logs, density = special.log_ndtr(z), np.exp(-0.5 * z * z) / (sd[:, None] * math.sqrt(2 * math.pi))
    else:
        a, b = sums[:, None] + 1, pulls[:, None] - sums[:, None] + 1
        x = np.linspace(special.betaincinv(a, b, 1e-13).max(), 1 - 1e-9, POINTS)
        logs = np.log(special.betainc(a, b, x))
        density = np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special.betaln(a, b))
    weights = np.ones(POINTS)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    whole = logs.sum(axis=0)
    return (np.exp(whole - logs) * density) @ weights * (x[1] - x[0]) / 3.0


def errors(found: Any, right: Any) -> list[str]:
    off = np.abs(found / np.maximum(right, 1e-300) - 1.0)
    worst = (off[right > least].max(initial=0.0) for least in (0.01, 1e-6))
    return [f"{value:.1e}" for value in (0.5 * np.abs(found - right).sum(), *worst, abs(found.sum() - 1.0))]


def judged(bandit: thrifty.Bandit, law: str) -> list[str]:
    """The errors of all probabilities, and of those without the five leaders."""
    table = bandit.statistics()
    pulls, sums = table["pulls"].astype(float), table["pulls"] * table["mean"]
    found = np.array([bandit.probability(arm) for arm in bandit.arms])
    cells = errors(found, exact(law, pulls, sums))
    best = np.argsort(-found)[:5]
    rest = np.setdiff1d(np.arange(found.size), best)
    without = np.array([bandit.probability(arm, exclude=best.tolist()) for arm in rest.tolist()])
    return cells + errors(without, exact(law, pulls[rest], sums[rest]))


HEADING = ["", "arms", "rewards", "TV", "> 1 %", "> 1e-6", "sum", "TV", "> 1 %", "> 1e-6", "sum"]


def accuracy() -> list[list[str]]:
    rows = [HEADING]
    for law, arms in (("gaussian", 20), ("gaussian", 200), ("gaussian", 3000), ("beta", 20), ("beta", 300)):
        rng = np.random.default_rng(1)
        means = rng.beta(2, 8, arms)
        bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=law), arms, seed=1)
        made = 0
        for until in (2 * arms, 10 * arms, 10 * arms + 10_000):
            while made < until:
                decision = bandit.decide(probability=True)
                bandit.reward(decision, float(rng.random() < means[decision.arm]))
                made += 1
            rows.append([law, str(arms), str(made), *judged(bandit, law)])
    return rows


def rewards() -> list[list[str]]:
    """Levels that were added to and subtracted from, and those of a bandit that begins with the same."""
    rng = np.random.default_rng(2)
    means = 0.2 + 0.004 * rng.standard_normal(1000)
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(), 1000, seed=1)
    bandit.update_many(range(1000), rng.random(1000) < means)
    for _ in range(1000):
        bandit.probability(0)
        arms = np.concatenate([rng.integers(1000, size=9000), rng.integers(10, size=1000)])
        bandit.update_many(arms, (rng.random(10_000) < means[arms]).astype(float))
    known = bandit.statistics()
    other = thrifty.Bandit(
        bandit.policy, 1000, statistics={name: known[name] for name in ("arm", "pulls", "mean")}
    )
    kept, made = (np.array([each.probability(arm) for arm in range(1000)]) for each in (bandit, other))
    return [HEADING[:7], ["gaussian", "1000", "10,000,000", *errors(kept, made)]]


def cost(arms: int) -> list[list[str]]:
    rows = [["law", "arms", "asked", "first, s", "median, µs", "mean", "longest, ms"]]
    for law in ("gaussian", "beta"):
        for asked in (False, True):
            rng = np.random.default_rng(1)
            means, pulls = rng.beta(1, 20, arms), rng.integers(1, 50, arms)
            known = {"arm": range(arms), "pulls": pulls, "mean": rng.binomial(pulls, means) / pulls}
            bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=law), arms, seed=1, statistics=known)
            chances, times = rng.random(30_001), np.empty(30_001)
            for j in range(times.size):
                start = time.thread_time_ns()
                decision = bandit.decide(probability=asked)
                bandit.reward(decision, float(chances[j] < means[decision.arm]))
                times[j] = 1e-3 * (time.thread_time_ns() - start)
            first, later = 1e-6 * times[0], times[1:]
            rows.append(
                [law, f"{arms:,}", "yes" if asked else "no", f"{first:.2f}"]
                + [f"{value:.1f}" for value in (np.median(later), later.mean(), 1e-3 * later.max())]
            )
    return rows


def stopping() -> list[list[str]]:
    """Stop when the outlook's loss is below a limit: after how many decisions, what was said, what it was."""
    rows = [["means of 5 arms", "limit", "runs", "decisions", "said", "was", "± s.e.", "not the best"]]
    rng = np.random.default_rng(3)
    kinds = {"drawn uniformly": None, "0.5, and one 0.55": [0.5] * 4 + [0.55], "0.5, all": [0.5] * 5}
    for name, fixed in kinds.items():
        for limit in (0.02, 0.005):
            counts, said, was, wrong = [], [], [], []
            for run in range(300):
                means = rng.random(5) if fixed is None else rng.permutation(fixed)
                bandit = thrifty.Bandit(thrifty.ThompsonSampling(law="beta"), 5, seed=run)
                for t in range(1, 50_001):
                    arm = bandit.select()
                    bandit.update(arm, float(rng.random() < means[arm]))
                    if t % 50 == 0 and (look := bandit.outlook())["loss"].min() < limit:
                        break
                best = look["arm"][int(look["loss"].argmin())]
                counts.append(t)
                said.append(float(look["loss"].min()))
                was.append(float(means.max() - means[best]))
                wrong.append(means[best] < means.max())
            spread = np.std(was) / math.sqrt(len(was))
            rows.append(
                [name, f"{limit:g}", str(len(was)), f"{np.mean(counts):,.0f}"]
                + [f"{value:.5f}" for value in (np.mean(said), np.mean(was), spread)]
                + [f"{100 * np.mean(wrong):.0f} %"]
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("accuracy", "rewards", "cost", "stopping"))
    parser.add_argument("--arms", type=int, default=10**6, help="for cost")
    given = parser.parse_args()
    made = {"accuracy": accuracy, "rewards": rewards, "cost": lambda: cost(given.arms), "stopping": stopping}
    heading, *rows = made[given.what]()
    print(aligned(heading, rows))


if __name__ == "__main__":
    main()
