"""How many posterior samples each kind of policy draws in T rounds, as the paper counts them.

Vanilla TS draws nothing in the initial pulls, which is left out here as in the paper: with it K T is
K (T - K).
"""

import math
from collections.abc import Callable, Sequence

from thrifty import checks
from thrifty.schedules.batch import phi
from thrifty.theory.bound import Bound, positive_gaps
from thrifty.theory.ts_td import ts_td_sharp


def vanilla_draws(arms: int, horizon: float) -> float:
    """K T: one sample per arm and round.

    >>> vanilla_draws(20, 1e6)
    20000000.0
    """
    return checks.integer("arms", arms, at_least=1) * checks.at_least("horizon", horizon, 1.0)


def ts_ma_draws(horizon: float) -> float:
    """T: one draw per pull, straight from the law of the maximum, whatever the number of arms.

    >>> ts_ma_draws(1e6)
    1000000.0
    """
    return checks.at_least("horizon", horizon, 1.0)


def ts_td_draws(
    means: Sequence[float],
    horizon: float,
    alpha: float,
    bound: Callable[[float, float, float], Bound] = ts_td_sharp,
) -> float:
    """m T + the sum over sub-optimal arms of min(T, phi * bound on E[n_i(T)]): an upper bound.

    Each pull opens at most phi draws (rounded up), and no arm draws twice in a round. m arms are optimal.

    >>> round(ts_td_draws([0.9, 0.1], 1e6, alpha=1.0))
    1295577
    """
    gaps = positive_gaps(means)
    samples = math.ceil(phi(horizon, alpha))
    spared = [min(horizon, samples * bound(gap, horizon, alpha).pulls) for gap in gaps]
    return (len(means) - len(gaps)) * horizon + math.fsum(spared)
