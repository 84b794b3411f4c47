"""Sliding-window TS (SW-TS): index ~ Beta(S + 1, N - S + 1), of the last tau rewards alone.

N of the last tau rewards, of all arms, are the arm's, and S is their sum; an arm with none of them has the
uniform law. Every arm is pulled once first, as by TS with the Beta law, which it is with tau >= T. The window
is of rewards: when they come at once, of the paper's last tau rounds. Late ones enter it when they come, and
pulls whose reward is still to come do not count. A prior stays.
Trovò, Paladino, Restelli and Gatti, "Sliding-window Thompson sampling for non-stationary settings",
JAIR 2020.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.laws import beta
from thrifty.policies.base import Policy
from thrifty.policies.sliding_window_ucb import LONGEST
from thrifty.state import window
from thrifty.state.fields import Component


@dataclass(frozen=True)
class SlidingWindowTS(Policy):
    """SW-TS: Thompson sampling with the Beta law for means that change, by the last rewards alone.

    ``tau`` is how many rewards, of all arms together, the window holds.
    """

    tau: int = 1000

    formula: ClassVar[str] = "Beta(S + 1, N − S + 1), last τ"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"tau": 1}, {"tau": 7})
    components: ClassVar[tuple[Component, ...]] = (window.WINDOW,)
    draws_index: ClassVar[bool] = True
    counts_pending: ClassVar[bool] = False
    group: ClassVar[str] = "An index drawn from a law"
    citation: ClassVar[str] = "Trovò, Paladino, Restelli & Gatti 2020"
    confirmed: ClassVar[str] = (
        "the law and the window in a later paper of one of its authors (Fiandri, Metelli & Trovò 2024); not "
        "the paper's figures, whose text was not found"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", checks.integer("tau", self.tau, at_least=1, at_most=LONGEST))

    @property
    def label(self) -> str:
        return f"SW-TS (τ={self.tau})"

    @property
    def rewards(self) -> str:
        return "binary"

    @property
    def room(self) -> dict[str, int]:
        return window.sizes(self.tau)

    def index(self, state, i, rng):
        n, s = window.evidence(state, i)
        a, b = beta.parameters(n, s)
        return beta.draw(a, b, rng)

    def observed(self, state, i, reward):
        window.keep(state, i, reward)

    def moved(self, state, i, to):
        window.rename(state, i, to)

    def left(self, state, i):
        window.rename(state, i, -1)
