"""K_inf: how far rewards in [0, 1] are from having mean mu, with no other assumption.

    K_inf(F, mu) = min { KL(F, G) : G on [0, 1], mean of G >= mu }
                 = max over 0 <= l <= 1 of  E_F[ ln(1 - l y) ],   y = (X - mu)/(1 - mu)

for E_F[X] < mu < 1; 0 if E_F[X] >= mu, and infinite if mu >= 1 and F is not a point mass at 1.
For rewards in {0, 1} it is the Bernoulli divergence kl(mean, mu), and otherwise at least that.
Honda and Takemura (2010, 2015) use it in DMED and IMED; the maximum is their dual form.
"""

import math

from thrifty.jit import hot, kernel, out_of_line

ITERATIONS = 100  # mostly 3, at most 12 seen; bisection alone would reach 2^-53 in 53
BELOW_ONE = 1.0 - 2.0**-53


@kernel
def k_inf(values, counts, mu, start):
    """(K_inf, the maximising multiplier) of the law that has `counts[j]` rewards `values[j]`.

    `start` is a guess of the multiplier: the one returned for the previous sample of the same arm
    saves iterations. Outside (0, 1) it means that nothing is known.

    >>> import numpy as np
    >>> value, multiplier = k_inf(np.array([0.2, 0.5, 0.8]), np.ones(3), 0.6, 0.0)
    >>> round(float(value), 10), round(float(multiplier), 10)
    (0.087208024, 0.7320508076)
    """
    out_of_line()
    total, gap, slope = 0.0, 0.0, 0.0  # slope: minus the derivative of the objective at l = 1
    for j in range(values.size):
        x, count = values[j], counts[j]
        if count > 0.0:
            total += count
            gap += count * (mu - x)
            slope += count * (x - mu) / (1.0 - x) if x < 1.0 else math.inf
    if gap <= 0.0:
        return 0.0, 0.0
    if mu >= 1.0:
        return math.inf, start
    multiplier = 1.0
    if slope > 0.0:
        # For rewards in {0, 1} the multiplier is 1 - mean/mu = gap/(total mu).
        guess = start if 0.0 < start < 1.0 else gap / (total * mu)
        multiplier = _root(values, counts, mu, guess)
    value = 0.0
    for j in range(values.size):
        if counts[j] > 0.0:
            value += counts[j] * _log_tilt(values[j], mu, multiplier)
    return max(value / total, 0.0), multiplier


@hot
def _tilt(x, mu, multiplier):
    """1 - l y as a sum of positive terms: it must not round to 0 at x = 1 when l is close to 1."""
    return (1.0 - multiplier) + multiplier * (1.0 - x) / (1.0 - mu)


@hot
def _log_tilt(x, mu, multiplier):
    """ln(1 - l y), accurate both where l y is small and where it is close to 1."""
    ly = multiplier * (x - mu) / (1.0 - mu)
    return math.log1p(-ly) if ly < 0.5 else math.log(_tilt(x, mu, multiplier))


@hot
def _root(values, counts, mu, guess):
    """The l in (0, 1) with g(l) = sum of counts y/(1 - l y) = 0, for g(0) < 0 < g(1).

    g increases, so that the root stays bracketed by the signs seen. Its poles lie outside (0, 1), at
    1/y for the smallest and the largest reward, and make Newton's method slow when a root is close
    to one of them. Newton is therefore applied to (1 - l)(1 + r l) g(l), with r = mu/(1 - mu): the
    first factors cancel the poles of the rewards 1 and 0, and for rewards in {0, 1} the product is
    linear. Bisection replaces a step that leaves the bracket.
    """
    r = mu / (1.0 - mu)
    low, high = 0.0, 1.0
    multiplier = min(guess, BELOW_ONE)
    for _ in range(ITERATIONS):
        g, derivative = 0.0, 0.0
        for j in range(values.size):
            ratio = (values[j] - mu) / (1.0 - mu) / _tilt(values[j], mu, multiplier)
            g += counts[j] * ratio
            derivative += counts[j] * ratio * ratio
        if g < 0.0:
            low = multiplier
        else:
            high = multiplier
        derivative += g * (r / (1.0 + r * multiplier) - 1.0 / (1.0 - multiplier))
        step = g / derivative if derivative > 0.0 else 1.0
        # The maximum is flat: a relative error e of l or of 1 - l costs e^2 of its value. Test this
        # before the bracket, which a step as small as the rounding of g may leave.
        if abs(step) <= 1e-8 * min(multiplier, 1.0 - multiplier) + 1e-16:
            return min(max(multiplier - step, 0.0), BELOW_ONE)
        multiplier -= step
        if not low < multiplier < high:
            multiplier = min(0.5 * (low + high), BELOW_ONE)
    return multiplier
