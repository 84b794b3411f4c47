"""Discounted TS (dTS): index ~ Beta(S + 1, F + 1), with successes S and failures F that lose weight.

A reward weighs gamma^(how many rewards, of any arm, came after it): S and F of every arm are multiplied by
gamma in every round, and the law of an arm that is left alone returns to the uniform one. Every arm is pulled
once first, as by TS with the Beta law, which it is with gamma = 1. Time is counted in rewards, as by D-UCB;
pulls whose reward is still to come do not count. A prior is not discounted.
Raj and Kalyani, "Taming non-stationary bandits: a Bayesian approach", 2017.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.engines.memory import OWN
from thrifty.laws import beta
from thrifty.policies import discounted_ucb
from thrifty.policies.base import Policy
from thrifty.state.fields import Component


@dataclass(frozen=True)
class DiscountedTS(Policy):
    """dTS: Thompson sampling with the Beta law for means that change. The older a reward, the less it weighs.

    ``gamma`` is what a reward's weight is multiplied by for each later one: it halves in ln(1/2)/ln(gamma)
    rewards, and 1/(1 - gamma) count in all; 1 forgets nothing. The paper has no rule for it.
    """

    gamma: float = 0.999

    formula: ClassVar[str] = "Beta(S + 1, F + 1), discounted"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"gamma": 1.0}, {"gamma": 0.5})
    components: ClassVar[tuple[Component, ...]] = (OWN,)
    own_columns: ClassVar[int] = discounted_ucb.COLUMNS
    draws_index: ClassVar[bool] = True
    counts_pending: ClassVar[bool] = False
    group: ClassVar[str] = "An index drawn from a law"
    citation: ClassVar[str] = "Raj & Kalyani 2017"
    confirmed: ClassVar[str] = (
        "the law and the discounting in public code, an author's own among it (which begins with S = F = 1); "
        "not the paper's figures, whose text was not found"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checks.unit("gamma", self.gamma, open_at_zero=True))

    @property
    def label(self) -> str:
        return f"dTS (γ={self.gamma:g})"

    @property
    def rewards(self) -> str:
        return "binary"

    def index(self, state, i, rng):
        n, s = discounted_ucb.evidence(state, i)
        a, b = beta.parameters(n, s)
        return beta.draw(a, b, rng)

    def observed(self, state, i, reward):
        discounted_ucb.keep(state, i, reward, self.gamma)
