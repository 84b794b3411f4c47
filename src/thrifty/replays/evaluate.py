"""The value of a policy that does not learn on the way: a fixed arm, a table of probabilities, one that has
learnt before. ``estimators`` has the formulas."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online import known
from thrifty.online.rewards import Rewards
from thrifty.policies import Policy
from thrifty.policies.thompson_sampling import ThompsonSampling
from thrifty.replays import intervals, targets
from thrifty.replays.audit import ROUNDED, UNLUCKY, admit
from thrifty.replays.estimators import ESTIMATORS, Estimate, Rows
from thrifty.replays.intervals import Interval
from thrifty.replays.log import Log, Reading
from thrifty.replays.player import Prior, check_fixed
from thrifty.replays.replay import check_rewards, of_log, read_prior, shown, taken
from thrifty.table import Table


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The outcome: an estimate of a policy's mean reward, beside the log's own; prints as a table.

    Attributes:
        policy: what was evaluated.
        estimator: by which formula.
        rows: how many rows it was evaluated on.
        bad: how many bad ones the log has.
        report: what is wrong with the bad rows, and in which lines they are.
        arms: their number.
        effective: how many rows without weights would tell as much: (sum of w)^2 / sum of w^2.
        value: the estimate.
        error: its standard error.
        interval: which holds the true value as often as ``level`` says.
        bias: by how much the value may be too low on average, which is in the interval; 0 unless clipped.
        logged: the mean reward of the log in these rows.
        logged_error: its standard error.
        logged_interval: and its interval.
        level: how often the intervals are to hold.
        probabilities: of each arm that has one, on average over the rows; empty if only those of the rows'
            own arms are known.
        checks: what was found in the log itself, a line for each thing.
    """

    policy: str
    estimator: str
    rows: int
    bad: int
    report: str
    arms: int
    effective: float
    value: float
    error: float
    interval: Interval
    bias: float
    logged: float
    logged_error: float
    logged_interval: Interval
    level: float
    probabilities: dict[Any, float]
    checks: str

    def __str__(self) -> str:
        return "\n\n".join(filter(None, (self.report, table([self]), self.checks)))

    def __repr__(self) -> str:
        low, high = self.interval
        value = f"{self.value:.5f}" if self.value == self.value else "never the log's arm"
        value += f", {100 * self.level:g} % from {low:.5f} to {high:.5f}"
        return f"<Evaluation of {self.policy}, {self.estimator}: {value}; the log {self.logged:.5f}>"

    def _repr_html_(self) -> str:
        made = _table([self])
        return made._replace(title=self.report, notes=[*made.notes, self.checks]).html()


def table(evaluations: Sequence[Evaluation]) -> str:
    """Several evaluations on one log, and the log's own mean."""
    return _table(evaluations).text()


def _table(evaluations: Sequence[Evaluation]) -> Table:
    heading = (
        "",
        "estimator",
        "mean reward",
        "± s.e.",
        f"{100 * evaluations[0].level:g} % from",
        "to",
        "rows' worth",
    )
    rows = []
    for e in evaluations:
        name, *numbers = shown(e.policy, e.value, e.error, *e.interval, e.effective)
        rows.append((name, e.estimator, *numbers))
    same = {(e.rows, e.logged): e for e in reversed(evaluations)}  # rows that were evaluated may differ
    for e in reversed(same.values()):
        name = "the log" if len(same) == 1 else f"the log, for {e.policy}"
        name, *numbers = shown(name, e.logged, e.logged_error, *e.logged_interval, e.rows)
        rows.append((name, "", *numbers))
    biased = [e for e in evaluations if e.bias > 0.0]
    notes = [
        f"{e.policy}, {e.estimator}: too low by up to {e.bias:.2g}, which is in the interval" for e in biased
    ]
    return Table(heading, rows, notes=["\n".join(notes)], left=2)


