"""Maillard sampling pulls an arm with a probability proportional to its weight. Here are their logarithms.

    MS       -n d,  d = (m* - m)^2 / (2 v),  v the variance of the rewards and m* the largest mean
    MS+      -n d + ln(1 + D d),  but  ln( B (1 + C ln(1 + ln(t/n))) )  for one arm that has the mean m*
    KL-MS    -n kl(m, m*),  kl the Bernoulli divergence

v = 1/4 for rewards in [0, 1]. Anytime. Arms that share the largest mean have the logarithm 0; in MS+ all but
one of them, which the caller picks at random. In KL-MS an arm with m < m* = 1 has minus infinity: it is not
pulled. With B = 1 and C = D = 0, MS+ is MS. The clock is m*, not t, but for that one arm of MS+.

MS and KL-MS were confirmed in public code. MS+ was confirmed in the code of KL-MS's authors alone, where B, C
and D are searched for each problem: which values its own paper recommends was not confirmed.
Maillard, "Apprentissage séquentiel: bandits, statistique et renforcement", thesis, 2011.
Bian and Jun, "Maillard sampling: Boltzmann exploration done optimally", AISTATS 2022.
Qin, Jun and Zhang, "Kullback-Leibler Maillard sampling for multi-armed bandits with bounded rewards",
NeurIPS 2023.
"""

import math

from thrifty.jit import kernel
from thrifty.numerics import kl, random


@kernel
def logit(n, mean, best, variance):
    """Of MS.

    >>> logit(100.0, 0.75, 1.0, 0.25)
    -12.5
    """
    return -n * kl.gaussian(mean, best, variance)


@kernel
def plus_logit(n, mean, best, variance, d):
    """Of MS+, for all arms but one of the best; d is D."""
    divergence = kl.gaussian(mean, best, variance)
    return -n * divergence + math.log1p(d * divergence)


@kernel
def plus_best_logit(n, t, b, c):
    """Of MS+, for one of the best; b is B, c is C. A prior may make n exceed t: then ln(t/n) is read as 0."""
    return math.log(b * (1.0 + c * math.log1p(math.log(max(t / n, 1.0)))))


@kernel
def kl_logit(n, mean, best):
    """Of KL-MS.

    >>> kl_logit(1.0, 0.5, 1.0), kl_logit(9.0, 1.0, 1.0)
    (-inf, 0.0)
    """
    return -n * kl.bernoulli(mean, best) if mean < best else 0.0


@kernel
def perturbed(value, rng):
    """ln weight - ln E with E ~ Exp(1): the arm with the largest is pulled.

    E/weight is an exponential variable with the weight as its rate, and of several such variables each is the
    least with a probability proportional to its rate. No weight is formed, so none is rounded to 0.
    """
    return value - math.log(random.exponential(rng))


@kernel
def sample(logits, rng):
    """The arm that is pulled. Logits may be minus infinity, but not all of them."""
    chosen, largest = 0, -math.inf
    for i in range(logits.size):
        value = perturbed(logits[i], rng)
        if value > largest:
            chosen, largest = i, value
    return chosen
