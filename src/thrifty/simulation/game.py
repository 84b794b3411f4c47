"""One run of one policy: its memory, the problem that is in force, and who plays the rounds.

Rounds are played by one kernel, a slice at a time. Where the policy or the problem is plain Python they are
played here, one by one: same seed, same numbers.
"""

from typing import Any

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.engines import late, shares, trace
from thrifty.engines.memory import Memory, Rule, delay_stream, policy_stream, reward_stream
from thrifty.errors import InvalidType, InvalidValue
from thrifty.numerics import random
from thrifty.online.core import Core, core_of
from thrifty.policies import FixedArm
from thrifty.problems import REWARDS, Problem
from thrifty.problems.compiled import RANGES, WORDS_FOR
from thrifty.simulation import plain
from thrifty.simulation.plan import Plan
from thrifty.simulation.timeline import Stretch
from thrifty.state.statistics import NO_REWARD

SMALL = 2**16  # words of a memory that is kept to be copied
NO_STREAM = np.zeros(random.WORDS, np.uint64)


class Game:
    """A run of the policy with this number, before its first round."""

    def __init__(self, ready: Plan, p: int, run: int) -> None:
        settings, size = ready.settings, ready.settings.problem.size
        self.policy, self.label, self.problem = ready.policies[p], settings.labels[p], settings.problem
        self.rule = ready.stages[p][0][1]
        self._former = self.rule.temper
        self._program, self._engine = ready.program(p), settings.engines[p]
        self.stepwise = ready.is_stepwise(p)
        self._control_arm = settings.control_arm
        self._others = settings.others != ""
        self.memory = self._blank(ready, p)
        state = self.memory.state
        state.rng[:] = policy_stream(settings.seed, run)
        state.reward_rng[:] = reward_stream(settings.seed, run)
        state.delay_rng[:] = delay_stream(settings.seed, run)
        self.who = np.arange(size)  # the problem's number of each arm that is there
        self._gone = np.zeros((2, size), np.int64)  # pulls and draws of arms that went
        self._problem, self._horizon = settings.problem, settings.horizon
        self._core: Core | None = None
        self._player = None
        if plain.is_plain(self.policy):
            self._player = plain.Player(self.policy, size, self.rule.horizon, settings.seed, run)
        if self.stepwise:
            self._rng = np.random.default_rng((settings.seed, run, 1))

    def _blank(self, ready: Plan, p: int) -> Memory:
        """The memory before the first round, but for the streams. All runs of a policy begin alike, and to
        copy a small one is faster than to lay it out."""
        if p in ready.memories:
            return ready.memories[p].copy()
        delays, moments = ready.settings.delay.late(), ready.checkpoints.size
        sizes = {"checkpoints": moments, "regret": moments} | delays.sizes
        beside = (trace.TRACE, trace.PROBLEM, late.LATE, shares.SHARES)
        memory = self._program.memory(self.rule, NO_STREAM, None, beside, sizes)
        memory.state.shares[:] = ready.settings.control, ready.settings.floor
        memory.state.checkpoints[:] = ready.checkpoints
        delays.write(memory.state, NO_STREAM)
        steps = ("pull", "send", "arrive", *(("ahead",) if self._others else ()))
        self._program.compile(memory, *(steps if self.stepwise else ("play",)))
        if memory.block.size <= SMALL:
            ready.memories[p] = memory.copy()
        return memory

    # What comes and goes ------------------------------------------------------------------------------

    def follow(self, rule: Rule) -> None:
        """Another rule from now on."""
        self.rule, self._former = rule, self.memory.state.rule.temper
        if self.who.size != rule.arms:
            rule = self._program.policy.resolve(self.who.size, rule.horizon)._replace(
                prior_mean=rule.prior_mean, prior_weight=rule.prior_weight, burn_in=rule.burn_in
            )
        self.memory.write(rule)

    def enter(self, stretch: Stretch) -> None:
        """Another problem is in force from now on."""
        self._check(stretch)
        self._problem, arms = stretch.problem, stretch.arms
        there = np.flatnonzero(~np.isnan(arms.gaps))
        if there.size != self.who.size or not np.array_equal(there, np.sort(self.who)):
            self._populate({*there.tolist()})
        who, sizes = self.who, {"values": arms.values.size}
        if stretch.params is not None and stretch.gaps is not None:
            sizes |= {"track": stretch.params.size, "losses": stretch.gaps.size}
        if any(size > len(self.memory.field(name)) for name, size in sizes.items()):
            self._set_memory(self.memory.grown(self.memory.capacity, sizes=sizes))
        memory = self.memory
        if self._control_arm is not None:
            memory.field("control_arm")[:] = np.flatnonzero(who == self._control_arm)
        memory.field("pull")[0] = arms.address
        memory.field("arms")[:] = arms.params[who]
        memory.field("gaps")[:] = arms.gaps[who]
        memory.field("values")[: arms.values.size] = arms.values
        memory.field("track_start")[0] = -1
        if stretch.params is not None and stretch.gaps is not None:
            memory.field("track_start")[0] = stretch.start
            _fill(memory.field("track"), stretch.params[:, who])
            _fill(memory.field("losses"), stretch.gaps[:, who])

    def _check(self, stretch: Stretch) -> None:
        """What only now is known of the problem fits to what was planned."""
        problem, planned, size = stretch.problem, self.problem, self._gone.shape[1]
        if stretch.arms.gaps.size != size:
            raise InvalidValue(f"expectations of {problem.kind} must be {size}, as before, got more or fewer")
        where = f"round {stretch.start + 1}"
        if REWARDS.index(problem.rewards) > REWARDS.index(planned.rewards):
            raise InvalidValue(
                f"rewards must be {planned.rewards} in {where}, as they are in round 1, got {problem.rewards}"
            )
        if isinstance(self.policy, FixedArm) and np.isnan(stretch.arms.gaps[self.policy.arm]):
            raise InvalidValue(
                f"the arm of {self.policy!r} must be there in every round, and is not in {where}"
            )
        if self._control_arm is not None and np.isnan(stretch.arms.gaps[self._control_arm]):
            raise InvalidValue(f"control_arm must be there in every round, and is not in {where}")
        if problem.compiled != planned.compiled:
            raise InvalidValue(f"problems must be compiled in all rounds or in none, got another in {where}")

    def _populate(self, there: set[int]) -> None:
        """Arms go, and others come."""
        core = self.core
        where = {arm: i for i, arm in enumerate(self.who.tolist())}
        going, coming = sorted(where.keys() - there), sorted(there - where.keys())
        if self._player:
            for event, arms in (("leave", going), ("enter", coming)):
                for arm in arms:
                    self._player.tell(event, arm)
        numbers = [where[arm] for arm in going]
        self._gone[:, going] += core.pulls[numbers], core.draws[numbers]
        senders = core.memory.field("late_arm")
        for arm in going:
            senders[senders == where[arm]] = -1  # late rewards of an arm that went are dropped
            for number, to in core.remove(where.pop(arm)):
                if number != to:
                    senders[senders == number] = to
                    self.who[to] = self.who[number]
                    where[int(self.who[to])] = to
        self.who = np.append(self.who[: len(where)], np.array(coming, np.int64))
        if coming:
            core.add(np.full((len(coming), 2), (self.rule.prior_mean, self.rule.prior_weight)))
            core.reserve(self._horizon - int(self._gone[0].sum() + core.pulls.sum()))
        self.memory = core.memory
        self.follow(self.rule)

    @property
    def core(self) -> Core:
        """What a bandit has too."""
        if self._core is None:
            self._core = core_of(self._program, self.memory, self._engine)
        return self._core

    def _set_memory(self, memory: Memory) -> None:
        self.memory = memory
        if self._core is not None:
            self._core.memory = memory

    # Rounds ---------------------------------------------------------------------------------------------

    def play(self, start: int, stop: int, *, anew: bool) -> None:
        """Rounds ``start`` to ``stop`` - 1. ``anew``: the rule is new, so that whatever is kept for an arm is
        made again first, or in the next rounds if arms are very many."""
        if anew and start > 0 and self.memory.turn_stale(self._former):
            self._program.compile(self.memory)
            anew = False
        if self.stepwise:
            self._step(start, stop, anew=anew)
            return
        played = self._program.entry("play")(self.memory.block, start, stop, anew)
        if played < stop and self.memory.field("fault")[0] == NO_REWARD:
            raise InvalidValue(
                f"the reward of {self._problem.kind} must be {WORDS_FOR[self._problem.rewards]}, got another "
                f"number or an error in round {played + 1}"
            )
        if played < stop:
            raise InvalidValue(
                f"the index of {self.label} must be a number, got NaN or an error in round {played + 1}"
            )

    def _step(self, start: int, stop: int, *, anew: bool) -> None:
        core, player, who = self.core, self._player, self.who
        send, arrive, ahead = map(self._program.entry, ("send", "arrive", "ahead"))
        if anew:
            core.begin()
        where = {arm: i for i, arm in enumerate(who.tolist())}
        arms, rewards = core.memory.field("late_arm"), core.memory.field("late_reward")
        for t in range(start, stop):
            i = ahead(core.memory.block, t) if self._others else -1
            if i < 0:
                i = core.select(t) if player is None else where.get(player.select(t + 1), -1)
            if i < 0:
                raise InvalidValue(
                    f"select of {self.label} must return an arm that is there, in round {t + 1}"
                )
            block = core.memory.block
            send(block, t, i, self._pull(block, t, i))
            entry = arrive(block, t)
            while entry >= 0:
                i, reward = int(arms[entry]), float(rewards[entry])
                if i >= 0:
                    core.update(t, i, reward)
                    if player is not None:
                        player.update(int(who[i]), reward)
                if core.memory.block is not block:  # it has grown
                    block = core.memory.block
                    arms, rewards = core.memory.field("late_arm"), core.memory.field("late_reward")
                entry = arrive(block, t)
        self.memory = core.memory

    def _pull(self, block: Integers, t: int, i: int) -> float:
        problem = self._problem
        if problem.compiled:
            reward = float(self._program.entry("pull")(block, t, i))
            right = self.memory.field("fault")[0] != NO_REWARD
        else:
            reward = _number(problem, problem.reward(int(self.who[i]), self._rng))
            low, high = RANGES[problem.rewards]
            right = low <= reward <= high and (problem.rewards != "binary" or reward in (0.0, 1.0))
        if not right:
            raise InvalidValue(
                f"the reward of {problem.kind} must be {WORDS_FOR[problem.rewards]}, got {reward!r} in round "
                f"{t + 1}"
            )
        return reward

    # What is left behind --------------------------------------------------------------------------------

    @property
    def regret(self) -> Floats:
        return self.memory.field("regret").copy()

    @property
    def pulls(self) -> Integers:
        """Of each arm of the problem."""
        return self._of_all(0, self.memory.field("pulls"))

    @property
    def draws(self) -> Integers:
        return self._of_all(1, self._program.draws(self.memory))

    def _of_all(self, which: int, numbers: Integers) -> Integers:
        every: Integers = self._gone[which].copy()
        every[self.who] += numbers
        return every

    @property
    def evaluations(self) -> int:
        return int(self.memory.field("evaluations")[0])


def _fill(field: Any, numbers: Floats) -> None:
    field[: numbers.size] = numbers.ravel()


def _number(problem: Problem, value: object) -> float:
    try:
        return float(checks.number(f"the reward of {problem.kind}", value))
    except InvalidType:
        if isinstance(value, np.bool_ | bool):
            return float(value)
        raise
