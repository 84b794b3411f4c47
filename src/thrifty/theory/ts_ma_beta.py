"""TS-MA with Beta samples, for rewards of 0 and 1: optimal with phi = T, polynomial with the paper's. Ours.

An arm's index is the best of phi samples of Beta(S + 1, n - S + 1), kept until it is pulled (alpha = 0).
docs/theory.md, Theorems K, L and N.
"""

import math
from collections.abc import Sequence

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidValue
from thrifty.schedules.batch import C0
from thrifty.theory.bound import Bound, arm

# Where u and y are tried, as shares of the gap above ``mean`` and below ``best``.
# At best = 1 a good y is close to it.
_CLOSE = np.geomspace(1e-9, 1e-3, 20, endpoint=False)
_SHARES = np.geomspace(1e-3, 0.9, 30)
_ABOVE, _BELOW = (grid.ravel() for grid in np.meshgrid(_SHARES, np.concatenate([_CLOSE, _SHARES])))
_ABOVE, _BELOW = _ABOVE[_ABOVE + _BELOW < 1.0], _BELOW[_ABOVE + _BELOW < 1.0]


def ts_ma_beta_sharp(mean: float, best: float, horizon: float, samples: float | None = None) -> Bound:
    """(ln N + 1)/kl(u, y) + 1/kl(u, mean) + (T/N)/((1-y) kl(y, best)) + T^2 exp(-N (1-y)/2) + 1, good u < y.

    ``mean`` < ``best`` are those of a bad arm and of the best one, ``samples`` is N, None for N = T: then it
    is asymptotically optimal. With the paper's phi, of the order sqrt(T), so is the third term.

    >>> bound = ts_ma_beta_sharp(0.6, 0.9, 1e6)
    >>> round(bound.pulls, 1), round(bound.coefficient, 2)
    (509.8, 1.4)
    """
    best = checks.unit("best", best)
    mean = checks.unit("mean", mean)
    if mean >= best:
        raise InvalidValue(f"mean must be below best, got {mean!r} and {best!r}")
    gap, horizon = arm(best - mean, horizon)
    samples = horizon if samples is None else checks.at_least("samples", samples, 1.0)
    above, below = _ABOVE * gap, _BELOW * gap
    u, y = mean + above, best - below
    rest = (1.0 - best) + below  # 1 - y
    rate = _kl(u, 1.0 - u, gap - above - below)
    parts = {
        "high sample": (math.log(samples) + 1.0) / rate,
        "high mean": 1.0 / _kl(u, 1.0 - u, -above),
        "low sample, low mean": horizon / samples / (rest * _kl(y, rest, below)),
        "low sample, high mean": horizon * np.exp(-0.5 * samples * rest) * horizon,
    }
    least = int(np.sum(list(parts.values()), axis=0).argmin())
    terms = {name: float(values[least]) for name, values in parts.items()} | {"initial pull": 1.0}
    return Bound(gap, horizon, float(gap**2 / rate[least]), terms)


def ts_ma_beta_exponent(means: Sequence[float], alpha: float = 0.0) -> float:
    """With the paper's phi the regret is T to this power, up to T^o(1): a best arm that looks bad is lost.

    ``alpha`` = 0: max(0, 1 - ln(1-best)/(2 ln(1-second))). It begins with so many zeros that all its samples
    are below the second best mean. Between 0 and 1: 0. ``alpha`` = 1: max(0, 1 - (2/c0) ln(1/second)), or
    more, as all its first samples, nearly uniform, may be below. For one best arm; with several nothing is
    claimed.

    >>> round(ts_ma_beta_exponent([0.9, 0.8]), 3), ts_ma_beta_exponent([0.9, 0.6])
    (0.285, 0.0)
    >>> round(ts_ma_beta_exponent([1.0, 0.98], alpha=1.0), 3)
    0.666
    """
    clean = sorted((checks.unit(f"means[{k}]", mean) for k, mean in enumerate(means)), reverse=True)
    if len(clean) < 2 or clean[0] == clean[1]:
        raise InvalidValue(f"means must have one best arm and another, got {list(means)!r}")
    best, second = clean[:2]
    alpha = checks.unit("alpha", alpha)
    if 0.0 < alpha < 1.0 or second == 0.0 or (alpha == 0.0 and best == 1.0):
        return 0.0
    lost = math.log1p(-best) / math.log1p(-second) / 2.0 if alpha == 0.0 else -2.0 / C0 * math.log(second)
    return max(0.0, 1.0 - lost)


def _kl(p: Floats, rest: Floats, step: Floats) -> Floats:
    """kl(p, p + step), with 1 - p = ``rest``: p h(step/p) + rest h(-step/rest), h(x) = x - ln(1 + x).

    Nothing cancels, as h >= 0; means that are close have as many digits as others.
    """

    def h(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):  # a mean of 0 or 1: infinite
            return np.where(np.abs(x) < 1e-4, x**2 * (1 / 2 - x * (1 / 3 - x / 4)), x - np.log1p(x))

    return np.asarray(p * h(step / p) + rest * h(-step / rest))
