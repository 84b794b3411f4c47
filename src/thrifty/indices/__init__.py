"""Indices that are functions of the statistics: one file each, the formula first, then the code that mirrors
it.

What decides how the largest is found is what can change it: only pulls of its own arm (``committed``), the
time as well (``clocked``), or also what other arms do (``shared``); some need every single reward
(``historic``), and some policies make lists of arms instead (``engines.lists``). The functions here choose
the formula by its code, as ``laws`` does for laws.
"""

from thrifty.indices import (
    ada_ucb,
    bayes_ucb,
    dirichlet,
    imed,
    kl_ucb,
    kl_ucb_plus_plus,
    maillard,
    moss,
    mots,
    ucb1,
    ucb1_tuned,
    ucb_v,
)
from thrifty.jit import kernel
from thrifty.numerics import families
from thrifty.numerics.k_inf import k_inf

KL_UCB_PLUS_PLUS, MOSS = range(2)  # committed
UCB1, UCB1_TUNED, UCB_V, KL_UCB, BAYES_UCB = range(5)  # clocked
IMED, ADA_UCB, MAILLARD, MAILLARD_PLUS, KL_MS, MOTS, MOTS_J = range(7)  # shared
NON_PARAMETRIC, MULTINOMIAL, IMED_BOUNDED = range(3)  # historic
DMED, DMED_LOG_T, UCB_IMPROVED, DIRICHLET_SAMPLING = range(4)  # listed


@kernel
def committed(rule, n, mean):
    """An index that changes only when its arm is pulled."""
    if rule.formula == MOSS:
        return moss.index(n, mean, rule.arms, rule.horizon)
    return kl_ucb_plus_plus.index(n, mean, rule.arms, rule.horizon)


@kernel
def clocked(rule, n, mean, variance, t):
    """An index that also rises with the time t, the number of pulls made so far."""
    if rule.formula == UCB1:
        return ucb1.index(n, mean, t)
    if rule.formula == UCB1_TUNED:
        return ucb1_tuned.index(n, mean, variance, t)
    if rule.formula == UCB_V:
        return ucb_v.index(n, mean, variance, t, rule.first, rule.second)
    if rule.formula == KL_UCB:
        return kl_ucb.index(rule.family, n, mean, t, rule.first)
    return bayes_ucb.index(n * mean, n, t, rule.horizon, rule.first)


@kernel
def reach(rule, n, mean, variance, level):
    """A time before which a clocked index is below the level."""
    if rule.formula == UCB1:
        return ucb1.reach(n, mean, level)
    if rule.formula == UCB1_TUNED:
        return ucb1_tuned.reach(n, mean, variance, level)
    if rule.formula == UCB_V:
        return ucb_v.reach(n, mean, variance, level, rule.first, rule.second)
    if rule.formula == KL_UCB:
        return kl_ucb.reach(rule.family, n, mean, level, rule.first)
    return bayes_ucb.reach(n * mean, n, level, rule.horizon, rule.first)


@kernel
def settled(rule, mean):
    """Whether a clocked index is at the top of its range, and so stays there whatever n and the time are."""
    return rule.formula == KL_UCB and rule.family == families.BERNOULLI and mean >= 1.0


@kernel
def shared(rule, n, mean, best, h, rng):
    """An index that depends on the largest mean, or on H of AdaUCB, or that is drawn anew in every round."""
    if rule.formula == IMED:
        return -imed.index(rule.family, n, mean, best)
    if rule.formula == ADA_UCB:
        return ada_ucb.index(n, mean, h, rule.horizon, rule.variance)
    if rule.formula == MOTS or rule.formula == MOTS_J:
        ceiling = mots.clip(n, mean, rule.arms, rule.horizon, rule.first, rule.variance)
        if rule.formula == MOTS:
            return mots.draw(mean, mots.scale(n, rule.second, rule.variance), ceiling, rng)
        return mots.draw_j(mean, mots.scale(n, 1.0, rule.variance), ceiling, rng)
    if rule.formula == KL_MS:
        return maillard.perturbed(maillard.kl_logit(n, mean, best), rng)
    if rule.formula == MAILLARD_PLUS:
        return maillard.perturbed(maillard.plus_logit(n, mean, best, rule.variance, PLUS), rng)
    return maillard.perturbed(maillard.logit(n, mean, best, rule.variance), rng)


@kernel
def shared_best(n, t, rng):
    """The index of MS+ for the one arm that is taken for the best."""
    return maillard.perturbed(maillard.plus_best_logit(n, t, PLUS, PLUS), rng)


@kernel
def historic(rule, values, times, n, mean, best, start, rng):
    """An index made from an arm's single rewards, n of them in all; and the multiplier of K_inf, which
    ``start`` was the last time."""
    if rule.formula == NON_PARAMETRIC:
        return dirichlet.non_parametric(values, times, rule.first, rng), start
    if rule.formula == MULTINOMIAL:
        return dirichlet.multinomial(values, times, rule.grid, rng), start
    if mean >= best:
        return -imed.bounded(n, 0.0), start
    divergence, multiplier = k_inf(values, times, best, start)
    return -imed.bounded(n, divergence), multiplier


PLUS = 1.0  # B, C and D of MS+: what its authors recommend was not found
