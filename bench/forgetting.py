"""What forgetting costs: a decision and its reward, and the longest of them, with and without.

    uv run python bench/forgetting.py [--arms 1000000] [--rounds 1000000] [--half-lives 10 1]
    uv run python bench/forgetting.py --classics

Every arm has a prior, (0.5, 1), or has been pulled once, where the policy needs none; means are uniform in
[0, 0.9], and one is 0.9. Rewards are 0 or 1. First a thousand more decisions are made than there are arms,
then those that are measured, each in processor time. Prints a table in Markdown. With --classics it is that
of discounted UCB and its like, which look at all arms.
"""

import argparse
import copy
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

CLASSICS: tuple[Policy, ...] = (
    thrifty.DiscountedUCB(),
    thrifty.SlidingWindowUCB(),
    thrifty.DiscountedTS(),
    thrifty.SlidingWindowTS(),
    thrifty.Forgetting(thrifty.UCB1(), 1000.0),
    thrifty.Forgetting(thrifty.ThompsonSampling("beta"), 1000.0),
)
SIZES = (10, 100, 1000, 10_000)


def measured(policy: Policy, prior: tuple[float, float] | None, arms: int, rounds: int) -> np.ndarray:
    """Processor time of each decision with its reward, in microseconds."""
    rng = np.random.default_rng(1)
    means = rng.uniform(0.0, 0.9, arms)
    means[arms // 2] = 0.9
    bandit = copy.copy(thrifty.Bandit(policy, arms, seed=1, prior=prior))  # all of its memory is there
    before = arms + 1000  # the first choice among all arms compares them all
    luck, took = rng.random(before + rounds), np.empty(before + rounds)
    for t in range(before + rounds):
        began = time.thread_time()
        arm = bandit.select()
        bandit.update(arm, float(luck[t] < means[arm]))
        took[t] = time.thread_time() - began
    return 1e6 * took[before:]


def at_once(policy: Policy, prior: tuple[float, float] | None, arms: int) -> tuple[float, float]:
    """Processor time of ``forget``, for the second time, and of the decision after it, in milliseconds."""
    bandit = thrifty.Bandit(policy, arms, seed=1, prior=prior)
    bandit.update_many(np.arange(arms), np.arange(arms) % 2)
    for _ in range(2):
        bandit.select()
        began = time.thread_time()
        bandit.forget(0.9)
        done = time.thread_time()
        bandit.select()
    return 1e3 * (done - began), 1e3 * (time.thread_time() - done)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--arms", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=10**6)
    parser.add_argument("--half-lives", type=float, nargs="+", default=[10.0, 1.0], help="of K decisions")
    parser.add_argument("--classics", action="store_true")
    args = parser.parse_args()
    if args.classics:
        print(f"| arms | {' | '.join(f'{arms:,}' for arms in SIZES)} |\n|{'---|' * (1 + len(SIZES))}")
        for policy in CLASSICS:
            means = [measured(policy, None, arms, 10_000).mean() for arms in SIZES]
            print(f"| {policy.label} | {' | '.join(f'{mean:.1f}' for mean in means)} |", flush=True)
        return
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
    print("\n| policy | prior | forget(0.9), ms | the next decision, ms |\n|---|---|---|---|")
    for policy, prior in CONTESTANTS:
        forgot, after = at_once(policy, prior, args.arms)
        print(f"| {policy.label} | {'yes' if prior else 'no'} | {forgot:.0f} | {after:.1f} |", flush=True)


if __name__ == "__main__":
    main()
