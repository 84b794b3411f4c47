"""A fixed arm: always the same one, from the first round on.

Its expected regret is T times the arm's gap. Online, where arms come and go, it stays with its arm, whatever
number that gets. If the arm goes, that of number 0 takes its place.
Lattimore and Szepesvári, "Bandit Algorithms", 2020.
"""

from dataclasses import dataclass
from typing import ClassVar

from thrifty import checks
from thrifty.engines.memory import Rule
from thrifty.jit import hot
from thrifty.policies.base import Policy
from thrifty.state.fields import Component
from thrifty.state.lists import CURSOR, LISTS, STAGE


@hot
def place(state, arm):
    """The number that the arm has now: another one since STAGE is 1."""
    return state.lists[CURSOR] if state.lists[STAGE] == 1 else arm


@hot
def follow(state, to):
    state.lists[STAGE] = 1
    state.lists[CURSOR] = to


@dataclass(frozen=True)
class FixedArm(Policy):
    """Always the same arm.

    ``arm`` is its number: 0 is the first arm of the problem, or of a bandit when it is made.
    """

    arm: int = 0

    formula: ClassVar[str] = "the arm of this number"
    components: ClassVar[tuple[Component, ...]] = (LISTS,)
    group: ClassVar[str] = "Baselines"
    citation: ClassVar[str] = "Lattimore & Szepesvári 2020"
    confirmed: ClassVar[str] = "nothing: it is common knowledge"

    def __post_init__(self) -> None:
        object.__setattr__(self, "arm", checks.integer("arm", self.arm, at_least=0, at_most=checks.COUNT))

    @property
    def label(self) -> str:
        return f"fixed arm {self.arm}"

    def resolve(self, arms: int, horizon: int) -> Rule:
        return Rule(arms, horizon, first=False)

    @property
    def least_arms(self) -> int:
        return self.arm + 1

    def choose(self, state):
        return place(state, self.arm)

    def moved(self, state, i, to):
        if place(state, self.arm) == i:
            follow(state, to)

    def left(self, state, i):
        if place(state, self.arm) == i:
            follow(state, 0)
