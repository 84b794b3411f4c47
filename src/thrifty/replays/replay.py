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

Either way the differences from the expected rewards are a martingale. With n counts x of mean v and
b = sum of x^2 / sum of x, so that b v - v^2 is their variance, the interval is those m with

    |v - m| <= z sqrt((b m - m^2) / n),

which for rewards of 0 and 1 is Wilson's. It is right also where hardly any reward is not 0. If none is, b is
the largest reward. Weights 1/p make b unreliable: of the few rewards that are not 0, hardly any has a large
one. So b is at least what it would be if weights had nothing to do with rewards: the largest reward times
sum of w^2 / sum of w, over all rows with the policy's arm. With negative counts the interval is the normal
one, b v - v^2 instead of b m - m^2.

The interval is for the mean expected reward of the decisions that were made. Several runs on one log share
its rewards: their mean has less of the policy's own luck in it, but its error is counted as that of one run.
"""

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online.bandit import Bandit
from thrifty.online.rewards import Rewards
from thrifty.policies import Policy
from thrifty.replays import log as logs
from thrifty.replays.log import Log
from thrifty.table import Table

METHODS = ("rejection", "ips")
SHOWN = 5  # arms that an error names


@dataclass(frozen=True)
class Replay:
    """The outcome: an estimate of a policy's mean reward, beside the log's own; prints as a table.

    Attributes:
        policy: its label.
        method: "rejection" or "ips".
        rows: how many good rows the log has.
        bad: how many bad ones.
        report: what is wrong with the bad rows, and in which lines they are.
        arms: their number.
        decisions: how many got a reward, on average over the runs.
        value: the estimate.
        error: its standard error.
        interval: which holds the true value as often as ``level`` says.
        logged: the mean reward of the log.
        logged_error: its standard error.
        logged_interval: and its interval.
        level: how often the intervals are to hold.
    """

    policy: str
    method: str
    rows: int
    bad: int
    report: str
    arms: int
    decisions: float
    value: float
    error: float
    interval: tuple[float, float]
    logged: float
    logged_error: float
    logged_interval: tuple[float, float]
    level: float

    def __str__(self) -> str:
        return f"{self.report}\n\n{table([self])}" if self.bad else table([self])

    def __repr__(self) -> str:
        low, high = self.interval
        value = f"{self.value:.5f}, {100 * self.level:g} % from {low:.5f} to {high:.5f}"
        return f"<Replay of {self.policy}, {self.method}: {value}; the log {self.logged:.5f}>"

    def _repr_html_(self) -> str:
        return _table([self])._replace(title=self.report if self.bad else "").html()


def table(replays: Sequence[Replay]) -> str:
    """Several replays of one log, and the log's own mean."""
    return _table(replays).text()


def _table(replays: Sequence[Replay]) -> Table:
    one = replays[0]
    heading = ("", "mean reward", "± s.e.", f"{100 * one.level:g} % from", "to", "decisions")
    rows = [_row(r.policy, r.value, r.error, *r.interval, r.decisions) for r in replays]
    log = _row("the log", one.logged, one.logged_error, *one.logged_interval, one.rows)
    return Table(heading, [*rows, log])


def _row(name: str, value: float, error: float, low: float, high: float, count: float) -> tuple[str, ...]:
    return (name, *(f"{number:.5f}" for number in (value, error, low, high)), f"{count:,.0f}")


def replay(
    policy: Policy,
    log: Any,
    method: str = "rejection",
    *,
    arms: int | Iterable[Any] | None = None,
    runs: int = 10,
    seed: int = 0,
    level: float = 0.95,
    reward_range: tuple[float, float] | None = (0.0, 1.0),
    prior: tuple[float, float] | None = None,
    strict: bool = False,
) -> Replay:
    """Estimate a policy's mean reward from the log of another one.

    Parameters:
        policy: such as ``TSMA()``.
        log: a CSV or Parquet file, or a table (a mapping, a DataFrame), with the columns arm, reward,
            propensity and, if rows are not in order, time.
        method: "rejection" gives the policy a life of its own, from the rows in which the log happens to have
            its arm; "ips", inverse propensity, counts every row, with more noise.
        arms: the ids of the arms, or their number; by default all in the log.
        runs: how often the policy is played on the log; the estimate is the mean.
        seed: of the random numbers.
        level: how often the intervals are to hold.
        reward_range: the lowest and the highest reward, which policies see as 0 and 1; with None any number
            is a reward.
        prior: ``(mean, weight)`` of pseudo-observations that every arm has instead of its initial pull.
        strict: refuse bad rows, which are otherwise left out and reported by line.

    >>> import thrifty
    >>> log = {"arm": ["a", "b"] * 500, "reward": [1, 0] * 500, "propensity": [0.5] * 1000}
    >>> found = thrifty.replay(thrifty.UCB1(), log)
    >>> print(f"{found.value:.3f} from {found.decisions:.0f} decisions, {found.logged:.3f} in the log")
    0.980 from 509 decisions, 0.500 in the log
    """
    if not isinstance(policy, Policy):
        raise InvalidType(f"policy must be a policy such as TSMA(), got {checks.shown(policy)}")
    checks.choice("method", method, METHODS)
    runs = checks.integer("runs", runs, at_least=1)
    seed = checks.integer("seed", seed, at_least=0)
    level = checks.level(level)
    if isinstance(log, Log) and (arms is not None or strict):
        raise InvalidValue("arms and strict are for a log that is still to be read, got one that was read")
    read = log if isinstance(log, Log) else logs.read(log, arms, strict=strict)
    _check(policy, read, reward_range)
    rejection = method == "rejection"
    share = float(read.propensity.min()) if rejection else 1.0 / len(read.arms)
    horizon = max(1, round(share * (len(read) + read.elsewhere)))  # about so many rewards will the policy see
    low, top = reward_range or (0.0, float(read.reward.max()))
    initial = policy.resolve(len(read.arms), horizon).initial
    counts, weights = [], []
    for run in range(runs):
        words = np.random.SeedSequence([seed, run]).generate_state(2, np.uint64)
        rng = np.random.default_rng(int(words[1]))
        # The initial pulls are in an order of their own: for those in the log's order it has rows at once.
        order = rng.permutation(len(read.arms)) if initial else range(len(read.arms))
        names = [read.arms[i] for i in order]
        bandit = Bandit(copy.deepcopy(policy), names, horizon, int(words[0]), prior, reward_range)
        each, weight = _reject(bandit, read, rng) if rejection else _weigh(bandit, read)
        counts.append(each)
        weights.append(weight)
    if rejection:
        value, error, interval = _estimate(counts, low, top, level)
    else:
        pooled = np.concatenate(weights)
        largest = (
            float((pooled**2).sum() / pooled.sum()) if pooled.size else 1.0 / float(read.propensity.min())
        )
        value, error, interval = _estimate(counts, 0.0, top, level, largest)
    logged, logged_error, logged_interval = _estimate([read.reward], low, top, level)
    return Replay(
        policy=policy.label,
        method=method,
        rows=len(read),
        bad=len(read.bad),
        report=read.report(),
        arms=len(read.arms),
        decisions=float(np.mean([weight.size for weight in weights])),
        value=value,
        error=error,
        interval=interval,
        logged=logged,
        logged_error=logged_error,
        logged_interval=logged_interval,
        level=level,
    )


