"""The lemma behind Theorem 1: how long the optimal arm waits for a good sample, exactly and bounded.

After s pulls of the optimal arm its sample is theta ~ N(mean_s, V/s); it is good if theta > mu - gap/2. The
lemma bounds E[1/P(theta good | mean_s)] - 1, the expected number of bad samples before a good one. The paper
has 29 for every s; ``h`` gives 3.41 at most; the exact values for Bernoulli rewards are below 1.414.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.integrate import quad
from scipy.special import log_ndtr, logsumexp, ndtr
from scipy.stats import binom

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidValue


def excess(mean: float, pulls: int, gap: float, variance: float = 1.0) -> float:
    """E[1/P(theta > mean - gap/2)] - 1 after ``pulls`` Bernoulli(mean) rewards, exactly: a binomial sum.

    sum_k Binomial(k; s, mean) Phi(z_k) / Q(z_k),   z_k = sqrt(s/V) (mean - gap/2 - k/s).

    It is summed in logarithms: at s = 10^4 and mean 1/2 the largest 1/Q is near e^1250, with weight e^-6931.

    >>> round(excess(0.5, pulls=100, gap=0.0), 4)
    1.4128
    """
    mean = checks.unit("mean", mean)
    gap = checks.unit("gap", gap)
    pulls = checks.integer("pulls", pulls, at_least=1)
    successes = np.arange(pulls + 1)
    z = np.sqrt(pulls / checks.positive("variance", variance)) * (mean - gap / 2.0 - successes / pulls)
    terms = binom.logpmf(successes, pulls, mean) + log_ndtr(z) - log_ndtr(-z)
    return float(np.exp(logsumexp(terms)))


def excess_grid(means: Sequence[float], pulls: Sequence[int], gaps: Sequence[float]) -> Floats:
    """``excess`` for every mean, number of pulls and gap: an array with these three axes.

    >>> excess_grid([0.5, 0.9], [1, 10], [0.1]).round(3).tolist()
    [[[1.237], [1.078]], [[1.114], [0.888]]]
    """
    return np.array([[[excess(mean, s, gap) for gap in gaps] for s in pulls] for mean in means])


def excess_limit(sd: float) -> float:
    """The limit of ``excess`` for gap = 0 as the pulls grow: E[1/Q(sd Z)] - 1, Z ~ N(0, 1), for sd < 1.

    sd is the standard deviation of a reward, at most 1/2 on [0, 1].

    >>> round(excess_limit(0.5), 4)
    1.4139
    """
    if not 0.0 < sd < 1.0:  # E[1/Q(Z)] is infinite
        raise InvalidValue(f"sd must be in (0, 1), got {sd!r}")

    def integrand(z: float) -> float:
        return math.exp(-0.5 * z * z + log_ndtr(sd * z) - log_ndtr(-sd * z)) / math.sqrt(2.0 * math.pi)

    return float(quad(integrand, -np.inf, np.inf, epsabs=1e-13, epsrel=1e-12)[0])


def h(a: float) -> float:
    """h(a) = int phi(v)/Q(v)^2 min(1, exp(-2 max(v+a, 0)^2)) dv: the lemma holds with h(sqrt(s/V) gap/2),

    for any rewards in [0, 1], because P(sqrt(s) (mu - mean_s) > w) <= exp(-2 w^2) (Hoeffding).
    Splitting at v = -a:  h(a) = Phi(-a)/Phi(a) + int_0^inf phi(w-a)/Q(w-a)^2 exp(-2 w^2) dw.

    >>> [round(h(a), 4) for a in (0.0, 0.5, 1.0, 2.0)]
    [3.4056, 1.4472, 0.6393, 0.1126]
    """
    a = checks.at_least("a", a, 0.0)

    def integrand(w: float) -> float:
        return math.exp(_log_hazard_slope(w - a) - 2.0 * w * w)

    # The integrand peaks near w = a/5 with a width near 1/2; 10 beyond the peak it has lost a factor e^100.
    value, _ = quad(
        integrand, 0.0, a / 5.0 + 10.0, epsabs=0.0, epsrel=1e-11, points=[a / 5.0 + 1.0], limit=200
    )
    return float(ndtr(-a) / ndtr(a) + value)


def h_integral() -> float:
    """int_0^inf h(sqrt(u)) du = int phi(v)/Q(v)^2 G(v) dv, with G = ``waiting``.

    Summing h over the pulls of the optimal arm costs no more than this integral, because h decreases:
    sum_{s >= 1} h(sqrt(s) c) <= h_integral() / c^2.

    >>> round(h_integral(), 5)
    2.29668
    """
    return sum(h_parts())


def h_parts() -> tuple[float, float]:
    """H_- and H_+: the parts of ``h_integral`` from v < 0 and from v > 0.

    They belong to a mean of the optimal arm above and below the level that its sample has to pass.

    >>> [round(part, 5) for part in h_parts()]
    [1.86095, 0.43573]
    """

    def integrand(v: float) -> float:
        return math.exp(_log_hazard_slope(v)) * waiting(v)

    below, _ = quad(integrand, -15.0, 0.0, epsabs=1e-13, epsrel=1e-12)
    above, _ = quad(integrand, 0.0, 10.0, epsabs=1e-13, epsrel=1e-12)
    return float(below), float(above)


def waiting(v: float) -> float:
    """G(v) = int_0^inf 2a min(1, exp(-2 max(v+a, 0)^2)) da, in closed form.

    v^2 + 1/2 - v sqrt(pi/2) for v <= 0;  exp(-2 v^2)/2 - v sqrt(2 pi) Q(2v) for v >= 0.

    >>> waiting(0.0)
    0.5
    """
    if v <= 0.0:
        return v * v + 0.5 - v * math.sqrt(math.pi / 2.0)
    return 0.5 * math.exp(-2.0 * v * v) - v * math.sqrt(2.0 * math.pi) * float(ndtr(-2.0 * v))


def _log_hazard_slope(v: float) -> float:
    """ln(phi(v)/Q(v)^2): phi/Q^2 is the derivative of 1/Q."""
    return float(-0.5 * v * v - 0.5 * math.log(2.0 * math.pi) - 2.0 * log_ndtr(-v))
