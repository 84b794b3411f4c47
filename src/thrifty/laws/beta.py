"""The Beta law: index ~ Beta(S + 1, n - S + 1), the posterior of a Bernoulli mean under a uniform prior.

Thompson 1933; Kaufmann, Korda and Munos, "Thompson sampling: an asymptotically optimal finite-time
analysis", ALT 2012. Rewards must be in [0, 1]. Tempered by V it is Beta(S/V + 1, (n - S)/V + 1), so that the
prior weighs more while n < V: a variant of ours.
"""

from thrifty.jit import hot
from thrifty.laws.law import Law
from thrifty.numerics import random
from thrifty.numerics.beta import isf, sf


@hot
def parameters(n, s):
    """The two shapes. Rounding may put S a hair outside [0, n]; a shape is never below 1."""
    return max(s, 0.0) + 1.0, max(n - s, 0.0) + 1.0


@hot
def draw(a, b, rng):
    return random.beta(rng, a, b)


class Beta(Law):
    """Beta(S + 1, n - S + 1), for rewards of 0 and 1."""

    name, formula, rewards, family = "beta", "Beta(S + 1, n - S + 1)", "binary", "bernoulli"
    proper = solved = True
    parameters = staticmethod(parameters)
    draw = staticmethod(draw)
    sf = staticmethod(sf)
    isf = staticmethod(isf)
