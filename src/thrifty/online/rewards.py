"""Rewards as they come, and as policies see them: the range of rewards becomes [0, 1]."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online.inputs import as_numbers, sequence
from thrifty.policies import Policy, Posterior
from thrifty.problems import REWARDS

FLAGS = (bool, np.bool_)


class Rewards:
    """Checks and converts the rewards of one bandit. What is refused is named, and changes nothing.

    Rewards that only have to be non-negative keep their unit, and so do those of a posterior of the user's.
    """

    def __init__(self, policy: Policy, reward_range: object) -> None:
        kind = checks.choice(f"rewards of {policy!r}", policy.rewards, REWARDS)
        self.range = _read_range(policy, reward_range)
        self._binary = kind == "binary"
        least = 0.0 if kind == "non-negative" else -checks.LARGEST
        self._low, self._high = self.range or (least, checks.LARGEST)
        self.zero, self.width = 0.0, 1.0
        if self.range and kind != "non-negative" and not isinstance(getattr(policy, "law", ""), Posterior):
            self.zero, self.width = self._low, self._high - self._low
        self._scales = (self.zero, self.width) != (0.0, 1.0)

    @property
    def limits(self) -> tuple[float, float]:
        """Between which numbers rewards are in the unit of the policy; infinite where anything is allowed."""
        low, high = ((end - self.zero) / self.width for end in (self._low, self._high))
        return low if low > -checks.LARGEST else -math.inf, high if high < checks.LARGEST else math.inf

    def read(self, reward: Any, name: str = "reward") -> float:
        """One reward, in the unit of the policy. True and False are 1 and 0."""
        if type(reward) is float and self._low <= reward <= self._high:  # the usual case, without detours
            unit = reward + 0.0  # -0.0 becomes 0.0
            if self._scales:
                unit = (unit - self.zero) / self.width
        else:
            unit = self.read_mean(int(reward) if isinstance(reward, FLAGS) else reward, name)
        if self._binary and unit not in (0.0, 1.0):
            raise InvalidValue(
                f"{name} must be {self._low!r} or {self._high!r} for this policy, got {checks.shown(reward)}"
            )
        return unit

    def read_many(self, rewards: Any) -> Floats:
        """A sequence of them."""
        listed = sequence("rewards", rewards)
        if isinstance(listed, np.ndarray) and listed.dtype == np.bool_:
            listed = listed.astype(float)
        numbers = as_numbers(listed)
        if numbers is None:
            return np.array([self.read(reward, f"rewards[{i}]") for i, reward in enumerate(listed)], float)
        unit, fine = self._scaled(numbers)
        if self._binary:
            fine &= (unit == 0.0) | (unit == 1.0)
        for i in np.flatnonzero(~fine)[:1]:
            self.read(listed[i], f"rewards[{i}]")
        return unit

    def read_mean(self, mean: Any, name: str) -> float:
        """A mean of rewards, in the unit of the policy."""
        value = checks.sized(name, mean)
        if not self._low <= value <= self._high:
            raise InvalidValue(f"{name} must be in [{self._low!r}, {self._high!r}], got {checks.shown(mean)}")
        return (value - self.zero) / self.width

    def read_means(self, means: list[Any] | NDArray[Any], name: str, where: NDArray[np.bool_]) -> Floats:
        """A column of them. Elsewhere than asked for, anything may stand, and 0 is returned."""
        numbers = as_numbers(means)
        if numbers is None:
            column = np.zeros(where.size)
            for i in np.flatnonzero(where).tolist():
                column[i] = self.read_mean(means[i], f"{name}[{i}]")
            return column
        unit, fine = self._scaled(numbers)
        for i in np.flatnonzero(where & ~fine)[:1]:
            self.read_mean(means[i], f"{name}[{i}]")
        return np.where(where, unit, 0.0)

    def show(self, means: Floats) -> Floats:
        """Means in the unit of the caller, and in the range, whatever was rounded."""
        shown: Floats = np.clip(self.zero + self.width * means, self._low, self._high)
        return shown

    def _scaled(self, numbers: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
        """Numbers in the unit of the policy, and which of them were in the range."""
        values: Floats = numbers.astype(float) + 0.0  # -0.0 becomes 0.0
        return (values - self.zero) / self.width, (values >= self._low) & (values <= self._high)


def _read_range(policy: Policy, reward_range: object) -> tuple[float, float] | None:
    kind = policy.rewards
    if reward_range is None:
        if kind in ("binary", "unit"):
            raise InvalidValue(
                f"reward_range must be (low, high) for {policy!r}, whose rewards are bounded, got None"
            )
        return None
    if not isinstance(reward_range, Sequence) or len(reward_range) != 2:
        raise InvalidType(f"reward_range must be None or (low, high), got {checks.shown(reward_range)}")
    low = checks.sized("reward_range[0]", reward_range[0])
    high = checks.sized("reward_range[1]", reward_range[1])
    if not low < high:
        raise InvalidValue(f"reward_range must be (low, high) with low < high, got {reward_range!r}")
    if kind == "non-negative" and low < 0.0:
        raise InvalidValue(f"reward_range must not begin below 0 for {policy!r}, got {reward_range!r}")
    return low, high
