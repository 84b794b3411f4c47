"""TS-MA-alpha: an arm's index is the best of phi draws, kept until the arm is pulled."""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.engines.memory import Rule
from thrifty.errors import InvalidValue
from thrifty.policies.law_policy import TEMPERED, TemperedPolicy
from thrifty.schedules import aggregate, batch


@dataclass(frozen=True)
class TSMA(TemperedPolicy):
    """TS-MA-alpha: commit to the best of phi draws until the arm is pulled. One draw a round.

    ``alpha`` in [0, 1] trades draws for regret: the law is tempered by ln^alpha T, and phi falls with alpha.
    ``law`` is "gaussian" for rewards in [0, 1] or of variance at most 1, "beta" for rewards of 0 and 1,
    "gamma" for Poisson ones; or a ``Law`` of your own, or for ``Bandit``, with ``alpha`` 0, a ``Posterior``.
    ``phi`` is the number of draws; None is the paper's, ``batch_size(horizon, alpha)``. With Beta draws the
    horizon is the better phi: the paper's may lose the best arm for good. ``sampling`` is "maximum", which
    draws the best of them directly, or "batch", which draws all: the same law, phi times the work.
    ``anytime`` plays without knowing the horizon.
    """

    sampling: str = "maximum"

    formula: ClassVar[str] = "the best of φ draws, kept until pulled"
    texts: ClassVar[tuple[Any, ...]] = (aggregate, batch.phi)
    schedule: ClassVar[str] = "aggregate"
    engines: ClassVar[tuple[str, ...]] = ("scan", "tournament")
    variants: ClassVar[tuple[dict[str, Any], ...]] = (
        *({"alpha": 1.0, "law": law} for law in TEMPERED),
        *({"alpha": 0.5, "law": law, "phi": 3, "sampling": "batch"} for law in TEMPERED),
        {"phi": 1e9},
        {"alpha": 0.8, "anytime": True},
    )
    confirmed: ClassVar[str] = (
        "the algorithm and its guarantee in the paper; with Beta draws it is ours, with theorems for rewards "
        "of 0 and 1, and with another law only measured"
    )
    short: ClassVar[str] = "TS-MA"

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.choice("sampling", self.sampling, ("maximum", "batch"))
        if self.sampling != "batch" and not self.drawn_from:
            raise InvalidValue(f"sampling must be batch with a posterior of your own, got {self.sampling!r}")
        if self.sampling == "batch" and self.phi is not None:
            checks.at_least("phi", self.phi, 1.0, at_most=checks.COUNT)

    def _notes(self) -> list[str]:
        return super()._notes() + (["batch"] if self.sampling == "batch" else [])

    def resolve(self, arms: int, horizon: int) -> Rule:
        return super().resolve(arms, horizon)._replace(batch=self.sampling == "batch")
