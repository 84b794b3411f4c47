"""Kullback-Leibler divergences of the mean parameter, and their inverses.

A divergence `KL(a -> x)` is what an arm of mean `a` has to overcome to look like one of mean `x`.
Its inverses, the largest and the smallest `x` within a budget `c` of `a`, are the confidence bounds
of KL-UCB and its kin and the quantiles of the law of ExpTS.

Everything is built on one function, free of cancellation in the form used here:

    h(u) = u - ln(1 + u) >= 0,       p ln(p/q) + q - p  =  p h((q - p)/p)

    Poisson       a h((x - a)/a)
    Bernoulli     a h((x - a)/a) + (1 - a) h((a - x)/(1 - a))
    exponential   h((a - x)/x)

so that a divergence of 1e-30 has as many correct digits as one of 1, and so have the steps `x - a`
that the inverses solve for (until `x` itself is rounded). Nothing is clipped: a divergence that is
infinite is returned as infinity.

    >>> round(bernoulli(0.1, 0.9), 6), round(poisson(2.0, 1.0), 6), round(exponential(1.0, 2.0), 6)
    (1.75778, 0.386294, 0.193147)
    >>> x, complement = bernoulli_upper(0.99, 1.0)
    >>> x, f"{complement:.6e}"
    (1.0, '1.375422e-46')

How the inverses are solved. Each equation is written as `f(s) = c` for an `s > 0` with `f(0) = 0`,
`f' > 0`, `f'' > 0` and `f''' < 0`. Then

* `2 f f'' <= f'^2`, because the difference is 0 at 0 and has derivative `-2 f f''' > 0`, so that
  Halley's denominator `1 - (f - c) f'' / (2 f'^2)` is at least 3/4;
* Halley's step is Newton's for `H = (f - c)/sqrt(f')`, and `H''` has the sign of `f - c`, so that
  its iterates never pass the root: from any start they approach it from one side.

Hence no bracket is needed. The starts are right to the third order at 0 and asymptotically at
infinity, and convergence is cubic: a step below 1e-5 of `s` is the last one that matters.
"""

import math

from thrifty.jit import hot

ITERATIONS = 10  # the starts need 1 or 2; the bound only says that the loops end
LAST_STEP = 1e-5  # relative; its cube is below the rounding


@hot
def h(u):
    """h(u) = u - ln(1 + u) for u > -1, to full relative accuracy."""
    # With v = u/(2 + u), ln(1 + u) = 2 artanh(v) and h = v (u - 2 v^2 (1/3 + v^2/5 + ...)).
    # At |v| = 1/8 the first term left out is 2e-17 of h, and the plain difference loses one digit.
    v = u / (2.0 + u)
    if abs(v) > 0.125:
        return u - math.log1p(u)
    z = v * v
    tail = 1 / 11 + z * (1 / 13 + z * (1 / 15 + z * (1 / 17)))
    return v * (u - 2.0 * z * (1 / 3 + z * (1 / 5 + z * (1 / 7 + z * (1 / 9 + z * tail)))))


@hot
def log_ratio(p, q):
    """ln(p/q) for p, q > 0, also where p/q is not a normal number."""
    ratio = p / q
    if 1e-300 < ratio < 1e300:
        return math.log(ratio)
    return math.log(p) - math.log(q)


@hot
def _entropy(p, q, difference):
    """p ln(p/q) + q - p for p, q >= 0; `difference` is q - p, which the caller may know better."""
    if difference == 0.0:
        return 0.0
    if p == 0.0:
        return q
    if q == 0.0:
        return math.inf
    if abs(difference) < 0.2 * p:
        return p * h(difference / p)
    return difference + p * log_ratio(p, q)


# Divergences ------------------------------------------------------------------------------------


@hot
def bernoulli(a, x):
    """a ln(a/x) + (1 - a) ln((1 - a)/(1 - x)) for a, x in [0, 1], with 0 ln 0 = 0.

    >>> bernoulli(0.0, 0.0), bernoulli(0.3, 1.0), round(bernoulli(0.0, 0.5), 6)
    (0.0, inf, 0.693147)
    """
    # 1 - a and 1 - x are rounded, and their difference less exact than a - x.
    return _entropy(a, x, x - a) + _entropy(1.0 - a, 1.0 - x, a - x)


@hot
def gaussian(a, x, variance):
    """(a - x)^2 / (2 variance)."""
    return (a - x) * (a - x) / (2.0 * variance)


@hot
def poisson(a, x):
    """x - a + a ln(a/x) for a, x >= 0."""
    if x == math.inf:
        return x
    return _entropy(a, x, x - a)


@hot
def exponential(a, x):
    """a/x - 1 - ln(a/x) for a, x >= 0; infinite if one of them is 0 and the other is not."""
    if a == x:
        return 0.0
    if a == 0.0 or x == 0.0 or x == math.inf:
        return math.inf
    if abs(a - x) < 0.2 * x:
        return h((a - x) / x)
    return (a - x) / x - log_ratio(a, x)


# Inverses ---------------------------------------------------------------------------------------


