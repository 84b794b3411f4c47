"""What so many logged rows can prove, and how often the intervals of a replay hold.

    uv run python examples/log_limits.py

The first part is exact: clicks are binomial, intervals Wilson's. The second replays synthetic logs, whose
truth is known, and counts: an interval is for the decisions that were made, and with several runs also for
the policy.
"""

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import thrifty
from thrifty.replays import intervals
from thrifty.replays import replay as replays
from thrifty.table import aligned

Floats = NDArray[np.float64]
RATE, DECISIONS, ARMS = 0.005, 125, 80
MEANS = np.array([0.6, 0.4, 0.3, 0.5])
POLICIES: tuple[thrifty.Policy, ...] = (thrifty.ThompsonSampling(law="beta"), thrifty.UCB1())
EQUAL, UNEQUAL = np.full(4, 0.25), np.array([0.1, 0.4, 0.3, 0.2])


def told(rate: float, decisions: int) -> float:
    """With which probability an interval of clicks at this rate is above the rate of the log."""
    hits = range(int(RATE * decisions), decisions + 1)
    least = next(k for k in hits if intervals.score(k / decisions, decisions, 0.95)[0] > RATE)
    return float(stats.binom.sf(least - 1, decisions, rate))


def needed(rate: float, power: float, step: int = 50) -> int:
    """How many decisions it takes, in steps, that this probability stays above the power."""
    enough = np.array([told(rate, n) >= power for n in range(step, 60 * step, step)])
    return step * (int(np.flatnonzero(~enough)[-1]) + 2)


def show_limits() -> None:
    hits = np.arange(DECISIONS + 1)
    ends = np.array([intervals.score(k / DECISIONS, DECISIONS, 0.95) for k in hits])
    chances = stats.binom.pmf(hits, DECISIONS, RATE)
    print(f"{DECISIONS} decisions at a click rate of {RATE:.1%}: {RATE * DECISIONS:.1f} clicks are expected")
    print(f"no click: {chances[0]:.0%} of all replays; its interval: {ends[0, 0]:.2%} to {ends[0, 1]:.2%}")
    print(f"the interval of one click: {ends[1, 0]:.2%} to {ends[1, 1]:.2%}")
    print(f"the mean width: {100 * float(chances @ (ends[:, 1] - ends[:, 0])):.1f} points")
    for times in (2, 4, 10):
        print(f"{times} times the rate is told in {told(times * RATE, DECISIONS):.0%} of all replays")
    many = needed(2 * RATE, 0.8)
    print(f"twice the rate in 80 %: {many:,} decisions, {ARMS * many:,} rows")
    many = round(RATE * (1.0 - RATE) * (intervals.quantile(0.95) / 0.001) ** 2)
    print(f"a rate to 0.1 points: {many:,} decisions, {ARMS * many:,} rows")


class Witness(replays.Player):
    """A player that remembers which arms were pulled."""

    pulled: ClassVar[list[int]] = []

    def learn(self, arm: int, reward: float) -> None:
        self.pulled.append(self._log.arms[arm])
        super().learn(arm, reward)


def coverage(
    policy: thrifty.Policy, shares: Floats, runs: int, logs: int, decisions: int
) -> tuple[float, float]:
    """How often the intervals of replays hold: for the decisions made, and for what ``simulate`` has."""
    played = thrifty.simulate(policy, thrifty.Bernoulli(MEANS), decisions, runs=2000)
    truth = MEANS.max() - float(played.regret[0, :, -1].mean()) / decisions
    made = best = 0
    for seed in range(logs):
        rng = np.random.default_rng([51, seed])
        arm = rng.choice(4, round(decisions / shares.min()), p=shares)
        log = {"arm": arm, "reward": rng.random(arm.size) < MEANS[arm], "propensity": shares[arm]}
        Witness.pulled.clear()
        low, high = replays.replay(policy, log, runs=runs, seed=seed).interval
        made += low <= MEANS[Witness.pulled].mean() <= high
        best += low <= truth <= high
    return made / logs, best / logs


def show_coverage(logs: int = 300, decisions: int = 200, runs: Iterable[int] = (1, 10)) -> None:
    replays.Player = Witness  # type: ignore[misc]
    rows = []
    for policy in POLICIES:
        for name, shares in (("1/4 each", EQUAL), ("0.1, 0.4, 0.3, 0.2", UNEQUAL)):
            for count in runs:
                found = coverage(policy, shares, count, logs, decisions)
                rows.append((policy.label, name, str(count), *(f"{100 * share:.1f} %" for share in found)))
    heading = ("policy", "propensities", "runs", "for the decisions made", "for what simulate has")
    print(f"\nintervals that hold, at 95 %, of {logs} logs with about {decisions} decisions each")
    print(aligned(heading, rows, left=2))


if __name__ == "__main__":
    show_limits()
    show_coverage()
