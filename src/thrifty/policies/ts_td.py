"""TS-TD-alpha: an arm's index is a new draw for phi rounds after a pull, then the best of those draws."""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty.policies.law_policy import TEMPERED, TemperedPolicy
from thrifty.schedules import batch, duel


@dataclass(frozen=True)
class TSTD(TemperedPolicy):
    """TS-TD-alpha: draw afresh for phi rounds after a pull, then commit to the best of those draws.

    ``alpha`` in [0, 1] trades draws for regret: the law is tempered by ln^alpha T, and phi falls with alpha.
    ``law`` is "gaussian" for rewards in [0, 1] or of variance at most 1, "beta" for rewards of 0 and 1,
    "gamma" for Poisson ones; or a ``Law`` of your own, or for ``Bandit``, with ``alpha`` 0, a ``Posterior``.
    ``phi`` is the number of rounds; None is the paper's, ``batch_size(horizon, alpha)``.
    ``anytime`` plays without knowing the horizon.
    """

    formula: ClassVar[str] = "a draw; after φ of them, their best"
    texts: ClassVar[tuple[Any, ...]] = (duel, batch.phi)
    schedule: ClassVar[str] = "duel"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    variants: ClassVar[tuple[dict[str, Any], ...]] = (
        *({"alpha": alpha, "law": law, "phi": 2} for law in TEMPERED for alpha in (0.0, 1.0)),
        {"phi": 2.5},
        {"alpha": 0.8, "anytime": True},
    )
    confirmed: ClassVar[str] = (
        "the algorithm and its guarantee in the paper, whose proof has a gap that docs/theory.md repairs; "
        "with another law it is ours, and only measured"
    )
    short: ClassVar[str] = "TS-TD"
