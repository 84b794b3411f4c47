"""What E[n_i(T)] tends to: lower bounds on a policy's own pulls that match the upper ones. Ours.

docs/theory.md, Theorem E (Vanilla TS) and Theorems F and G (TS-MA, TS-TD), with proofs.
"""

import math
from collections.abc import Sequence

from thrifty import checks
from thrifty.schedules.batch import phi
from thrifty.theory.bound import arm, positive_gaps


def vanilla_limit(means: Sequence[float], variance: float = 1.0) -> float:
    """lim R_T / ln T = sum 2 v / gap of Vanilla TS with samples N(mean, v/n), for any rewards in [0, 1].

    A limit for ``variance`` v >= 1/4; for a smaller one, the liminf is at least this. At v = 1 the
    constant of ``lower_bound`` is less than a quarter of it. docs/theory.md, Theorem E.

    >>> round(vanilla_limit([0.9] + [0.8] * 19), 6)
    380.0
    """
    variance = checks.positive("variance", variance)
    return math.fsum(2.0 * variance / gap for gap in positive_gaps(means))


def first_order(gap: float, horizon: float, alpha: float) -> float:
    """2 ln^alpha(T) ln(phi) / gap^2, to which E[n_i(T)] of TS-MA and TS-TD is asymptotically equal.

    It is (1 - alpha) ln^(1+alpha)(T) / gap^2 for alpha < 1 and 2 ln T ln ln T / gap^2 at alpha = 1, but that
    is far away: at alpha = 0 and T = 10^6 it is nearly twice ln T / gap^2. docs/theory.md, Theorems F and G.

    >>> round(first_order(1.0, 1e6, alpha=0.0) / math.log(1e6), 3)
    1.976
    """
    gap, horizon = arm(gap, horizon, shortest=3.0)
    variance: float = math.log(horizon) ** alpha
    return 2.0 * variance * math.log(phi(horizon, alpha)) / gap**2
