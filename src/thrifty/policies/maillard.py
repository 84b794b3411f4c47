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
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.jit import hot
from thrifty.numerics import kl, random
from thrifty.policies.base import Assumed, Guarantee, Policy, noted, varied
from thrifty.state import statistics


@hot
def logit(n, mean, best, variance):
    """Of MS.

    >>> logit(100.0, 0.75, 1.0, 0.25)
    -12.5
    """
    return -n * kl.gaussian(mean, best, variance)


@hot
def plus_logit(n, mean, best, variance, d):
    """Of MS+, for all arms but one of the best; d is D."""
    divergence = kl.gaussian(mean, best, variance)
    return -n * divergence + math.log1p(d * divergence)


@hot
def plus_best_logit(n, t, b, c):
    """Of MS+, for one of the best; b is B, c is C. A prior may make n exceed t: then ln(t/n) is read as 0."""
    return math.log(b * (1.0 + c * math.log1p(math.log(max(t / n, 1.0)))))


@hot
def kl_logit(n, mean, best):
    """Of KL-MS.

    >>> kl_logit(1.0, 0.5, 1.0), kl_logit(9.0, 1.0, 1.0)
    (-inf, 0.0)
    """
    return -n * kl.bernoulli(mean, best) if mean < best else 0.0


@hot
def perturbed(value, rng):
    """ln weight - ln E with E ~ Exp(1): the arm with the largest is pulled.

    E/weight is an exponential variable with the weight as its rate, and of several such variables each is the
    least with a probability proportional to its rate. No weight is formed, so none is rounded to 0.
    """
    return value - math.log(random.exponential(rng))


PLUS = 1.0  # B, C and D of MS+: what its authors recommend was not found


@dataclass(frozen=True)
class MaillardSampling(Policy):
    """Maillard sampling: the further an arm's mean is below the largest, and the more pulls it has, the less
    likely it is pulled.

    ``variance`` is that of the rewards, or more: 1/4 covers all in [0, 1]. ``plus`` is MS+.
    """

    variance: float = 0.25
    plus: bool = False

    formula: ClassVar[str] = "P(arm) ∝ exp(−n (m* − m)²/(2 v))"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"variance": 1e-6}, {"variance": 1e-6, "plus": True})
    counts_pending: ClassVar[bool] = False
    choice: ClassVar[str] = "plus"
    choices: ClassVar[tuple[Any, ...]] = (False, True)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (
        Guarantee(False, asymptotic="Gaussian, σ² = v", minimax="× √ln T"),
        Guarantee(True, "Gaussian, σ² = v", "× √ln K", source="Bian & Jun 2022, for their constants"),
    )
    group: ClassVar[str] = "An arm picked with computed probabilities"
    citation: ClassVar[str] = "Maillard 2011; Bian & Jun 2022"
    confirmed: ClassVar[str] = (
        "MS in public code, the guarantees in the abstract; those of MS+ are for its authors' constants, and "
        "B, C and D were not confirmed"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", checks.positive("variance", self.variance))
        checks.flag("plus", self.plus)

    @property
    def label(self) -> str:
        return noted("MS+" if self.plus else "MS", *varied(self.variance))

    @property
    def assumes(self) -> Assumed:
        return Assumed("sub-Gaussian, v", self.variance)

    def functions(self) -> dict[str, Any]:
        return {"refresh": MaillardSampling.plus_refresh} if self.plus else super().functions()

    def index(self, n, mean, best, rng):
        return perturbed(logit(n, mean, best, self.variance), rng)

    def plus_refresh(self, state, t):
        """One of the best, at random, is taken for the best; t counts the pulls made so far. Returns the
        largest index."""
        best, top = statistics.best_mean(state), -math.inf
        bests = 0
        for i in range(state.index.size):
            bests += statistics.has_law(state, i) and state.means[i] == best
        chosen = random.below(state.rng, bests) if bests > 1 else 0
        for i in range(state.index.size):
            if not statistics.has_law(state, i):
                state.index[i] = -math.inf
                continue
            n, _ = statistics.evidence(state, i)
            value = plus_logit(n, state.means[i], best, self.variance, PLUS)
            if state.means[i] == best:
                chosen -= 1
                if chosen == -1:
                    value = plus_best_logit(n, t, PLUS, PLUS)
            state.index[i] = perturbed(value, state.rng)
            top = max(top, state.index[i])
        return top


@dataclass(frozen=True)
class KLMS(Policy):
    """KL-MS: Maillard sampling with the Bernoulli divergence, for rewards in [0, 1]."""

    formula: ClassVar[str] = "P(arm) ∝ exp(−n kl(m, m*))"
    counts_pending: ClassVar[bool] = False
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Bernoulli", minimax="× √ln K"),)
    group: ClassVar[str] = "An arm picked with computed probabilities"
    citation: ClassVar[str] = "Qin, Jun & Zhang 2023"
    confirmed: ClassVar[str] = "the weights in its authors' code, the guarantees in the abstract"

    @property
    def label(self) -> str:
        return "KL-MS"

    @property
    def rewards(self) -> str:
        return "unit"

    def index(self, n, mean, best, rng):
        return perturbed(kl_logit(n, mean, best), rng)
