"""The beta distribution for a, b >= 1: survival function and its inverse, accurate in both tails.

With n = a + b and the log-odds w = ln(x / (1-x)), X ~ Beta(a, b) has in w the log-concave density

    D = x^a (1-x)^b / B(a, b),    dD/dw = -d D,    where d = n x - a is 0 at the mean,
    D = peak * exp(-E),    E = a h(d/a) + b h(-d/b) = n kl(a/n, x),    h(u) = u - ln(1+u) >= 0,

in which nothing cancels, however large a and b are. The Mills ratio sf / D comes from a series near the mean
when m = ab/n is large and from a continued fraction elsewhere, so that a few dozen terms are always enough.
"""

import math

import numpy as np

from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import normal
from thrifty.numerics.kl import h

# Where m > LARGE and E < NEAR, SERIES terms give 13 digits; elsewhere fewer than FRACTION do, often 10 to 30.
LARGE, NEAR, SERIES, FRACTION = 100.0, 8.0, 14, 85
CLOSE = 5e-4  # one Halley step from here leaves a relative error of sf below 1e-10
LARGEST, TINY = 700.0, 1e-320  # exp(LARGEST) and ln(TINY) are finite


def _times(p, q):
    """The product of polynomials, lowest power first."""
    return np.convolve(p, q)[:SERIES]