def evaluate(
    log: Any,
    *,
    arm: Any = None,
    probabilities: Any = None,
    policy: Policy | None = None,
    learn: float = 0.5,
    estimator: str = "dr",
    clip: float | None = None,
    level: float = 0.95,
    reward_range: tuple[float, float] = (0.0, 1.0),
    prior: known.Prior | None = None,
    seed: int = 0,
    trust: bool = False,
    **reading: Unpack[Reading],
) -> Evaluation:
    """Estimate what a policy that learns no more would earn, from the log of another one.

    One of ``arm``, ``probabilities``, ``policy`` and ``target_column`` says which.

    Parameters:
        log: a CSV or Parquet file, or a table (a mapping, a DataFrame), with the columns arm, reward,
            propensity and, if rows are not in order, time; or what ``read_log`` has made of it.
        arm: the id of an arm that is always chosen, evaluated on the rows in which it was there.
        probabilities: of arms, ``{id: probability}``, among themselves where some of them are not there; or
            rows of numbers, one for each row of the log and each of ``arms``.
        policy: such as ``TSMA()``, that learns from the first part of the log and is evaluated on the rest.
        learn: how large that part is, as a share of all rows.
        estimator: "dr" (doubly robust), "ips" (inverse propensity), "snips" (self-normalised), "clipped" or
            "direct".
        clip: the largest weight for "clipped"; the square root of the number of rows unless given.
        level: how often the intervals are to hold.
        reward_range: the lowest and the highest reward that there may be.
        prior: of the policy that learns, as in ``replay``.
        seed: of its random numbers; nothing else has any.
        trust: take the log even if its checks say that it cannot be right.
        reading: how the log is read, by the keywords of ``read_log``: arms, arm_column, target_column, ...

    >>> import thrifty
    >>> log = {"arm": ["a", "b"] * 500, "reward": [1, 0] * 500, "propensity": [0.5] * 1000}
    >>> found = thrifty.evaluate(log, probabilities={"a": 0.8, "b": 0.2})
    >>> print(f"{found.value:.2f}, from {found.interval[0]:.2f} to {found.interval[1]:.2f}")
    0.80, from 0.77 to 0.83
    """
    checks.choice("estimator", estimator, tuple(ESTIMATORS))
    level = checks.level(level)
    seed = checks.integer("seed", seed, at_least=0)
    trust = checks.flag("trust", trust)
    if clip is not None:
        clip = checks.positive("clip", clip)
    read = taken(log, reading)
    named = {"arm": arm, "probabilities": probabilities, "policy": policy, "target_column": read.target}
    given = [name for name, value in named.items() if value is not None]
    if len(given) != 1:
        raise InvalidValue(
            f"one of {', '.join(named)} must say what is evaluated, got {', '.join(given) or 'none of them'}"
        )
    if policy is None and prior is not None:
        raise InvalidValue("prior must be None without a policy that learns")
    if policy is not None and not isinstance(policy, Policy):
        raise InvalidType(f"policy must be a policy such as TSMA(), got {checks.shown(policy)}")
    rewards = Rewards(policy or ThompsonSampling(), reward_range)  # whose rewards are any numbers
    if rewards.range is None:
        raise InvalidValue("reward_range must be (low, high), as intervals are for bounded rewards, got None")
    check_rewards(rewards, read)
    made = admit(read, trust)
    if policy is not None:
        check_fixed(policy, read)
        target = _learnt(policy, read, learn, read_prior(prior, read, rewards), rewards.range, seed)
    else:
        target = _known(read, arm, probabilities)
    if not trust:
        _check_weights(target)
    return _evaluated(target, read, estimator, clip, level, rewards.range, str(made))


class _Target(NamedTuple):
    """What is evaluated, and on which rows; the others as in ``estimators.Rows``."""

    label: str
    log: Log
    kind: Integers
    shares: Floats | None
    own: Floats  # the probability of each row's arm


def _known(log: Log, arm: Any, probabilities: Any) -> _Target:
    """A policy whose probabilities are given."""
    if log.target is not None:
        return _Target("the target", log, log.which, None, log.target)
    if arm is not None:
        label, single = f"arm {arm!r}", np.zeros(len(log.arms))
        single[targets.number(arm, log)] = 1.0
        return _there(label, log, targets.among(single, log))
    label = "the probabilities"
    if isinstance(probabilities, Mapping):
        return _there(label, log, targets.among(targets.table(probabilities, log), log))
    each, rows = targets.matrix(probabilities, log), np.arange(len(log))
    return _Target(label, log, rows, each, each[rows, log.arm])


