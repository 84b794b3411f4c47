"""UCB-Improved works in phases m = 0, 1, ... with a gap D = 2^-m in mind. In a phase, of those still there,

    each is pulled until it has  n_m = ceil( 2 ln(T D^2)/D^2 )  pulls in all;
    then those go that have  mean + w < max (mean - w),  w = sqrt( ln(T D^2)/(2 n_m) ).

The last phase is floor( 1/2 log2(T/e) ), so that T D^2 >= e in all of them; T < e has none. T is the horizon,
rewards are in [0, 1]. A single arm is pulled to the end; so are, in turn, those that outlive the last phase.

Confirmed in public code: n_m, w and the last phase. That code errs elsewhere (one pull in phase 0, a maximum
that includes arms that have gone). What follows the last phase was not confirmed.
Auer and Ortner, "UCB revisited: improved regret bounds for the stochastic multi-armed bandit problem",
Periodica Mathematica Hungarica 2010.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty.jit import hot
from thrifty.numerics import random
from thrifty.policies.base import WITH_OTHERS, Guarantee, HorizonPolicy
from thrifty.state import statistics
from thrifty.state.fields import Component
from thrifty.state.lists import CURSOR, LISTS, STAGE


@hot
def phases(horizon):
    """How many phases there are.

    >>> phases(2), phases(3), phases(10_000)
    (0, 1, 6)
    """
    if horizon < math.e:
        return 0
    return 1 + int(0.5 * math.log2(horizon / math.e))


@hot
def _logarithm(m, horizon):
    """ln(T D^2)."""
    return math.log(horizon * 0.25**m)


@hot
def pulls(m, horizon):
    """n_m.

    >>> pulls(0, 10_000), pulls(3, 10_000)
    (19, 647)
    """
    return math.ceil(2.0 * _logarithm(m, horizon) * 4.0**m)


@hot
def width(m, horizon):
    """w."""
    return math.sqrt(_logarithm(m, horizon) / (2.0 * pulls(m, horizon)))


@hot
def eliminated(mean, best, w):
    """Does an arm go, `best` being the largest mean of those still there?"""
    return mean + w < best - w


@hot
def _stays(state, i):
    """Whether UCB-Improved has arm i to choose from."""
    return state.marks[i] == 0 and statistics.has_law(state, i)


@hot
def _choose(state, horizon):
    """marks: 1 for arms that have gone. The stage is the phase.

    A phase ends when the rewards of its pulls are there, and until then those who are left are pulled in
    turn, as after the last one. If they were removed, all others return, and the phases begin anew.
    """
    marks, lists = state.marks, state.lists
    if state.waiting[0] == state.marks.size:  # no arm has a law yet
        return random.below(state.rng, state.marks.size)
    left = 0
    for i in range(marks.size):
        left += _stays(state, i)
    if left == 0:
        for i in range(marks.size):
            marks[i] = 0
        lists[STAGE] = 0
    while lists[STAGE] < phases(horizon):
        goal = pulls(lists[STAGE], horizon)
        best, w, late = -1.0, width(lists[STAGE], horizon), False
        for i in range(marks.size):
            if _stays(state, i):
                if statistics.counted(state, i) < goal:
                    return i
                n, _ = statistics.evidence(state, i)
                late = late or n < goal
                best = max(best, state.means[i])
        if late:
            break
        for i in range(marks.size):
            if _stays(state, i) and eliminated(state.means[i], best, w):
                marks[i] = 1
        lists[STAGE] += 1
    while True:  # those who are left, in turn
        for i in range(lists[CURSOR], marks.size):
            if _stays(state, i):
                lists[CURSOR] = i + 1
                return i
        lists[CURSOR] = 0


@dataclass(frozen=True)
class UCBImproved(HorizonPolicy):
    """UCB-Improved: pulls all arms that are left equally often, in phases, and drops those that are clearly
    worse.

    ``anytime`` plays without knowing the horizon.
    """

    anytime: bool = False

    formula: ClassVar[str] = "drops m + w < max (m − w), in phases"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"anytime": True},)
    components: ClassVar[tuple[Component, ...]] = (LISTS,)
    changes: ClassVar[str] = WITH_OTHERS
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(sub_ucb="yes"),)
    group: ClassVar[str] = "Lists of arms"
    citation: ClassVar[str] = "Auer & Ortner 2010"
    confirmed: ClassVar[str] = "the phases in public code, the guarantee in the abstract; not what comes last"

    @property
    def label(self) -> str:
        return "UCB-Improved (anytime)" if self.anytime else "UCB-Improved"

    @property
    def rewards(self) -> str:
        return "unit"

    def choose(self, state, t):
        return _choose(state, self.horizon)

    def entered(self, state, i):
        """New arms go through all phases; the others have the pulls of theirs."""
        state.lists[STAGE] = 0
