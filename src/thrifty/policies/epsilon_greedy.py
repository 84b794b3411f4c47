"""ε-greedy: with probability ε an arm at random, any of all K; else the arm with the largest mean.

Every arm is pulled once first, and ties are broken at random. A constant ε explores for ever, so its regret
is linear in T: in the long run ε times the mean of the gaps in every round.
Sutton and Barto, "Reinforcement Learning: An Introduction", 2nd edition, 2018, chapter 2.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.jit import hot
from thrifty.numerics import random
from thrifty.policies import greedy
from thrifty.policies.base import WITH_OTHERS, Policy


@hot
def choose(state, epsilon):
    """One uniform decides whether to explore."""
    if random.uniform(state.rng) < epsilon:
        return greedy.some(state)
    return greedy.best(state)


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """ε-greedy with a constant ε.

    ``epsilon`` is the probability of an arm at random: 0 is ``Greedy``, 1 is ``Uniform`` after the first
    pulls.
    """

    epsilon: float = 0.1

    formula: ClassVar[str] = "m, or any arm with P = ε"
    changes: ClassVar[str] = WITH_OTHERS
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 0.0}, {"epsilon": 1.0})
    group: ClassVar[str] = "Baselines"
    citation: ClassVar[str] = "Sutton & Barto 2018"
    confirmed: ClassVar[str] = "nothing: it is common knowledge"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.unit("epsilon", self.epsilon))

    @property
    def label(self) -> str:
        return f"ε-greedy (ε={self.epsilon:g})"

    def choose(self, state):
        return choose(state, self.epsilon)

    def order(self, state):
        greedy.order(state, self.epsilon)
