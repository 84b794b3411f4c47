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

from thrifty.jit import kernel


@kernel
def phases(horizon):
    """How many phases there are.

    >>> phases(2), phases(3), phases(10_000)
    (0, 1, 6)
    """
    if horizon < math.e:
        return 0
    return 1 + int(0.5 * math.log2(horizon / math.e))


@kernel
def _logarithm(m, horizon):
    """ln(T D^2)."""
    return math.log(horizon * 0.25**m)


@kernel
def pulls(m, horizon):
    """n_m.

    >>> pulls(0, 10_000), pulls(3, 10_000)
    (19, 647)
    """
    return math.ceil(2.0 * _logarithm(m, horizon) * 4.0**m)


@kernel
def width(m, horizon):
    """w."""
    return math.sqrt(_logarithm(m, horizon) / (2.0 * pulls(m, horizon)))


@kernel
def eliminated(mean, best, w):
    """Does an arm go, `best` being the largest mean of those still there?"""
    return mean + w < best - w