def _check(policy: Policy, log: Log, reward_range: tuple[float, float] | None) -> None:
    """Whether the policy can live on this log."""
    unseen = np.flatnonzero(np.bincount(log.arm, minlength=len(log.arms)) == 0)
    if unseen.size:
        names = ", ".join([*(repr(log.arms[i]) for i in unseen[:SHOWN]), *["..."][: unseen.size - SHOWN]])
        count = f"{unseen.size:,} of {len(log.arms):,}"
        raise InvalidValue(f"every arm must have rows in the log, and {count} have none: {names}")
    rewards = Rewards(policy, reward_range)
    try:
        rewards.read_many(log.reward)
    except InvalidValue:
        for line, reward in zip(log.line.tolist(), log.reward.tolist(), strict=True):
            rewards.read(reward, f"the reward in line {line}")


def _estimate(
    runs: Sequence[Floats], low: float, top: float, level: float, weight: float = 0.0
) -> tuple[float, float, tuple[float, float]]:
    """Value, standard error and interval from the counts of each run; NaN if there are none. Rewards are from
    ``low`` to ``top``. In b the largest that there may be counts once, as if it had been seen, and b is at
    least as if the weights of rewards had nothing to do with them."""
    some = [counts - low for counts in runs if counts.size]
    if not some:
        return math.nan, math.nan, (math.nan, math.nan)
    v = float(np.mean([counts.mean() for counts in some]))
    n = float(np.mean([counts.size for counts in some]))
    variance = float(np.mean([counts.var() for counts in some]))
    error, z = math.sqrt(variance / n), -NormalDist().inv_cdf(0.5 - level / 2.0)
    middle, reach = v, z * error
    if min(counts.min() for counts in some) >= 0.0:
        unseen = (top - low) * max(weight, 1.0)
        total = v + unseen / n
        b = max((variance + v * v + unseen**2 / n) / total, (top - low) * weight) if total > 0.0 else 0.0
        middle = (2.0 * n * v + z * z * b) / (2.0 * (n + z * z))
        reach = z * math.sqrt(z * z * b * b + 4.0 * n * v * (b - v)) / (2.0 * (n + z * z))
    return low + v, error, (low + middle - reach, low + middle + reach)


def _reject(bandit: Bandit, log: Log, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The rewards of the decisions, and their weights, which are 1."""
    taken = rng.random(len(log)) * log.propensity < log.propensity.min()
    rewards = []
    wanted = bandit.select()
    for arm, reward in zip(log.arm[taken].tolist(), log.reward[taken].tolist(), strict=True):
        if log.arms[arm] == wanted:
            bandit.update(wanted, reward)
            rewards.append(reward)
            wanted = bandit.select()
    return np.array(rewards, float), np.ones(len(rewards))


def _weigh(bandit: Bandit, log: Log) -> tuple[Floats, Floats]:
    """What each row counts, and the weights of those that have the arm that the policy chose. Rows of unknown
    arms are rows too, and count 0: propensities are shares of all rows."""
    counts, weights = np.zeros(len(log) + log.elsewhere), []
    rows = zip(log.arm.tolist(), log.reward.tolist(), log.propensity.tolist(), strict=True)
    for t, (arm, reward, propensity) in enumerate(rows):
        chosen = bandit.select()
        if chosen == log.arms[arm]:
            bandit.update(chosen, reward)
            counts[t] = reward / propensity
            weights.append(1.0 / propensity)
        else:
            bandit.cancel(chosen)
    return counts, np.array(weights)
