"""What a policy would have earned, from the log of another one whose propensities are known.

Rejection: the policy decides, and the log is read on until it has a row of that arm. With propensity p the
row is taken with probability c/p, c being the smallest propensity of the log, and its reward is the
decision's: so a decision costs 1/c rows on average, and rewards come from where they would have come from.
The value is the mean reward of the decisions, about c N of them from N rows. Li, Chu, Langford and Wang,
"Unbiased offline evaluation of contextual-bandit-based news article recommendation algorithms", WSDM 2011,
where all propensities are equal.

Inverse propensity: the policy decides anew at every row. If the row has its arm, the policy is told the
reward x, and x/p is counted, otherwise 0. Given the past, the expected count is the expected reward of the
decision, whatever the propensities are. All rows count, with a large variance where p is small. The policy
learns from the rows with its arm alone, so N rows do not make it as clever as N decisions of its own would.

Either way the differences from the expected rewards are a martingale, and intervals are normal ones from
their variance. Several runs on one log share its rewards: their mean has less of the policy's own chance in
it, but its error is counted as that of one run.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from thrifty import checks
from thrifty.engines.state import Floats
from thrifty.errors import InvalidValue
from thrifty.online.bandit import Bandit
from thrifty.policies import Policy
from thrifty.replays import log as logs
from thrifty.replays.log import Log
from thrifty.table import aligned

METHODS = ("rejection", "ips")


@dataclass(frozen=True)
class Replay:
    """The outcome: an estimate of a policy's mean reward, with its interval, beside the log's own."""

    policy: str
    method: str
    rows: int
    bad: int
    arms: int
    decisions: float  # that got a reward, on average over the runs
    value: float
    error: float
    interval: tuple[float, float]
    logged: float  # the mean reward of the log
    logged_error: float
    level: float

    def __str__(self) -> str:
        return table([self])


def table(replays: Sequence[Replay]) -> str:
    """Several replays of one log, and the log's own mean."""
    one = replays[0]
    heading = ("", "mean reward", "± s.e.", f"{100 * one.level:g} % from", "to", "decisions")
    rows = [_row(r.policy, r.value, r.error, *r.interval, r.decisions) for r in replays]
    reach = _reach(one.level) * one.logged_error
    log = _row("the log", one.logged, one.logged_error, one.logged - reach, one.logged + reach, one.rows)
    return aligned(heading, [*rows, log])


def _row(name: str, value: float, error: float, low: float, high: float, count: float) -> tuple[str, ...]:
    return (name, *(f"{number:.5f}" for number in (value, error, low, high)), f"{count:,.0f}")


def replay(
    policy: Policy,
    log: Any,
    method: str = "rejection",
    *,
    runs: int = 10,
    seed: int = 0,
    level: float = 0.95,
    reward_range: tuple[float, float] | None = (0.0, 1.0),
    prior: tuple[float, float] | None = None,
    strict: bool = False,
) -> Replay:
    """Estimate a policy's mean reward from a log: a CSV or Parquet file or a table, with the columns arm,
    reward, propensity and, if rows are not in order, time.

    Bad rows are left out and counted, or refused with ``strict``.
    """
    checks.choice("method", method, METHODS)
    runs = checks.integer("runs", runs, at_least=1)
    level = checks.unit("level", level, open_at_zero=True)
    if level >= 1.0:
        raise InvalidValue(f"level must be below 1, got {level!r}")
    read = log if isinstance(log, Log) else logs.read(log, strict=strict)
    play = _reject if method == "rejection" else _weigh
    found = []
    for run in range(runs):
        bandit = Bandit(
            policy, read.arms, horizon=len(read), seed=seed + run, reward_range=reward_range, prior=prior
        )
        found.append(play(bandit, read, np.random.default_rng([seed, run])))
    values = [float(counts.mean()) if counts.size else math.nan for counts, _ in found]
    value = float(np.mean(values))
    error = float(np.mean([_error(counts) for counts, _ in found]))
    reach = _reach(level) * error
    return Replay(
        policy=policy.label,
        method=method,
        rows=len(read),
        bad=len(read.bad),
        arms=len(read.arms),
        decisions=float(np.mean([decisions for _, decisions in found])),
        value=value,
        error=error,
        interval=(value - reach, value + reach),
        logged=float(read.reward.mean()),
        logged_error=_error(read.reward),
        level=level,
    )


def _reach(level: float) -> float:
    return float(ndtri(0.5 + level / 2.0))


def _error(values: Floats) -> float:
    """The standard error of the mean; not a number for fewer than two values."""
    return float(values.std(ddof=1) / math.sqrt(values.size)) if values.size > 1 else math.nan


def _reject(bandit: Bandit, log: Log, rng: np.random.Generator) -> tuple[Floats, int]:
    """The rewards of the decisions, and how many there were."""
    taken = rng.random(len(log)) * log.propensity < log.propensity.min()
    rewards = []
    wanted = bandit.select()
    for arm, reward in zip(log.arm[taken].tolist(), log.reward[taken].tolist(), strict=True):
        if log.arms[arm] == wanted:
            bandit.update(wanted, reward)
            rewards.append(reward)
            wanted = bandit.select()
    return np.array(rewards, float), len(rewards)


def _weigh(bandit: Bandit, log: Log, rng: np.random.Generator) -> tuple[Floats, int]:
    """What each row counts, and how many rows had the arm that the policy chose."""
    counts = np.zeros(len(log))
    rows = zip(log.arm.tolist(), log.reward.tolist(), log.propensity.tolist(), strict=True)
    decisions = 0
    for t, (arm, reward, propensity) in enumerate(rows):
        chosen = bandit.select()
        if chosen == log.arms[arm]:
            bandit.update(chosen, reward)
            counts[t] = reward / propensity
            decisions += 1
        else:
            bandit.cancel(chosen)
    return counts, decisions
