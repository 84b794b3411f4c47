"""What a decision costs among a million arms of which some may not be chosen, and a slate.

    uv run python bench/eligible.py            # a million arms, a few minutes
    uv run python bench/eligible.py --quick    # a hundred thousand
    uv run python bench/eligible.py --only UCB1

A bandit is taught by as many decisions as it has arms, so that it knows its leaders. Those that won most
often are then left out: without them nobody else is above the level of sleepers, which arms at random would
not show. With those ten paused, a plain decision is among the same arms as one without them. Microseconds of
wall time; the first call of each kind loads what is compiled and does not count.

UCB1 has tried every arm about once by then, and nearly all are tied. So it has a second row, where it begins
with the pulls that it would have made in a thousand decisions for each arm: its indices differ. So has TS: it
knows its leaders so well then that nobody else is drawn for.
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
WITHOUT_10, SLATE = 1, 6  # columns that are compared with the first, a decision among all arms
LEARNT = (thrifty.ThompsonSampling(), thrifty.UCB1())


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


def known(means: Any, best: Any, rng: Any) -> dict[str, Any]:
    """What UCB1 has seen after a thousand decisions for each arm: every index is about as high as that of the
    best arms, which have most of the pulls."""
    t = 1000 * means.size
    pulls = np.ceil(2.0 * np.log(t) / (means[best[0]] + 0.001 - means) ** 2).astype(int)
    pulls[best] = t // best.size
    return {"arm": range(means.size), "pulls": pulls, "mean": rng.binomial(pulls, means) / pulls}


def row(policy: thrifty.Policy, arms: int, *, learnt: bool) -> list[str]:
    rng = np.random.default_rng(1)
    means = rng.uniform(0.0, 0.1, arms)
    leaders = rng.choice(arms, 8, replace=False)
    means[leaders] = 0.9
    start: Any = {"statistics": known(means, leaders, rng)} if learnt else {"prior": PRIOR}
    horizon = 2 * arms if policy.needs_horizon else None
    bandit = thrifty.Bandit(policy, arms, seed=1, horizon=horizon, **start)
    won: Counter[int] = Counter()
    for _ in range(arms):
        arm = bandit.select()
        won[arm] += 1
        bandit.update(arm, float(rng.random() < means[arm]))
    best = [arm for arm, _ in won.most_common(1000)]
    ten, hundred = best[:10], best[:100]
    count = 20 if policy.schedule == "duel" else 1000  # TS-TD draws for all arms then
    medians, longest = [], 0.0
    for call in (
        lambda: bandit.select(),
        lambda: bandit.select(exclude=ten),
        lambda: bandit.select(exclude=hundred),
        lambda: bandit.select(exclude=best),
        lambda: bandit.select(among=ten),
        lambda: bandit.select(among=best),
        lambda: bandit.rank(10),
    ):
        times = measured(bandit, means, rng, call, count)
        medians.append(np.median(times))
        longest = max(longest, times.max())
    for pausing in (ten, rng.choice(arms, arms // 10, replace=False).tolist()):
        for arm in pausing:
            bandit.pause(arm)
        medians.append(np.median(measured(bandit, means, rng, bandit.select, count)))
        for arm in pausing:
            bandit.resume(arm)
    times_as_much = [f"{medians[column] / medians[0]:.1f}" for column in (WITHOUT_10, SLATE)]
    cells = [f"{median:.3g}" for median in medians]
    return [policy.label + learnt * ", learnt", *cells, *times_as_much, f"{longest / 1000:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a hundred thousand arms")
    parser.add_argument("--only", help="the policy with this label")
    args = parser.parse_args()
    arms = 10**5 if args.quick else 10**6
    heading = ["policy", "all arms", "without 10", "100", "1,000", "among 10", "1,000", "slate of 10"]
    heading += ["those 10 paused", "a tenth paused", "without 10, times", "slate, times", "longest, ms"]
    rows = []
    for policy in POLICIES:
        for learnt in (False, True) if policy in LEARNT else (False,):
            if args.only in (None, policy.label):
                rows.append(row(policy, arms, learnt=learnt))
                print(*rows[-1], flush=True)
    print()
    print(aligned(heading, rows))


if __name__ == "__main__":
    main()
