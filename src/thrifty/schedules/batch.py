"""The paper's batch size, which the aggregate and duel schedules and the theory share."""

import math

from thrifty import checks

# c0 = 1 / (2 sqrt(2 e pi)), from the paper's Gaussian anti-concentration bound.
C0 = 1.0 / (2.0 * math.sqrt(2.0 * math.e * math.pi))


def phi(horizon: float, alpha: float) -> float:
    """phi = (2/c0) T^((1-alpha)/2) (ln T)^((3-alpha)/2), before it is rounded up to a number of draws.

    >>> round(phi(1e5, 0.8), 2)
    768.42
    """
    horizon = checks.at_least("horizon", horizon, 1.0)
    alpha = checks.unit("alpha", alpha)
    growth: float = horizon ** ((1.0 - alpha) / 2.0) * math.log(horizon) ** ((3.0 - alpha) / 2.0)
    return 2.0 / C0 * growth
