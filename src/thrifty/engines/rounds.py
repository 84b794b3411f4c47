"""What happens to the arms in a round: ``refresh`` before the choice, ``observe`` when a reward comes."""

import math

from thrifty import laws
from thrifty.engines.state import AGGREGATE, DUEL, EPSILON, FRESH, KL_UCB_PLUS_PLUS
from thrifty.indices import kl_ucb_plus_plus
from thrifty.jit import inlined, kernel
from thrifty.schedules import aggregate, duel, epsilon, fresh


@inlined
def refresh(rule, state):
    """Bring every index up to date for the next round. Committed indices already are."""
    if rule.schedule == FRESH:
        fresh.refresh(rule, state)
    elif rule.schedule == EPSILON:
        epsilon.refresh(rule, state)
    elif rule.schedule == DUEL:
        duel.refresh(rule, state)


@inlined
def has_law(state, i):
    """Whether arm i has a reward or a prior to draw from."""
    return state.waiting[0] == 0 or state.pulls[i] > 0


@inlined
def prior(rule, state, i):
    """Arm i's pseudo-observations: their mean and their number."""
    if state.prior.size > 0:
        return state.prior[i, 0], state.prior[i, 1]
    return rule.prior_mean, rule.prior_weight


@inlined
def renew(rule, state, i):
    """Arm i's statistics changed: bring what is kept for it up to date."""
    mean, weight = prior(rule, state, i)
    n = state.pulls[i] + weight
    s = state.sums[i] + mean * weight
    state.means[i] = s / n
    if rule.schedule == KL_UCB_PLUS_PLUS:
        state.index[i] = kl_ucb_plus_plus.index(n + state.pending[i, 0], s / n, rule.arms, rule.horizon)
        return
    if rule.temper != 1.0:  # most policies: spare them two divisions
        n, s = n / rule.temper, s / rule.temper
    a, b = laws.parameters(rule.law, n, s)
    state.params[i, 0] = a
    state.params[i, 1] = b
    if rule.schedule == AGGREGATE:
        aggregate.renew(rule, state, i)
    elif rule.schedule == DUEL:
        duel.renew(state, i)


@inlined
def observe(rule, state, i, reward):
    """A pull of arm i gave a reward."""
    if state.pulls[i] == 0 and state.waiting[0] > 0:
        state.waiting[0] -= 1
    state.pulls[i] += 1
    state.sums[i] += reward
    renew(rule, state, i)


@kernel
def spend(rule, state, i):
    """A pull of arm i was handed out and its reward is not there yet: a committed index is spent by that."""
    state.pending[i, 0] += 1
    if rule.schedule == DUEL:
        state.pending[i, 1] = duel.is_committed(rule, state, i)
    else:
        state.pending[i, 1] = rule.schedule in (AGGREGATE, KL_UCB_PLUS_PLUS) and state.index[i] > -math.inf


@kernel
def replace(rule, state, i):
    """A spent index is needed again before its reward is there: a random one is drawn anew, and a
    deterministic one counts the pulls that are on their way, at the mean that there is."""
    state.pending[i, 1] = 0
    if rule.schedule == DUEL:
        duel.replace(rule, state, i)
    else:
        renew(rule, state, i)


@kernel
def receive(rule, state, i, reward):
    """The reward of a pull of arm i that was handed out before."""
    if state.pending[i, 0] > 0:
        state.pending[i, 0] -= 1
    state.pending[i, 1] = 0
    observe(rule, state, i, reward)
