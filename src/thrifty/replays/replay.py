"""What a policy would have earned, from the log of another one whose propensities are known.

Rejection: a row with propensity p is taken with probability c/p, c being the smallest propensity of the log.
If it has the arm that the policy decides on, its reward is the decision's; otherwise the decision is not
carried out. So each row is used with probability c, whatever the policy wants, and rewards come from where
they would have come from. The value is the mean reward of the decisions, about c N of them from N rows. Li,
Chu, Langford and Wang, "Unbiased offline evaluation of contextual-bandit-based news article recommendation
algorithms", WSDM 2011, where all propensities are equal.

A policy that draws its decisions draws anew at each row that was taken: then, given the log, every row has
the chance that the policy gives its arm. A decision that was held until its arm comes would find the row
behind a long gap too often. The decision of one that does not draw is the same until it learns something, so
it is held, and its estimate is without bias over all logs that might have been, but not given this one.

Inverse propensity: the policy decides at every row. If the row has its arm, the policy is told the reward x,
and x/p is counted, otherwise 0. Given the past, the expected count is the expected reward of the decision,
whatever the propensities are. All rows count, with a large variance where p is small. The policy learns from
the rows with its arm alone, so N rows do not make it as clever as N decisions of its own would. Rewards are
counted from the lowest one of their range on.

Either way the differences from the expected rewards are a martingale; the intervals are
``intervals.weighted``, as far as they are in the range of rewards. With no such range they are normal ones.
They are for the mean expected reward of the decisions that were made. Several runs on one log share its
rewards: their mean has less of the policy's own luck in it, but its error is counted as that of one run.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online import known
from thrifty.online.rewards import Rewards
from thrifty.policies import Policy
from thrifty.replays import intervals
from thrifty.replays import log as logs
from thrifty.replays.audit import admit
from thrifty.replays.intervals import Interval
from thrifty.replays.log import Log, Reading
from thrifty.replays.player import Player, Prior, check_fixed, check_returns, draws_anew
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
        checks: what was found in the log itself, a line for each thing.
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
    checks: str

    def __str__(self) -> str:
        return "\n\n".join(filter(None, (self.report, table([self]), self.checks)))

    def __repr__(self) -> str:
        low, high = self.interval
        value = f"{self.value:.5f}" if self.decisions else "no decisions"
        value += f", {100 * self.level:g} % from {low:.5f} to {high:.5f}"
        return f"<Replay of {self.policy}, {self.method}: {value}; the log {self.logged:.5f}>"

    def _repr_html_(self) -> str:
        return _table([self])._replace(title=self.report, notes=[self.checks]).html()


def table(replays: Sequence[Replay]) -> str:
    """Several replays of one log, and the log's own mean."""
    return _table(replays).text()


def _table(replays: Sequence[Replay]) -> Table:
    one = replays[0]
    heading = ("", "mean reward", "± s.e.", f"{100 * one.level:g} % from", "to", "decisions")
    rows = [shown(r.policy, r.value, r.error, *r.interval, r.decisions) for r in replays]
    log = shown("the log", one.logged, one.logged_error, *one.logged_interval, one.rows)
    return Table(heading, [*rows, log])


def shown(name: str, value: float, error: float, low: float, high: float, count: float) -> tuple[str, ...]:
    """What is not known is a dash: without decisions the value, and an error of which nothing was seen."""
    known = [
        f"{number:.5f}" if show else "-" for number, show in ((value, value == value), (error, error > 0.0))
    ]
    return (name, *known, f"{low:.5f}", f"{high:.5f}", f"{count:,.0f}" if count >= 10 else f"{count:.2g}")


