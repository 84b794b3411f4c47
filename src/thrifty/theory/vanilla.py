"""Vanilla Thompson sampling, theta_i ~ N(mean_i, 1/n_i): the published bounds and two of ours.

Notation: x = T gap^2. For x <= 1 every bound here exceeds T, the number of rounds, and so holds trivially.
"""

import math

from thrifty.errors import InvalidValue
from thrifty.theory.bound import Bound, arm
from thrifty.theory.constants import H_INTEGRAL, OFFSET


def agrawal_goyal(gap: float, horizon: float) -> Bound:
    """288 (e^64 + 6) ln(x + e^32) / gap^2, the leading term of the bound that Theorem 1 replaces.

    Its O(1/gap^2) remainder was never made explicit, so this is a lower bound on the bound.
    Agrawal and Goyal, "Near-optimal regret bounds for Thompson sampling" (JACM 2017), as quoted by the paper.

    >>> f"{agrawal_goyal(0.1, 1e6).coefficient:.4e}"
    '1.7957e+30'
    """
    gap, horizon = arm(gap, horizon)
    coefficient = 288.0 * (math.exp(64.0) + 6.0)
    growth = math.log(horizon * gap**2 + math.exp(32.0))
    return Bound(gap, horizon, coefficient, {"logarithm": coefficient * growth / gap**2})


def theorem1(gap: float, horizon: float) -> Bound:
    """1270 ln(x + 100^(1/3)) / gap^2 + 182.5 / gap^2 + 1: the paper's Theorem 1.

    >>> round(theorem1(0.1, 1e6).regret)
    118802
    """
    gap, horizon = arm(gap, horizon)
    terms = {
        "logarithm": 1270.0 * math.log(horizon * gap**2 + OFFSET) / gap**2,
        "remainder": 182.5 / gap**2,
        "rounding": 1.0,
    }
    return Bound(gap, horizon, 1270.0, terms)


def refined(gap: float, horizon: float, split: float = 0.5) -> Bound:
    """4.5 ln x / (b gap)^2 + 1 + (H/(1-b)^2 + 2.5) / gap^2 for any split b in (0, 1). Ours, not the paper's.

    The proof's threshold is mean_i + b gap; b = 1/2 is the paper's, and turns its 1270 into 18 and its
    182.5 into 11.69. H is ``H_INTEGRAL``. docs/theory.md, Theorem A.

    >>> round(refined(0.1, 1e6).regret, 1)
    1774.8
    """
    gap, horizon = arm(gap, horizon)
    if not 0.0 < split < 1.0:
        raise InvalidValue(f"split must be in (0, 1), got {split!r}")
    coefficient = 4.5 / split**2
    terms = {
        "L_i": coefficient * _logarithm(gap, horizon) / gap**2 + 1.0,
        "omega_1": H_INTEGRAL / (1.0 - split) ** 2 / gap**2,
        "omega_2": 0.5 / gap**2,
        "omega_3": 2.0 / gap**2,
    }
    return Bound(gap, horizon, coefficient, terms)


def best_split(gap: float, horizon: float) -> float:
    """The split b that makes ``refined`` smallest: A/b^2 + B/(1-b)^2 is least where b^3 : (1-b)^3 = A : B.

    >>> round(best_split(0.1, 1e6), 4)
    0.724
    """
    gap, horizon = arm(gap, horizon)
    return shares(4.5 * (_logarithm(gap, horizon) or 1.0), H_INTEGRAL)[0]


def sharp(gap: float, horizon: float) -> Bound:
    """2 ln x / (p gap)^2 + 1 + (H/q^2 + 1/(2 r^2) + 1/2) / gap^2, best p + q + r = 1. Ours, not the paper's.

    The three squares add up to ((2 ln x)^(1/3) + H^(1/3) + (1/2)^(1/3))^3, so the coefficient 2/p^2 tends to
    2 as T grows: what the same policy has for Gaussian rewards of variance 1. docs/theory.md, Theorem B.

    >>> round(sharp(0.1, 1e6).regret, 1)
    1079.6
    """
    gap, horizon = arm(gap, horizon)
    logarithm = _logarithm(gap, horizon)
    p, q, r = shares(2.0 * (logarithm or 1.0), H_INTEGRAL, 0.5)
    coefficient = 2.0 / p**2
    terms = {
        "L_i": coefficient * logarithm / gap**2 + 1.0,
        "low sample": H_INTEGRAL / q**2 / gap**2,
        "high mean": 0.5 / r**2 / gap**2,
        "high sample": 0.5 / gap**2,
    }
    return Bound(gap, horizon, coefficient, terms)


def shares(*weights: float) -> tuple[float, ...]:
    """The p_j > 0 with sum 1 that minimise sum_j w_j / p_j^2: proportional to w_j^(1/3).

    The minimum is (sum_j w_j^(1/3))^3 (Hoelder's inequality).

    >>> shares(8.0, 8.0)
    (0.5, 0.5)
    """
    roots = [math.cbrt(weight) for weight in weights]
    total = sum(roots)
    return tuple(root / total for root in roots)


def _logarithm(gap: float, horizon: float) -> float:
    """ln x, or 0 for x <= 1, where T <= 1/gap^2 pulls are covered by the other terms.

    Where it is 0 any positive share p may be taken; the callers take the one for ln x = 1.
    """
    return max(0.0, math.log(horizon) + 2.0 * math.log(gap))