def _coefficients():
    """The series of g = dw/dtau in tau = sign(d) sqrt(2E/m), with coefficients that are polynomials in delta.

    delta = (b-a)/n. In terms of y = d/m, dE/dw = d reads g = tau/y, and dd/dw = n x (1-x) reads
    dy/dw = 1 + delta y - kappa y^2, kappa = (1 - delta^2)/4. Together:

        g - tau g' = g^3 + delta tau g^2 - kappa tau^2 g.

    The coefficient of tau^k has the parity of k in delta, so row k of the table skips every other power.
    """
    one, delta, older = np.eye(SERIES)[0], np.eye(SERIES)[1], np.zeros(SERIES)
    kappa = (one - _times(delta, delta)) / 4.0
    g, square = [one], [one]
    for k in range(1, SERIES):
        inner = sum((_times(g[i], g[k - i]) for i in range(1, k)), 0.0 * one)  # in g^2, without its 2 g_k
        cube = sum((_times(g[i], square[k - i]) for i in range(1, k)), inner)  # in g^3, without its 3 g_k
        g.append((_times(kappa, older) - _times(delta, square[k - 1]) - cube) / (k + 2))
        square.append(inner + 2.0 * g[k])
        older = g[k - 1]
    table = np.zeros((SERIES, SERIES // 2))
    for k in range(SERIES):
        table[k, : k // 2 + 1] = g[k][k % 2 : k + 1 : 2]
    return table


G = _coefficients()


@hot
def coefficient(k, delta):
    """The coefficient of tau^k in g."""
    total = 0.0
    for j in range(k // 2, -1, -1):
        total = total * delta * delta + G[k, j]
    return total * delta if k % 2 else total


@kernel
def series(m, delta, zeta):
    """sf/D = m^(-1/2) sum_k g_k m^(-k/2) M_k,  M_k = e^(zeta^2/2) int_zeta^inf s^k e^(-s^2/2) ds.

    The integral of D in s = sqrt(m) tau, from zeta = sign(d) sqrt(2E). M_k = zeta^(k-1) + (k-1) M_(k-2).
    Temme, "The uniform asymptotic expansion of a class of integrals", SIAM J. Math. Anal. 1982.
    """
    out_of_line()
    unit = 1.0 / math.sqrt(m)
    tau = zeta * unit
    even = math.sqrt(0.5 * math.pi) * math.exp(0.5 * zeta * zeta) * math.erfc(zeta * math.sqrt(0.5))
    odd = power = unit  # even, odd: m^(-k/2) M_k
    total = even + coefficient(1, delta) * odd
    for k in range(2, SERIES, 2):
        power *= tau
        even = power + (k - 1) / m * even
        power *= tau
        odd = power + k / m * odd
        total += coefficient(k, delta) * even + coefficient(k + 1, delta) * odd
        if abs(even) < 1e-14:
            break
    return unit * total


@kernel
def _fraction(a, b, x, y, d):
    """D/sf = beta_0 + alpha_1 / (beta_1 + alpha_2 / (beta_2 + ...)), y = 1 - x, r_k = 1/(b + 2k - 1),

        alpha_k = (b+k-1) (n+k-1) k (a-k) (y r_k)^2,
        beta_k = k + k (a-k) y r_k + (b+k) (d + 1 + k (1+x)) r_(k+1).

    The even part of DLMF 8.17.22, upper tail: Didonato and Morris, Algorithm 708, ACM TOMS 1992. Every
    beta is scaled by 1/(1+|d|) and every alpha by its square, which keeps the convergents p/q in range.
    """
    out_of_line()
    scale = 1.0 / (1.0 + abs(d))
    r = 1.0 / (b + 1.0)
    p, q = b * (d + 1.0) * r * scale, scale
    p_old, q_old = 1.0, 0.0
    for k in range(1, FRACTION):
        ratio = r * y * scale
        product = k * (a - k) * ratio
        alpha = (b + k - 1.0) * (a + b + k - 1.0) * ratio * product
        r = 1.0 / (b + 2.0 * k + 1.0)
        beta = product + (k + (b + k) * (d + 1.0 + k * (1.0 + x)) * r) * scale
        p, p_old = beta * p + alpha * p_old, p
        q, q_old = beta * q + alpha * q_old, q
        if abs(p * q_old - p_old * q) < 1e-14 * p * q_old:
            break
    return q / p


@hot
def _tail(a, b, x, y, d):
    """E and sf/D. All of x, y = 1 - x and d are given, each as accurate as it can be."""
    n = a + b
    below = h(-d / b) if 2.0 * d < b else -d / b - math.log(y * (n / b))
    energy = a * h(d / a) + b * below
    m = a * (b / n)
    if m > LARGE and (energy < NEAR or d < 0.0):
        return energy, series(m, (b - a) / n, math.copysign(math.sqrt(2.0 * energy), d))
    return energy, _fraction(a, b, x, y, d)


@hot
def stirling(z):
    """ln Gamma(z) less (z - 1/2) ln z - z + ln(2 pi)/2, for z > 0. DLMF 5.11.1.

    Up to 10 by Gamma(z) = Gamma(z + k) / (z (z+1) ... (z+k-1)).
    """
    shifted, product = z, 1.0
    while shifted < 10.0:
        product *= shifted
        shifted += 1.0
    v = 1.0 / (shifted * shifted)
    rest = 1 / 1680 - v * (1 / 1188 - v * (691 / 360360 - v / 156))
    correction = (1 / 12 - v * (1 / 360 - v * (1 / 1260 - v * rest))) / shifted
    if shifted == z:
        return correction
    powers = (shifted - 0.5) * math.log(shifted) - (z - 0.5) * math.log(z)
    return correction + (powers - math.log(product) - (shifted - z))


@hot
def _peak(a, b):
    """D at the mean. The large parts of the three ln Gamma have cancelled on paper."""
    n = a + b
    correction = stirling(n) - stirling(a) - stirling(b)
    return math.sqrt(a * (b / n) / (2.0 * math.pi)) * math.exp(correction)


@hot
def _halves(x):
    """x = high + low of 26 bits each, whose products are exact. Dekker, Numer. Math. 1971."""
    t = 134217729.0 * x  # 2^27 + 1
    high = t - (t - x)
    return high, x - high


@hot
def _distance(a, b, x):
    """d = (a + b) x - a in twice the precision: near the mean both roundings would show."""
    n = a + b
    rounded_b = n - a
    n_error = (a - (n - rounded_b)) + (b - rounded_b)
    product = n * x
    (n_high, n_low), (x_high, x_low) = _halves(n), _halves(x)
    error = n_high * x_high - product + n_high * x_low + n_low * x_high + n_low * x_low
    return (product - a) + (error + n_error * x)


@kernel
def sf(a, b, x):
    """P(X > x) for X ~ Beta(a, b).

    >>> round(sf(2.0, 3.0, 0.5), 12), f"{sf(9e14, 1e14, 0.900000067):.9e}"
    (0.3125, '8.181288816e-13')
    """
    out_of_line()
    if x <= 0.0:
        return 1.0
    if x >= 1.0:
        return 0.0
    if a == 1.0:
        return math.exp(b * math.log1p(-x))
    if b == 1.0:
        return -math.expm1(a * math.log(x))
    d = _distance(a, b, x)
    if d >= 0.0:
        energy, mills = _tail(a, b, x, 1.0 - x, d)
        return _peak(a, b) * math.exp(-energy) * mills
    energy, mills = _tail(b, a, 1.0 - x, x, -d)
    return 1.0 - _peak(a, b) * math.exp(-energy) * mills


@hot
def _start(a, b, p):
    """About the w, counted from the mean's, at which sf is p <= 1/2: the integral of g up to a tau.

    sqrt(m) tau is the normal quantile plus ln(g)/(sqrt(m) tau), up to O(m^-1.5): Temme, "Asymptotic
    inversion of the incomplete beta function", 1992. Far in the tail: what a/n -> 0 and a/n -> 1 suggest.
    """
    n = a + b
    m = a * (b / n)
    tau = normal.isf(p) / math.sqrt(m)
    if tau < 1.0:
        delta = (b - a) / n
        g1, g2, g3 = coefficient(1, delta), coefficient(2, delta), coefficient(3, delta)
        tau += (g1 + (g2 - 0.5 * g1 * g1) * tau) / m
        return tau * (1.0 + tau * (g1 / 2.0 + tau * (g2 / 3.0 + tau * g3 / 4.0)))
    rest = b / n
    half = 0.5 * tau * tau
    return max(math.log1p(rest * (half + tau)) / rest, (a / n) * half)


@hot
def _move(a, b, y, d, w):
    """x, y = 1 - x and d, given y and d, after adding w to the log-odds.

    Near the mean d is the most accurate of the three, far from it y: the others follow.
    """
    n = a + b
    x = (a + d) / n
    e = math.expm1(min(w, LARGEST))
    factor = 1.0 / (1.0 + x * e)
    d += n * x * y * e * factor
    if 2.0 * d < b:
        return (a + d) / n, (b - d) / n, d
    y = max(y * factor, TINY)
    return 1.0 - y, y, b - n * y


@kernel
def _upper(a, b, p):
    """x and 1 - x with P(X > x) = p <= 1/2: Halley's method on L(w) = ln(sf / p).

    With M = sf/D, dL/dw = -1/M and dM/dw = d M - 1. L is concave; 4 steps were enough from every start.
    """
    out_of_line()
    peak, goal = _peak(a, b), math.log(p)
    x, y, d = _move(a, b, b / (a + b), 0.0, _start(a, b, p))
    for _ in range(8):
        energy, mills = _tail(a, b, x, y, d)
        gap = math.log(peak * mills) - energy - goal
        x, y, d = _move(a, b, y, d, mills * gap / (1.0 + 0.5 * gap * (1.0 - d * mills)))
        if abs(gap) < CLOSE:
            break
    return x, y


@kernel
def isf(a, b, p):
    """The x with P(X > x) = p for X ~ Beta(a, b).

    >>> round(isf(2.0, 3.0, 0.3125), 10), f"{isf(5.0, 1e12, 1e-30):.9e}"
    (0.5, '8.365467031e-11')
    """
    out_of_line()
    if p <= 0.0:
        return 1.0
    if p >= 1.0:
        return 0.0
    if a == 1.0:
        return -math.expm1(math.log(p) / b)
    if b == 1.0:
        return math.exp(math.log1p(-p) / a)
    if p <= 0.5:
        x, _ = _upper(a, b, p)
    else:
        _, x = _upper(b, a, 1.0 - p)
    return x