def replay(
    policy: Policy,
    log: Any,
    method: str = "rejection",
    *,
    runs: int = 10,
    seed: int = 0,
    level: float = 0.95,
    reward_range: tuple[float, float] | None = (0.0, 1.0),
    prior: known.Prior | None = None,
    trust: bool = False,
    **reading: Unpack[Reading],
) -> Replay:
    """Estimate a policy's mean reward from the log of another one.

    Parameters:
        policy: such as ``TSMA()``.
        log: a CSV or Parquet file, or a table (a mapping, a DataFrame), with the columns arm, reward,
            propensity and, if rows are not in order, time; or what ``read_log`` has made of it.
        method: "rejection" gives the policy a life of its own, from the rows in which the log happens to have
            its arm; "ips", inverse propensity, counts every row, with more noise.
        runs: how often the policy is played on the log; the estimate is the mean.
        seed: of the random numbers.
        level: how often the intervals are to hold.
        reward_range: the lowest and the highest reward, which policies see as 0 and 1; with None any number
            is a reward.
        prior: ``(mean, weight)`` of pseudo-observations that every arm has instead of its initial pull.
            Either may be a sequence, with an entry for each of ``arms``, in that order.
        trust: take the log even if its checks say that it cannot be right.
        reading: how the log is read, by the keywords of ``read_log``: arms, arm_column, spans, strict, ...

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
    trust = checks.flag("trust", trust)
    read = taken(log, reading)
    rewards = Rewards(policy, reward_range)
    _check_arms(read)
    check_rewards(rewards, read)
    made = admit(read, trust)
    check_returns(read)
    check_fixed(policy, read)
    priors = read_prior(prior, read, rewards)
    rejection = method == "rejection"
    share = float(read.propensity.min()) if rejection else 1.0 / float(read.choices.mean())
    horizon = max(1, round(share * (len(read) + read.elsewhere)))  # about so many rewards will it see
    low, top = reward_range or (0.0, math.nan)
    counts, weights = [], []
    for run in range(runs):
        rng = np.random.default_rng(np.random.SeedSequence([seed, run]))
        player = Player(policy, read, horizon, rng, priors, reward_range)
        if rejection:
            each = _reject(player, draws_anew(policy), read, rng) - low
            weight = np.ones(each.size)
        else:
            each, weight = _weigh(player, read, low)
        counts.append(each)
        weights.append(weight)
    drawn = np.concatenate(weights)
    if drawn.size:
        typical = 0.0 if rejection else float((drawn**2).sum() / drawn.sum())
        value, error, interval = _estimate(counts, low, top, level, typical)
    else:
        value, error, interval = math.nan, math.nan, reward_range or (-math.inf, math.inf)
    logged, logged_error, logged_interval = of_log(read, reward_range, level)
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
        checks=str(made),
    )


def taken(log: Any, reading: Reading) -> Log:
    """A log that was read, or one that is read now."""
    if not isinstance(log, Log):
        return logs.read(log, **reading)
    if reading:
        names = ", ".join(reading)
        raise InvalidValue(f"{names} must be given to read_log if the log is read by it")
    return log


def _check_arms(log: Log) -> None:
    unseen = np.flatnonzero(np.bincount(log.arm, minlength=len(log.arms)) == 0)
    if unseen.size:
        names = ", ".join([*(repr(log.arms[i]) for i in unseen[:SHOWN]), *["..."][: unseen.size - SHOWN]])
        count = f"{unseen.size:,} of {len(log.arms):,}"
        raise InvalidValue(f"every arm must have rows in the log, and {count} have none: {names}")


def check_rewards(rewards: Rewards, log: Log) -> None:
    """Whether every reward is one."""
    try:
        rewards.read_many(log.reward)
    except InvalidValue:
        for line, reward in zip(log.line.tolist(), log.reward.tolist(), strict=True):
            rewards.read(reward, f"the reward in line {line}")


def read_prior(prior: known.Prior | None, log: Log, rewards: Rewards) -> Prior:
    """A prior for all arms, or a row for each."""
    _, own = known.read_prior(prior, len(log.arms), rewards)
    if prior is None or own is None:
        return prior  # type: ignore[return-value]
    if not log.stated:
        raise InvalidValue("prior with an entry for each arm must come with arms, in whose order they are")
    mean, weight = prior
    return np.column_stack([np.broadcast_to(part, len(log.arms)) for part in (mean, weight)]).astype(float)


def of_log(log: Log, reward_range: tuple[float, float] | None, level: float) -> tuple[float, float, Interval]:
    """The log's own mean reward, standard error and interval."""
    low, top = reward_range or (0.0, math.nan)
    return _estimate([log.reward - low], low, top, level)


def _estimate(
    runs: Sequence[Floats], low: float, top: float, level: float, typical: float = 0.0
) -> tuple[float, float, Interval]:
    """Value, standard error and interval from the counts of each run, which begin at ``low``."""
    some = [counts for counts in runs if counts.size]
    v = float(np.mean([counts.mean() for counts in some]))
    n = float(np.mean([counts.size for counts in some]))
    variance = float(np.mean([counts.var() for counts in some]))
    error = math.sqrt(variance / n)
    if top != top:  # no range
        reach = intervals.quantile(level) * error
        return low + v, error, (low + v - reach, low + v + reach)
    width = top - low
    square = (variance + v * v) / width**2
    begin, end = intervals.within(*intervals.weighted(v / width, square, n, typical, level))
    return low + v, error, (low + width * begin, low + width * end)


def _reject(player: Player, anew: bool, log: Log, rng: np.random.Generator) -> Floats:
    """The rewards of the decisions."""
    kept = np.flatnonzero(rng.random(len(log)) * log.propensity < log.propensity.min())
    rewards = []
    wanted = -1
    arms, all_rewards = log.arm.tolist(), log.reward.tolist()
    for row in kept.tolist():
        if player.follow(row) or anew or wanted < 0 or player.begins:
            player.decline()
            wanted = player.decide()
        if arms[row] == wanted:
            player.learn(wanted, all_rewards[row])
            rewards.append(all_rewards[row])
            wanted = -1
    return np.array(rewards, float)


def _weigh(player: Player, log: Log, low: float) -> tuple[Floats, Floats]:
    """What each row counts, and the weights of those that have the arm that the policy chose. Rows of unknown
    arms are rows too, and count 0: propensities are shares of all rows."""
    counts, weights = np.zeros(len(log) + log.elsewhere), []
    rows = zip(log.arm.tolist(), log.reward.tolist(), log.propensity.tolist(), strict=True)
    for row, (arm, reward, propensity) in enumerate(rows):
        player.follow(row)
        if player.decide() == arm:
            player.learn(arm, reward)
            counts[row] = (reward - low) / propensity
            weights.append(1.0 / propensity)
        else:
            player.decline()
    return counts, np.array(weights)
