"""MOTS and MOTS-J: Thompson sampling whose draw X is clipped from above, index = min(X, clip).

    clip       m + sqrt( alpha v/n ln+(T/(K n)) ),  ln+(x) = max(0, ln x), T the horizon, v the variance
    MOTS       X ~ N(m, s^2),                       s^2 = v/(rho n), rho in (1/2, 1)
    MOTS-J     X = m + s R or m - s R, fairly,      s^2 = v/n, R = sqrt(2 E), E ~ Exp(1): a Rayleigh variable

The paper has v = 1, for 1-subgaussian rewards, and alpha >= 4; v = 1/4 scales both to rewards in [0, 1].
X has no atom; the index has one, at the clip. Unclipped, MOTS is the Gaussian law with rho n/v in place of n,
and MOTS-J is, with n - 1 in place of n, the law of ExpTS for Gaussian rewards.

Confirmed in the paper's abstract: the clipping, and both optimalities. Not confirmed, because no text or code
that has them right was found: the ranges of rho and alpha, the form of the clip, and the Rayleigh law.
Jin, Xu, Shi, Xiao and Gu, "MOTS: minimax optimal Thompson sampling", ICML 2021.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.jit import hot
from thrifty.laws import gaussian
from thrifty.numerics import random
from thrifty.policies.base import Assumed, Guarantee, HorizonPolicy, noted, timeless, varied


@hot
def clip(n, mean, arms, horizon, alpha, variance):
    """
    >>> round(clip(100.0, 0.8, 20, 100_000, 4.0, 0.25), 10)
    0.9977883466
    """
    return mean + math.sqrt(alpha * variance / n * math.log(max(horizon / (arms * n), 1.0)))


@hot
def scale(n, rho, variance):
    """s of MOTS, and with rho = 1 of MOTS-J."""
    return math.sqrt(variance / (rho * n))


@hot
def draw(mean, s, ceiling, rng):
    """An index of MOTS, `ceiling` being its clip."""
    return min(gaussian.draw(mean, s, rng), ceiling)


@hot
def draw_j(mean, s, ceiling, rng):
    """An index of MOTS-J, `ceiling` being its clip."""
    step = s * math.sqrt(2.0 * random.exponential(rng))
    return min(mean + step if random.uniform(rng) < 0.5 else mean - step, ceiling)


@dataclass(frozen=True)
class MOTS(HorizonPolicy):
    """MOTS: Gaussian Thompson sampling whose draws are clipped from above.

    ``rho``, below 1, widens the law: the variance of a draw is v/(rho n). ``clip`` is the alpha of the
    ceiling: the larger, the higher. ``variance`` is that of the rewards, or more: 1/4 covers all in [0, 1].
    ``anytime`` plays without knowing the horizon.
    """

    rho: float = 0.9999
    clip: float = 4.0
    variance: float = 0.25
    anytime: bool = False

    formula: ClassVar[str] = "N(m, v/(ρ n)), clipped from above"
    variants: ClassVar[tuple[dict[str, Any], ...]] = (
        {"rho": 0.5},
        {"clip": 1e-6},
        {"rho": 0.5, "clip": 1e-6},
        {"variance": 1.0},
        {"anytime": True},
    )
    draws_index: ClassVar[bool] = True
    counts_pending: ClassVar[bool] = False
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Gaussian, ρ → 1", minimax="yes"),)
    group: ClassVar[str] = "An index drawn from a law"
    citation: ClassVar[str] = "Jin, Xu, Shi, Xiao & Gu 2021"
    confirmed: ClassVar[str] = "the guarantees in the abstract; not the clip, nor what ρ costs"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rho", checks.unit("rho", self.rho, open_at_zero=True))
        object.__setattr__(self, "clip", checks.positive("clip", self.clip))
        object.__setattr__(self, "variance", checks.positive("variance", self.variance))

    @property
    def label(self) -> str:
        notes = [f"ρ={self.rho:g}"] if self.rho != MOTS.rho else []
        notes += [f"clip={self.clip:g}"] if self.clip != MOTS.clip else []
        return noted("MOTS", *notes, *varied(self.variance), *timeless(self.anytime))

    @property
    def assumes(self) -> Assumed:
        return Assumed("sub-Gaussian, v", self.variance)

    def index(self, n, mean, rng):
        ceiling = clip(n, mean, self.arms, self.horizon, self.clip, self.variance)
        return draw(mean, scale(n, self.rho, self.variance), ceiling, rng)


@dataclass(frozen=True)
class MOTSJ(HorizonPolicy):
    """MOTS-J: the same with a two-sided Rayleigh law, which gives nothing away.

    ``clip`` is the alpha of the ceiling: the larger, the higher. ``variance`` is that of the rewards, or
    more: 1/4 covers all in [0, 1]. ``anytime`` plays without knowing the horizon.
    """

    clip: float = 4.0
    variance: float = 0.25
    anytime: bool = False

    formula: ClassVar[str] = "m ± Rayleigh, clipped from above"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"clip": 1e-6}, {"variance": 1.0}, {"anytime": True})
    draws_index: ClassVar[bool] = True
    counts_pending: ClassVar[bool] = False
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(asymptotic="Gaussian, σ² = v", minimax="yes"),)
    group: ClassVar[str] = "An index drawn from a law"
    citation: ClassVar[str] = "Jin, Xu, Shi, Xiao & Gu 2021"
    confirmed: ClassVar[str] = "the guarantees in the abstract; not the clip, nor the Rayleigh law"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "clip", checks.positive("clip", self.clip))
        object.__setattr__(self, "variance", checks.positive("variance", self.variance))

    @property
    def label(self) -> str:
        notes = [f"clip={self.clip:g}"] if self.clip != MOTSJ.clip else []
        return noted("MOTS-J", *notes, *varied(self.variance), *timeless(self.anytime))

    @property
    def assumes(self) -> Assumed:
        return Assumed("sub-Gaussian, v", self.variance)

    def index(self, n, mean, rng):
        ceiling = clip(n, mean, self.arms, self.horizon, self.clip, self.variance)
        return draw_j(mean, scale(n, 1.0, self.variance), ceiling, rng)
