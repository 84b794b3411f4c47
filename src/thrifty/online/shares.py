"""Who chooses in a decision: control, the floor or the policy.

With control's share c, the floor f and m eligible arms an arm is chosen with probability

    c / m + (1 - c) (f + (1 - m f) p),        p being what the policy gives it:

control is uniform, and so is the floor, which is asked with probability m f. With a control arm c / m is c
for that arm, and 0 for the others; where it is not eligible, c is 0.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from thrifty import checks
from thrifty.engines.entries import KNOWN, NOBODY
from thrifty.errors import InvalidCall, InvalidValue
from thrifty.online.eligible import Eligible, too_few
from thrifty.online.ids import Ids

LEAST = 1e-6  # of a share: with less, the first control decision is far away


class Choice(NamedTuple):
    """The arms of one decision, the best first."""

    arms: list[int]
    control: bool = False
    share: float = 0.0  # of control, if this is a decision that control could have made as well as the policy


class Shares:
    """The shares of one bandit. Both can be changed at any time."""

    def __init__(self, control: object, control_arm: Any, floor: object, ids: Ids) -> None:
        self.control = read_control(control)
        self.arm: Hashable = None if control_arm is None else ids.name(ids.number(control_arm, "control_arm"))
        self.floor = read_floor(floor, len(ids))

    @property
    def at_work(self) -> bool:
        return self.control > 0.0 or self.floor > 0.0

    def choose(self, core: Any, ids: Ids, t: int, count: int, who: Eligible, hands: int) -> Choice:
        """A decision for so many arms, which are handed out or not."""
        if not self.at_work:
            return Choice(_by_policy(core, t, count, who, hands))
        size = who.size(core, len(ids))
        if size < count:
            raise too_few(count, size, len(ids), core.resting)
        control, share = who, self.control
        if self.arm is not None:
            arm = ids.number(self.arm)
            control, share = Eligible(np.array([arm]), None), share if who.has(core, arm) else 0.0
            if share > 0.0 and count > 1:
                raise InvalidValue(
                    f"rank must be 1 at most with a control_arm, as that is one arm, got {count}"
                )
        back = core.checkpoint(0)  # what is of the user's own may be refused after a coin was thrown
        try:
            if share > 0.0 and core.chance() < share:
                return Choice(core.uniform(t, count, control, hands).tolist(), True, share)
            if self.floor > 0.0 and core.chance() < size * self.floor:
                return Choice(core.uniform(t, count, who, hands).tolist(), False, share)
            return Choice(_by_policy(core, t, count, who, hands), False, share)
        except BaseException:
            if back is not None:
                back()
            raise

    def check_id(self) -> None:
        """Whether decisions may do without one."""
        if self.control > 0.0:
            raise InvalidCall(
                f"with control={self.control:g} decisions must have an id, or nobody could say which rewards "
                "are control's: call decide"
            )

    def check_arms(self, arms: int) -> None:
        """Whether there may be so many."""
        if self.floor * arms > 1.0:
            raise InvalidValue(
                f"with floor={self.floor!r} there must be at most {_most(self.floor)} arms, got {arms}"
            )

    def check_leaving(self, arm: object) -> None:
        """Whether this arm may go."""
        if self.arm is not None and arm == self.arm:
            raise InvalidValue(f"arm must not be the control_arm, which stays, got {checks.shown(arm)}")


def _by_policy(core: Any, t: int, count: int, who: Eligible, hands: int) -> list[int]:
    if count > 1 or who.restricts or hands == NOBODY:
        arms: list[int] = core.pick(t, count, who, hands).tolist()
        return arms
    return [core.take(t) if hands == KNOWN else core.select(t)]


def _most(floor: float) -> int:
    """How many arms there may be: 1 / floor, whatever was rounded."""
    arms = round(1.0 / floor)
    return arms if floor * arms <= 1.0 else arms - 1


def read_control(share: object) -> float:
    clean = checks.unit("control", share)
    if not LEAST <= clean <= 1.0 - LEAST and clean not in (0.0, 1.0):
        raise InvalidValue(f"control must be 0, 1 or {LEAST:g} away from both, got {checks.shown(share)}")
    return clean


def read_floor(floor: object, arms: int) -> float:
    clean = checks.unit("floor", floor)
    if clean * arms > 1.0:
        raise InvalidValue(f"floor must be at most 1/{arms} with {arms} arms, got {checks.shown(floor)}")
    return clean
