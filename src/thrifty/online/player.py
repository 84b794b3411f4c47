"""A policy at work on arms that are numbers: who is chosen next, and what becomes of rewards.

``Bandit`` gives arms their ids, decisions theirs, and lets one thread in at a time. Here everything that is
given has been read and checked, and rewards are in the unit of the policy.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.engines.entries import NOBODY, UNKNOWN
from thrifty.engines.memory import Rule
from thrifty.errors import InvalidValue
from thrifty.online import eligible, forgetting, probabilities
from thrifty.online.core import Core, Moves, new_core
from thrifty.online.eligible import ALL, Eligible
from thrifty.online.ids import Ids
from thrifty.online.posterior import PosteriorCore
from thrifty.online.shares import Chances, Choice, Shares
from thrifty.policies import Policy, Posterior, first_guess
from thrifty.policies.program import program
from thrifty.state.statistics import SQUARES

Undo = Callable[[], None]


@dataclass(slots=True)
class Player:
    """A policy, and what it knows.

    Parameters:
        policy: whose decisions they are.
        core: the arms' statistics and indices.
        horizon: the one in use.
        guessed: whether it is a guess, to be doubled whenever it is reached.
        prior: (mean, weight) of every arm; None without one, and where each has its own.
        burn_in: so many pulls of every arm come before the policy's choice.
        t: pulls until now.
        before: those of them that were not asked for here.
    """

    policy: Policy
    core: Core | PosteriorCore
    horizon: int
    guessed: bool
    prior: tuple[float, float] | None = None
    burn_in: int = 0
    t: int = 0
    before: int = 0
    _ranks: bool = field(init=False)

    def __post_init__(self) -> None:
        self._ranks = self.policy.ranks
        self.core.follow(self._rule())  # never one from a file: it may say where code is

    def prepare(self) -> None:
        """After a copy: where an index of the user's own is may be different in another process."""
        if isinstance(self.core, Core):
            self.core.prepare(program(self.policy, self.core.engine))
        self.core.follow(self._rule())

    @property
    def arms(self) -> int:
        """How many there are."""
        return len(self.core.pulls)

    # Decisions ------------------------------------------------------------------------------------------

    def select(self) -> int:
        """The arm to pull now; it is handed out."""
        t, core = self.t, self.core
        arm: int = core.select(t) if t < self.horizon or not self.guessed else self._ahead(1, core.select, t)
        self.t = t + 1
        return arm

    def may_look(self, count: int) -> bool:
        """Whether so many arms can be chosen, handed to nobody, and that changes neither a list, nor phase I
        of a duel, which counts rounds, nor the horizon."""
        lists = not self._ranks or self.policy.played.schedule == "duel"
        return not lists and not (self.guessed and self.t + count > self.horizon)

    def pick(self, count: int, who: Eligible, hands: int) -> list[int]:
        """So many different arms of those that may be chosen, the best first; they are handed out or not."""
        if not self._ranks:
            eligible.refuse(self.policy)
        t, core = self.t, self.core
        if self.guessed and t + count > self.horizon:
            eligible.check_size(who, core, self.arms, count)  # refused before the guess is doubled
            arms: list[int] = self._ahead(count, core.pick, t, count, who, hands)
        else:
            arms = core.pick(t, count, who, hands)
        self.t = t + count if hands else t
        return arms

    def choose(self, count: int, who: Eligible, hands: int, shares: Shares, control: int | None) -> Choice:
        """The same, by the policy or somebody else; ``control`` is the control arm, if there is one."""
        if not self._ranks and (count > 1 or who != ALL or hands == NOBODY):
            eligible.refuse(self.policy)
        if self.guessed and self.t + count > self.horizon:
            shares.check(self.core, control, count, who)
        choice: Choice = self._ahead(count, shares.choose, self.core, control, self.t, count, who, hands)
        self.t += count if hands else 0
        return choice

    def chances(self, who: Eligible, shares: Shares, control: int | None) -> Chances:
        """How likely each arm is to be chosen next: asked before that decision, or just after it."""
        core = self.core
        probabilities.check(self.policy, core, mixed=shares.at_work)
        if who != ALL:
            shares.check(core, control, 1, who)
        by_policy = self._ahead(1, probabilities.before, core, self.t, who)
        return lambda arm: shares.probability(core, control, who, arm, by_policy)

    def expect_questions(self, shares: Shares) -> None:
        """Make what ``chances`` needs."""
        probabilities.check(self.policy, self.core, mixed=shares.at_work)
        probabilities.begin(self.core)

    def _ahead(self, count: int, choose: Callable[..., Any], *args: Any) -> Any:
        """Choose so many arms; a guessed horizon is ahead of all of them."""
        if not self.guessed or self.t + count <= self.horizon:
            return choose(*args)
        undo = self.checkpoint(1)
        try:
            self.reach(self.t + count)
            return choose(*args)
        except BaseException:
            if undo:
                undo()
            raise

    def select_many(self, count: int, names: Callable[[list[int]], list[Any]]) -> list[Any]:
        """So many decisions, one after the other, none of whose rewards is known: the names of their arms.
        All of them are made or, if that takes more than a moment and is interrupted, none."""
        chosen: list[Any] = []
        undo = self.checkpoint(count)
        try:
            while len(chosen) < count:
                part = count - len(chosen)
                if self.guessed:
                    self.reach(self.t + 1)
                    part = min(part, self.horizon - self.t)
                for start, end in self.core.slices(part):
                    out = np.empty(end - start, np.int64)
                    self.t += out.size  # now: an interruption is heard when the kernel has made them
                    self.core.select_many(self.t - out.size, out)
                    chosen += names(out.tolist())
        except BaseException:
            if undo:
                undo()
            raise
        return chosen

    def play(
        self, rounds: int, size: int, who: Eligible, shares: Shares, control: int | None, *, made: bool
    ) -> list[int]:
        """The arms of so many decisions, each for ``size`` of them. All are ``made``, or in the end none, as
        where one is refused or interrupted. Random numbers that were used for an answer are used up."""
        undo = self.checkpoint(checks.COUNT)
        if undo is None:
            raise AssertionError("so many decisions always have a way back")
        stay, luck = False, None
        try:
            arms = [
                arm for _ in range(rounds) for arm in self.choose(size, who, UNKNOWN, shares, control).arms
            ]
            stay, luck = made, self.core.luck
            return arms
        finally:
            if not stay:
                try:
                    undo()
                except BaseException:  # Ctrl-C on the way back: it is the same done twice
                    undo()
                    raise
                if luck is not None:
                    self.core.luck = luck

    def checkpoint(self, count: int) -> Undo | None:
        """A way back to here, should so many decisions fail or be interrupted; none if that is one slice,
        which is made whole or not at all."""
        t, horizon, core = self.t, self.horizon, self.core.checkpoint(count)

        def undo() -> None:
            self.t, self.horizon = t, horizon
            if core:
                core()

        return undo if core else None

    # Rewards --------------------------------------------------------------------------------------------

    def update(self, arm: int, reward: float) -> None:
        """A pull of this arm gave a reward. One that was not handed out is welcome too."""
        if self.core.update(self.t, arm, reward):
            self.welcome(1)

    def update_many(self, arms: Integers, rewards: Floats) -> None:
        """Many of them, in order."""
        self.welcome(self.core.update_many(self.t, arms, rewards))

    def observe(self, arm: int, reward: float) -> None:
        """A pull that somebody else decided on gave a reward. It closes no pending pull."""
        self.core.observe(self.t, arm, reward)
        self.welcome(1)

    def cancel(self, arm: int) -> bool:
        """A pull that was handed out is not made; returns whether there was one."""
        pending = int(self.core.pending[arm])
        try:
            found = self.core.cancel(arm)
        except BaseException:  # it may be heard when the kernel has done its work
            self.t -= pending - int(self.core.pending[arm])
            raise
        self.t -= found
        return found

    def forget(self, keep: float) -> None:
        """All but this share of what the arms gave."""
        forgetting.forget(self.policy, self.core, keep)

    def revise(self, arms: Integers, weight: Floats, sums: Floats, squares: Floats) -> None:
        """What is left of these arms' pulls, rewards and their squares, where somebody else keeps account of
        it."""
        forgetting.check(self.policy, self.core)
        if isinstance(self.core, Core):
            self.core.revise(arms, weight, sums, squares)

    def take_over(
        self, pulls: Integers, weight: Floats, sums: Floats, squares: Floats, pending: Integers
    ) -> None:
        """What somebody else kept account of, the pulls that are pending too, before everything else."""
        if not isinstance(self.core, Core):
            raise InvalidValue("statistics must not be given to a posterior of your own: tell it the rewards")
        if (weight != pulls).any():
            forgetting.check(self.policy, self.core)
        self.welcome(int(pulls.sum()))
        self.t += int(pending.sum())
        self.core.expect(pending)
        self.core.warm(pulls, weight, sums, squares)

    def check_learns(self, *, ranged: bool) -> None:
        """Whether it can be told sums instead of rewards; ``ranged``: these have a lowest and a highest."""
        if isinstance(self.core, PosteriorCore):
            raise InvalidValue("statistics must not be given to a posterior of your own: tell it the rewards")
        unknown = not ranged and self.core.memory.has(SQUARES)  # their squares
        if self.policy.keeps_rewards or "observed" in self.policy.played.functions() or unknown:
            raise InvalidValue(
                f"statistics must not be given to {self.policy!r}, which needs every reward: use update_many"
            )

    def learn(self, pulls: Integers, weight: Floats, sums: Floats, *, warm: bool) -> None:
        """What was learnt elsewhere; ``warm``: before everything else."""
        if isinstance(self.core, PosteriorCore):
            raise AssertionError("check_learns comes first")
        if (weight != pulls).any():
            forgetting.check(self.policy, self.core)
        total = sum(pulls.tolist())  # in Python, whose integers do not overflow
        if self.t + total > checks.COUNT:
            raise InvalidValue(
                f"statistics pulls must sum to at most {checks.COUNT - self.t}, with which there are "
                f"{checks.COUNT} in all, got {total}"
            )
        self.welcome(total)
        try:
            (self.core.warm if warm else self.core.merge)(pulls, weight, sums)
        except InvalidValue:  # an index of the user's own was not a number
            self.welcome(-total)
            raise

    def welcome(self, unasked: int) -> None:
        """Pulls that were not asked for are pulls too."""
        unasked = int(unasked)  # interpreted, it is NumPy's
        self.t += unasked
        self.before += unasked

    def catch_up(self, *, asked: bool = True) -> None:
        """After an error. Ctrl-C is heard when a kernel has done its work: then its pulls count, whether they
        were ``asked`` for here or not."""
        pulls = max(0, int(self.core.pulls.sum() + self.core.pending.sum()) - self.t)
        self.t += pulls
        self.before += 0 if asked else pulls

    # Arms -----------------------------------------------------------------------------------------------

    def add(self, priors: Floats) -> None:
        """More arms, with the next numbers: a row for each, its prior where arms have priors of their own."""
        self.core.add(priors)

    def settle(self) -> None:
        """There are more arms now, or fewer: what the policy makes of that."""
        self.core.follow(self._rule())
        if self.guessed:
            self.reach(first_guess(self.arms))

    def remove(self, arm: int) -> Moves:
        """An arm goes; returns which arms took over which numbers."""
        moves = self.core.remove(arm)
        self.core.follow(self._rule())
        return moves

    # What the policy makes of the number of arms and the horizon -----------------------------------------

    def reach(self, horizon: int) -> None:
        """Double the horizon until it is at least this, and make parameters and indices anew."""
        if self.horizon < horizon:
            while self.horizon < horizon:
                self.horizon *= 2
            self.core.turn_to(self._rule())

    def _rule(self) -> Rule:
        return rule_of(self.policy, self.arms, self.horizon, self.prior, self.burn_in)


