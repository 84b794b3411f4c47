"""What becomes of decisions that have an id: who makes them, which are open, and what they gave.

Arms are ids in here and numbers in the core, whose turn it is whenever a pull is handed out, rewarded or
cancelled. An interruption may be heard between the core's part of that and ours; then ours follows.
"""

from typing import Any

import numpy as np

from thrifty.arrays import Integers
from thrifty.online.decisions import Arm, Decision, Decisions, Open, Slate
from thrifty.online.ids import Ids
from thrifty.online.lift import Sides
from thrifty.online.shares import Choice, Shares


class Ledger:
    """The decisions of one bandit."""

    def __init__(self, shares: Shares) -> None:
        self.shares = shares
        self.open = Decisions()
        self.sides = Sides()  # rewards of decisions that control or the policy could have made

    def add(self, ids: Ids, choice: Choice, now: float, made: list[Decision]) -> None:
        """Decisions whose pulls are handed out; they are added to those that were made."""
        arms, control, share = choice
        slate = Slate() if len(arms) > 1 else None
        for arm in arms:
            self.open.add(ids.name(arm), now, control, share, slate, made)

    def undo(self, core: Any, ids: Ids, made: list[Decision]) -> None:
        """Decisions that nobody was told of, and pulls that became none, are cancelled."""
        for decision in made:
            self.open.close(decision.id)
        lost = core.tokens - self.counts(ids)
        for arm in np.repeat(np.arange(lost.size), lost).tolist():
            core.cancel(arm, known=True)

    def counts(self, ids: Ids) -> Integers:
        """How many decisions each arm has that are open."""
        arms = [ids.number(found.arm.name) for _, found in self.open.items() if not found.arm.gone]
        return np.bincount(np.array(arms, np.int64), minlength=len(ids))

    def close(self, core: Any, ids: Ids, t: int, key: str, reward: float | None) -> Open | None:
        """By a reward, or with None by cancelling it. Returns what was open under this id: None if nothing
        was. If its arm is gone, nobody learns anything."""
        found = self.open.get(key)
        if found is None or found.arm.gone:
            self.open.close(key)
            return found
        arm, sides, seen = ids.number(found.arm.name), self.sides, (0, 0.0)
        if reward is not None and 0.0 < found.share < 1.0:
            count, total = found.slate.seen if found.slate else seen
            sides, seen = sides.plus(found, reward), (count + 1, total + reward)
        try:
            if reward is None:
                core.cancel(arm, known=True)
            else:
                core.redeem(t, arm, reward)
            self._settle(key, found, sides, seen)
        except BaseException:
            if core.tokens[arm] < self._open_of(found.arm):
                self._settle(key, found, sides, seen)
            raise
        return found

    def _settle(self, key: str, found: Open, sides: Sides, seen: tuple[int, float]) -> None:
        """The core has done its part; doing this twice does no harm."""
        self.sides = sides
        if found.slate and seen[0]:
            found.slate.seen = seen
        self.open.close(key)

    def _open_of(self, arm: Arm) -> int:
        return sum(found.arm is arm for _, found in self.open.items())