@hot
def _bernoulli_above(a, b, c):
    """(x, 1 - x) for the largest x >= a with kl(a, x) <= c, given a and b = 1 - a.

    Both a and b are arguments because either may be too small to survive 1 - (1 - a).
    """
    # With 1 - x = b e^-s, w = 1 - e^-s and x = a + b w:
    #   f(s) = b s - a ln(x/a),  f' = b w/x,  f'' = a b e^-s / x^2, which decreases.
    # From 0 <= ln(x/a) <= -ln a:  c/b <= s <= c/b - a ln(a)/b <= c/b + 1.
    if c <= 0.0:
        return a, b
    if c >= 750.0 * b:  # s >= 750: 1 - x is below the smallest double
        return 1.0, 0.0
    if a <= 1e-20 * c:  # a ln(x/a) < 750 a is lost in c, and b is 1
        return -math.expm1(-c), math.exp(-c)
    k = c / b
    y = math.sqrt(2.0 * k / a)
    # a y + (1 + b) a y^2/6 + (1 - a b) a y^3/36 + O(y^4) for small c, c/b to first order for large
    s = k + a * y / (1.0 + (1.0 + a) * y / 6.0 + k / 6.0)
    for _ in range(ITERATIONS):
        if s > 0.25:
            e = math.exp(-s)
            w = 1.0 - e
            f = b * s - a * math.log1p(b * w / a)
        else:  # the two terms cancel: sum b h(-w) and a h(b w/a), which are positive
            w = -math.expm1(-s)
            e = 1.0 - w
            f = b * h(-w) + a * h(b * w / a)
        x = a + b * w
        newton = (f - c) * x / (b * w)
        step = newton / (1.0 - 0.5 * (newton / w) * (a / x) * e)
        s -= step
        if abs(step) <= LAST_STEP * min(s, 1.0):
            break
    # e and w belong to s + step: one Taylor step, to step^3/6, is cheaper than two exponentials.
    move = e * step * (1.0 + 0.5 * step)
    return a + b * (w - move), b * (e + move)


@hot
def bernoulli_upper(a, c):
    """(x, 1 - x) for the largest x in [a, 1] with kl(a, x) <= c.

    >>> x, complement = bernoulli_upper(0.1, 0.2)
    >>> round(x, 6), round(complement, 6)
    (0.378392, 0.621608)
    """
    return _bernoulli_above(a, 1.0 - a, c)


@hot
def bernoulli_lower(a, c):
    """(x, 1 - x) for the smallest x in [0, a] with kl(a, x) <= c: kl(a, x) = kl(1 - a, 1 - x).

    >>> x, complement = bernoulli_lower(0.3, 0.1)
    >>> round(x, 10), round(complement, 10)
    (0.129130121, 0.870869879)
    """
    complement, x = _bernoulli_above(1.0 - a, a, c)
    return x, complement


@hot
def _h_right(k):
    """The v >= 0 with h(v) = v - ln(1 + v) = k."""
    # h' = v/(1 + v), h'' = 1/(1 + v)^2, which decreases.
    # k <= v <= k + sqrt(2 k): with l = ln(1 + v), k = e^l - 1 - l >= l^2/2, and v = k + l.
    if k <= 0.0:
        return 0.0
    if k >= 1e20:  # ln(1 + v) is lost in k
        return k
    y = math.sqrt(2.0 * k)
    v = k + y / (1.0 + y / 6.0)  # y + y^2/3 + y^3/36 + O(y^4)
    for _ in range(ITERATIONS):
        newton = (h(v) - k) * (1.0 + v) / v
        step = newton / (1.0 - 0.5 * (newton / v) / (1.0 + v))
        v -= step
        if abs(step) <= LAST_STEP * v:
            break
    return v


@hot
def _h_left(k):
    """The s >= 0 with h(e^-s - 1) = e^-s - 1 + s = k."""
    # With w = 1 - e^-s: f = s - w, f' = w and f'' = 1 - w, which decreases; k <= s <= k + 1.
    if k <= 0.0:
        return 0.0
    if k >= 40.0:  # e^-s is lost in k
        return k + 1.0
    y = math.sqrt(2.0 * k)
    s = k + y / (1.0 + y / 3.0 + k / 6.0)  # y + y^2/6 + y^3/36 + O(y^4)
    for _ in range(ITERATIONS):
        w = -math.expm1(-s)
        f = s - w if s > 0.25 else h(-w)
        newton = (f - k) / w
        step = newton / (1.0 - 0.5 * (newton / w) * (1.0 - w))
        s -= step
        if abs(step) <= LAST_STEP * s:
            break
    return s


@hot
def gaussian_upper(a, c, variance):
    """a + sqrt(2 variance c): the largest x with KL(a -> x) <= c."""
    return a + math.sqrt(2.0 * variance * max(c, 0.0))


@hot
def gaussian_lower(a, c, variance):
    """a - sqrt(2 variance c): the smallest x with KL(a -> x) <= c."""
    return a - math.sqrt(2.0 * variance * max(c, 0.0))


@hot
def poisson_upper(a, c):
    """The largest x >= a with x - a + a ln(a/x) <= c.

    >>> round(poisson_upper(0.5, 0.2), 6)
    1.089376
    """
    if c <= 0.0:
        return a
    if a <= 1e-20 * c:  # a ln(x/a) is lost in c; covers a = 0, where x = c
        return c
    return a + a * _h_right(c / a)


@hot
def poisson_lower(a, c):
    """The smallest x in [0, a] with x - a + a ln(a/x) <= c.

    >>> round(poisson_lower(0.5, 0.2), 6)
    0.174952
    """
    if a == 0.0:
        return 0.0
    return a * math.exp(-_h_left(c / a))


@hot
def exponential_upper(a, c):
    """The largest x >= a with a/x - 1 - ln(a/x) <= c, between a e^c and a e^(1 + c).

    >>> round(exponential_upper(0.5, 0.4), 6)
    1.428962
    """
    if a == 0.0:
        return 0.0
    half = 0.5 * _h_left(c)
    if half > 709.0:  # a e^1418 is infinite for every normal a
        return math.inf
    return a * math.exp(half) * math.exp(half)  # e^s alone may overflow where a e^s does not


@hot
def exponential_lower(a, c):
    """The smallest x in [0, a] with a/x - 1 - ln(a/x) <= c.

    >>> round(exponential_lower(0.5, 0.4), 6)
    0.229489
    """
    return a / (1.0 + _h_right(c))
