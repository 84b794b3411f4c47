"""What is to be evaluated: a policy's probabilities of arms in rows of a log, from one arm, a table, or
learning.

A policy that learns is told the rewards of some rows, and then decides as it would next, without learning
more: its probabilities are the shares of arms in many such decisions. So it is a table, like the others, and
no row that it is evaluated on has a say in it.
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online.bandit import Bandit
from thrifty.policies import Policy
from thrifty.replays.log import Log
from thrifty.replays.player import Prior, draws_anew

DRAWS = 10_000  # decisions of a policy that draws
LEARNERS = 100  # of one that does not, each with random numbers of its own
SUM = 1e-6  # how far from 1 a sum of probabilities may be, as they may have been rounded


def number(arm: Any, log: Log) -> int:
    """The number of an arm, by its id."""
    try:
        return log.arms.index(arm)
    except ValueError:
        raise InvalidValue(f"arm must be one of the log's {len(log.arms):,} arms, got {arm!r}") from None


def table(probabilities: Mapping[Any, Any], log: Log) -> Floats:
    """A probability for each arm; those that are not named have none."""
    shares = np.zeros(len(log.arms))
    for arm, share in probabilities.items():
        shares[number(arm, log)] = checks.unit(f"probabilities[{arm!r}]", share)
    if abs(shares.sum() - 1.0) > SUM:
        raise InvalidValue(f"probabilities must sum to 1, got {shares.sum():.9g}")
    shares /= shares.sum()
    return shares


def among(shares: Floats, log: Log) -> Floats:
    """Of each set of arms, the probabilities of those that are there, among themselves; 0 if they have
    none."""
    there = log.sets * shares
    total = there.sum(axis=1, keepdims=True)
    shares = np.zeros_like(there)
    np.divide(there, total, out=shares, where=total > 0.0)
    return shares


def matrix(probabilities: Any, log: Log) -> Floats:
    """Rows of probabilities, one for each row of the source, as those that the log has."""
    try:
        shares = np.array(probabilities, float)
    except (TypeError, ValueError):
        shares = np.empty(0)
    if shares.ndim != 2:
        raise InvalidType(
            "probabilities must be a mapping from ids to numbers, or rows of numbers, one for each arm, got "
            + checks.shown(probabilities)
        )
    if not log.stated:
        raise InvalidValue("probabilities in rows must come with arms, in whose order they are")
    if shares.shape != (log.total, len(log.arms)):
        raise InvalidValue(
            f"probabilities must have {log.total:,} rows, as the log, of {len(log.arms):,} arms, got "
            f"{shares.shape[0]:,} of {shares.shape[1]:,}"
        )
    shares = shares[log.row]
    wrong = ~((shares >= 0.0) & (shares <= 1.0)).all(axis=1) | ~(abs(shares.sum(axis=1) - 1.0) <= SUM)
    wrong |= (~log.sets[log.which] & (shares > 0.0)).any(axis=1)
    for at in np.flatnonzero(wrong)[:1]:
        raise InvalidValue(
            f"probabilities must be in [0, 1], sum to 1, and be 0 where an arm is not there, got "
            f"{checks.shown(shares[at].tolist())} for line {log.line[at]}"
        )
    return shares


def learnt(
    policy: Policy,
    seen: Log,
    sets: Integers,
    prior: Prior,
    reward_range: tuple[float, float],
    seed: int,
) -> Floats:
    """The probabilities of a policy that has learnt from the rows ``seen``, for these sets of arms."""
    shares = np.zeros(seen.sets.shape)
    for which in sets.tolist():
        arms = np.flatnonzero(seen.sets[which])
        rows = np.flatnonzero(seen.sets[which][seen.arm])
        first = prior is None and policy.resolve(arms.size, len(seen)).initial > 0
        untried = np.setdiff1d(arms, seen.arm[rows]) if first else arms[:0]
        if untried.size:  # each of them is pulled first, in an order of chance
            shares[which, untried] = 1.0 / untried.size
            continue
        anew = draws_anew(policy)
        for learner in range(1 if anew else LEARNERS):
            rng = np.random.default_rng(np.random.SeedSequence([seed, which, learner]))
            order = rng.permutation(arms) if first else arms
            own: Any = tuple(prior[order].T) if isinstance(prior, np.ndarray) else prior
            bandit = Bandit(
                copy.deepcopy(policy), order.tolist(), len(seen), int(rng.integers(2**63)), own, reward_range
            )
            bandit.update_many(seen.arm[rows].tolist(), seen.reward[rows])
            for _ in range(DRAWS if anew else 1):
                arm = bandit.select()
                shares[which, arm] += 1.0
                bandit.cancel(arm)
        shares[which] /= shares[which].sum()
    return shares
