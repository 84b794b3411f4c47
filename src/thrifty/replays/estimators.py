"""What a policy whose probabilities are known would have earned: five estimators, from the same rows.

A row has the reward x of arm a, chosen with propensity p, and the policy's probability pi(a) there: its
weight is w = pi(a) / p, whose expectation is 1. Rewards are in [0, 1], and means are over all n rows.

    ips      mean of w x
    snips    sum of w x / sum of w
    clipped  mean of min(w, M) x,  M = sqrt(n) unless given
    direct   mean of q(pi)
    dr       mean of q(pi) + w (x - q(a)),  q without the row itself

where q(a) is the mean reward of arm a in the log, and q(pi) = sum over arms of pi(a) q(a).

ips, inverse propensity scoring, is without bias. snips, self-normalised, has one that vanishes, and less
noise: with equal rewards it is exactly right, which ips is not. clipped is too low, on average by mean of (w
- M)+ at most, and that is in its interval. direct is right if an arm's reward does not depend on what else
the propensities depend on, and these not on earlier rewards: means of arms that a policy has tried by what it
had seen are too low. dr, doubly robust, is without bias if rows are independent, and has the noise of what q
does not explain alone: each row has a q that has not seen it (cross-fitting, one row at a time), so that no
reward is used to explain itself. If the logging policy learns, later rows have seen it, and it has a small
bias, which ips has not. An arm that has no other row has the mean of all others.

Horvitz and Thompson, JASA 1952 (ips); Swaminathan and Joachims, "The self-normalized estimator for
counterfactual learning", NIPS 2015; Ionides, "Truncated importance sampling", JCGS 2008; Dudik, Langford and
Li, "Doubly robust policy evaluation and learning", ICML 2011; Chernozhukov et al., "Double/debiased machine
learning", Econometrics Journal 2018 (cross-fitting).

The intervals are those of ``intervals``. That of clipped is proven: "lower" of min(w, M) x and of min(w, M)
(1 - x). The others are approximate, and measured: "weighted" for ips, "score" for snips, direct and dr. There
n is how many rows without weights would tell as much, and s compares the variance of such a row with v (1 -
v); it is at least what the rewards of the log have of the variance of 0 and 1: of a few rewards hardly any
has a large weight.
"""

import math
from typing import NamedTuple

import numpy as np

from thrifty.arrays import Floats, Integers
from thrifty.replays import intervals
from thrifty.replays.intervals import Interval


class Rows(NamedTuple):
    """What the estimators see: rewards in [0, 1], and the policy's probabilities in rows of each kind."""

    arm: Integers
    reward: Floats
    weight: Floats
    kind: Integers  # the number of the row's kind: rows in which the policy has the same probabilities
    shares: Floats | None  # of each kind, a row with every arm's; None if only the row's own is known
    empty: int  # rows of unknown arms: with a weight of 0


class Estimate(NamedTuple):
    value: float
    error: float
    interval: Interval
    bias: float = 0.0  # by how much the value may be too low on average


def ips(rows: Rows, level: float, clip: float) -> Estimate:
    counts = np.r_[rows.weight * rows.reward, np.zeros(rows.empty)]
    v, n = float(counts.mean()), counts.size
    w = rows.weight
    typical = float((w**2).sum() / w.sum())
    interval = intervals.weighted(v, float((counts**2).mean()), n, typical, level)
    return Estimate(v, float(counts.std()) / math.sqrt(n), intervals.within(*interval))


def snips(rows: Rows, level: float, clip: float) -> Estimate:
    w, x = rows.weight, rows.reward
    total, square = float(w.sum()), float((w**2).sum())
    v = float((w * x).sum()) / total
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = w * (x - v) / (1.0 - w / total)  # from the estimate without the row itself
    variance = float((np.where(w < total, apart, 0.0) ** 2).sum()) / square
    n = total**2 / square  # as many rows without weights
    return Estimate(v, math.sqrt(variance / n), intervals.score(v, n, level, _excess(variance, v, x)))


def clipped(rows: Rows, level: float, clip: float) -> Estimate:
    w = np.r_[np.minimum(rows.weight, clip), np.zeros(rows.empty)]
    x = np.r_[rows.reward, np.zeros(rows.empty)]
    counts, n = w * x, w.size
    bias = float(np.maximum(rows.weight - clip, 0.0).sum()) / n
    return Estimate(
        float(counts.mean()), float(counts.std()) / math.sqrt(n), intervals.clipped(w, x, clip, level), bias
    )


def direct(rows: Rows, level: float, clip: float) -> Estimate:
    assert rows.shares is not None
    counts, sums = _sums(rows)
    share = np.bincount(rows.kind, minlength=len(rows.shares)) @ rows.shares / rows.arm.size
    some = share > 0.0
    k, q, share = counts[some], sums[some] / counts[some], share[some]
    squares = np.bincount(rows.arm, rows.reward**2, minlength=some.size)[some]
    apart = np.maximum(squares - k * q**2, 0.0) / np.maximum(k - 1, 1)
    v, variance = float(share @ q), float((share**2 * apart / k).sum())
    n = 1.0 / float((share**2 / k).sum())  # as many rows without weights
    clean = min(max(v, 0.0), 1.0)  # it may have been rounded
    return Estimate(
        v, math.sqrt(variance), intervals.score(clean, n, level, _excess(n * variance, clean, rows.reward))
    )


def dr(rows: Rows, level: float, clip: float) -> Estimate:
    assert rows.shares is not None
    counts, sums = _sums(rows)
    x, arm, total = rows.reward, rows.arm, rows.arm.size
    with np.errstate(invalid="ignore", divide="ignore"):
        q = np.where(counts > 0, sums / np.maximum(counts, 1), x.mean())
        others = (x.sum() - x) / max(total - 1, 1)
        own = np.where(counts[arm] > 1, (sums[arm] - x) / np.maximum(counts[arm] - 1, 1), others)
    expected = (rows.shares @ q)[rows.kind] + rows.shares[rows.kind, arm] * (own - q[arm])
    terms = expected + rows.weight * (x - own)
    if rows.empty:  # rows of unknown arms: all of q is known without them
        terms = np.r_[terms, np.full(rows.empty, float((rows.shares @ q)[rows.kind].mean()))]
    v, n, apart = float(terms.mean()), terms.size, float(terms.var())
    square = float((rows.weight**2).sum()) / n
    clean = min(max(v, 0.0), 1.0)
    s = _excess(apart / square, clean, x)
    return Estimate(v, math.sqrt(apart / n), intervals.score(clean, n / square, level, s))


ESTIMATORS = {"ips": ips, "snips": snips, "clipped": clipped, "direct": direct, "dr": dr}


def _sums(rows: Rows) -> tuple[Integers, Floats]:
    """How many rewards each arm has, and their sum."""
    assert rows.shares is not None
    arms = rows.shares.shape[1]
    counts: Integers = np.bincount(rows.arm, minlength=arms)
    sums: Floats = np.bincount(rows.arm, rows.reward, minlength=arms)  # type: ignore[assignment]
    return counts, sums


def _excess(variance: float, v: float, rewards: Floats) -> float:
    """A variance over v (1 - v), and at least that of the log's rewards, among which a 0 and a 1 count as
    seen once more."""
    n, mean = rewards.size + 2, (float(rewards.sum()) + 1.0) / (rewards.size + 2)
    least = ((float((rewards**2).sum()) + 1.0) / n - mean**2) / (mean * (1.0 - mean))
    return max(variance / (v * (1.0 - v)), least) if 0.0 < v < 1.0 else least
