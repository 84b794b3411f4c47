"""TS-TD-alpha: fresh samples of N(mean, ln^alpha(T)/n) for phi rounds after a pull, then the best of them.

The paper's proof has a gap (called G1 in docs/theory.md): ``ts_td_as_written`` adds up what it says,
``ts_td_repaired`` what holds. The proofs need ln T >= 1, so T >= 3.
"""

import math

from scipy.special import log_ndtr

from thrifty import checks
from thrifty.schedules.batch import C0, phi
from thrifty.theory.bound import Bound, arm
from thrifty.theory.constants import H_INTEGRAL
from thrifty.theory.ts_ma import overestimation
from thrifty.theory.vanilla import shares


def ts_td_as_written(gap: float, horizon: float, alpha: float) -> Bound:
    """The sum of the terms in the paper's proof. G1 invalidates its I_2; see ``ts_td_repaired``.

    >>> bound = ts_td_as_written(0.1, 1e6, alpha=0.0)
    >>> round(bound.coefficient, 2), round(bound.regret)
    (981.3, 135573)
    """
    return _two_phases(gap, horizon, alpha, omega_4=1.0)


def ts_td_repaired(gap: float, horizon: float, alpha: float) -> Bound:
    """The same with G1 closed: |mean_1 - mu_1| <= sqrt(ln T / n_1) instead of sqrt(2 ln T / n_1).

    This event fails more often, so omega_4 is 2 and not 1; nothing else changes.

    >>> bound = ts_td_repaired(0.1, 1e6, alpha=0.0)
    >>> round(bound.coefficient, 2), round(bound.pulls - bound.coefficient * math.log(1e6) / 0.1**2, 2)
    (981.3, 14.27)
    """
    return _two_phases(gap, horizon, alpha, omega_4=2.0)


def ts_td_refined(gap: float, horizon: float, alpha: float) -> Bound:
    """The repaired proof with I_1 <= 4 H ln^alpha(T) / gap^2 (docs/theory.md, section 4). Ours.

    >>> round(ts_td_refined(0.1, 1e6, alpha=0.0).coefficient, 3)
    53.298
    """
    gap, horizon = arm(gap, horizon, shortest=3.0)
    alpha = checks.unit("alpha", alpha)
    coefficient = 4.0 * (math.sqrt(2.0) + math.sqrt(5.0 - alpha)) ** 2
    terms = {
        "L_i": coefficient * math.log(horizon) ** (1.0 + alpha) / gap**2 + 1.0,
        "I_1": 4.0 * H_INTEGRAL * math.log(horizon) ** alpha / gap**2,
        "I_2": 1.0,
        "omega_2": 1.0 / C0,
        "omega_3": 1.0,
        "omega_4": 2.0,
    }
    return Bound(gap, horizon, coefficient, terms)


def ts_td_sharp(gap: float, horizon: float, alpha: float) -> Bound:
    """(H V/q^2 + 2 V (ln(N/2) + 1)/p^2 + 1/(2 r^2)) / gap^2 + 4, best p + q + r = 1. Ours, not the paper's.

    V = ln^alpha T; N = min(phi + 1, T), which is at least what an arm draws between two pulls however phi
    is rounded. docs/theory.md, Theorem D.

    >>> round(ts_td_sharp(0.1, 1e6, alpha=0.0).regret, 1)
    1363.7
    """
    gap, horizon = arm(gap, horizon, shortest=3.0)
    samples = min(phi(horizon, alpha) + 1.0, horizon)
    variance = math.log(horizon) ** alpha
    high = overestimation(horizon, alpha, samples)
    p, q, r = shares(high, H_INTEGRAL * variance, 0.5)
    terms = {
        "high sample": high / p**2 / gap**2,
        "low sample, phase I": H_INTEGRAL * variance / q**2 / gap**2,
        "high mean": 0.5 / r**2 / gap**2,
        "low sample, phase II": 3.0,
        "initial pull": 1.0,
    }
    return Bound(gap, horizon, 2.0 / p**2, terms)


def phase_two(horizon: float, alpha: float, width: float) -> float:
    """T^2 (1 - Q(sqrt(width ln^(1-alpha) T)))^phi: what the proof needs to be at most 1 for I_2 <= 1.

    It is the chance, summed over rounds and pulls, that all phi samples of the optimal arm stay below its
    mean + sqrt(width ln T / n). The event as defined has width 2, the bound as used has width 1: gap G1.

    >>> phase_two(1e6, 1.0, width=1.0) < 1.0 < phase_two(1e6, 1.0, width=2.0)
    True
    """
    samples = phi(horizon, alpha)
    level = math.sqrt(checks.positive("width", width) * math.log(horizon) ** (1.0 - alpha))
    exponent = 2.0 * math.log(horizon) + samples * float(log_ndtr(level))
    return math.exp(exponent) if exponent < 700.0 else math.inf


def _two_phases(gap: float, horizon: float, alpha: float, omega_4: float) -> Bound:
    gap, horizon = arm(gap, horizon, shortest=3.0)
    alpha = checks.unit("alpha", alpha)
    growth = math.log(horizon) ** (1.0 + alpha)
    needed = 4.0 * (math.sqrt(2.0) + math.sqrt(5.0 - alpha)) ** 2
    terms = {
        "L_i": needed * growth / gap**2 + 1.0,
        "I_1": 29.0 * 32.0 * growth / gap**2 + 1.0,  # 29 for each of the first L_1i = 32 growth/gap^2 pulls
        "I_2": 1.0,
        "omega_2": 1.0 / C0,
        "omega_3": 1.0,
        "omega_4": omega_4,
    }
    return Bound(gap, horizon, needed + 29.0 * 32.0, terms)
