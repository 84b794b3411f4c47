"""epsilon-TS with Gaussian samples: each arm uses a sample with probability epsilon, its mean otherwise."""

from math import log

from thrifty import checks
from thrifty.theory.bound import Bound, arm
from thrifty.theory.constants import H_HIGH, H_LOW
from thrifty.theory.vanilla import shares


def epsilon_ts_sharp(gap: float, horizon: float, epsilon: float) -> Bound:
    """2 ln+(e x) / (p gap)^2 + 1 + (H_e/q^2 + 1/(2 r^2) + 1/2) / gap^2, best p + q + r = 1. Ours.

    e is ``epsilon``, x = T gap^2 and H_e = e (H_- - 1/2) - 1/2 + (H_+ + 1)/e: what epsilon costs is an
    additive constant, and the leading one tends to 2. e = 1 is ``sharp``. docs/theory.md, Theorem I.

    >>> round(epsilon_ts_sharp(0.1, 1e6, epsilon=0.05).regret, 1)
    2339.0
    """
    gap, horizon = arm(gap, horizon)
    epsilon = checks.unit("epsilon", epsilon, open_at_zero=True)
    logarithm = max(0.0, log(horizon) + 2.0 * log(gap) + log(epsilon))
    wait = epsilon_wait(epsilon)
    p, q, r = shares(2.0 * (logarithm or 1.0), wait, 0.5)
    coefficient = 2.0 / p**2
    terms = {
        "L_i": coefficient * logarithm / gap**2 + 1.0,
        "low index": wait / q**2 / gap**2,
        "high mean": 0.5 / r**2 / gap**2,
        "high sample": 0.5 / gap**2,
    }
    return Bound(gap, horizon, coefficient, terms)


def epsilon_wait(epsilon: float) -> float:
    """H_e: c^2 times a bound on how often the optimal arm's index is at most mu - c before its pulls.

    >>> round(epsilon_wait(1.0), 5), round(epsilon_wait(0.05), 3)
    (2.29668, 28.283)
    """
    return epsilon * (H_LOW - 0.5) - 0.5 + (H_HIGH + 1.0) / epsilon
