"""What an id costs: ``decide`` and ``reward`` against ``select`` and ``update``, in microseconds for both.
And what a floor, a burn-in and the calls of shadow mode cost.

    uv run python bench/decisions.py

prints the tables of docs/decisions.md. The bandits have a prior and are warmed up; rewards come at once. A
burn-in is over: every arm has its pull.
"""

import time
from collections.abc import Callable
from typing import Any

import thrifty
from thrifty.policies import Policy
from thrifty.table import aligned

POLICIES: tuple[Policy, ...] = (thrifty.ThompsonSampling("beta"), thrifty.TSMA(), thrifty.UCB1())
ARMS = (20, 10_000, 1_000_000)
ROUNDS, OPEN = 20_000, 1_000_000


def microseconds(call: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Of processor time, for one call: the best of three."""
    found = []
    for _ in range(3):
        before = time.process_time()
        for _ in range(rounds):
            call()
        found.append(time.process_time() - before)
    return 1e6 * min(found) / rounds


def measured(policy: Policy, arms: int, **options: Any) -> tuple[str, ...]:
    bandit = thrifty.Bandit(policy, arms, prior=(0.5, 1.0), seed=1, **options)

    def with_ids() -> None:
        bandit.reward(bandit.decide(), 1.0)

    def without() -> None:
        bandit.update(bandit.select(), 1.0)

    with_ids()
    without()
    plain, ours = microseconds(without), microseconds(with_ids)
    bandit.control = 0.05
    return f"{arms:,}", policy.label, f"{plain:.1f}", f"{ours:.1f}", f"{microseconds(with_ids):.1f}"


def floors(policy: Policy, arms: int) -> tuple[str, ...]:
    """With a floor by which a tenth of all decisions are at random; with a burn-in; and in the shadow."""
    bandit, burnt = (
        thrifty.Bandit(policy, arms, prior=(0.5, 1.0), seed=1, burn_in=burn_in) for burn_in in (0, 1)
    )
    burnt.update_many(range(arms), [0.0] * arms)
    bandit.update_many(range(arms), [0.0] * arms)

    def loop(one: thrifty.Bandit) -> Callable[[], None]:
        return lambda: one.update(one.select(), 1.0)

    calls = (loop(bandit), loop(burnt), bandit.preview, lambda: bandit.observe(0, 1.0))
    for call in calls:
        call()
    found = [microseconds(call) for call in calls]
    bandit.floor = 0.1 / arms
    bandit.select()
    found.insert(1, microseconds(loop(bandit)))
    return f"{arms:,}", policy.label, *(f"{each:.1f}" for each in found)


def main() -> None:
    rows = [measured(policy, arms) for arms in ARMS for policy in POLICIES]
    heading: tuple[str, ...] = ("arms", "policy", "select, update", "decide, reward", "with control=0.05")
    print(aligned(heading, rows))
    rows = [floors(policy, arms) for arms in ARMS for policy in POLICIES]
    heading = ("arms", "policy", "select, update", "with a floor", "with burn_in=1", "preview", "observe")
    print(aligned(heading, rows))
    bandit = thrifty.Bandit(thrifty.TSMA(), 1000, prior=(0.5, 1.0), seed=1)
    bandit.decide(count=OPEN, now=0.0)
    among_many = microseconds(lambda: bandit.reward(bandit.decide(), 1.0))
    print(f"with {OPEN:,} decisions open: {among_many:.1f} µs for both")
    before = time.process_time()
    closed = bandit.expire(1.0)
    print(f"expire: {1e6 * (time.process_time() - before) / closed:.1f} µs for each of {closed:,}")


if __name__ == "__main__":
    main()
