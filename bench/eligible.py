"""What a decision costs among a million arms of which some may not be chosen, and a slate.

    uv run python bench/eligible.py            # a million arms, a few minutes
    uv run python bench/eligible.py --quick    # a hundred thousand

A bandit is taught by as many decisions as it has arms, so that it knows its leaders. Those that won most
often are then left out: without them nobody else is above the level of sleepers, which arms at random would
not show. Microseconds of wall time; the first call of each kind loads what is compiled and does not count.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import thrifty
from thrifty.table import aligned

PRIOR = (0.05, 50.0)
POLICIES: list[thrifty.Policy] = [
    thrifty.ThompsonSampling(),
    thrifty.ThompsonSampling("beta"),
    thrifty.TSMA(),
    thrifty.KLUCBPlusPlus(),
    thrifty.UCB1(),
    thrifty.TSTD(),
]


def measured(bandit: thrifty.Bandit, means: Any, rng: Any, call: Callable[[], Any], count: int) -> Any:
    """How long each call takes; the rewards come between them."""
    times = np.empty(count + 1)
    for j in range(count + 1):
        start = time.perf_counter()
        chosen = call()
        times[j] = time.perf_counter() - start
        for arm in chosen if isinstance(chosen, list) else [chosen]:
            bandit.update(arm, float(rng.random() < means[arm]))
    return times[1:] * 1e6


def row(policy: thrifty.Policy, arms: int) -> list[str]:
    rng = np.random.default_rng(1)
    means = rng.uniform(0.0, 0.1, arms)
    means[rng.choice(arms, 8, replace=False)] = 0.9
    bandit = thrifty.Bandit(
        policy, arms, seed=1, prior=PRIOR, horizon=2 * arms if policy.needs_horizon else None
    )
    won: Counter[int] = Counter()
    for _ in range(arms):
        arm = bandit.select()
        won[arm] += 1
        bandit.update(arm, float(rng.random() < means[arm]))
    best = [arm for arm, _ in won.most_common(1000)]
    count = 20 if policy.schedule == "duel" else 1000  # TS-TD draws for all arms then
    cells, longest = [], 0.0
    for call in (
        bandit.select,
        lambda: bandit.select(exclude=best[:10]),
        lambda: bandit.select(exclude=best[:100]),
        lambda: bandit.select(exclude=best),
        lambda: bandit.select(among=best[:10]),
        lambda: bandit.select(among=best),
        lambda: bandit.rank(10),
    ):
        times = measured(bandit, means, rng, call, count)
        cells.append(f"{np.median(times):.1f}")
        longest = max(longest, times.max())
    for arm in rng.choice(arms, arms // 10, replace=False).tolist():
        bandit.pause(arm)
    cells.append(f"{np.median(measured(bandit, means, rng, bandit.select, count)):.1f}")
    return [policy.label, *cells, f"{longest / 1000:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a hundred thousand arms")
    arms = 10**5 if parser.parse_args().quick else 10**6
    heading = ["policy", "all arms", "without 10", "100", "1,000", "among 10", "1,000", "slate of 10"]
    heading += ["a tenth paused", "longest, ms"]
    rows = []
    for policy in POLICIES:
        rows.append(row(policy, arms))
        print(policy.label, *rows[-1][1:], flush=True)
    print()
    print(aligned(heading, rows))


if __name__ == "__main__":
    main()
