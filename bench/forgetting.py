"""What forgetting costs: a decision and its reward, and the longest of them, with and without.

    uv run python bench/forgetting.py [--arms 1000000] [--rounds 1000000] [--half-lives 10 1]

Every arm has a prior, (0.5, 1), or has been pulled once, where the policy needs none; means are uniform in
[0, 0.9], and one is 0.9. Rewards are 0 or 1. First a thousand more decisions are made than there are arms,
then those that are measured, each in processor time. Prints a table in Markdown.
"""

import argparse
import time

import numpy as np

import thrifty
from thrifty.policies import Policy

PRIOR = (0.5, 1.0)
CONTESTANTS: tuple[tuple[Policy, tuple[float, float] | None], ...] = (
    (thrifty.ThompsonSampling(), PRIOR),
    (thrifty.ThompsonSampling("beta"), PRIOR),
    (thrifty.ThompsonSampling("beta"), None),
    (thrifty.UCB1(), None),
    (thrifty.KLUCB(), None),
)


def measured(policy: Policy, prior: tuple[float, float] | None, arms: int, rounds: int) -> np.ndarray:
    """Processor time of each decision with its reward, in microseconds."""
    rng = np.random.default_rng(1)
    means = rng.uniform(0.0, 0.9, arms)
    means[arms // 2] = 0.9
    bandit = thrifty.Bandit(policy, arms, seed=1, prior=prior)
    before = arms + 1000  # the first choice among all arms compares them all
    luck, took = rng.random(before + rounds), np.empty(before + rounds)
    for t in range(before + rounds):
        began = time.thread_time()
        arm = bandit.select()
        bandit.update(arm, float(luck[t] < means[arm]))
        took[t] = time.thread_time() - began
    return 1e6 * took[before:]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--arms", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=10**6)
    parser.add_argument("--half-lives", type=float, nargs="+", default=[10.0, 1.0], help="of K decisions")
    args = parser.parse_args()
    print("| policy | prior | half-life | µs | times as much | one in a thousand over, µs | longest, ms |")
    print("|---|---|---|---|---|---|---|")
    for policy, prior in CONTESTANTS:
        plain = 0.0
        for half_life in (0.0, *args.half_lives):
            around = thrifty.Forgetting(policy, half_life * args.arms) if half_life else policy
            took = measured(around, prior, args.arms, args.rounds)
            mean = float(took.mean())
            plain = plain or mean
            cells = (
                policy.label,
                "yes" if prior else "no",
                f"{half_life:g} K" if half_life else "none",
                f"{mean:.2f}",
                f"{mean / plain:.1f}",
                f"{np.quantile(took, 0.999):.0f}",
                f"{took.max() / 1e3:.1f}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
