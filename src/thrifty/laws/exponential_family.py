"""The law of ExpTS, with mean m = S/n and KL the divergence of the rewards' family:

    P(index > x) = 1/2 exp(-(n-1) KL(m, x))       for x >= m,
    P(index < x) = 1/2 exp(-(n-1) KL(m, x))       for x <= m.

Given its side, (n-1) KL(m, index) is Exp(1), so a draw is a fair coin and one inversion. For n <= 1 the
exponent vanishes, and half of the mass lies at each end of the means.

Bernoulli rewards: the ends are 0 and 1. At m = 0 the lower half is an atom at 0, at m = 1 the upper half an
atom at 1. Others: the ends are infinity, and minus infinity (Gaussian) or 0. At m = 0 the lower half is an
atom at 0 (Poisson), or all of the mass is (exponential).

Jin, Xu, Xiao and Anandkumar, "Finite-time regret of Thompson sampling algorithms for exponential family
multi-armed bandits", NeurIPS 2022.
"""

import math

from thrifty.jit import bound, hot, kernel
from thrifty.laws.law import Law
from thrifty.numerics import families, kl, random

# Any family ---------------------------------------------------------------------------------------------


@hot
def parameters(n, s):
    """(mean, exponent n - 1)."""
    return s / n, max(n - 1.0, 0.0)


@hot
def draw(family, mean, exponent, rng):
    return _solve(family, mean, exponent, random.uniform(rng) < 0.5, random.exponential(rng))


@hot
def sf(family, mean, exponent, c):
    """P(index > c), atoms included."""
    if c == math.inf:
        return 0.0
    if c < 0.0 and family != families.GAUSSIAN:
        return 1.0
    if exponent == 0.0:
        return 0.5
    if mean == 0.0 and family == families.EXPONENTIAL:
        return 0.0
    half = 0.5 * math.exp(-exponent * families.divergence(family, mean, c))
    return half if c >= mean else 1.0 - half


@hot
def isf(family, mean, exponent, p):
    if p < 0.5:
        return _solve(family, mean, exponent, True, -math.log(2.0 * p)) if p > 0.0 else math.inf
    if p < 1.0:
        return _solve(family, mean, exponent, False, -math.log(2.0 * (1.0 - p)))
    return -math.inf if family == families.GAUSSIAN else 0.0


@hot
def _solve(family, mean, exponent, above, energy):
    """The x on one side of the mean with (n-1) KL(mean, x) = energy."""
    if exponent == 0.0:
        if above:
            return math.inf
        return -math.inf if family == families.GAUSSIAN else 0.0
    if above:
        return families.upper(family, mean, energy / exponent)
    return families.lower(family, mean, energy / exponent)


# Bernoulli rewards ---------------------------------------------------------------------------------------


@hot
def bernoulli_parameters(n, s):
    """(mean, exponent n - 1)."""
    return min(max(s / n, 0.0), 1.0), max(n - 1.0, 0.0)


@hot
def bernoulli_draw(mean, exponent, rng):
    return _bernoulli_solve(mean, exponent, random.uniform(rng) < 0.5, random.exponential(rng))


@hot
def bernoulli_sf(mean, exponent, c):
    """P(index > c), atoms included."""
    if c < 0.0:
        return 1.0
    if c >= 1.0:
        return 0.0
    if exponent == 0.0:
        return 0.5
    half = 0.5 * math.exp(-exponent * kl.bernoulli(mean, c))
    return half if c >= mean else 1.0 - half


@hot
def bernoulli_isf(mean, exponent, p):
    if p < 0.5:
        return _bernoulli_solve(mean, exponent, True, -math.log(2.0 * p)) if p > 0.0 else 1.0
    return _bernoulli_solve(mean, exponent, False, -math.log(2.0 * (1.0 - p))) if p < 1.0 else 0.0


@hot
def _bernoulli_solve(mean, exponent, above, energy):
    """The x on one side of the mean with (n-1) KL(mean, x) = energy."""
    if exponent == 0.0:
        return 1.0 if above else 0.0
    if above:
        x, _ = kl.bernoulli_upper(mean, energy / exponent)
    else:
        x, _ = kl.bernoulli_lower(mean, energy / exponent)
    return x


@hot
def sf_spread(mean, exponent, c):
    """P(index > c) with the atom at 1 spread over (1, 2) and the one at 0 over (-1, 0).

    The order of the draws of different arms stays, and ties are broken, by the place in the interval.
    """
    if 0.0 <= c < 1.0:
        return bernoulli_sf(mean, exponent, c)
    if c >= 1.0:
        return 0.5 * max(2.0 - c, 0.0) if exponent == 0.0 or mean == 1.0 else 0.0
    return 1.0 - 0.5 * max(1.0 + c, 0.0) if exponent == 0.0 or mean == 0.0 else 1.0


@hot
def isf_spread(mean, exponent, p):
    if p < 0.5 and (exponent == 0.0 or mean == 1.0):
        return 2.0 - 2.0 * p
    if p >= 0.5 and (exponent == 0.0 or mean == 0.0):
        return 1.0 - 2.0 * p
    return bernoulli_isf(mean, exponent, p)


@hot
def draw_spread(mean, exponent, rng):
    """A draw with the atoms spread out."""
    return isf_spread(mean, exponent, random.uniform(rng))


class BernoulliFamily(Law):
    """P(m, n) by the Bernoulli divergence, for rewards of 0 and 1."""

    name, formula, rewards, family = "bernoulli-family", "P(m, n), by kl", "binary", "bernoulli"
    tempered, sleeps_from = False, {"fresh": 8}  # its draws have to be solved for
    proper = True  # 0 or 1, each with probability 1/2
    bent = solved = True
    parameters = staticmethod(bernoulli_parameters)
    draw = staticmethod(bernoulli_draw)
    sf = staticmethod(bernoulli_sf)
    isf = staticmethod(bernoulli_isf)
    draw_spread = staticmethod(draw_spread)
    sf_spread = staticmethod(sf_spread)
    isf_spread = staticmethod(isf_spread)


# Bound to a family, the functions above are those of a law.
FAMILY = families.GAUSSIAN


def _draw(mean, exponent, rng):
    return draw(FAMILY, mean, exponent, rng)


def _sf(mean, exponent, c):
    return sf(FAMILY, mean, exponent, c)


def _isf(mean, exponent, p):
    return isf(FAMILY, mean, exponent, p)


def _law(name: str) -> Law:
    functions = {
        function.__name__[1:]: staticmethod(
            kernel(bound(function, f"{name}{function.__name__}", FAMILY=families.CODES[name]))
        )
        for function in (_draw, _sf, _isf)
    }
    rewards = "any" if name == "gaussian" else "non-negative"
    kind = {
        "name": f"{name}-family",
        "formula": "P(m, n), by the family's KL",
        "rewards": rewards,
        "family": name,
    }
    also = {"parameters": staticmethod(parameters), "tempered": False, "sleeps": False, "bent": True}
    law: Law = type(f"{name.title()}Family", (Law,), kind | also | functions)()
    return law


FAMILIES: dict[str, Law] = {
    name: BernoulliFamily() if name == "bernoulli" else _law(name) for name in families.CODES
}
