"""What is known before the first decision: priors, and the statistics of an earlier bandit."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online.ids import Ids
from thrifty.online.inputs import as_numbers, columns, lacking, sequence
from thrifty.online.rewards import Rewards
from thrifty.state.fading import LEAST

COLUMNS = ("arm", "pulls", "mean")  # of statistics

Pair = tuple[float, float]
Prior = Pair | tuple[Sequence[float] | Floats, Sequence[float] | Floats | float]


def read_prior(prior: object, arms: int, rewards: Rewards) -> tuple[Pair | None, Floats | None]:
    """One prior for all arms, or a row (mean, weight) for each, or neither; in the unit of the policy."""
    if prior is None:
        return None, None
    mean, weight = checks.pair(prior)
    if not np.iterable(mean) and not np.iterable(weight):
        return read_pair(prior, rewards), None
    means, weights = _column("prior mean", mean, arms), _column("prior weight", weight, arms)
    for i in np.flatnonzero(weights <= 0.0)[:1]:
        checks.positive(f"prior weight[{i}]", weights.item(i))
    return None, np.column_stack([rewards.read_means(means, "prior mean", weights > 0.0), weights])


def read_pair(prior: object, rewards: Rewards) -> Pair:
    """The prior of one arm, or one for all, in the unit of the policy."""
    mean, weight = checks.pair(prior)
    return rewards.read_mean(mean, "prior mean"), checks.positive("prior weight", weight)


def read_statistics(statistics: Any, ids: Ids, rewards: Rewards) -> tuple[Integers, Floats, Floats]:
    """Every arm's pulls, what is left of them if the table has a column weight, and the sum of their rewards;
    an arm that is not in the table has none."""
    there = columns(statistics)
    if there is None:
        raise InvalidType(f"statistics must be a table with columns, got {checks.shown(statistics)}")
    if wrong := lacking(COLUMNS, there):
        raise InvalidValue(f"statistics {wrong}")
    numbers = ids.numbers(statistics["arm"], "statistics arm")
    pulls = _counts("statistics pulls", statistics["pulls"])
    left = _left("statistics weight", statistics["weight"], pulls) if "weight" in there else pulls
    means = sequence("statistics mean", statistics["mean"])
    if not numbers.size == pulls.size == len(means):
        raise InvalidValue(
            f"statistics must have columns of equal length, got {numbers.size}, {pulls.size} and {len(means)}"
        )
    for i in np.flatnonzero(np.bincount(numbers, minlength=1) > 1)[:1]:
        raise InvalidValue(f"statistics must have every arm once, got {checks.shown(ids.name(int(i)))} again")
    counts, weights, sums = np.zeros(len(ids), np.int64), np.zeros(len(ids)), np.zeros(len(ids))
    counts[numbers], weights[numbers] = pulls, left
    sums[numbers] = left * rewards.read_means(means, "statistics mean", left > 0)
    return counts, weights, sums


def _column(name: str, values: Any, arms: int) -> Floats:
    """An entry for each arm, or one that they share."""
    if not np.iterable(values):
        return np.full(arms, checks.sized(name, values))
    column = np.array(checks.numbers(name, values))
    if column.size != arms:
        raise InvalidValue(f"{name} must have an entry for each of the {arms} arms, got {column.size}")
    return column


def _counts(name: str, values: Any) -> Integers:
    listed = sequence(name, values)
    numbers = as_numbers(listed)
    if numbers is None or not ((numbers >= 0) & (numbers <= checks.COUNT) & (numbers % 1 == 0)).all():
        numbers = np.array([checks.integer(f"{name}[{i}]", n, 0, checks.COUNT) for i, n in enumerate(listed)])
    return numbers.astype(np.int64)


def _left(name: str, values: Any, pulls: Integers) -> Floats:
    """What is left of so many pulls: no more than these, and no NaN."""
    listed = sequence(name, values)
    if len(listed) != pulls.size:
        raise InvalidValue(f"{name} must have an entry for each of the {pulls.size} rows, got {len(listed)}")
    numbers = as_numbers(listed)
    if numbers is None or not ((numbers >= 0.0) & (numbers <= pulls)).all():
        read = [checks.at_least(f"{name}[{i}]", n, 0.0, pulls.item(i)) for i, n in enumerate(listed)]
        numbers = np.array(read)
    return np.where(numbers > 0.0, np.maximum(numbers, LEAST), 0.0)
