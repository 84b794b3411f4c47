"""Forgetting: a reward that was seen d decisions ago counts 2^(-d/h) times, h being the half-life.

In a policy's formulas  n  and  S  of an arm become

    n = the sum of 2^(-d/h),    S = the sum of 2^(-d/h) times the reward,    over the arm's rewards.

The prior's pseudo-observations are not forgotten: an arm that is left alone returns to its prior. t and K
stay what they are.

In steps: every c decisions what is known of an arm is multiplied once by 2^(-c/h), with the largest c for
which that is at least 0.99, but at least 1. The arms have their turns one after the other, in the order of
their numbers and evenly over the c decisions: in decision d of such a cycle, d = 1, ..., c, before the arm
is chosen, those up to number K d/c. What is left of an arm's pulls never falls below 1e-100.

The weights are those of discounted UCB: Kocsis and Szepesvári, "Discounted UCB", 2nd PASCAL Challenges
Workshop, 2006; Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems",
ALT 2011. There ln t is replaced too, and here nothing is but n and S.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from thrifty import checks
from thrifty.engines.memory import Rule
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies.base import Assumed, Policy
from thrifty.policies.compiled import asked
from thrifty.policies.epsilon_decreasing import EpsilonDecreasing
from thrifty.policies.epsilon_greedy import EpsilonGreedy
from thrifty.policies.epsilon_ts import EpsilonTS
from thrifty.policies.exp_ts import ExpTS
from thrifty.policies.greedy import Greedy
from thrifty.policies.imed import IMED
from thrifty.policies.kl_ucb import KLUCB
from thrifty.policies.maillard import MaillardSampling
from thrifty.policies.thompson_sampling import ThompsonSampling
from thrifty.policies.ucb1 import UCB1
from thrifty.policies.ucb1_tuned import UCB1Tuned
from thrifty.state.fading import FADING
from thrifty.state.fields import Component

STEP = 0.99  # the least that one step multiplies by, unless it is a step for each decision
FEW = 16  # decisions in a cycle: with fewer, to move so many arms in each costs more than to look at all

# Of an index, what may be asked for: what follows from n, S, the sum of squares, and the time.
FORGOTTEN = {"n", "mean", "variance", "best", "t", "log_t", "level", "rng"}
BY_STATE = (EpsilonGreedy, EpsilonDecreasing, MaillardSampling)  # these ask for the state, and for no more


def check_forgets(policy: Policy) -> None:
    """Whether its choices follow from each arm's n, S and sum of squares, and are made anew from them."""
    inner, why = policy.played, ""
    functions = {} if inner.schedule else inner.functions()
    if inner.schedule and inner.drawn_from is None:
        why = "its posterior is an object of your own"
    elif not checks.is_ours(type(inner)):
        why = "its index is of your own"
    elif inner.needs_horizon:
        why = "it plans for a horizon"
    elif inner.schedule in ("aggregate", "duel"):
        why = "it keeps draws of before"
    elif inner.keeps_rewards:
        why = "it keeps every reward"
    elif not isinstance(inner, BY_STATE) and any(
        {*asked(function)} - FORGOTTEN for function in functions.values()
    ):
        why = "its choices do not follow from counts and sums alone"
    if why:
        raise InvalidValue(f"{policy!r} cannot forget: {why}")


@dataclass(frozen=True)
class Forgetting(Policy):
    """``policy``, with rewards that count less and less: half after ``half_life`` decisions.

    ``half_life`` is above 0, and need not be whole. Policies can forget whose choices follow from counts and
    sums: TS, ε-TS, ExpTS, ExpTS+ (with a law that has no prior of its own, as the Gaussian, only if arms have
    a prior), UCB1, UCB1-tuned, UCB-V, KL-UCB, Bayes-UCB, IMED, Maillard sampling, KL-MS, greedy, ε-greedy,
    ε-decreasing, softmax, and these binarised.
    """

    policy: Policy = field(default_factory=lambda: ThompsonSampling("beta"))
    half_life: float = 1000.0

    formula: ClassVar[str] = "that of a policy, n and S fading"
    variants: ClassVar[tuple[dict[str, Any], ...]] = tuple(
        {"policy": policy, "half_life": half_life}
        for policy, half_life in (
            (UCB1(), 100.0),
            (KLUCB(), 1.0),
            (UCB1Tuned(), 500.0),
            (EpsilonTS("beta"), 300.0),
            (ExpTS(), 1e4),
            (IMED(), 50.0),
            (Greedy(), 0.01),
        )
    )
    changes: ClassVar[str] = "as the policy's"
    clock: ClassVar[str] = "as the policy's"
    group: ClassVar[str] = "Around another policy"
    citation: ClassVar[str] = "Kocsis & Szepesvári 2006"
    confirmed: ClassVar[str] = "nothing: the weights are common knowledge, and nothing is claimed"
    components: ClassVar[tuple[Component, ...]] = (FADING,)

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy):
            raise InvalidType(f"policy must be a policy such as UCB1(), got {checks.shown(self.policy)}")
        if isinstance(self.policy, Forgetting):
            raise InvalidValue(f"policy must be one that does not forget yet, got {self.policy!r}")
        check_forgets(self.policy)
        object.__setattr__(self, "half_life", checks.positive("half_life", self.half_life))

    @property
    def label(self) -> str:
        return f"{self.policy.label}, half-life {self.half_life:g}"

    @property
    def rewards(self) -> str:
        return self.policy.rewards

    @property
    def assumes(self) -> Assumed:
        return self.policy.assumes

    @property
    def least_arms(self) -> int:
        return self.policy.least_arms

    @property
    def needs_prior(self) -> bool:
        """An arm of which nothing is left must have something to return to."""
        law = self.played.drawn_from
        return law is not None and not law.proper

    @property
    def played(self) -> Policy:
        return self.policy.played

    @property
    def runs_on(self) -> tuple[str, ...]:
        return self.policy.runs_on

    def fastest_from(self, engine: str) -> float:
        return self.policy.fastest_from(engine) if self.cycle >= FEW else math.inf

    @property
    def cycle(self) -> int:
        """In how many decisions each arm has its turn once.

        >>> [Forgetting(half_life=h).cycle for h in (1, 100, 1e6)]
        [1, 1, 14499]
        """
        return int(min(max(-math.log2(STEP) * self.half_life, 1.0), checks.COUNT))

    def resolve(self, arms: int, horizon: int) -> Rule:
        keep = 2.0 ** (-self.cycle / self.half_life)
        return self.policy.resolve(arms, horizon)._replace(cycle=self.cycle, keep=keep)
