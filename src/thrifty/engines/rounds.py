"""What happens to the arms in a round: ``refresh`` before the choice, ``observe`` when a reward comes."""

import math

from thrifty import indices, laws
from thrifty.engines import history, young
from thrifty.engines.state import (
    AGGREGATE,
    CLOCKED,
    COMMITTED,
    DUEL,
    EPSILON,
    FRESH,
    HISTORIC,
    REPLACED,
    SHARED,
    SPENT,
    USED,
)
from thrifty.indices import ada_ucb, own
from thrifty.jit import hot, kernel
from thrifty.numerics import random
from thrifty.schedules import aggregate, duel, epsilon, fresh


@hot
def refresh(rule, state, t):
    """Bring every index up to date for the next round, before which t pulls were made. Committed ones are."""
    if rule.schedule == FRESH:
        fresh.refresh(rule, state)
    elif rule.schedule == EPSILON:
        epsilon.refresh(rule, state)
    elif rule.schedule == DUEL:
        duel.refresh(rule, state)
    elif rule.schedule == CLOCKED:
        for i in range(state.index.size):
            state.index[i] = clocked(rule, state, i, t)
    elif rule.schedule == SHARED:
        _refresh_shared(rule, state, t)
    elif rule.schedule == HISTORIC:
        _refresh_historic(rule, state)


@kernel
def _refresh_historic(rule, state):
    """Indices made from every single reward."""
    best = -math.inf
    for i in range(state.index.size):
        if has_law(state, i):
            best = max(best, state.means[i])
    for i in range(state.index.size):
        if not has_law(state, i):
            state.index[i] = -math.inf
            continue
        n = evidence(rule, state, i)[0]
        if rule.formula == indices.IMED_BOUNDED:
            n += young.count(state, i)
        else:
            state.draws[i] += 1
        state.evaluations[0] += 1
        values, times = history.of(state.history, state.spans, i)
        start = state.params[i, 0]
        index, start = indices.historic(rule, values, times, n, state.means[i], best, start, state.rng)
        state.index[i] = index
        state.params[i, 0] = start


@kernel
def _refresh_shared(rule, state, t):
    """Indices that depend on other arms: all are made anew."""
    best, bests = -math.inf, 0
    for i in range(state.index.size):
        if has_law(state, i):
            bests = 1 if state.means[i] > best else bests + (state.means[i] == best)
            best = max(best, state.means[i])
    plus = rule.formula == indices.MAILLARD_PLUS
    chosen = (
        random.below(state.rng, bests) if plus and bests > 1 else 0
    )  # which of the best MS+ takes for the best
    for i in range(state.index.size):
        if not has_law(state, i):
            state.index[i] = -math.inf
            continue
        n = evidence(rule, state, i)[0]
        if rule.formula <= indices.ADA_UCB:  # deterministic ones count the pulls that are on their way
            n += young.count(state, i)
        elif rule.formula >= indices.MOTS:  # a draw from a law, which the others are not
            state.draws[i] += 1
            state.evaluations[0] += 1
        spread = state.spread[i] if state.spread.size > 0 else 0.0
        if plus and state.means[i] == best:
            chosen -= 1
            if chosen == -1:
                state.index[i] = indices.shared_best(n, t, state.rng)
                continue
        state.index[i] = indices.shared(rule, n, state.means[i], best, spread, state.rng)


@kernel
def refresh_own(rule, state, t):
    """Indices of the user's own, which know pulls that are on their way. Returns whether all are numbers."""
    for i in range(state.index.size):
        if has_law(state, i):
            n = evidence(rule, state, i)[0] + young.count(state, i)
            state.index[i] = own.index(
                rule.function, rule.own, rule.arms, rule.horizon, n, state.means[i], t, state.rng
            )
            if math.isnan(state.index[i]):
                return False
    return True


@hot
def evidence(rule, state, i):
    """Arm i's count and sum of rewards, the prior's pseudo-observations included."""
    mean, weight = prior(rule, state, i)
    return state.pulls[i] + weight, state.sums[i] + mean * weight


@hot
def clocked(rule, state, i, t):
    """Arm i's index at time t; pulls that are on their way count, at the mean that there is."""
    if not has_law(state, i):
        return -math.inf
    n = evidence(rule, state, i)[0]
    return indices.clocked(rule, n + young.count(state, i), state.means[i], _variance(rule, state, i), t)


@kernel
def reach(rule, state, i, level):
    """A time before which arm i's index is below the level."""
    if not has_law(state, i):
        return math.inf
    n = evidence(rule, state, i)[0]
    return indices.reach(rule, n + young.count(state, i), state.means[i], _variance(rule, state, i), level)


