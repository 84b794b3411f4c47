"""The gamma distribution of rate 1: both tails and their inverses, each with all its digits.

With w = ln x, X ~ Gamma(a, 1) has in w the log-concave density

    D = x^a e^-x / Gamma(a),    dD/dw = -d D,    where d = x - a is 0 at the mean,
    D = peak * exp(-E),    E = a h(d/a),    h(u) = u - ln(1+u) >= 0.

It is the limit of ``numerics.beta`` for b -> infinity, and its tails are found as there: from a series near
the mean when a is large, from a continued fraction elsewhere. The lower tail is the upper one of -w.
For a < 1 the lower one follows from that of a + 1, and they are told apart at 1 and not at the mean: below 1
the upper fraction needs too many terms, and the upper tail is 1 less the lower one, with an error of 1e-14
or so in all, not in its last digit. No law asks for that one.

SciPy's own functions would not do: in SciPy 1.17 the lower tail, five deviations below the
mean, is wrong in the sixth digit at a = 1e6 and in the first at 1e10.
"""

import math

from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import normal
from thrifty.numerics.beta import coefficient, series, stirling
from thrifty.numerics.kl import h, log_ratio

UPPER, LOWER = 1.0, -1.0
# Where a > LARGE and E < NEAR the series has 13 digits; elsewhere fewer than FRACTION terms do.
LARGE, NEAR, FRACTION = 100.0, 8.0, 85
CLOSE = 1e-4  # one Halley step from here leaves a relative error of a tail below 1e-12
TINY = 5e-324  # the smallest positive number


@hot
def _upper_fraction(a, d):
    """D/sf = d+1 + 1 (a-1) / (d+3 + 2 (a-2) / (d+5 + ...)). Legendre; DLMF 8.9.2.

    Every term is scaled by 1/(1+|d|), which keeps the convergents p/q in range.
    """
    scale = 1.0 / (1.0 + abs(d))
    p, q = (d + 1.0) * scale, scale
    p_old, q_old = 1.0, 0.0
    for k in range(1, FRACTION):
        alpha = k * (a - k) * scale * scale
        beta = (d + 1.0 + 2.0 * k) * scale
        p, p_old = beta * p + alpha * p_old, p
        q, q_old = beta * q + alpha * q_old, q
        if abs(p * q_old - p_old * q) < 1e-14 * p * q_old:
            break
    return q / p


@hot
def _lower_fraction(a, x, d):
    """D/cdf = beta_0 + alpha_1 / (beta_1 + alpha_2 / (beta_2 + ...)), r_k = 1/(a + 2k - 1),

        alpha_k = k (a+k-1) (x r_k)^2,    beta_k = k + k x r_k + (a+k) (1 + 2k - d) r_(k+1).

    The limit of that of ``numerics.beta``, scaled likewise.
    """
    scale = 1.0 / (1.0 + abs(d))
    r = 1.0 / (a + 1.0)
    p, q = a * (1.0 - d) * r * scale, scale
    p_old, q_old = 1.0, 0.0
    for k in range(1, FRACTION):
        ratio = r * x * scale
        alpha = k * (a + k - 1.0) * ratio * ratio
        beta = k * ratio
        r = 1.0 / (a + 2.0 * k + 1.0)
        beta += (k + (a + k) * (1.0 + 2.0 * k - d) * r) * scale
        p, p_old = beta * p + alpha * p_old, p
        q, q_old = beta * q + alpha * q_old, q
        if abs(p * q_old - p_old * q) < 1e-14 * p * q_old:
            break
    return q / p


@hot
def _tail(side, a, x, d):
    """E and the Mills ratio: sf/D or cdf/D. Both x and d are given, each as accurate as it can be."""
    energy = a * h(d / a) if 2.0 * abs(d) < a else d - a * log_ratio(x, a)
    if a > LARGE and (energy < NEAR or side * d < 0.0):
        return energy, series(a, side, math.copysign(math.sqrt(2.0 * energy), side * d))
    if side == UPPER:
        return energy, _upper_fraction(a, d)
    if a < 1.0:  # cdf(a) = cdf(a+1) + D/a, and the D of a + 1 is x/a times that of a
        return energy, (1.0 + x * _lower_fraction(a + 1.0, x, d - 1.0)) / a
    return energy, _lower_fraction(a, x, d)


@hot
def _peak(a):
    """D at the mean."""
    return math.sqrt(a / (2.0 * math.pi)) * math.exp(-stirling(a))


