"""What the policy gains: its mean reward minus that of control, with an interval.

Decision i is control with probability c_i, whatever happened before and whatever the rewards will be. Its
reward weighs w_i = 1 / c_i if it is control and 1 / (1 - c_i) if not; so each side stands for all decisions,
also if c was changed while rewards drifted. Either mean is a ratio, v = sum of w r / sum of w, and its
squared error is

    e^2 = sum over slates g of (w_g sum over its rewards of (r - v))^2 / (sum of w)^2,

a single decision being a slate of one: rewards of one slate may depend on each other. docs/decisions.md says
why that holds although the policy learns. Where a few rewards have most of the weight, they may all be alike
by chance, so e^2 is at least what it would be if rewards had nothing to do with weights and with each other:

    e^2 >= (sum of w (r - v)^2 / sum of w) (sum of w^2) / (sum of w)^2.

v +- z e would be too short for rare clicks. So, as Wilson did (JASA 1927), the error is taken to depend on
the mean m in question: it is e where m = v, and vanishes at the ends of the range of rewards. With c so
scaled that this is so, the interval of one mean has those m with

    (v - m)^2 <= c (m - low)(high - m),        with one end (v - m)^2 <= c (m - low);

Wilson's itself for rewards of 0 and 1. Those of both means, (l1, u1) and (l2, u2), make that of the
difference, v1 - v2 - sqrt((v1 - l1)^2 + (u2 - v2)^2) to v1 - v2 + sqrt((u1 - v1)^2 + (v2 - l2)^2): Newcombe,
"Interval estimation for the difference between independent proportions", Statistics in Medicine 1998, method
10; for other means Zou and Donner, Statistics in Medicine 2008.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from thrifty.errors import InvalidCall
from thrifty.online.decisions import Open
from thrifty.online.rewards import Rewards

FEWEST = 200  # decisions with a reward, on either side


@dataclass(frozen=True)
class Lift:
    """The policy's mean reward minus that of control.

    Attributes:
        difference: the estimate.
        low: the lower end of its interval, which holds with probability ``level``.
        high: the upper end.
        policy: the policy's mean reward.
        control: control's.
        policy_rewards: how many rewards the policy's is made of.
        control_rewards: how many control's is made of.
        level: how often such an interval holds.
    """

    difference: float
    low: float
    high: float
    policy: float
    control: float
    policy_rewards: int
    control_rewards: int
    level: float


class Side(NamedTuple):
    """Rewards of the policy or of control, as sums about their mean: a large offset does no harm.

    For a slate g with n rewards and weight w, D is its sum of rewards minus n times the mean.
    """

    rewards: int = 0
    slates: int = 0
    mean: float = 0.0
    weight: float = 0.0  # sum of w
    weights: float = 0.0  # sum of w^2
    spread: float = 0.0  # sum of w (r - mean)^2
    square: float = 0.0  # sum of w^2 D^2, over slates
    product: float = 0.0  # sum of w^2 D n, over slates
    size: float = 0.0  # sum of w^2 n^2, over slates

    def plus(self, reward: float, weight: float, count: int = 0, total: float = 0.0) -> "Side":
        """With one more reward, of a slate that had ``count`` of them with the sum ``total``."""
        gap, deviation = reward - self.mean, total - count * self.mean
        w2, whole = weight * weight, self.weight + weight
        step = weight * gap / whole
        square = self.square + w2 * gap * (2.0 * deviation + gap)
        product = self.product + w2 * (deviation + gap * (count + 1))
        size = self.size + w2 * (2 * count + 1)
        return Side(
            rewards=self.rewards + 1,
            slates=self.slates + (count == 0),
            mean=self.mean + step,
            weight=whole,
            weights=self.weights + w2,
            spread=self.spread + self.weight * gap * step,
            square=max(0.0, square - 2.0 * step * product + step * step * size),
            product=product - step * size,
            size=size,
        )

    @property
    def variance(self) -> float:
        """Of a single reward."""
        return self.spread / self.weight

    @property
    def effective(self) -> float:
        """How many rewards of equal weight would be worth as much."""
        return self.weight**2 / self.weights

    def interval(self, z: float, low: float, high: float, other: "Side") -> tuple[float, float]:
        """Of the mean, rewards being from low to high; either may be infinite. What a side that has seen
        rewards at one end alone, no click at all, does not know of their size, it takes from the other."""
        v = self.mean
        error = max(self.square / self.weight**2, self.variance / self.effective)
        if math.isinf(low):
            reach = z * math.sqrt(error)
            return v - reach, v + reach
        here = room(v, low, high)
        if here > 0.0:
            c = z * z * error / here
        else:
            there = room(other.mean, low, high)
            c = z * z / self.effective * (other.variance / there if there > 0.0 else 1.0)
        if math.isinf(high):
            middle, reach = v + c / 2.0, math.sqrt(c * here + c * c / 4.0)
            return middle - reach, middle + reach
        width = high - low
        middle, reach = v + c * (low + high) / 2.0, math.sqrt(c * here + c * c * width * width / 4.0)
        return (middle - reach) / (1.0 + c), (middle + reach) / (1.0 + c)


def room(m: float, low: float, high: float) -> float:
    """What the variance at a mean m is taken to be in proportion to."""
    if math.isinf(low):
        return 1.0
    return max(0.0, (m - low) * (1.0 if math.isinf(high) else high - m))


class Sides(NamedTuple):
    """Both of them."""

    policy: Side = Side()
    control: Side = Side()

    def plus(self, found: Open, reward: float) -> "Sides":
        """With the reward of a decision that was made while there was a choice between the two."""
        count, total = found.slate.seen if found.slate else (0, 0.0)
        if found.control:
            return Sides(self.policy, self.control.plus(reward, 1.0 / found.share, count, total))
        return Sides(self.policy.plus(reward, 1.0 / (1.0 - found.share), count, total), self.control)

    def lift(self, level: float, rewards: Rewards) -> Lift:
        """The difference, in the unit of the caller."""
        policy, control = self
        for name, side in (("control", control), ("the policy", policy)):
            if side.slates < FEWEST:
                raise InvalidCall(
                    f"lift needs rewards of at least {FEWEST} decisions of {name} (a slate is one): "
                    f"{side.slates} are too few"
                )
        return self.compared(level, rewards)

    def compared(self, level: float, rewards: Rewards) -> Lift:
        """The same, however few rewards there are: one of each side at least."""
        policy, control = self
        z, width, limits = -NormalDist().inv_cdf(0.5 - level / 2.0), rewards.width, rewards.limits
        low, high = policy.interval(z, *limits, control)
        least, most = control.interval(z, *limits, policy)
        difference = policy.mean - control.mean
        return Lift(
            difference=width * difference,
            low=width * (difference - math.hypot(policy.mean - low, most - control.mean)),
            high=width * (difference + math.hypot(high - policy.mean, control.mean - least)),
            policy=rewards.zero + width * policy.mean,
            control=rewards.zero + width * control.mean,
            policy_rewards=policy.rewards,
            control_rewards=control.rewards,
            level=level,
        )