@kernel
def alike(rule, state, i, j):
    """Whether the indices of two arms, equal now, stay so while both are left alone: because their statistics
    are equal, or because neither rises any more."""
    if indices.settled(rule, state.means[i]) and indices.settled(rule, state.means[j]):
        return has_law(state, i) and has_law(state, j)
    n, m = evidence(rule, state, i)[0], evidence(rule, state, j)[0]
    return (
        n + young.count(state, i) == m + young.count(state, j)
        and (state.means[i] == state.means[j] or not has_law(state, i))
        and has_law(state, i) == has_law(state, j)
        and _variance(rule, state, i) == _variance(rule, state, j)
    )


@hot
def _variance(rule, state, i):
    """Of arm i's rewards, the pseudo-observations of a prior being at its mean; 0 if no formula needs it."""
    if state.squares.size == 0:
        return 0.0
    prior = state.prior[i, 0] if state.prior.size > 0 else rule.prior_mean
    n = evidence(rule, state, i)[0]
    extra = (n - state.pulls[i]) * prior * prior
    return max((state.squares[i] + extra) / n - state.means[i] ** 2, 0.0) if n > 0.0 else 0.0


@hot
def has_law(state, i):
    """Whether arm i has a reward or a prior to draw from."""
    return state.waiting[0] == 0 or state.pulls[i] > 0


@hot
def prior(rule, state, i):
    """Arm i's pseudo-observations: their mean and their number."""
    if state.prior.size > 0:
        return state.prior[i, 0], state.prior[i, 1]
    return rule.prior_mean, rule.prior_weight


@kernel
def renew(rule, state, i):
    """Arm i's statistics changed: bring what is kept for it up to date."""
    n, s = evidence(rule, state, i)
    state.means[i] = s / n
    if rule.schedule == COMMITTED:
        state.index[i] = indices.committed(rule, n + young.count(state, i), s / n)
    if rule.schedule >= COMMITTED:
        return
    if rule.temper != 1.0:  # most policies: spare them two divisions
        n, s = n / rule.temper, s / rule.temper
    if rule.law == laws.INVERSE_GAMMA_FLAT and n <= 1.0:
        state.means[i] = math.inf  # there is no posterior yet: the arm is tried again at once
    a, b = laws.parameters(rule.law, n, s)
    state.params[i, 0] = a
    state.params[i, 1] = b
    if rule.schedule == AGGREGATE:
        aggregate.renew(rule, state, i)
    elif rule.schedule == DUEL:
        duel.renew(state, i)


@kernel
def rounded(reward, grid, rng):
    """A reward in [0, 1], to one of the two next multiples of 1/grid, at random so that the mean stays."""
    whole = math.floor(reward * grid)
    return (whole + (random.uniform(rng) < reward * grid - whole)) / grid


@hot
def observe(rule, state, i, reward):
    """A pull of arm i gave a reward."""
    if state.pulls[i] == 0 and state.waiting[0] > 0:
        state.waiting[0] -= 1
    if rule.grid > 0:
        reward = rounded(reward, rule.grid, state.rng)
    state.pulls[i] += 1
    state.sums[i] += reward
    if state.squares.size > 0:
        state.squares[i] += reward * reward
    if state.spans.size > 0:
        state.count[USED] = history.add(state.history, state.spans, state.count[USED], i, reward, 1.0)
    if state.spread.size > 0:
        ada_ucb.pull(i, state.weights, state.order, state.position, state.prefix, state.spread)
    renew(rule, state, i)


@kernel
def spend(rule, state, i):
    """A pull of arm i was handed out and its reward is not there yet: a committed index is spent by that."""
    state.pending[i, 0] += 1
    if rule.schedule == DUEL:
        spent = duel.is_committed(rule, state, i)
    else:
        spent = rule.schedule in (AGGREGATE, COMMITTED) and state.index[i] > -math.inf
    if spent:
        state.pending[i, 1] |= SPENT


@kernel
def replace(rule, state, i):
    """A spent index is needed again before its reward is there: a random one is drawn anew, and a
    deterministic one counts the pulls that are on their way, at the mean that there is."""
    if state.kept.size > 0 and not state.pending[i, 1] & REPLACED:
        state.kept[i] = state.index[i]
    state.pending[i, 1] = REPLACED
    if rule.schedule == DUEL:
        duel.replace(rule, state, i)
    else:
        renew(rule, state, i)


@kernel
def forget(state, i):
    """No pull of arm i is on its way any more, and none gave a reward: its index is what it was before."""
    if state.kept.size > 0 and state.pending[i, 1] & REPLACED:
        state.index[i] = state.kept[i]
        if state.best.size > 0:
            state.best[i] = state.kept[i]
    state.pending[i, 1] = 0


@kernel
def receive(rule, state, i, reward):
    """The reward of a pull of arm i that was handed out before."""
    if state.pending[i, 0] > 0:
        young.close(state, i)
    state.pending[i, 1] = 0
    observe(rule, state, i, reward)