def _learnt(
    policy: Policy, log: Log, learn: float, prior: Prior, reward_range: tuple[float, float], seed: int
) -> _Target:
    """A policy that has learnt from the first rows, for the rest."""
    share = checks.number("learn", learn)
    first = round(share * len(log))
    if not 0.0 < share < 1.0 or not 0 < first < len(log):
        raise InvalidValue(f"learn must be in (0, 1) and leave rows to either part, got {learn!r}")
    seen, rest = log.part(0, first), log.part(first, len(log))
    shares = targets.learnt(policy, seen, np.unique(rest.which), prior, reward_range, seed)
    return _there(f"{policy.label}, learnt", rest, shares)


def _there(label: str, log: Log, shares: Floats) -> _Target:
    """On rows in which some of its arms were there; of each set of arms, the policy has probabilities."""
    fine = shares.sum(axis=1)[log.which] > 0.0
    if not fine.all():
        if log.elsewhere:
            raise InvalidValue(
                "arms must be all of the log's, if those that are evaluated are not there in every row"
            )
        log = log.rows(fine)
    if not len(log):
        raise InvalidValue(
            f"the log must have rows in which what is evaluated was there, got none for {label}"
        )
    return _Target(label, log, log.which, shares, shares[log.which, log.arm])


def _check_weights(target: _Target) -> None:
    """The expectation of a weight is 1, or less where the log never has what the policy would choose."""
    weights = np.r_[target.own / target.log.propensity, np.zeros(target.log.elsewhere)]
    if intervals.excludes(weights, 1.0 + ROUNDED, UNLUCKY):
        raise InvalidValue(
            f"the mean of probability/propensity, each of the row's own arm, must be about 1, got "
            f"{weights.mean():.4g}: correct the one or the other, or trust them (trust=True)"
        )


def _evaluated(
    target: _Target,
    whole: Log,
    estimator: str,
    clip: float | None,
    level: float,
    reward_range: tuple[float, float],
    made: str,
) -> Evaluation:
    label, log, kind, shares, own = target
    low, high = reward_range
    weight = own / log.propensity
    rows = Rows(log.arm, (log.reward - low) / (high - low), weight, kind, shares, log.elsewhere)
    needed = log if estimator == "direct" else whole  # an arm may have no row in one part of a log, by chance
    average = np.zeros(len(log.arms))
    if shares is not None:
        average = np.bincount(kind, minlength=len(shares)) @ shares / len(log)
    if shares is None and estimator in ("direct", "dr"):
        raise InvalidValue(
            f"estimator must be ips, snips or clipped where only the probabilities of the rows' own arms are "
            f"known, got {estimator!r}"
        )
    for unseen in np.flatnonzero((average > 0.0) & (np.bincount(needed.arm, minlength=average.size) == 0))[
        :1
    ]:
        raise InvalidValue(f"every arm that is evaluated must have rows, got none of {log.arms[unseen]!r}")
    found = Estimate(math.nan, math.nan, (0.0, 1.0))  # if it never has the log's arm
    if weight.any() or estimator == "direct":
        largest = math.sqrt(len(log) + log.elsewhere) if clip is None else clip
        found = ESTIMATORS[estimator](rows, level, largest)
    width = high - low
    logged, logged_error, logged_interval = of_log(log, reward_range, level)
    return Evaluation(
        policy=label,
        estimator=estimator,
        rows=len(log),
        bad=len(log.bad),
        report=log.report(),
        arms=len(log.arms),
        effective=float(weight.sum() ** 2 / (weight**2).sum()) if weight.any() else 0.0,
        value=low + width * found.value,
        error=width * found.error,
        interval=(low + width * found.interval[0], low + width * found.interval[1]),
        bias=width * found.bias,
        logged=logged,
        logged_error=logged_error,
        logged_interval=logged_interval,
        level=level,
        probabilities={log.arms[i]: float(average[i]) for i in np.flatnonzero(average)},
        checks=made,
    )
