"""What a state keeps although it follows from the rest: not in a file, and made anew when one is loaded.

Made anew, it fits the rest whatever the file says, and the next decisions are the same: ``means``, ``params``
and the fields of AdaUCB to the last bit, the trees in all that they are asked.
"""

import numpy as np
from numpy.typing import NDArray

from thrifty import laws
from thrifty.engines import tournament
from thrifty.engines.state import (
    COMMITTED,
    EPSILON,
    GROUPS,
    HISTORIC,
    Floats,
    Integers,
    Memory,
    Rule,
    State,
)

# On every engine; scratch and the rule are among them.
ALWAYS = {
    "waiting",
    "means",
    "tree",
    "races",
    "woken",
    "place",
    "order",
    "position",
    "prefix",
    "spread",
    "rule",
}


def names(rule: Rule, engine: str) -> set[str]:
    """The fields that follow from others."""
    derived = set(ALWAYS)
    if rule.schedule != HISTORIC:  # where they are the last multiplier of K_inf
        derived.add("params")
    if engine == "kinetic":  # computed for a time, and only until then
        derived |= {"index", "age"}
    if engine == "sleepers" and rule.schedule == EPSILON:
        derived |= {"index", "start", "line", "ends"}
    return derived


def has_law(rule: Rule, state: State) -> NDArray[np.bool_]:
    """Which arms have a reward or a prior to draw from."""
    known: NDArray[np.bool_] = state.pulls > 0
    return known | (rule.prior_weight > 0.0 or state.prior.size > 0)


def evidence(rule: Rule, state: State) -> tuple[Floats, Floats]:
    """Every arm's count and sum of rewards, the prior's pseudo-observations included."""
    mean, weight = state.prior.T if state.prior.size else (rule.prior_mean, rule.prior_weight)
    return state.pulls + weight, state.sums + mean * weight


def parameters(rule: Rule, n: Floats, s: Floats) -> tuple[Floats, Floats]:
    """``laws.parameters`` of all arms at once, of the tempered law."""
    n, s = n / rule.temper, s / rule.temper
    positive = np.maximum(s, 0.0)
    if rule.law == laws.GAUSSIAN:
        return s / n, 1.0 / np.sqrt(n)
    if rule.law == laws.BETA:
        return positive + 1.0, np.maximum(n - s, 0.0) + 1.0
    if rule.law == laws.GAMMA:
        return positive + 1.0, n
    if rule.law == laws.INVERSE_GAMMA:
        return n, positive
    if rule.law == laws.INVERSE_GAMMA_FLAT:
        return np.where(n > 1.0, n - 1.0, 1.0), np.where(n > 1.0, positive, np.inf)
    mean = s / n if rule.law >= laws.OTHER_FAMILY else np.clip(s / n, 0.0, 1.0)
    return mean, np.maximum(n - 1.0, 0.0)


def on_line(state: State) -> Integers:
    """Sleepers: the arms on the line, in its order."""
    return state.line[: state.ends[GROUPS], 1].astype(np.int64)


def rebuild(rule: Rule, memory: Memory) -> None:
    """Make all of it, in a new memory that has everything else."""
    state = memory.state
    known = has_law(rule, state)
    n, s = (numbers[known] for numbers in evidence(rule, state))
    state.waiting[0] = np.count_nonzero(~known)
    state.means[known] = s / n
    if rule.schedule < COMMITTED:
        if rule.law == laws.INVERSE_GAMMA_FLAT:
            state.means[known] = np.where(n / rule.temper > 1.0, s / n, np.inf)
        state.params[known] = np.column_stack(parameters(rule, n, s))
    if state.line.size and rule.schedule == EPSILON:
        state.index[known] = state.means[known]
    elif state.line.size:
        arms = on_line(state)
        state.place[arms] = np.arange(arms.size)
    if state.tree.size:
        state.tree[:] = tournament.built(state.index, memory.room)
    if state.order.size:
        _rank(state)


def _rank(state: State) -> None:
    """AdaUCB's order by weight, and H along it."""
    state.order[:] = np.argsort(state.weights, kind="stable")
    state.position[state.order] = np.arange(state.order.size)
    sorted_weights = state.weights[state.order]
    roots = np.sqrt(sorted_weights)
    state.prefix[0] = 0.0
    state.prefix[1:] = np.cumsum(roots[:-1])
    first = np.searchsorted(sorted_weights, sorted_weights)  # the place where each one's weight begins
    state.spread[state.order] = roots * (state.prefix[first] + (roots.size - first) * roots)
