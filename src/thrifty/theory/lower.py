"""The asymptotic lower bound: no policy that is good on every problem has less regret than constant * ln T.

liminf R_T / ln T >= sum over sub-optimal arms of  Delta_i / D_i,    D_i = KL(arm i -> the best mean).

The divergence goes from the sub-optimal arm to the best mean. Lai and Robbins (1985); for all laws on [0, 1]
D_i is K_inf, Burnetas and Katehakis (1996). The bound is asymptotic: good policies are below constant * ln T
at the horizons of the paper, so compare slopes in ln T, not levels.
"""

import math
from collections.abc import Sequence

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidValue
from thrifty.numerics import kl
from thrifty.numerics.k_inf import k_inf

FAMILIES = ("bernoulli", "gaussian", "poisson", "exponential")


def lower_bound(
    means: Sequence[float], family: str = "bernoulli", variance: float | Sequence[float] = 1.0
) -> float:
    """The constant for rewards of a one-parameter family; ``variance`` is that of Gaussian rewards, a number
    or one for each arm.

    >>> round(lower_bound([0.9] + [0.8] * 19), 4)
    42.7899
    >>> round(lower_bound([0.3, 0.0], family="gaussian"), 4)
    6.6667
    """
    family = checks.choice("family", family, FAMILIES)
    clean = checks.numbers("means", means)
    known = [variance] * len(clean) if np.ndim(variance) == 0 else list(variance)  # type: ignore[arg-type]
    if len(known) != len(clean):
        raise InvalidValue(
            f"variance must be a number, or have one for each of {len(clean)} arms, got {len(known)}"
        )
    variances = [checks.positive("variance", one) for one in known]
    for arm, mean in enumerate(clean):
        _possible(arm, mean, family)
    best = max(clean)
    return math.fsum(
        _ratio(best - mean, _divergence(mean, best, family, variance))
        for mean, variance in zip(clean, variances, strict=True)
        if mean < best
    )


def lower_bound_bounded(distributions: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float:
    """The constant when all that is known of the rewards is that they lie in [0, 1].

    Each arm is a pair (values, probabilities). For rewards in {0, 1} it is ``lower_bound(means)``, for any
    others with the same means it is smaller: K_inf >= kl.

    >>> coin = ([0.0, 1.0], [0.1, 0.9])
    >>> round(lower_bound_bounded([coin, ([0.0, 1.0], [0.2, 0.8])]), 5)
    2.2521
    >>> round(lower_bound_bounded([coin, ([0.6, 0.8, 1.0], [0.25, 0.5, 0.25])]), 5)
    0.37903
    """
    laws = [_law(f"distributions[{arm}]", pair) for arm, pair in enumerate(distributions)]
    if not laws:
        raise InvalidValue("distributions must have at least one entry, got none")
    means = [float(values @ weights) for values, weights in laws]
    best = max(means)
    return math.fsum(
        _ratio(best - mean, k_inf(values, weights, best, 0.0)[0])
        for mean, (values, weights) in zip(means, laws, strict=True)
        if mean < best
    )


def _ratio(gap: float, divergence: float) -> float:
    """Gap over divergence; means so close that the divergence underflows can never be told apart."""
    return gap / divergence if divergence > 0.0 else math.inf


def _divergence(mean: float, best: float, family: str, variance: float) -> float:
    if family == "bernoulli":
        return float(kl.bernoulli(mean, best))
    if family == "gaussian":
        return float(kl.gaussian(mean, best, variance))
    if family == "poisson":
        return float(kl.poisson(mean, best))
    return float(kl.exponential(mean, best))


def _possible(arm: int, mean: float, family: str) -> None:
    allowed = {
        "bernoulli": (0.0 <= mean <= 1.0, "in [0, 1]"),
        "gaussian": (True, "finite"),
        "poisson": (mean >= 0.0, "at least 0"),
        "exponential": (mean > 0.0, "above 0"),
    }
    holds, words = allowed[family]
    if not holds:
        raise InvalidValue(f"means[{arm}] of {family} rewards must be {words}, got {mean}")


def _law(name: str, pair: tuple[Sequence[float], Sequence[float]]) -> tuple[Floats, Floats]:
    if not isinstance(pair, Sequence) or len(pair) != 2 or len(pair[0]) != len(pair[1]):
        raise InvalidValue(f"{name} must be (values, probabilities) of one length, got {pair!r}")
    values = np.array(checks.numbers(f"{name} values", pair[0]))
    weights = np.array(checks.numbers(f"{name} probabilities", pair[1]))
    if values.min() < 0.0 or values.max() > 1.0:
        raise InvalidValue(f"{name} values must be in [0, 1], got {pair[0]!r}")
    if weights.min() < 0.0 or abs(weights.sum() - 1.0) > 1e-9:
        raise InvalidValue(f"{name} probabilities must be at least 0 and sum to 1, got {pair[1]!r}")
    return values, weights / weights.sum()
