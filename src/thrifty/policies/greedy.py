"""Greedy: the arm with the largest mean, after one pull of each. Ties are broken at random.

It never looks again at an arm that was unlucky at first, so its regret is linear in T.
Sutton and Barto, "Reinforcement Learning: An Introduction", 2nd edition, 2018, chapter 2.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from thrifty.engines import scan
from thrifty.jit import hot
from thrifty.numerics import random
from thrifty.policies.base import WHEN_PULLED, Policy
from thrifty.state import statistics


@hot
def best(state):
    """An arm with the largest mean, ties at random; any arm while none has a mean."""
    if state.waiting[0] == 0:
        return scan.largest(state.means, state.rng)
    return _tied(state, statistics.best_mean(state))


@hot
def some(state):
    """An arm at random, but none that waits for its first reward; any arm while all do."""
    if state.waiting[0] == 0:
        return random.below(state.rng, state.means.size)
    return _tied(state, -math.inf)


@hot
def _tied(state, level):
    """One of the arms that have a mean of at least this, at random; of all arms, if there is none."""
    ties = 0
    for i in range(state.means.size):
        ties += statistics.has_law(state, i) and state.means[i] >= level
    if ties == 0:
        return random.below(state.rng, state.means.size)
    left, arm = random.below(state.rng, ties) if ties > 1 else 0, -1
    while left >= 0:
        arm += 1
        left -= statistics.has_law(state, arm) and state.means[arm] >= level
    return arm


@hot
def order(state, epsilon):
    """Every arm's index, where not all may be chosen: with probability ``epsilon`` one at random, else its
    mean. Arms that wait for their first reward have none."""
    explores = random.uniform(state.rng) < epsilon
    for i in range(state.index.size):
        state.index[i] = -math.inf
        if statistics.has_law(state, i) or not state.rule.first:
            state.index[i] = random.uniform(state.rng) if explores else state.means[i]


@dataclass(frozen=True)
class Greedy(Policy):
    """The arm with the largest mean, and no exploration after the first pulls."""

    formula: ClassVar[str] = "m"
    changes: ClassVar[str] = WHEN_PULLED
    engines: ClassVar[tuple[str, ...]] = ("scan", "tournament")
    counts_pending: ClassVar[bool] = False
    group: ClassVar[str] = "Baselines"
    citation: ClassVar[str] = "Sutton & Barto 2018"
    confirmed: ClassVar[str] = "nothing: it is common knowledge"

    @property
    def label(self) -> str:
        return "greedy"

    def index(self, mean):
        return mean
