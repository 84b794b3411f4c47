"""Oracle: the arm with the largest true mean, from the first round on; of several, the first.

Its regret is 0: what the regret of others is measured against. It has to be told the problem, so it plays in
simulations alone.
Lattimore and Szepesvári, "Bandit Algorithms", 2020.
"""

from dataclasses import dataclass
from typing import ClassVar

from thrifty.engines.memory import Rule
from thrifty.policies.base import Policy


@dataclass(frozen=True)
class Oracle(Policy):
    """The best arm by the true means, in ``simulate`` alone: no bandit knows them."""

    formula: ClassVar[str] = "the arm with the largest true mean"
    told: ClassVar[bool] = True
    group: ClassVar[str] = "Baselines"
    citation: ClassVar[str] = "Lattimore & Szepesvári 2020"
    confirmed: ClassVar[str] = "nothing: it is common knowledge"

    @property
    def label(self) -> str:
        return "oracle"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(arms, horizon, first=False)

    def choose(self, state):
        best = 0
        for i in range(1, state.gaps.size):
            if state.gaps[i] < state.gaps[best]:
                best = i
        return best
