"""TS-MA-alpha: an arm's index is the best of phi samples of N(mean, ln^alpha(T)/n), kept until it is pulled.

The proofs need ln T >= 1, so T >= 3. They hold for any number of samples from phi to phi + 1.
"""

import math

from thrifty import checks
from thrifty.schedules.batch import C0, phi
from thrifty.theory.bound import Bound, arm
from thrifty.theory.vanilla import shares


def ts_ma(gap: float, horizon: float, alpha: float) -> Bound:
    """(sqrt(1/2) + sqrt(5-alpha))^2 ln^(1+alpha)(T) / gap^2 + 1/c0 + 6: the paper's proof with its constants.

    >>> bound = ts_ma(0.1, 1e6, alpha=0.0)
    >>> round(bound.coefficient, 5), round(bound.regret, 1)
    (8.66228, 1198.2)
    """
    gap, horizon = arm(gap, horizon, shortest=3.0)
    alpha = checks.unit("alpha", alpha)
    coefficient = (math.sqrt(0.5) + math.sqrt(5.0 - alpha)) ** 2
    terms = {
        "L_i": coefficient * math.log(horizon) ** (1.0 + alpha) / gap**2 + 1.0,
        "omega_1": 1.0 / C0 + 2.0,  # arm i over-estimated: phi samples, then Hoeffding
        "omega_2": 3.0,  # the optimal arm under-estimated: phi samples 1, Hoeffding 2
    }
    return Bound(gap, horizon, coefficient, terms)


def ts_ma_sharp(gap: float, horizon: float, alpha: float) -> Bound:
    """2 V (ln(N/2) + 1) / (p gap)^2 + 1/(2 (r gap)^2) + 4, best p + r = 1. Ours, not the paper's.

    V = ln^alpha T and N = phi + 1. There is one index per pull, so its tail is summed over pulls and not over
    rounds. Since ln(phi) ~ (1-alpha)/2 ln T, the coefficient of ln T is 1 at alpha = 0, and at alpha = 1 the
    order is ln T ln ln T, not ln^2 T. docs/theory.md, Theorem C.

    >>> round(ts_ma_sharp(0.1, 1e6, alpha=0.0).regret, 1)
    561.0
    """
    gap, horizon = arm(gap, horizon, shortest=3.0)
    weight = overestimation(horizon, alpha, phi(horizon, alpha) + 1.0)
    p, r = shares(weight, 0.5)
    terms = {
        "high sample": weight / p**2 / gap**2,
        "high mean": 0.5 / r**2 / gap**2,
        "omega_2": 3.0,
        "initial pull": 1.0,
    }
    return Bound(gap, horizon, 2.0 / p**2, terms)


def overestimation(horizon: float, alpha: float, samples: float) -> float:
    """2 V (ln(N/2) + 1): gap^2 times a bound on the pulls at which one of N samples is gap above its mean.

    sum over s >= 1 of min(1, N/2 exp(-s gap^2 / (2V))) <= 2V (ln(N/2) + 1) / gap^2, for N >= 2.
    """
    variance: float = math.log(horizon) ** alpha
    return 2.0 * variance * (math.log(samples / 2.0) + 1.0)
