"""Uniform: every arm with probability 1/K, in every round, from the first on.

Its expected regret is T times the mean of the gaps, and its draws tell nothing about rewards: what any other
policy has to beat, and the fairest way to gather a log.
Lattimore and Szepesvári, "Bandit Algorithms", 2020.
"""

from dataclasses import dataclass
from typing import ClassVar

from thrifty.engines.memory import Rule
from thrifty.numerics import random
from thrifty.policies import greedy
from thrifty.policies.base import Policy


@dataclass(frozen=True)
class Uniform(Policy):
    """An arm at random, whatever the rewards."""

    formula: ClassVar[str] = "P(arm) = 1/K"
    group: ClassVar[str] = "Baselines"
    citation: ClassVar[str] = "Lattimore & Szepesvári 2020"
    confirmed: ClassVar[str] = "nothing: it is common knowledge"

    @property
    def label(self) -> str:
        return "uniform"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(arms, horizon, first=False)

    def choose(self, state):
        return random.below(state.rng, state.pulls.size)

    def order(self, state):
        greedy.order(state, 1.0)
