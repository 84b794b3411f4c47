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

from thrifty.jit import kernel


@kernel
def original(n, divergence, t):
    """
    >>> original(10.0, 0.2, 100), original(10.0, 0.3, 100)
    (True, False)
    """
    return divergence == 0.0 or n * divergence <= math.log(max(t, 1.0)) - math.log(n)


@kernel
def log_t(n, divergence, t):
    """
    >>> log_t(10.0, 0.4, 100), log_t(10.0, 0.5, 100)
    (True, False)
    """
    return divergence == 0.0 or n * divergence <= math.log(max(t, 1.0))
