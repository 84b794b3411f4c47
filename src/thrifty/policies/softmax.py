"""Softmax, or Boltzmann exploration: an arm is pulled with a probability proportional to exp(m/τ).

Every arm is pulled once first. Near τ = 0 it is greedy, with a large τ uniform. The temperature τ is a
constant, so the regret is linear in T. Rewards on another scale need another one.
Sutton and Barto, "Reinforcement Learning: An Introduction", 2nd edition, 2018, chapter 2.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from thrifty import checks
from thrifty.policies.base import Policy
from thrifty.policies.maillard import perturbed


@dataclass(frozen=True)
class Softmax(Policy):
    """Softmax with a constant temperature.

    ``temperature`` is τ, in the unit of the rewards.
    """

    temperature: float = 0.1

    formula: ClassVar[str] = "P(arm) ∝ exp(m/τ)"
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({"temperature": 1e-6},)
    counts_pending: ClassVar[bool] = False
    group: ClassVar[str] = "Baselines"
    citation: ClassVar[str] = "Sutton & Barto 2018"
    confirmed: ClassVar[str] = "nothing: it is common knowledge"

    def __post_init__(self) -> None:
        object.__setattr__(self, "temperature", checks.positive("temperature", self.temperature))

    @property
    def label(self) -> str:
        return f"softmax (τ={self.temperature:g})"

    def index(self, mean, best, rng):
        """The probabilities are those of exp((m - m*)/τ), which cannot overflow."""
        return perturbed((mean - best) / self.temperature, rng)
