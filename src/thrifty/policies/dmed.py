"""DMED: is an arm worth another pull, given its divergence K_inf(F, m*) from the largest mean m*?

    original    n K_inf <= ln(t) - ln(n)
    log-t       n K_inf <= ln(t)

F is the law of the arm's rewards in [0, 1]. For rewards in {0, 1}, K_inf is the Bernoulli kl(m, m*).
t counts the pulls made so far. Garivier and Cappé (2011) call the original rule DMED+ and the other one DMED.

A pass pulls each arm of a list once, in order. After each pull every arm that passes the test, and does not
wait for its pull in this pass, joins the list of the next one. An arm with K_inf = 0, as the empirical best
has, always passes: no list is empty, even if the weight of a prior makes n exceed t.

Confirmed in public code: the lists and the original rule, <= included, in two libraries, banditlib being one;
both rules in a third, SMPyBandits, which has < instead and renews its list only between passes.
Honda and Takemura, "An asymptotically optimal bandit algorithm for bounded support models", COLT 2010.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.jit import hot
from thrifty.numerics import kl, random
from thrifty.policies.base import WITH_OTHERS, Guarantee, Policy
from thrifty.state import statistics
from thrifty.state.fields import Component
from thrifty.state.lists import CURSOR, LISTS, STAGE


@hot
def original(n, divergence, t):
    """
    >>> original(10.0, 0.2, 100), original(10.0, 0.3, 100)
    (True, False)
    """
    return divergence == 0.0 or n * divergence <= math.log(max(t, 1.0)) - math.log(n)


@hot
def log_t(n, divergence, t):
    """
    >>> log_t(10.0, 0.4, 100), log_t(10.0, 0.5, 100)
    (True, False)
    """
    return divergence == 0.0 or n * divergence <= math.log(max(t, 1.0))


@hot
def _choose(state, t, log_rule):
    """marks: the pass whose list the arm is on. In the pass that is under way, those from the cursor on
    wait."""
    marks, lists = state.marks, state.lists
    if state.waiting[0] == state.marks.size:  # no arm has a law yet
        return random.below(state.rng, state.marks.size)
    best = statistics.best_mean(state)
    for i in range(marks.size):
        if statistics.has_law(state, i) and (marks[i] != lists[STAGE] or i < lists[CURSOR]):
            n, divergence = statistics.counted(state, i), kl.bernoulli(state.means[i], best)
            if log_t(n, divergence, t) if log_rule else original(n, divergence, t):
                marks[i] = lists[STAGE] + 1
            state.evaluations[0] += 1
    while True:
        for i in range(lists[CURSOR], marks.size):
            if marks[i] == lists[STAGE] and statistics.has_law(state, i):
                lists[CURSOR] = i + 1
                return i
        lists[STAGE] += 1
        lists[CURSOR] = 0


@dataclass(frozen=True)
class DMED(Policy):
    """DMED with the Bernoulli divergence, which is valid on all of [0, 1]: lists of arms worth another pull.

    ``rule`` is "original", the test by ln(t/n), or "log-t", that by ln t, which other authors call DMED; they
    call the original DMED+.
    """

    rule: str = "original"

    formula: ClassVar[str] = "all with n kl(m, m*) ≤ ln(t/n)"
    components: ClassVar[tuple[Component, ...]] = (LISTS,)
    changes: ClassVar[str] = WITH_OTHERS
    choice: ClassVar[str] = "rule"
    choices: ClassVar[tuple[Any, ...]] = ("original", "log-t")
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee("original", asymptotic="Bernoulli"),)
    group: ClassVar[str] = "Lists of arms"
    citation: ClassVar[str] = "Honda & Takemura 2010"
    confirmed: ClassVar[str] = "the lists in public code, the guarantee in the abstract on IMED"

    def __post_init__(self) -> None:
        checks.choice("rule", self.rule, ("original", "log-t"))

    @property
    def label(self) -> str:
        return "DMED" if self.rule == "original" else f"DMED ({self.rule})"

    @property
    def rewards(self) -> str:
        return "unit"

    def choose(self, state, t):
        return _choose(state, t, self.rule == 1)

    def returned(self, state, i):
        """A pull that was handed out is not made: it is still to come."""
        if state.marks[i] != state.lists[STAGE] or i < state.lists[CURSOR]:
            state.marks[i] = state.lists[STAGE] + 1

    def moved(self, state, i, to):
        """If the pass is beyond the arm's new number, it is on the next list."""
        if state.marks[i] == state.lists[STAGE] and to < state.lists[CURSOR] <= i:
            state.marks[to] = state.lists[STAGE] + 1
