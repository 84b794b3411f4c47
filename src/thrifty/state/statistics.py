"""What is known of the arms: pulls, sums of rewards, the mean, and what is pending. Every state has it."""

import math

import numpy as np

from thrifty.jit import hot
from thrifty.numerics import random
from thrifty.state import young
from thrifty.state.fading import has_law as has_law
from thrifty.state.fading import left
from thrifty.state.fields import Component, Field

ARMS, HANDED, CLOCK, COUNTS = range(4)  # the single numbers in state.count

# Of a committed index, in state.pending: it was handed out; it is not the one that was there after the last
# reward.
SPENT, REPLACED = 1, 2
NO_INDEX, NO_REWARD = 1, 2  # faults


def _start(state, arms):
    state.waiting[0] = arms if state.rule.prior_weight == 0.0 and not state.prior.size else 0


CORE = Component(
    "arms",
    (
        Field("count", np.int64, COUNTS),
        Field(
            "fault", np.int64, 1, saved=False
        ),  # NO_INDEX, one was NaN; NO_REWARD: what a problem of the user's own paid was none
        Field("evaluations", np.int64, 1),
        Field("waiting", np.int64, 1, saved=False),  # arms without a law: their first reward is not there yet
        Field("rng", np.uint64, random.WORDS),
        Field("pulls", np.int64),
        Field("sums"),  # of rewards, the prior's apart
        Field("means", saved=False),  # the prior's pseudo-observations included
        Field("index", start=-math.inf),  # the largest is pulled
        Field("draws", np.int64),  # as the paper counts them
        # Pulls without their reward; SPENT, REPLACED, both, or neither.
        Field("pending", np.int64, columns=2),
    ),
    start=_start,
)
PRIOR = Component("prior", (Field("prior", columns=2),))  # (mean, weight) of each arm
LAW = Component("law", (Field("params", columns=2, saved=False),))  # renewed when its arm is pulled
SQUARES = Component("squares", (Field("squares"),))  # sums of squared rewards
LAST = Component("last", (Field("last", np.int64),))  # when the arm was last pulled, as a number of pulls
COMPONENTS = (CORE, PRIOR, LAW, SQUARES, LAST)


@hot
def prior(state, i):
    """Arm i's pseudo-observations: their mean and their number."""
    if state.prior.size > 0:
        return state.prior[i, 0], state.prior[i, 1]
    return state.rule.prior_mean, state.rule.prior_weight


@hot
def evidence(state, i):
    """What is left of arm i's count and sum of rewards, the prior's pseudo-observations included."""
    mean, weight = prior(state, i)
    return left(state, i) + weight, state.sums[i] + mean * weight


@hot
def counted(state, i):
    """What is left of arm i's pulls, the prior's and those that are pending included."""
    n, _ = evidence(state, i)
    return n + young.count(state, i)


@hot
def variance(state, i):
    """Of arm i's rewards, the pseudo-observations of a prior being at its mean; 0 if no formula needs it."""
    if state.squares.size == 0:
        return 0.0
    mean, weight = prior(state, i)
    n = left(state, i) + weight
    extra = (n - left(state, i)) * mean * mean
    return max((state.squares[i] + extra) / n - state.means[i] ** 2, 0.0) if n > 0.0 else 0.0


@hot
def best_mean(state):
    """The largest mean, of arms that have one."""
    best = -math.inf
    for i in range(state.index.size):
        if has_law(state, i):
            best = max(best, state.means[i])
    return best