@kernel
def _mass(side, a, x):
    """The mass of one tail. Beyond where they are told apart it is 1 less the other one."""
    out_of_line()
    beyond = side if side * (x - max(a, 1.0)) >= 0.0 else -side
    energy, mills = _tail(beyond, a, x, x - a)
    mass = _peak(a) * math.exp(-energy) * mills
    return mass if beyond == side else 1.0 - mass


@kernel
def sf(a, x):
    """P(X > x) for X ~ Gamma(a, 1).

    >>> round(sf(2.0, 1.0), 12), f"{sf(1e12, 1e12 + 7e6):.9e}"
    (0.735758882343, '1.279958707e-12')
    """
    out_of_line()
    if x <= 0.0:
        return 1.0
    if x == math.inf:
        return 0.0
    if a == 1.0:
        return math.exp(-x)
    return _mass(UPPER, a, x)


@kernel
def cdf(a, x):
    """P(X <= x) for X ~ Gamma(a, 1).

    >>> round(cdf(2.0, 1.0), 12), f"{cdf(1e12, 1e12 - 7e6):.9e}"
    (0.264241117657, '1.279666396e-12')
    """
    out_of_line()
    if x <= 0.0:
        return 0.0
    if x == math.inf:
        return 1.0
    if a == 1.0:
        return -math.expm1(-x)
    return _mass(LOWER, a, x)


@hot
def _start(side, a, p):
    """About how far from ln a the w is at which a tail is p: the integral of g up to a tau.

    As in ``numerics.beta``; far in the tail, what x -> 0 and x -> infinity suggest. For a < 1 the lower tail
    is about x^a, and the upper one begins at 1 and falls like e^-x.
    """
    if a < 1.0:
        return math.log(a) - math.log(p) / a if side == LOWER else math.log((1.0 - math.log(p)) / a)
    tau = normal.isf(p) / math.sqrt(a)
    if tau < 1.0:
        g1, g2, g3 = coefficient(1, side), coefficient(2, side), coefficient(3, side)
        tau += (g1 + (g2 - 0.5 * g1 * g1) * tau) / a
        return tau * (1.0 + tau * (g1 / 2.0 + tau * (g2 / 3.0 + tau * g3 / 4.0)))
    half = 0.5 * tau * tau
    return math.log1p(half + tau) if side == UPPER else half + tau


@hot
def _move(a, x, d, w):
    """x and d after adding w to ln x. Near the mean d is the more accurate of the two, far below it x."""
    change = x * math.expm1(w)
    if 2.0 * (d + change) > -a:
        return a + (d + change), d + change
    x = max(x * math.exp(w), TINY)
    return x, x - a


@kernel
def _quantile(side, a, p):
    """The x beyond which a tail has the mass p: Halley's method on L(w) = ln(mass / p).

    In w away from the mean, with M = mass/D, dL/dw = -1/M and dM/dw = d M - 1. L is concave.
    """
    out_of_line()
    peak, goal = _peak(a), math.log(p)
    x, d = _move(a, a, 0.0, side * _start(side, a, p))
    for _ in range(8):
        energy, mills = _tail(side, a, x, d)
        gap = math.log(peak * mills) - energy - goal
        step = mills * gap / (1.0 + 0.5 * gap * (1.0 - side * d * mills))
        x, d = _move(a, x, d, side * step)
        if abs(gap) * max(mills, 1.0) < CLOSE:
            break
    return x


@kernel
def isf(a, p):
    """The x with P(X > x) = p for X ~ Gamma(a, 1).

    >>> round(isf(1.0, 0.5), 12), f"{isf(5.0, 1e-30):.9e}"
    (0.69314718056, '8.365467032e+01')
    """
    out_of_line()
    if p <= 0.0:
        return math.inf
    if p >= 1.0:
        return 0.0
    if a == 1.0:
        return -math.log(p)
    smaller = 0.5 if a > 1.0 else sf(a, 1.0)
    return _quantile(UPPER, a, p) if p <= smaller else _quantile(LOWER, a, 1.0 - p)


@kernel
def icdf(a, p):
    """The x with P(X <= x) = p for X ~ Gamma(a, 1).

    >>> round(icdf(1.0, 0.5), 12), f"{icdf(5.0, 1e-30):.9e}"
    (0.69314718056, '2.605172216e-06')
    """
    out_of_line()
    if p <= 0.0:
        return 0.0
    if p >= 1.0:
        return math.inf
    if a == 1.0:
        return -math.log1p(-p)
    smaller = 0.5 if a > 1.0 else cdf(a, 1.0)
    return _quantile(LOWER, a, p) if p <= smaller else _quantile(UPPER, a, 1.0 - p)
