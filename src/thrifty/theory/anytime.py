"""TS-MA and TS-TD without a horizon: it is guessed, and doubled whenever it is reached. Ours.

Stage 0 has T_0 = max(1024, 2K) rounds, stage j the rounds from T_(j-1) + 1 to T_j = 2^j T_0. It plays with
the phi and V of T_j, with all statistics kept and all indices drawn anew. J is the stage of round T.
docs/theory.md, Theorem H.
"""

import math
from collections.abc import Sequence

import numpy as np

from thrifty import checks
from thrifty.policies.base import first_guess
from thrifty.schedules.batch import phi
from thrifty.theory.bound import Bound, arm, positive_gaps
from thrifty.theory.constants import H_INTEGRAL
from thrifty.theory.vanilla import shares

# (3 ln T_0 + (3 + ln 2)/2)/T_0 at T_0 = 1024, rounded up: rounds with a low index of the optimal arm.
LOW = 0.0223

_A = np.geomspace(1.0, 1e6, 1000)  # where the bound is tried; any a >= 1 is allowed


def stages(arms: int, horizon: float) -> tuple[int, float]:
    """J, and the guess T_J with which round T is played.

    >>> stages(20, 1e6)
    (10, 1048576.0)
    """
    guess = float(first_guess(checks.integer("arms", arms, at_least=1)))
    horizon = checks.at_least("horizon", horizon, 1.0)
    doublings = 0
    while guess < horizon:
        guess, doublings = 2.0 * guess, doublings + 1
    return doublings, guess


def ts_ma_anytime(gap: float, horizon: float, alpha: float, arms: int = 2) -> Bound:
    """2 V ln(a phi)/(p gap)^2 + (1+J)/(2a-1) + (1 + 1/(2a-1)) (low + 1/(2 (r gap)^2)) + 1, best a, p, q, r.

    V and phi (rounded up) are those of T_J; low = min(2 + J, 0.0223/(q gap)^2). The leading constant is that
    of a known horizon for every alpha.

    >>> round(ts_ma_anytime(0.1, 1e6, alpha=0.0).regret, 1)
    610.8
    """
    return _doubling(gap, horizon, alpha, arms, waiting=0.0)


def ts_td_anytime(gap: float, horizon: float, alpha: float, arms: int = 2) -> Bound:
    """The same with H V/(q gap)^2 more in the last bracket: the optimal arm in phase I.

    >>> round(ts_td_anytime(0.1, 1e6, alpha=0.0).regret, 1)
    1502.7
    """
    return _doubling(gap, horizon, alpha, arms, waiting=H_INTEGRAL)


def ts_ma_anytime_draws(arms: int, horizon: float) -> float:
    """T + K J: one for each pull, and one for each arm when the guess is doubled.

    >>> ts_ma_anytime_draws(5, 5000)
    5015.0
    """
    return float(horizon + arms * stages(arms, horizon)[0])


def ts_td_anytime_draws(means: Sequence[float], horizon: float, alpha: float) -> float:
    """m T + the sum over sub-optimal arms of min(T, sum_(j<=J) phi_j + phi_J E[n_i(T)]): an upper bound.

    A pull opens at most phi_J draws, and so does the beginning of stage j with phi_j. m arms are optimal;
    E[n_i(T)] is bounded by ``ts_td_anytime``.

    >>> round(ts_td_anytime_draws([0.9, 0.1], 1e6, alpha=1.0))
    1348317
    """
    gaps, arms = positive_gaps(means), len(means)
    doublings, guess = stages(arms, horizon)
    batches = [math.ceil(phi(guess / 2.0**back, alpha)) for back in range(doublings + 1)]
    pulls = (ts_td_anytime(gap, horizon, alpha, arms).pulls for gap in gaps)
    spared = [min(horizon, sum(batches) + batches[0] * one) for one in pulls]
    return (arms - len(gaps)) * horizon + math.fsum(spared)


def _doubling(gap: float, horizon: float, alpha: float, arms: int, waiting: float) -> Bound:
    gap, horizon = arm(gap, horizon)
    doublings, guess = stages(arms, horizon)
    variance = math.log(guess) ** checks.unit("alpha", alpha)
    again = 2.0 * _A / (2.0 * _A - 1.0)
    high = 2.0 * variance * np.log(_A * math.ceil(phi(guess, alpha)))
    found = []
    # The optimal arm is low in ``low``/(q gap)^2 rounds, or in ``late``, and then q = 0 where nothing waits.
    for low, late in ((LOW, 0.0), (0.0, 2.0 + doublings)):
        weights = np.stack([high, again * 0.5, again * (waiting * variance + low)])
        fixed = again * late + (1.0 + doublings) / (2.0 * _A - 1.0)
        best = int((np.cbrt(weights).sum(axis=0) ** 3 / gap**2 + fixed).argmin())
        parts = shares(*weights[:, best].tolist())
        squares = [w / p**2 / gap**2 if w else 0.0 for w, p in zip(weights[:, best], parts, strict=True)]
        terms = {
            "high sample": float(squares[0]),
            "high mean": float(squares[1]),
            "low sample": float(squares[2] + again[best] * late),
            "new indices": float((1.0 + doublings) / (2.0 * _A[best] - 1.0)),
            "rounding": 1.0,
        }
        found.append(Bound(gap, horizon, 2.0 / parts[0] ** 2, terms))
    return min(found, key=lambda one: one.pulls)
