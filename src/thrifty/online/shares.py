"""Who chooses in a decision: control, the floor or the policy.

With control's share c, the floor f and m eligible arms an arm is chosen with probability

    c / m + (1 - c) (f + (1 - m f) p),        p being what the policy gives it:

control is uniform, and so is the floor, which is asked with probability m f. With a control arm c / m is c
for that arm, and 0 for the others; where it is not eligible, c is 0.
"""

from array import array
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from thrifty import checks
from thrifty.engines.entries import KNOWN, NOBODY
from thrifty.errors import InvalidCall, InvalidValue
from thrifty.online import eligible
from thrifty.online.eligible import ALL, Eligible, too_few
from thrifty.online.ids import MOST, Ids

Chances = Callable[[int], float]  # of arms
LEAST = 1e-6  # of a share: with less, the first control decision is far away


class Choice(NamedTuple):
    """The arms of one decision, the best first."""

    arms: list[int]
    control: bool = False
    share: float = 0.0  # of control, if this is a decision that control could have made as well as the policy


class Shares:
    """The shares of one bandit. Both can be changed at any time."""

    def __init__(self, control: object, control_arm: Any, floor: object, ids: Ids) -> None:
        self.arm: Hashable = None if control_arm is None else ids.name(ids.number(control_arm, "control_arm"))
        self.change(read_control(control), read_floor(floor, len(ids)))

    def change(self, control: float, floor: float) -> None:
        """Other shares from now on."""
        self.control, self.floor = control, floor
        self.at_work = control > 0.0 or floor > 0.0

    def choose(self, core: Any, arm: int | None, t: int, count: int, who: Eligible, hands: int) -> Choice:
        """A decision for so many arms, which are handed out or not. ``arm`` is control's, if it has one."""
        if not self.at_work:
            return Choice(_by_policy(core, t, count, who, hands))
        size = self.check(core, arm, count, who)
        control, share = who, self.control
        if arm is not None:
            control, share = (array("Q", [arm]), None), share if eligible.has(who, core, arm) else 0.0
        back = core.checkpoint(0)  # what is of the user's own may be refused after a coin was thrown
        try:
            if share > 0.0 and core.chance() < share:
                return Choice(core.uniform(t, count, control, hands), True, share)
            if self.floor > 0.0 and core.chance() < size * self.floor:
                return Choice(core.uniform(t, count, who, hands), False, share)
            return Choice(_by_policy(core, t, count, who, hands), False, share)
        except BaseException:
            if back is not None:
                back()
            raise

    def probability(
        self, core: Any, arm: int | None, who: Eligible, chosen: int, by_policy: Chances
    ) -> float:
        """Of an arm in a decision, as the formula says. ``arm`` is control's, if it has one."""
        if not self.at_work:
            return by_policy(chosen)
        if not eligible.has(who, core, chosen):
            return 0.0
        size = eligible.size(who, core, len(core.pulls))
        control = self.control if arm is None or eligible.has(who, core, arm) else 0.0
        theirs = 1.0 / size if arm is None else float(chosen == arm)
        left = max(1.0 - size * self.floor, 0.0)
        rest = self.floor + left * by_policy(chosen) if control < 1.0 and left > 0.0 else self.floor
        return control * theirs + (1.0 - control) * rest

    def check(self, core: Any, arm: int | None, count: int, who: Eligible) -> int:
        """Whether so many arms can be chosen. Returns how many may be."""
        arms = len(core.pulls)
        if (size := eligible.size(who, core, arms)) < count:
            raise too_few(count, size, arms, core.resting)
        if count > 1 and arm is not None and self.control > 0.0 and eligible.has(who, core, arm):
            raise InvalidValue(f"rank must be 1 at most with a control_arm, as that is one arm, got {count}")
        return size

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
    if count > 1 or who != ALL or hands == NOBODY:
        arms: list[int] = core.pick(t, count, who, hands)
        return arms
    return [core.take(t) if hands == KNOWN else core.select(t)]


def _most(floor: float) -> int:
    """How many arms there may be: 1 / floor, whatever was rounded."""
    arms = round(1.0 / floor)
    return arms if floor * arms <= 1.0 else arms - 1


def read_options(
    arms: int, control: object = 0.0, control_arm: object = None, floor: object = 0.0, burn_in: object = 0
) -> dict[str, Any]:
    """The options by which others choose than the policy, checked: of a simulation, where arms are
    numbers."""
    shares = Shares(control, control_arm, floor, Ids(arms))
    return {
        "control": shares.control,
        "control_arm": shares.arm,
        "floor": shares.floor,
        "burn_in": read_burn_in(burn_in),
    }


def read_burn_in(pulls: object) -> int:
    return checks.integer("burn_in", pulls, at_least=0, at_most=MOST)


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
