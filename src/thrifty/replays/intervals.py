"""Intervals for means of rewards in [0, 1], seen through weights. All of them stay in [0, 1].

Two are approximate, and tests measure how often they hold; one is proven.

``score``: for an estimate v whose squared error is s m (1 - m) / n where m is the truth, those m with

    |v - m| <= z sqrt(s m (1 - m) / n).

With s = 1 it is Wilson's interval (JASA 1927). s is how much worse than rewards of 0 and 1, without weights.

``weighted``: for the mean v of n counts x >= 0 that may be large and are mostly 0, those m with

    |v - m| <= z sqrt((b m - m^2) / n),        b = sum of x^2 / sum of x,

where b m - m^2 is their variance; Wilson's again if counts are 0 and 1. b is unreliable if the few counts
that are not 0 have weights w that are not typical, so b is at least what it would be if weights had nothing
to do with rewards: sum of w^2 / sum of w.

``lower``: a bound that holds with probability 1 - alpha, for counts x >= 0 whose mean is m, however large
they may be. Somebody who bets the share g of his money on each count has multiplied it by

    product of (1 - g + g x / m),

whose expectation is at most 1 if the counts are independent, whatever their single expectations are if these
have the mean m (arithmetic and geometric mean), and also if each expectation given the past is m. So is the
average over several shares g, fixed in advance. It exceeds 1/alpha with probability alpha at most (Markov,
Ville), so all m for which it does are excluded: they are those below a bound, as it falls with m.
Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024; for weights
without an upper bound, Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro, "Anytime-valid off-policy
inference for contextual bandits", ACM/IMS Journal of Data Science 2024.
"""

import math
from statistics import NormalDist

import numpy as np

from thrifty.arrays import Floats, Integers

Interval = tuple[float, float]
SHARES = 2.0 ** -np.arange(1.0, 25.0)  # bets: a half to a ten-millionth


def quantile(level: float) -> float:
    """How many standard errors an interval reaches to either side."""
    return -NormalDist().inv_cdf(0.5 - level / 2.0)


def score(v: float, n: float, level: float, s: float = 1.0) -> Interval:
    """From an estimate v in [0, 1]; s at infinity is no knowledge at all."""
    if not n > 0.0 or math.isinf(s):
        return 0.0, 1.0
    c = quantile(level) ** 2 * s / n
    middle, reach = v + c / 2.0, math.sqrt(c * v * (1.0 - v) + c * c / 4.0)
    return within((middle - reach) / (1.0 + c), (middle + reach) / (1.0 + c))


def weighted(v: float, square: float, n: float, typical: float, level: float) -> Interval:
    """From the mean v of counts and that of their squares; ``typical`` is sum of w^2 / sum of w. A reward of
    1 counts as seen once, with that weight."""
    z2, unseen = quantile(level) ** 2, max(typical, 1.0)
    b = max((square + unseen**2 / n) / (v + unseen / n), typical)
    middle = (2.0 * n * v + z2 * b) / (2.0 * (n + z2))
    inner = z2 * (z2 * b * b + 4.0 * n * v * (b - v))
    reach = math.sqrt(max(inner, 0.0)) / (2.0 * (n + z2))  # v is above b if it is 1, and was rounded
    return middle - reach, middle + reach


def excludes(counts: Floats, m: float, alpha: float) -> bool:
    """Whether a mean of m or less is excluded by counts, none of which is negative."""
    if m <= 0.0:
        return m < 0.0 or bool(counts.max() > 0.0)
    return _excludes(*np.unique(counts, return_counts=True), m, alpha)


def _excludes(values: Floats, times: Integers, m: float, alpha: float) -> bool:
    gains = np.log1p(np.outer(SHARES, values / m - 1.0)) @ times
    return float(np.logaddexp.reduce(gains)) > math.log(SHARES.size / alpha)


def lower(counts: Floats, alpha: float) -> float:
    """A bound on the mean of counts, none of which is negative: to six digits, from below."""
    values, times = np.unique(counts, return_counts=True)
    bound, above = 0.0, float(counts.mean())  # the mean itself is never excluded
    least = above * alpha / (4.0 * SHARES.size)
    if above <= 0.0 or not _excludes(values, times, least, alpha):
        return 0.0
    bound = least
    while above > (1.0 + 1e-6) * bound:
        m = math.sqrt(bound * above)
        if _excludes(values, times, m, alpha):
            bound = m
        else:
            above = m
    return bound


def clipped(weights: Floats, rewards: Floats, most: float, level: float) -> Interval:
    """For the mean of w x: w' = min(w, most) x has a smaller one, and since w has the mean 1, so has w' (1 -
    x) than 1 minus it. Either side fails with half of the probability that the interval may."""
    alpha, w = (1.0 - level) / 2.0, np.minimum(weights, most)
    return within(lower(w * rewards, alpha), 1.0 - lower(w * (1.0 - rewards), alpha))


def within(low: float, high: float) -> Interval:
    """What of an interval is in [0, 1]. If nothing is, nothing is known."""
    if high < 0.0 or low > 1.0:
        return 0.0, 1.0
    return max(low, 0.0), min(high, 1.0)
