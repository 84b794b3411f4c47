"""The standard normal: survival function and its inverse, accurate in both tails."""

import math

from thrifty.jit import hot

SQRT_HALF = math.sqrt(0.5)

# Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 1988. Each
# pair is a quotient of polynomials, highest power first: in 0.425^2 - q^2 for |q| < 0.425, q = 1/2 - p, and
# beyond in r - 1.6 for r <= 5 and in r - 5, r = sqrt(-ln p). Sixteen digits, for every p that there is.
MIDDLE, FIRST, SECOND = 0.425, 1.6, 5.0
IN_THE_MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
IN_THE_TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
FAR_OUT = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


@hot
def sf(x):
    """P(Z > x), by erfc: no cancellation for large x."""
    return 0.5 * math.erfc(x * SQRT_HALF)


@hot
def _quotient(polynomials, r):
    """Of two polynomials, by Horner's rule."""
    (upper, lower), above, below = polynomials, 0.0, 0.0
    for k in range(8):
        above = above * r + upper[k]
        below = below * r + lower[k]
    return above / below


@hot
def isf(p):
    """The x with P(Z > x) = p, to all digits of a tiny p.

    >>> round(isf(0.025), 12), round(isf(1e-300), 10), isf(0.5)
    (1.95996398454, 37.0470962994, 0.0)
    """
    q = 0.5 - p
    if abs(q) <= MIDDLE:
        return q * _quotient(IN_THE_MIDDLE, MIDDLE * MIDDLE - q * q)
    tail = min(p, 1.0 - p)
    if tail <= 0.0:
        return math.copysign(math.inf, q)
    r = math.sqrt(-math.log(tail))
    x = _quotient(IN_THE_TAIL, r - FIRST) if r <= SECOND else _quotient(FAR_OUT, r - SECOND)
    return math.copysign(x, q)
