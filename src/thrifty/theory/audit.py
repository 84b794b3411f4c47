"""Every numerical step of the proof of Theorem 1, recomputed: what the paper states and what comes out."""

import math
from dataclasses import dataclass

from thrifty.theory.constants import OFFSET


@dataclass(frozen=True)
class Step:
    """One inequality ``computed <= stated`` of the proof."""

    name: str
    stated: float
    computed: float

    @property
    def holds(self) -> bool:
        return self.computed <= self.stated


def audit() -> list[Step]:
    """The constants of Theorem 1 and of its lemma, in the order of the proof.

    >>> [step.name for step in audit() if not step.holds]
    ['second case: int_1^inf (2x)^-r dr <= 0.5/x at x = 1']
    """
    kappa = math.log(13.0) / (math.log(13.0) + 2.0)
    a = math.sqrt(1.0 / (3.0 * math.pi))
    first = [
        12.0,
        _root_exponential(12.0, kappa / math.sqrt(math.pi))
        - _root_exponential(100.0, kappa / math.sqrt(math.pi)),
        math.log(100.0 / 12.0),
        _root_exponential(100.0, a),
        3.0 * 100.0 ** (-1.0 / 3.0),
    ]
    needed = 4.0 * (math.sqrt(0.5) + math.sqrt(2.0)) ** 2
    waited = 29.0 * 4.0 * (math.sqrt(2.0) + math.sqrt(3.5)) ** 2
    second = 1.0 + 0.5 + 1.0 + 0.5 + 6.0 / a**3 + 3.0
    return [
        Step("r^(1/4) >= sqrt(ln r) from r = 13", 1.0, math.sqrt(math.log(13.0)) / 13.0**0.25),
        Step("r^(1/3) >= ln r from r = 100", 1.0, math.log(100.0) / OFFSET),
        Step("first case: int_12^100 exp(-kappa sqrt(r/pi)) dr", 10.44, first[1]),
        Step("first case: int_12^100 dr/r", 2.13, first[2]),
        Step("first case: int_100^inf exp(-sqrt(r/(3 pi))) dr", 3.1, first[3]),
        Step("first case: int_100^inf r^(-4/3) dr", 0.65, first[4]),
        Step("first case: the sum", 29.0, math.fsum(first)),
        Step("second case: int_1^inf (2x)^-r dr <= 0.5/x at x = 1", 0.5, 1.0 / (2.0 * math.log(2.0))),
        Step("second case: the whole series sum_r (2x)^-r at x = 1", 1.0, 1.0 / (2.0 - 1.0)),
        Step("second case: the sum, times T gap^2", 180.0, second),
        Step("L_i: 4 (sqrt(1/2) + sqrt(2))^2", 18.0, round(needed, 12)),
        Step("29 L_1i: 116 (sqrt(2) + sqrt(3.5))^2", 1252.0, waited),
        Step("the leading coefficient", 1270.0, needed + waited),
        Step("the remainder: 180 + 0.5 + 2", 182.5, 180.0 + 0.5 + 2.0),
    ]


def _root_exponential(start: float, a: float) -> float:
    """int_start^inf exp(-a sqrt(r)) dr = 2 (a sqrt(start) + 1) exp(-a sqrt(start)) / a^2."""
    scaled = a * math.sqrt(start)
    return 2.0 * (scaled + 1.0) * math.exp(-scaled) / a**2
