"""ExpTS: Thompson sampling with the law P(m, n) of an exponential family."""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.laws import FAMILIES, Law, exponential_family
from thrifty.numerics import families
from thrifty.policies.base import Guarantee
from thrifty.policies.law_policy import Drawing


@dataclass(frozen=True)
class ExpTS(Drawing):
    """Thompson sampling with the exponential-family law P(m, n).

    ``family`` is that of the rewards: "bernoulli", "gaussian" (of variance 1), "poisson" or "exponential".
    """

    family: str = "bernoulli"

    formula: ClassVar[str] = "a draw of P(m, n), by the family's KL"
    texts: ClassVar[tuple[Any, ...]] = (exponential_family, families)
    schedule: ClassVar[str] = "fresh"
    engines: ClassVar[tuple[str, ...]] = ("scan", "sleepers")
    choice: ClassVar[str] = "family"
    choices: ClassVar[tuple[Any, ...]] = tuple(families.CODES)
    guarantees: ClassVar[tuple[Guarantee, ...]] = (Guarantee(None, "its family", "× √ln K", "yes"),)
    citation: ClassVar[str] = "Jin, Xu, Xiao & Anandkumar 2022"
    confirmed: ClassVar[str] = "the law in the UAI 2024 paper, the guarantees in the abstract"

    def __post_init__(self) -> None:
        checks.choice("family", self.family, tuple(families.CODES))

    @property
    def label(self) -> str:
        return "ExpTS" if self.family == "bernoulli" else f"ExpTS ({self.family})"

    @property
    def law(self) -> Law:
        """Of the family."""
        return FAMILIES[self.family]
