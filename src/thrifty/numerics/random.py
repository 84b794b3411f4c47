"""The one source of randomness: xoshiro256+ and the variates that the laws and problems need.

A generator is an array of four 64-bit words, changed in place by every call. An array crosses from Python
into a kernel at almost no cost, is saved as it is, and there is no other, hidden state. The lowest three
bits of xoshiro256+ are weak, so nothing here uses them.

Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 2021.
"""

import math

import numpy as np

from thrifty.arrays import Floats, Integers, Words
from thrifty.jit import hot, kernel, out_of_line
from thrifty.numerics import kl
from thrifty.numerics.beta import stirling

WORDS = 4  # of a generator
U3, U12, U17, U19, U45, LAYER = (np.uint64(x) for x in (3, 12, 17, 19, 45, 255))


def generator(seed: int, *key: int) -> Words:
    """A generator for this seed and key; different keys give independent streams.

    >>> generator(0, 7, 1)
    array([15307854190537684107,  8591336935283639802, 14202277965722149563,
            3869422437361024120], dtype=uint64)
    """
    words: Words = np.random.SeedSequence(seed, spawn_key=key).generate_state(WORDS, np.uint64)  # type: ignore[assignment]
    return words


@hot
def word(rng):
    """64 random bits."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    bits = s0 + s3
    s2 ^= s0
    s3 ^= s1
    rng[0] = s0 ^ s3
    rng[1] = s1 ^ s2
    rng[2] = s2 ^ (s1 << U17)
    rng[3] = (s3 << U45) | (s3 >> U19)
    return bits


@hot
def uniform(rng):
    """Uniform on the open interval (0, 1): an odd multiple of 2^-53, so that its logarithm is finite."""
    return (np.int64(word(rng) >> U12) + 0.5) * 2.0**-52


@hot
def exponential(rng):
    """Exp(1), above 0 and finite."""
    return -math.log(uniform(rng))


@hot
def below(rng, count):
    """A uniform integer in 0 .. count-1, from one uniform (the bias is below count / 2^53)."""
    return int(uniform(rng) * count)


# The ziggurat for the normal: 256 layers of equal area V, the lowest of which holds the tail beyond R.
# EDGE[j] is the right edge of layer j; j = 255 is the base, whose edge is that of a box of area V.
# Marsaglia and Tsang, "The ziggurat method for generating random variables", 2000.
R = 3.6541528853610088
V = 0.00492867323399


def _ziggurat() -> tuple[Floats, Integers, Floats]:
    edge = np.zeros(257)
    edge[256] = V / math.exp(-0.5 * R * R)
    edge[255] = R
    for j in range(254, 0, -1):
        edge[j] = math.sqrt(-2.0 * math.log(V / edge[j + 1] + math.exp(-0.5 * edge[j + 1] ** 2)))
    density = np.exp(-0.5 * edge**2)
    step = edge[1:] * 2.0**-52
    inside = (edge[:-1] / edge[1:] * 2.0**52).astype(np.int64)
    return step, inside, density


STEP, INSIDE, DENSITY = _ziggurat()


@hot
def normal(rng):
    """Standard normal: one word, one table look-up and one comparison in 99 % of the calls."""
    bits = word(rng)
    layer = (bits >> U3) & LAYER
    signed = np.int64(bits) >> 11  # 53 bits with their sign: no coin, no branch
    if abs(signed) < INSIDE[layer]:
        return signed * STEP[layer]
    return _outside(rng, layer, signed * STEP[layer])


@hot
def _outside(rng, layer, x):
    """What the ziggurat does with a point that is not inside its layer: tail, edge, or start again."""
    while True:
        if layer == LAYER:
            return math.copysign(_tail(rng), x)
        y = DENSITY[layer + 1] + uniform(rng) * (DENSITY[layer] - DENSITY[layer + 1])
        if y < math.exp(-0.5 * x * x):
            return x
        bits = word(rng)
        layer = (bits >> U3) & LAYER
        signed = np.int64(bits) >> 11
        x = signed * STEP[layer]
        if abs(signed) < INSIDE[layer]:
            return x


@hot
def _tail(rng):
    """A normal known to exceed R (Marsaglia 1964)."""
    while True:
        x = exponential(rng) / R
        if 2.0 * exponential(rng) > x * x:
            return R + x


@hot
def normals(rng, params, out):
    """Fill ``out`` with normals of the means params[:, 0] and deviations params[:, 1], as successive calls of
    ``normal`` would give them. Returns the largest.

    The state lives in registers between two rare excursions, which calling ``normal`` would not allow, nor
    an excursion that is written out here.
    """
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    top = -math.inf
    for i in range(out.size):
        bits = s0 + s3
        shifted = s1 << U17
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = (s3 << U45) | (s3 >> U19)
        layer = (bits >> U3) & LAYER
        signed = np.int64(bits) >> 11
        x = signed * STEP[layer]
        if abs(signed) >= INSIDE[layer]:
            rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
            x = _excursion(rng, layer, x)
            s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
        x = params[i, 0] + params[i, 1] * x
        out[i] = x
        top = max(top, x)
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    return top


@kernel
def _excursion(rng, layer, x):
    out_of_line()
    return _outside(rng, layer, x)


@hot
def gamma(rng, shape):
    """Gamma(shape, 1). A shape below 1 is reached from the one above it by a power of a uniform."""
    if shape < 1.0:
        return _gamma(rng, shape + 1.0) * uniform(rng) ** (1.0 / shape)
    return _gamma(rng, shape)


@hot
def _gamma(rng, shape):
    """For shape >= 1, a cubed normal, thinned.

    Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
    """
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        z = normal(rng)
        v = 1.0 + c * z
        if v <= 0.0:
            continue
        v = v * v * v
        u = uniform(rng)
        if u < 1.0 - 0.0331 * z * z * z * z:
            return d * v
        if math.log(u) < 0.5 * z * z + d * (1.0 - v + math.log(v)):
            return d * v


@hot
def beta(rng, a, b):
    """Beta(a, b), as a share of two gammas. Tiny shapes can make both vanish: then it is 0 or 1."""
    x = gamma(rng, a)
    y = gamma(rng, b)
    if x + y == 0.0:
        return 1.0 if uniform(rng) * (a + b) < a else 0.0
    return x / (x + y)


@hot
def poisson(rng, mean):
    """Poisson(mean), as a float: the counts of a large mean are beyond the integers."""
    return _count(rng, mean) if mean < 10.0 else _large_count(rng, mean)


@hot
def _count(rng, mean):
    """By inversion: the first k at which P(K <= k) reaches a uniform, p = P(K = k).

    Rounded, the p may add up to less than the uniform. Beyond the mean and below 1e-18, what is left of them
    is less than the spacing of uniforms, and the search ends.
    """
    rest, k, p = uniform(rng), 0.0, math.exp(-mean)
    while rest > p and (k < mean or p > 1e-18):
        rest -= p
        k += 1.0
        p *= mean / k
    return k


@hot
def _hat(mean):
    """a, b, height and sure of ``_large_count``. Hörmann has 1.1239 and 0.9277: with these the probability of
    keeping a count would exceed 1 by up to 0.006 and fall up to 0.004 below ``sure``."""
    b = 0.931 + 2.53 * math.sqrt(mean)
    return -0.059 + 0.02483 * b, b, 1.132 + 1.1328 / (b - 3.4), 0.917 - 3.6224 / (b - 2.0)


@hot
def _large_count(rng, mean):
    """For mean >= 10: a uniform u, stretched to (2a/(1/2 - |u|) + b) u, rounded down and thinned.

    With edge = 1/2 - |u|, the stretched uniform has the density 1/(a/edge^2 + b), which is nearly P(K = k).
    It is kept with the probability P(K = k) (a/edge^2 + b) / height, at most 1. The constants make this at
    least ``sure`` for an edge from 0.07 up, which keeps most at once, and at most the edge below 0.013.

    Hörmann, "The transformed rejection method for generating Poisson random variables", 1993 (PTRS).
    """
    a, b, height, sure = _hat(mean)
    while True:
        u = uniform(rng) - 0.5
        v = uniform(rng)
        edge = 0.5 - abs(u)
        k = np.floor((2.0 * a / edge + b) * u + mean + 0.43)
        if edge >= 0.07 and v <= sure:
            return k
        if k < 0.0 or (edge < 0.013 and v > edge):
            continue
        if math.log(v * height / (a / (edge * edge) + b)) <= _log_poisson(k, mean):
            return k


@hot
def _log_poisson(k, mean):
    """ln P(K = k) = -KL(k -> mean) - ln(k! e^k / k^k), which does not cancel, however large the mean is.

    Loader, "Fast and accurate computation of binomial probabilities", 2000.
    """
    if k == 0.0:
        return -mean
    return -kl.poisson(k, mean) - stirling(k) - 0.5 * math.log(2.0 * math.pi * k)
