"""Bounds that do not depend on the gaps, with the constants that the paper's O(.) hides.

The paper's route: a gap Delta_* splits the arms. Those closer to the best cost at most T Delta_* together;
each of the others costs what its own bound says, at most its value at Delta_*, plus a constant.
"""

import math
from collections.abc import Callable

from thrifty import checks
from thrifty.theory.bound import Bound
from thrifty.theory.constants import H_INTEGRAL, OFFSET
from thrifty.theory.ts_ma import ts_ma
from thrifty.theory.ts_td import ts_td_repaired


def theorem1_worst_case(arms: int, horizon: float) -> float:
    """sqrt(KT ln K) (e + (1270 ln(e^2 K ln K + 100^(1/3)) + 182.5) / (e ln K)) + K.

    Delta_* = e sqrt(K ln K / T).

    >>> round(theorem1_worst_case(20, 1e6))
    7562389
    """
    arms, horizon = _size(arms, horizon)
    return _vanilla(arms, horizon, 1270.0 * math.log(math.e**2 * arms * math.log(arms) + OFFSET) + 182.5)


def refined_worst_case(arms: int, horizon: float) -> float:
    """The same from ``refined``: 18 ln(e^2 K ln K) + 11.69 in place of 1270 ln(...) + 182.5. Ours.

    >>> round(refined_worst_case(20, 1e6))
    136417
    """
    arms, horizon = _size(arms, horizon)
    return _vanilla(
        arms, horizon, 18.0 * math.log(math.e**2 * arms * math.log(arms)) + 4.0 * H_INTEGRAL + 2.5
    )


def ts_ma_worst_case(arms: int, horizon: float, alpha: float) -> float:
    """(1 + C) sqrt(KT ln^(1+alpha) T) + (1/c0 + 6) K, C the coefficient of ``ts_ma``.

    Delta_* = sqrt(K ln^(1+alpha)(T) / T).

    >>> round(ts_ma_worst_case(20, 1e6, alpha=0.0))
    160897
    """
    return _powers(ts_ma(1.0, horizon, alpha), arms, horizon, alpha)


def ts_td_worst_case(arms: int, horizon: float, alpha: float) -> float:
    """(1 + C) sqrt(KT ln^(1+alpha) T) + (1/c0 + 6) K, C the coefficient of ``ts_td_repaired``.

    >>> round(ts_td_worst_case(20, 1e6, alpha=0.0))
    16328617
    """
    return _powers(ts_td_repaired(1.0, horizon, alpha), arms, horizon, alpha)


def worst_case(bound: Callable[[float, float], Bound], arms: int, horizon: float) -> float:
    """sqrt(KT A), A = bound(1, T).pulls, for any bound of this package. Ours, not the paper's.

    Cauchy-Schwarz: (sum gap E[n])^2 <= (sum E[n]) (sum gap^2 E[n]) <= T * K A, because gap^2 times the bound
    on E[n] grows with the gap, and gaps are at most 1.

    >>> from thrifty.theory import sharp
    >>> round(worst_case(sharp, 20, 1e6))
    52345
    """
    arms, horizon = _size(arms, horizon)
    return math.sqrt(arms * horizon * bound(1.0, horizon).pulls)


def _vanilla(arms: int, horizon: float, scaled_pulls: float) -> float:
    root = math.sqrt(arms * horizon * math.log(arms))
    return root * (math.e + scaled_pulls / (math.e * math.log(arms))) + arms


def _powers(bound: Bound, arms: int, horizon: float, alpha: float) -> float:
    arms, horizon = _size(arms, horizon)
    growth: float = math.log(horizon) ** (1.0 + alpha)
    additive = bound.pulls - bound.coefficient * growth
    return (1.0 + bound.coefficient) * math.sqrt(arms * horizon * growth) + additive * arms


def _size(arms: int, horizon: float) -> tuple[int, float]:
    return checks.integer("arms", arms, at_least=2), checks.at_least("horizon", horizon, 1.0)
