"""A policy that lives on a log: it is asked at a row, among the arms that are there, and may learn from
it."""

import copy
from typing import Any

import numpy as np

from thrifty.arrays import Floats
from thrifty.errors import InvalidValue
from thrifty.online.bandit import Bandit
from thrifty.policies import Forgetting, Policy
from thrifty.policies.base import EVERY_ROUND
from thrifty.policies.fixed_arm import FixedArm
from thrifty.replays.log import Log

Prior = tuple[float, float] | Floats | None  # one for all arms, or a row (mean, weight) for each
DRAWN = ("fresh", "epsilon")  # schedules that keep no draw from one round to the next


def draws_anew(policy: Policy) -> bool:
    """Whether a decision that was not carried out may be drawn again, as if it had not been made. Draws that
    a schedule keeps are the same, or count as made; an index that is computed is what it was, a list of arms
    keeps its place, and a policy that forgets has forgotten."""
    played = policy.played
    if isinstance(policy, Forgetting):  # it would forget at each of them
        return False
    if played.schedule:
        return played.schedule in DRAWN
    return not played.components and (played.changes == EVERY_ROUND or "choose" in played.functions())


class Player:
    """If a policy pulls each arm first, it does so in an order of chance: at each row another one of those
    that were not tried may be the next. Otherwise arms that happen to be in the log early would be in luck.
    """

    def __init__(
        self,
        policy: Policy,
        log: Log,
        horizon: int,
        rng: np.random.Generator,
        prior: Prior,
        reward_range: tuple[float, float] | None,
    ) -> None:
        self._log, self._rng = log, rng
        self._own = prior if isinstance(prior, np.ndarray) else None
        order = np.flatnonzero(log.sets[log.which[0]])
        self._first = prior is None and policy.resolve(order.size, horizon).initial > 0
        if self._first:
            order = rng.permutation(order)
        names = [log.arms[i] for i in order]
        first: Any = prior if self._own is None else tuple(self._own[order].T)
        seed = int(rng.integers(2**63))
        self._bandit = Bandit(copy.deepcopy(policy), names, horizon, seed, first, reward_range)
        self._number = {name: i for i, name in enumerate(log.arms)}
        self._untried: list[int] = order.tolist() if self._first else []
        self._set = int(log.which[0])
        self._asked = -1  # the arm of a pull that the bandit was asked for

    @property
    def begins(self) -> bool:
        """Whether there are arms to be tried first."""
        return bool(self._untried)

    def follow(self, row: int) -> bool:
        """Arms come and go until they are those of the row; returns whether any did."""
        now = int(self._log.which[row])
        if now == self._set:
            return False
        self.decline()
        before, after = self._log.sets[self._set], self._log.sets[now]
        for arm in self._rng.permutation(np.flatnonzero(after & ~before)).tolist():
            own = None if self._own is None else (float(self._own[arm, 0]), float(self._own[arm, 1]))
            self._bandit.add_arm(self._log.arms[arm], own)
            if self._first:
                self._untried.append(arm)
        for arm in np.flatnonzero(before & ~after).tolist():
            self._bandit.remove_arm(self._log.arms[arm])
        self._untried = [arm for arm in self._untried if after[arm]]
        self._set = now
        return True

    def decide(self) -> int:
        """The number of an arm. It is followed by ``learn`` or ``decline``."""
        if self._untried:
            return self._untried[int(self._rng.integers(len(self._untried)))]
        self._asked = self._number[self._bandit.select()]
        return self._asked

    def learn(self, arm: int, reward: float) -> None:
        self._bandit.update(self._log.arms[arm], reward)
        if arm in self._untried:
            self._untried.remove(arm)
        self._asked = -1

    def decline(self) -> None:
        """The decision, if there is one, is not carried out."""
        if self._asked >= 0:
            self._bandit.cancel(self._log.arms[self._asked])
            self._asked = -1


def check_fixed(policy: Policy, log: Log) -> None:
    """A fixed arm is meant by its number among all arms."""
    if not isinstance(policy.played, FixedArm):
        return
    if log.changing:
        raise InvalidValue(
            f"{policy!r} must be played on a log in which every arm is there in every row: where arms come "
            "and go, ask evaluate(log, arm=...)"
        )
    if not log.stated:
        raise InvalidValue(
            f"arms must be stated for {policy!r}, because its number counts them: or ask evaluate(log, "
            "arm=...)"
        )


def check_returns(log: Log) -> None:
    """An arm that goes is forgotten, so one that comes back would have to be tried anew: that is refused."""
    if not log.changing:
        return
    begins = np.flatnonzero(np.r_[True, np.diff(log.which) != 0])
    there = log.sets[log.which[begins]]
    for arm in range(len(log.arms)):
        comes = np.flatnonzero(np.diff(there[:, arm].astype(np.int8)) > 0) + 1
        goes = np.flatnonzero(np.diff(there[:, arm].astype(np.int8)) < 0) + 1
        again = comes[comes > goes[0]] if goes.size else goes
        if again.size:
            raise InvalidValue(
                f"an arm must come once and go once in a replay, got {log.arms[arm]!r}, which is gone in "
                f"line {log.line[begins[goes[0]]]} and back in line {log.line[begins[again[0]]]}: if it is a "
                "new arm then, give it another id"
            )
