"""Explore-then-commit: m pulls of each arm in turn, then the arm with the largest mean for ever.

The commitment is to the mean of these pulls: rewards that come after it change nothing. Ties are broken at
random. While rewards of these pulls are on their way (delays), it pulls the best arm so far, and commits when
each arm has m. Online an arm that comes is explored too, and then it commits anew, by all rewards; so it does
if its arm goes.

With two arms of normal rewards, variance 1 and a gap D, the regret is m D + (T - 2 m) D P(N(0, 1) > D
sqrt(m/2)). Lattimore and Szepesvári, "Bandit Algorithms", 2020, chapter 6.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.jit import hot
from thrifty.policies import greedy
from thrifty.policies.base import WITH_OTHERS, Policy
from thrifty.state import young
from thrifty.state.fields import Component
from thrifty.state.lists import CURSOR, LEFT, LISTS, STAGE

COMMITTED = LEFT  # the number of the arm, and 1; 0 before that


@hot
def asked(state, i):
    """How often arm i was pulled, those on their way included; a prior is no pull."""
    return state.pulls[i] + young.count(state, i)


@hot
def explore(state, pulls):
    """An arm that was not pulled so often yet, or -1. A pass pulls, in order, each arm that has no more pulls
    than the arm with the fewest had at its beginning."""
    lists, arms = state.lists, state.pulls.size
    for _ in range(2):
        while lists[CURSOR] < arms:
            lists[CURSOR] += 1
            if asked(state, lists[CURSOR] - 1) <= lists[STAGE]:
                return lists[CURSOR] - 1
        fewest = asked(state, 0)
        for i in range(1, arms):
            fewest = min(fewest, asked(state, i))
        if fewest >= pulls:
            break
        lists[STAGE], lists[CURSOR] = fewest, 0
    return -1


@hot
def choose(state, pulls):
    lists = state.lists
    if lists[COMMITTED] > 0:
        return lists[COMMITTED] - 1
    i = explore(state, pulls)
    if i >= 0:
        return i
    i = greedy.best(state)
    for j in range(state.pulls.size):
        if state.pulls[j] < pulls:
            return i
    lists[COMMITTED] = i + 1
    return i


@dataclass(frozen=True)
class ExploreThenCommit(Policy):
    """Explore-then-commit.

    ``pulls`` is m, how often each arm is pulled before the commitment.
    """

    pulls: int = 100

    formula: ClassVar[str] = "m after the first pulls of every arm"
    components: ClassVar[tuple[Component, ...]] = (LISTS,)
    changes: ClassVar[str] = WITH_OTHERS
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"pulls": 1}, {"pulls": 3})
    group: ClassVar[str] = "Baselines"
    citation: ClassVar[str] = "Lattimore & Szepesvári 2020"
    confirmed: ClassVar[str] = "nothing: it is common knowledge; the regret of two arms is measured in a test"

    def __post_init__(self) -> None:
        pulls = checks.integer("pulls", self.pulls, at_least=1, at_most=checks.COUNT)
        object.__setattr__(self, "pulls", pulls)

    @property
    def label(self) -> str:
        return f"ETC (m={self.pulls})"

    def choose(self, state):
        return choose(state, self.pulls)

    def returned(self, state, i):
        """A pull that was handed out is not made: look again who has the fewest."""
        state.lists[CURSOR] = state.pulls.size

    def moved(self, state, i, to):
        if state.lists[COMMITTED] == i + 1:
            state.lists[COMMITTED] = to + 1

    def left(self, state, i):
        if state.lists[COMMITTED] == i + 1:
            state.lists[COMMITTED] = 0

    def entered(self, state, i):
        """Arms came, which have no pulls."""
        state.lists[COMMITTED] = 0
        state.lists[CURSOR] = state.pulls.size
