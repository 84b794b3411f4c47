"""The core of a bandit whose posterior is an object of the user's, told of rewards and asked for draws.

Such draws are expensive, that is the point, so nothing here is compiled: the schedule decides when to ask, no
draw is made before a decision needs it, and the arm with the largest index is looked for among all.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.engines.entries import KNOWN, NOBODY, UNKNOWN
from thrifty.engines.memory import Rule
from thrifty.errors import InvalidValue
from thrifty.online.core import Moves
from thrifty.online.eligible import ALL, Eligible, integers, too_few
from thrifty.online.ids import Ids
from thrifty.policies import Policy, Posterior
from thrifty.state.young import SHARE, SOONER

ARM = np.dtype(
    [
        ("pulls", np.int64),
        ("sums", np.float64),
        ("draws", np.int64),
        ("pending", np.int64),
        ("expired", np.int64),  # and too old to count
        ("closed", np.int64),  # entries of the ring whose reward is there
        ("index", np.float64),
        ("best", np.float64),  # duel: of the draws since the last pull
        ("age", np.int64),  # duel: the rounds since then
        ("due", np.bool_),  # aggregate: the index has to be drawn anew
        ("spent", np.bool_),  # the committed index was handed out
        ("kept", np.float64),  # the one that was there after the last reward, if it was replaced; else NaN
        ("tokens", np.int64),  # pending pulls that have an id
        ("paused", np.bool_),
    ]
)
# An arm of which nothing is known.
NEW = np.array([(0, 0.0, 0, 0, 0, 0, -math.inf, -math.inf, 0, False, False, math.nan, 0, False)], ARM)


class PosteriorCore:
    """The same interface as ``Core``. Arms that were handed out come first, and new ones last."""

    engine = "scan"
    has_priors = False

    def __init__(
        self,
        posterior: Posterior,
        policy: Policy,
        rule: Rule,
        seed: int,
        ids: Ids,
        pending_for: int | None,
    ) -> None:
        self._posterior = posterior
        self._schedule = policy.schedule
        self._rule = rule
        self._ids = ids
        self._rng = np.random.default_rng([seed, 0])
        self._handed = 0
        self._count, self._room = rule.arms, NEW.repeat(rule.arms)
        self._pending_for = pending_for
        self._ring: deque[int] = deque()  # the arms of the last decisions
        self._seen = self._again = 0  # all of these; who is tried again next

    @property
    def _arms(self) -> NDArray[Any]:
        """The entries of the room that are in use."""
        return self._room[: self._count]

    @property
    def pulls(self) -> Integers:
        return self._arms["pulls"]

    @property
    def weight(self) -> Floats:
        return self.pulls.astype(float)

    @property
    def sums(self) -> Floats:
        return self._arms["sums"]

    @property
    def draws(self) -> Integers:
        return self._arms["draws"]

    @property
    def pending(self) -> Integers:
        return self._arms["pending"]

    @property
    def paused(self) -> NDArray[np.bool_]:
        return self._arms["paused"]

    def is_paused(self, arms: Any) -> Any:
        return self.paused[arms]

    @property
    def tokens(self) -> Integers:
        return self._arms["tokens"]

    @property
    def resting(self) -> int:
        return int(np.count_nonzero(self.paused))

    is_own = False  # it has no index of the user's own

    def slices(self, count: int) -> Iterator[tuple[int, int]]:
        """All of them: what is not compiled can be interrupted anywhere."""
        yield 0, count

    def checkpoint(self, count: int) -> Callable[[], None]:
        arms, handed, rng, rule = self._arms.copy(), self._handed, self._rng.bit_generator.state, self._rule
        ring, seen, again = self._ring.copy(), self._seen, self._again

        def back() -> None:
            self._arms[:] = arms
            self._handed, self._rng.bit_generator.state, self._rule = handed, rng, rule
            self._ring, self._seen, self._again = ring, seen, again

        return back

    def select(self, t: int) -> int:
        out = np.empty(1, np.int64)
        self.select_many(t, out)
        return int(out[0])

    def take(self, t: int) -> int:
        return int(self.pick(t, 1, ALL, KNOWN)[0])

    def select_many(self, t: int, out: Integers) -> int:
        """If the posterior fails, nothing has changed here."""
        back = self.checkpoint(out.size)
        try:
            for j in range(out.size):
                best = self._best(1, ~self.paused)
                out[j] = best[0]
                self._hand_out(best, UNKNOWN)
        except BaseException:
            back()
            raise
        return out.size

    def pick(self, t: int, count: int, who: Eligible, hands: int = NOBODY) -> list[int]:
        there, back = self._eligible(count, who), self.checkpoint(count)
        try:
            out = self._best(count, there)
            self._hand_out(out, hands)
        except BaseException:
            back()
            raise
        return out

    def uniform(self, t: int, count: int, who: Eligible, hands: int = NOBODY) -> list[int]:
        there = np.flatnonzero(self._eligible(count, who))
        out: list[int] = self._rng.choice(there, count, replace=False).tolist()
        self._hand_out(out, hands)
        return out

    def chance(self) -> float:
        return float(self._rng.random())

    def _hand_out(self, arms: list[int], hands: int) -> None:
        for arm in arms if hands != NOBODY else ():
            self._arms["pending"][arm] += 1
            self._arms["tokens"][arm] += hands == KNOWN
            self._arms["spent"][arm] = self._is_committed(arm)
            self._turn(arm)

    def _eligible(self, count: int, who: Eligible) -> NDArray[np.bool_]:
        """Which arms may be chosen, if they are enough."""
        (among, exclude), there = who, ~self.paused
        if among is not None:
            there &= np.isin(np.arange(self._count), integers(among))
        if exclude is not None:
            there[integers(exclude)] = False
        if (size := int(np.count_nonzero(there))) < count:
            raise too_few(count, size, self._count, self.resting)
        return there

    def pause(self, arm: int) -> None:
        state = self._arms[arm]
        state["paused"] = True
        if self._schedule == "duel" and state["age"] <= self._rule.phi:
            state["age"], state["best"] = 0, -math.inf

    def resume(self, arm: int) -> None:
        self._arms["paused"][arm] = False
        if self._is_new(arm):
            self._handed = min(self._handed, arm)

    @property
    def luck(self) -> Any:
        """Where in its random numbers it is."""
        return self._rng.bit_generator.state

    @luck.setter
    def luck(self, where: Any) -> None:
        self._rng.bit_generator.state = where

    def reseed(self, seed: int) -> None:
        """Other random numbers from now on, from the same generator. Indices that were drawn stay."""
        self.luck = np.random.default_rng([seed, 0]).bit_generator.state

    def cancel(self, arm: int, *, known: bool = False) -> bool:
        """A pull that was handed out is not made; returns whether there was one. ``known``: it has an id."""
        state = self._arms[arm]
        state["tokens"] -= known
        if state["pending"] == state["tokens"]:
            return False
        self._close(state)
        if state["pending"] == 0:
            if not math.isnan(state["kept"]):
                state["index"] = state["best"] = state["kept"]
            state["spent"], state["kept"] = False, math.nan
        if self._is_new(arm):
            self._handed = min(self._handed, arm)
        return True

    def _turn(self, arm: int) -> None:
        """The arm was handed out, and pulls may expire by that: as in ``engines.young``."""
        if self._pending_for is None:
            return
        self._ring.append(arm)
        self._seen += 1
        sooner = self._pending_for // SOONER
        if len(self._ring) > sooner and (early := self._ring[-1 - sooner]) >= 0:
            state = self._arms[early]
            if state["pulls"] == 0 and state["pending"] > state["expired"]:
                state["expired"] += 1
                state["closed"] += 1
        if len(self._ring) > self._pending_for and (old := self._ring.popleft()) >= 0:
            state = self._arms[old]
            if state["closed"] > 0:
                state["closed"] -= 1
            else:
                state["expired"] += 1

    def _close(self, state: Any) -> None:
        """One of an arm's pending pulls is so no more."""
        if state["pending"] == state["expired"]:
            state["expired"] -= 1
        elif self._pending_for is not None:
            state["closed"] += 1
        state["pending"] -= 1

    def _is_new(self, arm: int) -> bool:
        """Whether it comes before the policy's choice."""
        pulls, pending = int(self.pulls[arm]), int(self.pending[arm])
        return pulls + pending < max(1, self._rule.burn_in)

    def _best(self, count: int, there: NDArray[np.bool_]) -> list[int]:
        """The next so many arms, of those that are ``there``: new ones first."""
        chosen: list[int] = []
        while self._handed < self._count and not self._is_new(self._handed):
            self._handed += 1
        for arm in range(self._handed, self._count):
            if len(chosen) < count and there[arm] and self._is_new(arm):
                chosen.append(arm)
        lost = np.flatnonzero((self.pulls == 0) & (self.pending == self._arms["expired"]) & there)
        if not chosen and lost.size and self._seen % SHARE == 0:
            later = lost[lost >= self._again]
            self._again = int(later[0] if later.size else lost[0]) + 1
            chosen.append(self._again - 1)
        if len(chosen) == count:
            return chosen
        for arm in np.flatnonzero((self.pulls > 0) & ~self.paused).tolist():
            self._refresh(arm)
        left = there.copy()
        left[chosen] = False
        while len(chosen) < count:
            arm = self._best_arm(left)
            state = self._arms[arm]
            if state["spent"]:
                state["spent"] = False
                if math.isnan(state["kept"]):
                    state["kept"] = state["index"]
                self._commit(arm)
            else:
                chosen.append(arm)
                left[arm] = False
        return chosen

    def _best_arm(self, there: NDArray[np.bool_]) -> int:
        """Ties uniformly at random: arms without a reward yet are all tied at -inf."""
        arms = np.flatnonzero(there)
        index = self._arms["index"][arms]
        best = arms[index == index.max()].tolist()
        arm: int = best[self._rng.integers(len(best))] if len(best) > 1 else best[0]
        return arm

    def _refresh(self, arm: int) -> None:
        """Bring the arm's index up to date for the next decision."""
        rule, state = self._rule, self._arms[arm]
        if self._schedule == "fresh":
            state["index"] = self._draw(arm, 1)
        elif self._schedule == "epsilon":
            drawn = self._rng.random() < rule.epsilon
            state["index"] = self._draw(arm, 1) if drawn else state["sums"] / state["pulls"]
        elif self._schedule == "duel":
            state["age"] += 1
            if state["age"] <= rule.phi:
                state["index"] = self._draw(arm, 1)
                state["best"] = max(state["best"], state["index"])
            else:
                state["index"] = state["best"]
        elif state["due"]:
            self._commit(arm)

    def _commit(self, arm: int) -> None:
        """To the best of phi new draws."""
        state = self._arms[arm]
        state["index"] = state["best"] = self._draw(arm, int(self._rule.phi))
        state["due"] = False

    def _is_committed(self, arm: int) -> bool:
        state = self._arms[arm]
        if self._schedule == "duel":
            return bool(state["age"] > self._rule.phi)
        return self._schedule == "aggregate" and bool(state["index"] > -math.inf)

    def _draw(self, arm: int, size: int) -> float:
        """The best of so many draws."""
        name = self._ids.name(arm)
        drawn = self._posterior.draw(name, size, self._rng)
        try:
            values = np.asarray(drawn, float)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != (size,) or not np.isfinite(values).all():
            raise InvalidValue(
                f"draw must return an array of {size} finite numbers for the arm {checks.shown(name)}, "
                f"got {checks.shown(drawn)}"
            )
        self._arms["draws"][arm] += size
        return float(values.max())

    def update(self, t: int, arm: int, reward: float) -> int:
        return self.update_many(t, np.array([arm]), np.array([reward]))

    def update_many(self, t: int, arms: Integers, rewards: Floats) -> int:
        """Returns how many of these rewards are of pulls that were not handed out. If the posterior refuses
        one, those before it have been taken."""
        unasked = 0
        for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
            self._posterior.observe(self._ids.name(arm), reward)
            state = self._arms[arm]
            unasked += int(state["pending"] == state["tokens"])
            if state["pending"] > state["tokens"]:
                self._close(state)
            state["pulls"] += 1
            state["sums"] += reward
            self._renew(arm)
        return unasked

    def redeem(self, t: int, arm: int, reward: float) -> None:
        """The reward of a pull that has an id."""
        self._arms["tokens"][arm] -= 1
        try:
            self.update(t, arm, reward)
        except BaseException:  # the posterior refuses it
            self._arms["tokens"][arm] += 1
            raise

    def observe(self, t: int, arm: int, reward: float) -> None:
        """The reward of somebody else's pull: none of those that are pending is closed."""
        asked = self._arms["pending"][arm] - self._arms["tokens"][arm]
        self._arms["tokens"][arm] += asked
        try:
            self.update(t, arm, reward)
        finally:
            self._arms["tokens"][arm] -= asked

    def _renew(self, arm: int) -> None:
        state = self._arms[arm]
        state["best"], state["age"] = -math.inf, 0
        state["spent"], state["kept"] = False, math.nan
        state["due"] = self._schedule == "aggregate"

    def begin(self) -> None:
        for arm in np.flatnonzero(self.pulls).tolist():
            self._renew(arm)

    def turn_to(self, rule: Rule) -> None:
        self.follow(rule)
        self.begin()

    def follow(self, rule: Rule) -> None:
        self._rule = rule

    def load(self, *names: str) -> None:
        """Nothing has to be compiled."""

    def add(self, priors: Floats) -> None:
        arms = self._count + len(priors)
        if arms > self._room.size:
            self._room = np.append(self._arms, NEW.repeat(arms))
        self._room[self._count : arms] = NEW
        self._count = arms

    def remove(self, arm: int) -> Moves:
        last, hole = self._arms.size - 1, arm
        if arm < self._handed:
            self._handed -= 1
            hole = self._handed
        moves = [(hole, arm), (last, hole)]
        self._ring = deque(-1 if old == arm else old for old in self._ring)
        for source, target in moves:
            self._arms[target] = self._arms[source]
            self._ring = deque(target if old == source else old for old in self._ring)
        self._count -= 1
        return moves
