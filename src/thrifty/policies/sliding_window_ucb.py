"""Sliding-window UCB (SW-UCB): index = X + sqrt(xi ln(min(t, tau))/N), of the last tau rewards alone.

    N   how many of the last tau rewards, of all arms, are the arm's; with none it is pulled next
    X   their mean

For rewards in [0, 1], the paper's B = 1. Every arm is pulled once first. t counts the pulls made so far. With
tau >= T and xi = 2 it is UCB1. The window is of rewards: when they come at once, of the paper's last tau
rounds; late ones enter it when they come. A pull whose reward is still to come counts in N, and an arm with
such a pull and nothing in the window waits for it. A prior has its weight in N for ever.

tau = 2 sqrt(T ln(T)/C), with C changes until T, is what its bound of order sqrt(C T ln T) is for.
Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.policies.base import WITH_OTHERS, Policy
from thrifty.policies.discounted_ucb import upper
from thrifty.state import window, young
from thrifty.state.fields import Component

LONGEST = 10**7  # a window, which is kept in memory


@dataclass(frozen=True)
class SlidingWindowUCB(Policy):
    """SW-UCB: UCB for means that change, by the last rewards alone.

    ``tau`` is how many rewards, of all arms together, the window holds. ``xi`` scales the bonus: 1/2 in the
    paper's experiments. ``SlidingWindowUCB.for_changes`` knows the paper's tau for a number of changes.
    """

    tau: int = 1000
    xi: float = 0.5

    formula: ClassVar[str] = "X + √(ξ ln min(t, τ)/N), last τ"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"tau": 1}, {"tau": 7}, {"xi": 2.0})
    components: ClassVar[tuple[Component, ...]] = (window.WINDOW,)
    changes: ClassVar[str] = WITH_OTHERS
    citation: ClassVar[str] = "Garivier & Moulines 2011"
    confirmed: ClassVar[str] = (
        "the index, xi and the tau for a number of changes in public code; not the paper's figures, whose "
        "text was not found"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", checks.integer("tau", self.tau, at_least=1, at_most=LONGEST))
        object.__setattr__(self, "xi", checks.positive("xi", self.xi))

    @classmethod
    def for_changes(cls, horizon: int, changes: int, xi: float = 0.5) -> "SlidingWindowUCB":
        """With the paper's tau for so many ``changes`` of the means until the ``horizon``; the horizon itself
        if it is less.

        >>> SlidingWindowUCB.for_changes(10_000, 4)
        SlidingWindowUCB(tau=304, xi=0.5)
        """
        horizon = checks.integer("horizon", horizon, at_least=1, at_most=LONGEST)
        changes = checks.integer("changes", changes, at_least=0, at_most=horizon)
        if changes == 0:
            return cls(horizon, xi)
        return cls(min(horizon, math.ceil(2.0 * math.sqrt(horizon * math.log(horizon) / changes)) or 1), xi)

    @property
    def label(self) -> str:
        xi = f", ξ={self.xi:g}" if self.xi != SlidingWindowUCB.xi else ""
        return f"SW-UCB (τ={self.tau}{xi})"

    @property
    def rewards(self) -> str:
        return "unit"

    @property
    def room(self) -> dict[str, int]:
        return window.sizes(self.tau)

    def index(self, state, i, log_t):
        n, s = window.evidence(state, i)
        return upper(n, s, young.count(state, i), self.xi * min(log_t, math.log(self.tau)))

    def observed(self, state, i, reward):
        window.keep(state, i, reward)

    def moved(self, state, i, to):
        window.rename(state, i, to)

    def left(self, state, i):
        window.rename(state, i, -1)
