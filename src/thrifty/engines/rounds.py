"""What happens to the arms in a round: ``refresh`` before the choice, ``observe`` after it."""

from thrifty import laws
from thrifty.engines.state import AGGREGATE, DUEL, EPSILON, FRESH, KL_UCB_PLUS_PLUS
from thrifty.indices import kl_ucb_plus_plus
from thrifty.jit import inlined
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
def renew(rule, state, i):
    """Arm i's statistics changed: bring what is kept for it up to date."""
    n = state.pulls[i] + rule.prior_weight
    s = state.sums[i] + rule.prior_mean * rule.prior_weight
    state.means[i] = s / n
    if rule.schedule == KL_UCB_PLUS_PLUS:
        state.index[i] = kl_ucb_plus_plus.index(n, s / n, rule.arms, rule.horizon)
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
    """Arm i was pulled and gave a reward."""
    state.pulls[i] += 1
    state.sums[i] += reward
    renew(rule, state, i)