def rule_of(policy: Policy, arms: int, horizon: int, prior: tuple[float, float] | None, burn_in: int) -> Rule:
    """A policy's numbers."""
    rule = policy.resolve(arms, horizon)._replace(burn_in=burn_in)
    return rule if prior is None else rule._replace(prior_mean=prior[0], prior_weight=prior[1])


def read_horizon(policy: Policy, arms: int, horizon: object) -> tuple[int, bool]:
    """The first horizon, and whether it is a guess, to be doubled."""
    anytime = getattr(policy, "anytime", False)
    if horizon is not None:
        horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.COUNT)
        if not anytime:
            return horizon, False
    return first_guess(arms), policy.needs_horizon


def new_player(
    policy: Policy,
    ids: Ids,
    horizon: object,
    seed: int,
    prior: tuple[float, float] | None,
    priors: Floats | None,
    pending_for: int | None,
    engine: str,
    burn_in: int,
) -> Player:
    """One that has decided nothing. ``prior`` is every arm's, or ``priors`` has a row for each; ``ids`` are
    what a posterior of the user's own is told."""
    reached, guessed = read_horizon(policy, len(ids), horizon)
    rule, law = rule_of(policy, len(ids), reached, prior, burn_in), getattr(policy, "law", "")
    if isinstance(law, Posterior):
        checks.choice("engine", engine, ("auto", "scan"))
        if prior is not None or priors is not None:
            raise InvalidValue("prior must be None with a posterior of your own, which has its own")
        core: Core | PosteriorCore = PosteriorCore(law, policy, rule, seed, ids, pending_for)
    else:
        core = new_core(policy, policy.engine_for(len(ids), engine), rule, seed, priors, pending_for)
    return Player(policy, core, reached, guessed, prior, burn_in)
