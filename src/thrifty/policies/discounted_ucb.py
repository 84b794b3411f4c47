"""Discounted UCB (D-UCB): index = X + 2 sqrt(xi ln(n)/N), of rewards that lose weight with time.

    N   the sum of the weights of the arm's rewards: gamma^(how many rewards, of any arm, came after it)
    X   their mean with these weights
    n   the sum of N over all arms

For rewards in [0, 1], the paper's B = 1. Every arm is pulled once first. With gamma = 1 and xi = 1/2 it is
UCB1. Time is counted in rewards: each one that comes makes the others a step older. When rewards come at once
these are the paper's rounds; a late one is as fresh as a prompt one when it comes. A pull whose reward is
still to come counts 1 in N and n. A prior has its weight in N for ever, and none in n.

gamma = 1 - sqrt(C/T)/4, with C changes until T, is what its bound of order sqrt(C T) ln T is for.
Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.engines.memory import OWN
from thrifty.jit import hot
from thrifty.policies.base import WITH_OTHERS, Policy
from thrifty.state import statistics, young
from thrifty.state.fields import Component

WEIGHT, SUM, COLUMNS = range(3)  # of an arm, in state.own: N, and the sum of its rewards with their weights


@hot
def keep(state, i, reward, gamma):
    """Arm i gave this reward, and all others are a step older."""
    for place in range(state.own.size):
        state.own[place] *= gamma
    state.own[COLUMNS * i + WEIGHT] += 1.0
    state.own[COLUMNS * i + SUM] += reward


@hot
def evidence(state, i):
    """N and the sum of rewards of arm i, the prior's pseudo-observations included."""
    mean, weight = statistics.prior(state, i)
    return state.own[COLUMNS * i + WEIGHT] + weight, state.own[COLUMNS * i + SUM] + mean * weight


@hot
def upper(n, s, pending, exploration):
    """The mean, and a bonus that pending pulls make smaller. An arm of which all is forgotten goes first, and
    then waits for its reward.

    >>> round(upper(50.0, 40.0, 0, 2.0 * math.log(1000.0)), 6), upper(0.0, 0.0, 0, 1.0)
    (1.325652, inf)
    """
    if n == 0.0:
        return math.inf if pending == 0 else -math.inf
    return s / n + math.sqrt(exploration / (n + pending))


@hot
def refresh(state, xi):
    """Every arm's index. Returns the largest."""
    total, top = 0.0, -math.inf
    for i in range(state.index.size):
        total += state.own[COLUMNS * i + WEIGHT] + young.count(state, i)
    exploration = 4.0 * xi * math.log(max(total, 1.0))
    for i in range(state.index.size):
        if statistics.has_law(state, i):
            n, s = evidence(state, i)
            state.index[i] = upper(n, s, young.count(state, i), exploration)
        else:
            state.index[i] = -math.inf
        top = max(top, state.index[i])
    return top


@dataclass(frozen=True)
class DiscountedUCB(Policy):
    """D-UCB: UCB for means that change. The older a reward, the less it weighs.

    ``gamma`` is what a reward's weight is multiplied by for each later one: it halves in ln(1/2)/ln(gamma)
    rewards, and 1/(1 - gamma) count in all; 1 forgets nothing. ``xi`` scales the bonus: 1/2 in the paper's
    experiments. ``DiscountedUCB.for_changes`` knows the paper's gamma for a number of changes.
    """

    gamma: float = 0.999
    xi: float = 0.5

    formula: ClassVar[str] = "X + 2√(ξ ln ΣN/N), discounted"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"gamma": 1.0}, {"gamma": 0.5}, {"xi": 2.0})
    components: ClassVar[tuple[Component, ...]] = (OWN,)
    own_columns: ClassVar[int] = COLUMNS
    changes: ClassVar[str] = WITH_OTHERS
    citation: ClassVar[str] = "Garivier & Moulines 2011"
    confirmed: ClassVar[str] = (
        "the index, xi and the gamma for a number of changes in public code; not the paper's figures, whose "
        "text was not found"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checks.unit("gamma", self.gamma, open_at_zero=True))
        object.__setattr__(self, "xi", checks.positive("xi", self.xi))

    @classmethod
    def for_changes(cls, horizon: int, changes: int, xi: float = 0.5) -> "DiscountedUCB":
        """With the paper's gamma for so many ``changes`` of the means until the ``horizon``.

        >>> DiscountedUCB.for_changes(10_000, 4)
        DiscountedUCB(gamma=0.995, xi=0.5)
        """
        horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.COUNT)
        changes = checks.integer("changes", changes, at_least=0, at_most=horizon)
        return cls(1.0 - math.sqrt(changes / horizon) / 4.0, xi)

    @property
    def label(self) -> str:
        xi = f", ξ={self.xi:g}" if self.xi != DiscountedUCB.xi else ""
        return f"D-UCB (γ={self.gamma:g}{xi})"

    @property
    def rewards(self) -> str:
        return "unit"

    def refresh(self, state):
        return refresh(state, self.xi)

    def observed(self, state, i, reward):
        keep(state, i, reward, self.gamma)
