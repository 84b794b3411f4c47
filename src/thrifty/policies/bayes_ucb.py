"""Bayes-UCB: index = the quantile of order 1 - 1/(t (ln T)^c) of the arm's posterior, Beta(S + 1, n - S + 1).

For rewards in {0, 1}; others in [0, 1] have to be binarised first. t counts the pulls made so far, T is the
horizon and ln T is read as max(1, ln T). The proof takes c >= 5; c = 0 is the practice, and then it is
anytime. At t <= 1 with c = 0 the order is 0, and so is the index of every arm.
It never falls while the arm is left alone: the mass above it, 1/(t (ln T)^c), shrinks.
Kaufmann, Cappé and Garivier, "On Bayesian upper confidence bounds for bandit problems", AISTATS 2012.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.engines import KINETIC_FROM_COSTLY
from thrifty.jit import hot
from thrifty.laws import beta
from thrifty.policies import times
from thrifty.policies.base import WITH_TIME, Guarantee, Policy

INVERSE = 1e-9  # relative; the quantile leaves an error of 1e-10 in the mass above it


@hot
def index(s, n, t, horizon, c):
    """
    >>> round(index(80.0, 100.0, 10_000, 10_000, 0.0), 10)
    0.9152241844
    """
    a, b = beta.parameters(n, s)
    return beta.isf(a, b, 1.0 / (max(t, 1.0) * math.log(max(horizon, math.e)) ** c))


@hot
def reach(s, n, level, horizon, c):
    """1/((ln T)^c P(X > level)), X of the posterior's law: no earlier time has an index of the level."""
    level = times.lowered(level, 0.0)
    if level <= 0.0:
        return 0.0
    a, b = beta.parameters(n, s)
    above = beta.sf(a, b, level) * math.log(max(horizon, math.e)) ** c
    return (1.0 - INVERSE) / above if above > 0.0 else math.inf


@dataclass(frozen=True)
class BayesUCB(Policy):
    """Bayes-UCB: the quantile of order 1 - 1/(t (ln T)^c) of a Beta posterior.

    ``c`` is the exponent in that order. With 0 no horizon is needed.
    """

    c: float = 0.0

    formula: ClassVar[str] = "quantile 1 − 1/(t (ln T)^c) of Beta"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"c": 5.0},)
    changes: ClassVar[str] = WITH_TIME
    engines: ClassVar[tuple[str, ...]] = ("scan", "kinetic")
    clock: ClassVar[str] = "known if c > 0"
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Bernoulli, c ≥ 5"),)
    citation: ClassVar[str] = "Kaufmann, Cappé & Garivier 2012"
    confirmed: ClassVar[str] = "the index in public code, the guarantee in an abstract; not that c ≥ 5"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checks.at_least("c", self.c, 0.0, at_most=100.0))

    @property
    def label(self) -> str:
        return f"Bayes-UCB (c={self.c:g})" if self.c else "Bayes-UCB"

    @property
    def rewards(self) -> str:
        return "binary"

    @property
    def needs_horizon(self) -> bool:
        return self.c > 0.0

    def fastest_from(self, engine: str) -> float:
        return KINETIC_FROM_COSTLY

    def index(self, n, mean, t):
        return index(n * mean, n, t, self.horizon, self.c)

    def reach(self, n, mean, level):
        return reach(n * mean, n, level, self.horizon, self.c)
