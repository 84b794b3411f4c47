"""Dirichlet Sampling: an arm with rewards X_1, ..., X_n challenges the arm that was pulled most, whose mean
is m, by

    max( mean of X,  sum of w_j X_j + w_(n+1) b ),    w ~ Dirichlet(1, ..., 1),

and wins if that is at least m. Everybody who wins is pulled once; if nobody does, the leader is. The bonus b:

    bounded          b = B, a bound that is known: the index of Non-Parametric TS
    unknown-bound    b = max( max X + GAMMA, excess(RHO_BOUND) ),   excess(rho) = m + rho mean of (m - X)^+
    quantile         b = excess(RHO), and the rewards above the quantile of order 1 - SHARE count as their
    average
    robust           b = excess( sqrt(ln(1 + n)) )

Confirmed: the duels of leader and challengers and "bounded", in public code; that the four exist and what
each is for, in the abstract. NOT confirmed: the other bonuses and all constants, which are from memory.
RHO_BOUND = -1/ln(1 - p) belongs to rewards of which a share p = 0.2 is within GAMMA of the bound. Baudry,
Saux and Maillard, "From optimality to robustness: Dirichlet sampling strategies in stochastic bandits",
NeurIPS 2021.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.errors import InvalidValue
from thrifty.jit import hot
from thrifty.numerics import dirichlet, random
from thrifty.numerics.dirichlet import add
from thrifty.policies.base import WITH_OTHERS, Assumed, Guarantee, Policy
from thrifty.state import history, statistics
from thrifty.state.fields import Component
from thrifty.state.history import HISTORY
from thrifty.state.lists import LEFT, LISTS

BOUNDED, UNKNOWN_BOUND, QUANTILE, ROBUST = range(4)
VARIANTS = {"bounded": BOUNDED, "unknown-bound": UNKNOWN_BOUND, "quantile": QUANTILE, "robust": ROBUST}
GAMMA = 0.1
RHO_BOUND = -1.0 / math.log(1.0 - 0.2)
SHARE, RHO = 0.05, 4.0


@hot
def excess(values, times, m, rho):
    """m + rho mean of (m - X)^+.

    >>> import numpy as np
    >>> round(excess(np.array([0.0, 1.0]), np.array([1.0, 3.0]), 0.8, 2.0), 12)
    1.2
    """
    total, short = 0.0, 0.0
    for j in range(values.size):
        total += times[j]
        short += times[j] * max(m - values[j], 0.0)
    return m + rho * short / total


@hot
def bonus(variant, values, times, n, m, bound):
    """b."""
    if variant == BOUNDED:
        return bound
    if variant == UNKNOWN_BOUND:
        rho = RHO_BOUND
    elif variant == QUANTILE:
        rho = RHO
    else:
        rho = math.sqrt(math.log1p(n))
    b = excess(values, times, m, rho)
    if variant == UNKNOWN_BOUND:
        b = max(b, values[values.size - 1] + GAMMA)
    return b


@hot
def index(variant, values, times, n, m, bound, rng):
    """The weighted mean of the challenger, whose rewards are n."""
    b = bonus(variant, values, times, n, m, bound)
    top, total = add(1.0, b, 0.0, 0.0, rng)
    spare = math.floor(SHARE * n) if variant == QUANTILE else 0.0  # rewards that are merged: the largest
    merged, part = 0.0, 0.0
    for j in range(values.size - 1, -1, -1):
        taken = min(times[j], spare - merged)
        merged += taken
        part += taken * values[j]
        if taken < times[j]:
            top, total = add(times[j] - taken, values[j], top, total, rng)
    if merged > 0.0:
        top, total = add(merged, part / merged, top, total, rng)
    return top / total


@hot
def _choose(state, variant, bound):
    """marks: 1 for arms that have won their duel and are not pulled yet. They are pulled in random order."""
    marks, lists = state.marks, state.lists
    if state.waiting[0] == state.marks.size:  # no arm has a law yet
        return random.below(state.rng, state.marks.size)
    if lists[LEFT] == 0:
        _duel(state, variant, bound)
    left = random.below(state.rng, lists[LEFT])
    for i in range(marks.size):
        if marks[i] == 1:
            left -= 1
            if left < 0:
                marks[i] = 0
                lists[LEFT] -= 1
                return i
    return -1


@hot
def _duel(state, variant, bound):
    """Everybody challenges the leader."""
    leader, ties = -1, 0
    for i in range(state.marks.size):
        if statistics.has_law(state, i):
            n = statistics.counted(state, i)
            most = statistics.counted(state, max(leader, 0))
            if leader < 0 or n > most or (n == most and state.means[i] > state.means[leader]):
                leader, ties = i, 1
            elif n == most and state.means[i] == state.means[leader]:
                ties += 1
                if random.below(state.rng, ties) == 0:
                    leader = i
    m, winners = state.means[leader], 0
    for i in range(state.marks.size):
        if i != leader and statistics.has_law(state, i) and _wins(state, i, m, variant, bound):
            state.marks[i] = 1
            winners += 1
    if winners == 0:
        state.marks[leader] = 1
    state.lists[LEFT] = max(winners, 1)


@hot
def _wins(state, i, m, variant, bound):
    """Whether arm i reaches the leader's mean m, by its own mean or by its index, which is drawn only if
    needed."""
    if state.means[i] >= m:
        return True
    values, times = history.of(state, i)
    n, _ = statistics.evidence(state, i)
    state.draws[i] += 1
    state.evaluations[0] += 1
    x = index(variant, values, times, n, m, bound, state.rng)
    return x >= m


@dataclass(frozen=True)
class DirichletSampling(Policy):
    """Dirichlet Sampling: every arm challenges the one that was pulled most with its resampled mean.

    ``variant`` is "bounded" for rewards up to a bound that is known, "unknown-bound" for bounded ones
    otherwise, "quantile" for rewards that are bounded on one side, "robust" for all. The formulas, and what
    of them is confirmed, are in ``policies/dirichlet_sampling.py``. ``bound`` is for "bounded" alone and on
    the scale of [0, 1] on which policies see rewards: 1.0 is the upper end of their range, and a larger one
    is looser.
    """

    variant: str = "bounded"
    bound: float = 1.0

    formula: ClassVar[str] = "all with resampled mean ≥ the leader's"
    texts: ClassVar[tuple[Any, ...]] = (dirichlet,)
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"bound": 2.0},)
    components: ClassVar[tuple[Component, ...]] = (LISTS, HISTORY)
    changes: ClassVar[str] = WITH_OTHERS
    choice: ClassVar[str] = "variant"
    choices: ClassVar[tuple[Any, ...]] = tuple(VARIANTS)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee("bounded", asymptotic="[0, 1]"),)
    group: ClassVar[str] = "Lists of arms"
    citation: ClassVar[str] = "Baudry, Saux & Maillard 2021"
    confirmed: ClassVar[str] = "bounded in public code, its guarantee in the abstract; not the other bonuses"

    def __post_init__(self) -> None:
        checks.choice("variant", self.variant, tuple(VARIANTS))
        object.__setattr__(self, "bound", checks.at_least("bound", self.bound, 1.0, at_most=checks.LARGEST))
        if self.variant != "bounded" and self.bound != 1.0:
            raise InvalidValue(
                f"bound must be 1 for the variant {self.variant}, which has none, got {self.bound!r}"
            )

    @property
    def label(self) -> str:
        notes = [f"B={self.bound:g}"] if self.bound != 1.0 else []
        return f"DS ({', '.join([self.variant, *notes])})"

    @property
    def rewards(self) -> str:
        return "unit" if self.variant == "bounded" else "any"

    @property
    def assumes(self) -> Assumed:
        return Assumed({"unknown-bound": "bounded", "quantile": "bounded below"}.get(self.variant, ""))

    @property
    def keeps_rewards(self) -> bool:
        return True

    def choose(self, state, t):
        return _choose(state, self.variant, self.bound)

    def returned(self, state, i):
        """A pull that was handed out is not made: it is still to come."""
        state.lists[LEFT] += 1 - state.marks[i]
        state.marks[i] = 1

    def left(self, state, i):
        """Arm i goes."""
        state.lists[LEFT] -= state.marks[i]
