"""Means of rewards with intervals, from counts, sums and sums of squares: those of ``online.lift``.

An interval holds with probability 95 %. It is Wilson's for rewards of 0 and 1, and like it for others that
have an end: right also where clicks are rare.
"""

from statistics import NormalDist
from typing import NamedTuple

from thrifty.online.lift import FEWEST, Side, Sides, room
from thrifty.online.lift import Lift as Found
from thrifty.online.rewards import Rewards

LEVEL = 0.95
Z = NormalDist().inv_cdf(0.5 + LEVEL / 2.0)


class Sums(NamedTuple):
    """Rewards that came: how many, their sum and that of their squares."""

    pulls: float = 0.0  # what is left of them, where they fade
    total: float = 0.0
    squares: float = 0.0

    def plus(self, pulls: float, total: float, squares: float) -> "Sums":
        return Sums(self.pulls + pulls, self.total + total, self.squares + squares)

    def side(self, rewards: Rewards) -> Side:
        """In the unit of the policy. Each reward is taken to be one of its own: totals know of no slates."""
        n, zero, width = self.pulls, rewards.zero, rewards.width
        mean = (self.total / n - zero) / width
        squares = (self.squares - 2.0 * zero * self.total + zero * zero * n) / width / width  # may be tiny
        spread = max(0.0, squares - n * mean * mean)
        return Side(round(n), round(n), mean, n, n, spread, spread, 0.0, n)


def interval(sums: Sums, others: Side, rewards: Rewards) -> tuple[float, float, float]:
    """A mean and its interval, in the unit of the rewards. A few of these may be alike by chance, so their
    variance is at least what ``others``, among which they are, would have at this mean."""
    side, limits, zero, width = sums.side(rewards), rewards.limits, rewards.zero, rewards.width
    there = room(others.mean, *limits)
    alike = side.weight * others.variance * room(side.mean, *limits) / there if there else 0.0
    if alike > side.spread:
        side = side._replace(spread=alike, square=alike)
    low, high = side.interval(Z, *limits, others)
    return zero + width * side.mean, zero + width * low, zero + width * high


def lift(policy: Sums, control: Sums, rewards: Rewards) -> tuple[Found, bool] | None:
    """What the policy gains, and whether there are rewards enough to rely on it; None without any."""
    if not policy.pulls or not control.pulls:
        return None
    found = Sides(policy.side(rewards), control.side(rewards)).compared(LEVEL, rewards)
    return found, min(policy.pulls, control.pulls) >= FEWEST
