"""How often the interval of ``Bandit.lift`` holds, although the policy learns.

    uv run python bench/lift.py [--runs 1000]
    uv run python bench/lift.py --looks [--runs 300]

prints the table of docs/decisions.md: bandits with four arms and 4,000 decisions, whose control has about 280
rewards (480 where its share is changed). An interval holds if it has the difference of what policy and
control could expect in these decisions. Beside it, how often the normal interval would have held, difference
+- 1.96 standard errors.

With ``--looks``: how often there seems to be a lift where there is none, for who looks every 500 decisions
and for who looks at the end alone, of 20,000 decisions.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import thrifty
from thrifty.arrays import Floats
from thrifty.policies import Policy
from thrifty.table import aligned

DECISIONS = 4000
LEVELS = (0.95, 0.999)  # of who looks
RARE, EVEN = np.array([0.02, 0.03, 0.04, 0.05]), np.array([0.5, 0.45, 0.4, 0.55])
FLAT = np.full(DECISIONS, 0.07)
RISING = np.repeat([0.04, 0.2], DECISIONS // 2)
HALVED = np.repeat([1.0, 0.5], DECISIONS // 2)


def click(mean: float, rng: Any) -> float:
    return float(rng.random() < mean)


def smooth(mean: float, rng: Any) -> float:
    return float(rng.beta(4.0 * mean, 4.0 - 4.0 * mean))


def purchase(mean: float, rng: Any) -> float:
    """Of 1,000 at most; most people buy nothing."""
    return float(min(rng.lognormal(2.0, 0.5), 1000.0)) if rng.random() < mean / 8.373 else 0.0


class Case(NamedTuple):
    name: str
    policy: Policy
    means: Floats
    reward: Callable[[float, Any], float] = click
    share: Floats = FLAT
    drift: Floats = np.ones(DECISIONS)
    late: int = 0  # decisions
    slate: int = 1
    highest: float = 1.0


TS, UCB = thrifty.ThompsonSampling("beta"), thrifty.UCB1()
CASES = (
    Case("clicks, 2 to 5 %", TS, RARE),
    Case("clicks, 2 to 5 %", UCB, RARE),
    Case("clicks, 40 to 55 %", TS, EVEN),
    Case("clicks, 40 to 55 %", UCB, EVEN),
    Case("the same, 500 decisions late", TS, EVEN, late=500),
    Case("Beta, means 0.4 to 0.55", UCB, EVEN, smooth),
    Case("share 4 %, then 20 %, and clicks halved", TS, EVEN, share=RISING, drift=HALVED),
    Case("the same, clicks 2 to 5 %", TS, RARE, share=RISING, drift=HALVED),
    Case("slates of two, half of the users click nothing", TS, EVEN, slate=2),
    Case("purchases by 2 to 5 %", UCB, 8.373 * RARE, purchase, highest=1000.0),
)


def held(case: Case, seed: int) -> tuple[bool, bool]:
    """Whether the interval of one bandit holds, and whether the normal one does."""
    rng = np.random.default_rng(seed)
    bandit = thrifty.Bandit(case.policy, len(case.means), seed=seed, reward_range=(0.0, case.highest))
    flying: list[Any] = []
    total, weight, part = 0.0, 0.0, 1.0 if case.slate == 1 else 0.5
    for share, drift in zip(case.share.tolist(), case.drift.tolist(), strict=True):
        if bandit.control != share:
            bandit.control = share
        made = [bandit.decide()] if case.slate == 1 else bandit.decide(rank=case.slate)
        clicks = case.slate == 1 or rng.random() < part
        for each in made:
            mean = case.means[each.arm] * drift
            flying.append((each, case.reward(mean, rng) if clicks else 0.0))
            if not each.control:
                total += mean * part / (1.0 - share)
                weight += 1.0 / (1.0 - share)
        while len(flying) > case.late:
            bandit.reward(*flying.pop(0))
    for each in flying:
        bandit.reward(*each)
    truth = total / weight - part * case.means.mean() * case.drift.mean()
    found, sides = bandit.lift(), bandit._ledger.sides
    reach = 1.96 * case.highest * math.sqrt(sum(side.square / side.weight**2 for side in sides))
    return found.low <= truth <= found.high, abs(found.difference - truth) <= reach


def seen(seed: int) -> list[bool]:
    """Whether one bandit of equal arms ever had a lift, at each level, and whether it had one at the end."""
    rng, found = np.random.default_rng(seed), []
    bandit = thrifty.Bandit(TS, 3, seed=seed, control=0.1)
    for number in range(1, 20_001):
        bandit.reward(bandit.decide(), float(rng.random() < 0.05))
        if number % 500 == 0 and bandit._ledger.sides.control.slates >= 200:
            lifts = [bandit.lift(level) for level in LEVELS]
            found.append([not lift.low <= 0.0 <= lift.high for lift in lifts])
    return [*np.any(found, axis=0).tolist(), *found[-1]]


def looks(runs: int) -> None:
    shares = np.mean([seen(seed) for seed in range(runs)], axis=0)
    rows = [
        (f"{level:.1%}", f"{ever:.3f}", f"{last:.3f}")
        for level, ever, last in zip(LEVELS, shares[:2], shares[2:], strict=True)
    ]
    print(aligned(("level", "at some time", "at the end"), rows))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int)
    parser.add_argument("--looks", action="store_true", help="where there is no lift: who sees one?")
    given = parser.parse_args(arguments)
    if given.looks:
        looks(given.runs or 300)
        return
    runs = given.runs or 1000
    rows = []
    for case in CASES:
        ours, normal = np.mean([held(case, seed) for seed in range(runs)], axis=0)
        error = math.sqrt(0.95 * 0.05 / runs)
        rows.append((case.name, type(case.policy).__name__, f"{ours:.3f}", f"{normal:.3f}", f"{error:.3f}"))
        print(*rows[-1], flush=True)
    print(aligned(("rewards", "policy", "holds", "normal interval", "standard error"), rows))


if __name__ == "__main__":
    main()
