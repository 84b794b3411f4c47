"""Rewards as they come, and as policies see them: the range of rewards becomes [0, 1]."""

from collections.abc import Iterable, Sequence

import numpy as np

from thrifty import checks
from thrifty.engines.state import Floats
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies import Policy


class Rewards:
    """Checks and converts the rewards of one bandit. What is refused is named, and changes nothing."""

    def __init__(self, policy: Policy, reward_range: object) -> None:
        self._kind = policy.rewards
        self.range: tuple[float, float] | None = None
        if reward_range is None:
            if self._kind in ("binary", "unit"):
                raise InvalidValue(
                    f"reward_range must be (low, high) for {policy!r}, whose rewards are bounded, got None"
                )
        else:
            if not isinstance(reward_range, Sequence) or len(reward_range) != 2:
                raise InvalidType(
                    f"reward_range must be None or a pair (low, high), got {checks.shown(reward_range)}"
                )
            low = checks.sized("reward_range[0]", reward_range[0])
            high = checks.sized("reward_range[1]", reward_range[1])
            if not low < high:
                raise InvalidValue(f"reward_range must be (low, high) with low < high, got {reward_range!r}")
            if self._kind == "non-negative" and low < 0.0:
                raise InvalidValue(f"reward_range must not begin below 0 for {policy!r}, got {reward_range!r}")
            self.range = low, high
        scaled = self.range is not None and self._kind != "non-negative"
        self._low, high = self.range if scaled and self.range else (0.0, 1.0)
        self._width = high - self._low

    def read(self, reward: object, name: str = "reward") -> float:
        """One reward, in the unit of the policy."""
        value = checks.sized(name, reward)
        if self.range is not None and not self.range[0] <= value <= self.range[1]:
            raise InvalidValue(
                f"{name} must be in [{self.range[0]:g}, {self.range[1]:g}], got {checks.shown(reward)}"
            )
        if self._kind == "non-negative" and value < 0.0:
            raise InvalidValue(f"{name} must be at least 0, got {checks.shown(reward)}")
        unit = (value - self._low) / self._width
        if self._kind == "binary" and unit not in (0.0, 1.0):
            low, high = self.range or (0.0, 1.0)
            raise InvalidValue(f"{name} must be {low:g} or {high:g} for this policy, got {checks.shown(reward)}")
        return unit

    def read_many(self, rewards: Iterable[object]) -> Floats:
        """A sequence of them."""
        if isinstance(rewards, np.ndarray) and rewards.dtype.kind in "iuf" and rewards.ndim == 1:
            values = rewards.astype(float)
            unit = (values - self._low) / self._width
            low, high = self.range or (0.0 if self._kind == "non-negative" else -checks.LARGEST, checks.LARGEST)
            fine = (values >= low) & (values <= high)
            if self._kind == "binary":
                fine &= (unit == 0.0) | (unit == 1.0)
            for i in np.flatnonzero(~fine)[:1]:
                self.read(float(values[i]), f"rewards[{i}]")
            return unit
        if isinstance(rewards, str | bytes) or not isinstance(rewards, Iterable):
            raise InvalidType(f"rewards must be a sequence of numbers, got {checks.shown(rewards)}")
        return np.array([self.read(reward, f"rewards[{i}]") for i, reward in enumerate(rewards)], float)

    def read_prior(self, mean: object, weight: object) -> tuple[float, float]:
        """A prior, in the unit of the policy."""
        return self._read_mean("prior mean", mean), checks.positive("prior weight", weight)

    def read_means(self, means: Floats) -> Floats:
        """Means of rewards that were observed before."""
        return np.array([self._read_mean(f"mean[{i}]", float(mean)) for i, mean in enumerate(means)], float)

    def _read_mean(self, name: str, mean: object) -> float:
        value = checks.sized(name, mean)
        low, high = self.range or (0.0 if self._kind == "non-negative" else -checks.LARGEST, checks.LARGEST)
        if not low <= value <= high:
            raise InvalidValue(f"{name} must be in [{low:g}, {high:g}], got {checks.shown(mean)}")
        return (value - self._low) / self._width

    def shown(self, means: Floats) -> Floats:
        """Means in the unit of the caller."""
        return self._low + self._width * means
