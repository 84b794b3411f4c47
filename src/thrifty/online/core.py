"""The compiled side of a bandit: a block of memory, and the kernels that work on it.

Arms are numbers here, rewards are in the unit of the policy, and everything has been checked.
"""

import struct
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.engines.entries import NOBODY, STRANGER
from thrifty.engines.kinetic import OPEN, UNTIL
from thrifty.engines.memory import Memory, Rule, policy_stream, roomy
from thrifty.engines.sleepers import line
from thrifty.errors import InvalidValue
from thrifty.online import eligible, levels
from thrifty.online.eligible import ALL, Eligible, Unread
from thrifty.policies import Policy
from thrifty.policies.program import Program, program
from thrifty.slices import MOST, REWARDS, cost, slices
from thrifty.state import history, ranks, young
from thrifty.state.bars import RESTING
from thrifty.state.fading import FADING
from thrifty.state.statistics import HANDED

Moves = list[tuple[int, int]]  # arms that took over numbers, each (from, to)
FIRST_CAPACITY = 1000  # rewards that there is room for at first, where all are kept; it grows
FEW = 64  # numbers of arms that are written at once; more take an array of them
WRITE = [struct.Struct(f"{count}q").pack_into for count in range(FEW + 1)]  # so many numbers, into a room
WRONG = (struct.error, TypeError, ValueError, OverflowError)  # what is no number, or too many of them


def _write(room: memoryview, start: int, *numbers: int) -> None:
    """The same for any number of them."""
    room[start : start + len(numbers)] = array("q", numbers)


def new_core(
    policy: Policy, engine: str, rule: Rule, seed: int, priors: Floats | None, pending_for: int | None
) -> "Core":
    """The core of a bandit that has decided nothing; ``priors`` has a row (mean, weight) for each arm."""
    check_told(policy)
    playing = program(policy, engine)
    beside = playing.online if pending_for is None else (*playing.online, young.YOUNG)
    sizes = {"ring": young.words(pending_for)}
    if policy.keeps_rewards:
        sizes["history"] = history.entries(rule.arms, min(rule.horizon, FIRST_CAPACITY))
    memory = playing.memory(rule, policy_stream(seed, 0), priors, beside, sizes, roomy(rule.arms))
    memory.touch()
    return core_of(playing, memory, engine)


def check_told(policy: Policy) -> None:
    """Nobody can tell a bandit what arms really pay."""
    if policy.told:
        raise InvalidValue(f"{policy!r} is told the problem, so it plays in simulate alone: here is none")


def core_of(playing: Program, memory: Memory, engine: str) -> "Core":
    """The core around a memory."""
    policy = playing.policy.played
    ours = all(checks.is_ours(type(part)) for part in (policy, policy.drawn_from) if part)
    return (Core if ours else OwnCore)(playing, memory, engine)


class Core:
    """The arms' statistics and indices, and who is chosen next."""

    is_own = False  # whether the index is one of the user's own

    def __init__(self, playing: Program, memory: Memory, engine: str) -> None:
        self.memory, self.engine = memory, engine
        self.prepare(playing)

    def prepare(self, playing: Program) -> None:
        """Compile, or load, what every bandit needs, and tell the memory where it is."""
        self._program = playing
        self._ready: dict[str, Any] = {}
        self.memory.write(playing.hooks)
        levels.attach(self.memory, playing)
        again = ("rebuild",) if playing.policy.needs_horizon else ()  # whenever a guess of it is doubled
        playing.compile(self.memory, *again, "select", "update")
        self._select, self._update = playing.called("select"), playing.called("update")

    def load(self, *names: str) -> None:
        """Compile, or load, these entries now, and not when they are first needed."""
        for name in names:
            self._entry(name)

    def _entry(self, name: str) -> Any:
        """What not every bandit needs."""
        if name not in self._ready:
            self._program.compile(self.memory, name)
            self._ready[name] = self._program.called(name)
        return self._ready[name]

    def __getstate__(self) -> dict[str, Any]:
        """For copies. Where functions are may be different there: ``prepare`` has to follow."""
        apart = ("_program", "_select", "_update", "_ready")
        return {name: value for name, value in vars(self).items() if name not in apart}

    @property
    def has_priors(self) -> bool:
        """Whether each arm has a prior of its own."""
        return bool(self.memory.field("prior").size)

    @property
    def program(self) -> Program:
        return self._program

    @property
    def policy(self) -> Policy:
        return self._program.policy

    @property
    def pulls(self) -> Integers:
        return self.memory.field("pulls")

    @property
    def weight(self) -> Floats:
        """What is left of the pulls."""
        return self.memory.field("faded") if self.memory.has(FADING) else self.pulls.astype(float)

    @property
    def sums(self) -> Floats:
        return self.memory.field("sums")

    @property
    def draws(self) -> Integers:
        return self._program.draws(self.memory)

    @property
    def evaluations(self) -> int:
        """What the engine really drew, and not what the algorithm calls for."""
        lines = ("evaluations", *(("reserve_evaluations",) if self.memory.has(line.RESERVE) else ()))
        return sum(int(self.memory.field(name)[0]) for name in lines)

    @property
    def pending(self) -> Integers:
        return self.memory.field("pending")[:, 0]

    @property
    def tokens(self) -> Integers:
        """How many of an arm's pending pulls have an id."""
        return self.memory.field("tokens")

    def checkpoint(self, count: int) -> Callable[[], None] | None:
        """A way back to here, should so many decisions fail or be interrupted; none if it is one slice, which
        is made whole or not at all."""
        return self._way_back() if count > 0 and self._work(count) > MOST else None

    def _way_back(self) -> Callable[[], None]:
        memory, saved = self.memory, self.memory.copy()

        def back() -> None:
            saved.field("functions")[:] = self.memory.field("functions")  # some were compiled meanwhile
            memory.block[:] = saved.block
            self.memory = memory

        return back

    def slices(self, count: int) -> Iterator[tuple[int, int]]:
        """Where to cut so many decisions, for ``select``."""
        if self._work(count) <= MOST:
            yield 0, count
            return
        new, kept = min(count, self._new), self.memory.field("used")
        yield from slices(0, new, self._cheap)
        yield from slices(new, count, self._cost, (lambda: int(kept[0])) if kept.size else None)

    def _work(self, count: int) -> float:
        """How much so many decisions are, roughly, in arms looked at."""
        each = self._cost + int(self.memory.field("used").sum()) / REWARDS
        if count * each <= MOST:
            return count * each
        return min(count, self._new) * self._cheap + max(0, count - self._new) * each

    @property
    def _new(self) -> int:
        """How many arms are handed out next without a choice."""
        if self.memory.field("waiting")[0] == 0 or not self.memory.state.rule.first:
            return 0
        rest = slice(self.memory.field("count")[HANDED], None)
        return int(np.count_nonzero((self.weight[rest] == 0.0) & (self.pending[rest] == 0)))

    def select(self, t: int) -> int:
        """The arm to pull, t pulls having been made."""
        return self._select(self.memory.block, t)  # type: ignore[no-any-return]

    def select_many(self, t: int, out: Integers) -> int:
        """Fill ``out`` with decisions, the first of them after t pulls. Returns how many there are."""
        return int(self._entry("select_many")(self.memory.block, t, out))

    def update(self, t: int, arm: int, reward: float) -> int:
        """A reward, after t pulls. Returns 1 if its pull was not handed out, else 0."""
        new = self._update(self.memory.block, t, arm, reward)
        while new < 0:
            self.memory = self.memory.grown(self.memory.capacity)
            new = self._update(self.memory.block, t, arm, reward)
        return new  # type: ignore[no-any-return]

    def update_many(self, t: int, arms: Integers, rewards: Floats) -> int:
        """Many of them. Returns of how many the pull was not handed out."""
        update = self._entry("update_many")
        done, unasked = update(self.memory.block, t, arms, rewards)
        while done < arms.size:
            self.memory = self.memory.grown(self.memory.capacity)
            more, others = update(self.memory.block, t, arms[done:], rewards[done:])
            done, unasked = done + more, unasked + others
        return int(unasked)

    def uniform(self, t: int, count: int, who: Eligible, hands: int = NOBODY) -> list[int]:
        """``pick``, uniformly at random."""
        return self.pick(t, count, who, hands, "uniform")

    def pick(self, t: int, count: int, who: Eligible, hands: int = NOBODY, entry: str = "pick") -> list[int]:
        """``count`` different arms, the best first, of those that may be chosen. ``hands``: NOBODY, or how
        they are handed out, the first after t pulls."""
        memory, listed, left = self.memory, 0, 0
        if who is not ALL:
            among, exclude = who
            try:
                if exclude:
                    left = len(exclude)
                    (WRITE[left] if left <= FEW else _write)(memory.rooms["left"], 0, *exclude)
                if among:
                    listed = len(among)
                    (WRITE[listed] if listed <= FEW else _write)(memory.rooms["listed"], 0, *among)
            except WRONG:
                raise Unread from None
            if among is not None and not listed:
                raise eligible.too_few(count, 0, memory.arms, self.resting)
        ready = self._ready.get(entry) or self._entry(entry)
        best: int = ready(memory.block, t, listed, left, count, hands)
        if best < -1:
            if best == STRANGER:
                raise Unread
            raise eligible.too_few(count, -2 - best, memory.arms, self.resting)
        return [best] if count == 1 else memory.rooms["slate"][:count].tolist()

    def chance(self) -> float:
        """A uniform number in [0, 1)."""
        return float(self._entry("chance")(self.memory.block))

    def take(self, t: int) -> int:
        """``select``, of a pull that has an id."""
        return int(self._entry("take")(self.memory.block, t))

    def redeem(self, t: int, arm: int, reward: float) -> None:
        """The reward of a pull that has an id, after t pulls."""
        self._take("redeem", t, arm, reward)

    def observe(self, t: int, arm: int, reward: float) -> None:
        """The reward of somebody else's pull, after t pulls."""
        self._take("observe", t, arm, reward)

    def _take(self, name: str, t: int, arm: int, reward: float) -> None:
        entry = self._entry(name)
        while entry(self.memory.block, t, arm, reward) < 0:
            self.memory = self.memory.grown(self.memory.capacity)

    @property
    def paused(self) -> Any:
        """Which arms are, as an array of truth values."""
        return self.memory.field("barred") > 0

    def is_paused(self, arms: Any) -> Any:
        """Whether this arm is, or which of these."""
        return self.memory.field("barred")[arms] > 0

    @property
    def resting(self) -> int:
        """How many arms are paused."""
        return int(self.memory.field("bars")[RESTING])

    def pause(self, arm: int) -> None:
        """An arm that is not paused may not be chosen any more."""
        self._entry("pause")(self.memory.block, arm)
        levels.seat(self.memory, arm)

    def resume(self, arm: int) -> None:
        """An arm that is paused may be chosen again."""
        self._entry("resume")(self.memory.block, arm)
        levels.seat(self.memory, arm)

    def cancel(self, arm: int, *, known: bool = False) -> bool:
        """A pull that was handed out is not made; returns whether there was one. ``known``: it has an id."""
        return bool(self._entry("cancel")(self.memory.block, arm, int(known)))

    @property
    def luck(self) -> Any:
        """Where in its random numbers it is."""
        return self.memory.field("rng").copy()

    @luck.setter
    def luck(self, where: Any) -> None:
        self.memory.field("rng")[:] = where

    def reseed(self, seed: int) -> None:
        """Other random numbers from now on. Indices that were drawn stay."""
        self.luck = policy_stream(seed, 0)

    def expect(self, pending: Integers) -> None:
        """So many pulls of each arm were handed out before; ``warm`` has to follow."""
        self.pending[:] += pending

    def warm(self, pulls: Integers, weight: Floats, sums: Floats, squares: Floats | None = None) -> None:
        """Statistics of before: pulls of each arm, what is left of them, and the sums of their rewards and of
        the squares of these, or None if nobody knows."""
        self._add(pulls, weight, sums, squares)
        self.begin()

    def merge(self, pulls: Integers, weight: Floats, sums: Floats) -> None:
        """The same later on: arms of whose pulls nothing is left among these keep their indices."""
        renew = self._entry("renew")
        self._add(pulls, weight, sums)
        renew(self.memory.block, np.flatnonzero(weight))

    def _add(self, pulls: Integers, weight: Floats, sums: Floats, squares: Floats | None = None) -> None:
        if (weight != pulls).any():
            self._fade()
        state = self.memory.state
        state.pulls[:] += pulls
        state.faded[:] += weight[: state.faded.size]
        state.sums[:] += sums
        if state.waiting[0] > 0:
            state.waiting[0] = np.count_nonzero(self.weight == 0.0)
        largest = sums if squares is None else squares  # that rewards in [0, 1] can have
        state.squares[:] += largest[: state.squares.size]
        if state.weights.size:
            state.weights[:] += pulls
            self.memory.rebuild(ranks.RANKS)

    def forget(self, keep: float) -> None:
        """All but this share of what the arms gave."""
        forget = self._entry("forget")
        self._fade()
        levels.spoil(self.memory)
        forget(self.memory.block, keep)

    def revise(self, arms: Integers, weight: Floats, sums: Floats, squares: Floats) -> None:
        """Of the pulls of these arms, each of which gave a reward, so much is left from now on, and of the
        sums of their rewards and of the squares of these."""
        renew = self._entry("renew")
        self._fade()
        state = self.memory.state
        if state.squares.size:
            state.squares[arms] = squares
        state.faded[arms], state.sums[arms] = weight, sums
        renew(self.memory.block, arms)

    def _fade(self) -> None:
        """From now on, what is left of the pulls is kept beside them."""
        if not self.memory.has(FADING):
            self.memory = self.memory.grown(self.memory.capacity, also=(FADING,))
            self.memory.field("faded")[:] = self.pulls

    def restore(self) -> None:
        """Statistics came from a file: make what follows from them."""
        self._entry("restore")(self.memory.block)
        self.memory.rebuild()
        if self.resting:
            self.load("pause")

    def begin(self) -> None:
        """Make everything that is kept for an arm anew."""
        levels.spoil(self.memory)
        self._entry("rebuild")(self.memory.block)

    def turn_to(self, rule: Rule) -> None:
        """Another rule from now on: what is kept for an arm is made anew, at once or, with very many arms, in
        the next decisions."""
        former = self.memory.state.rule.temper
        self.follow(rule)
        if self.memory.turn_stale(former):
            self._program.compile(self.memory)
        else:
            self.begin()

    def follow(self, rule: Rule) -> None:
        """Another rule from now on, without making anything anew."""
        self.memory.write(rule)
        self._cost = cost(rule, looks_at_all=self.engine == "scan")
        self._cheap = cost(rule, looks_at_all=False)

    def add(self, priors: Floats) -> None:
        """More arms, with the next numbers: a row for each, its prior where arms have priors of their own."""
        add, memory, more = self._entry("add"), self.memory, len(priors)
        arms, spans = memory.arms, memory.field("history")
        entries = history.LEAST * more if len(spans) else 0
        if arms + more > memory.capacity:
            self.memory = memory.grown(max(2 * arms, arms + more), entries)
            self.memory.touch()
        elif len(spans) and memory.field("used")[0] + entries > len(spans):
            self.memory = memory.grown(memory.capacity, entries)
        self.memory.resize(arms + more)
        if arms < line.MANY <= arms + more:
            self._program.compile(self.memory)
        add(self.memory.block, priors)

    def reserve(self, rewards: int) -> None:
        """Where each reward is kept, there is room for so many more, as a simulated run does not look: spans
        that an arm gets take less than 4 entries for each of its different rewards, those of before too."""
        memory = self.memory
        if memory.has(history.HISTORY):
            need = 4 * (int(memory.field("spans")[:, history.SIZE].sum()) + rewards)
            if memory.field("used")[0] + need > len(memory.field("history")):
                self.memory = memory.grown(memory.capacity, need + need // 4)

    def remove(self, arm: int) -> Moves:
        """An arm goes; returns which arms took over which numbers."""
        remove = self._entry("remove")
        levels.leave(self.memory, arm)
        first, to, last, hole = map(int, remove(self.memory.block, arm))
        self.memory.resize(last)
        return [(first, to), (last, hole)]


class OwnCore(Core):
    """The same for a policy or a law of the user's own, whose index may not be a number: then nothing has
    changed."""

    is_own = True

    def checkpoint(self, count: int) -> Callable[[], None]:
        return self._way_back()

    def select(self, t: int) -> int:
        with self._whole(f" after {t} pulls"):
            return super().select(t)

    def take(self, t: int) -> int:
        with self._whole(f" after {t} pulls"):
            return super().take(t)

    def select_many(self, t: int, out: Integers) -> int:
        back = self._way_back()
        made = super().select_many(t, out)
        self._refuse(back, f" after {t + made} pulls")
        return made

    def update(self, t: int, arm: int, reward: float) -> int:
        with self._whole(f" after {t} pulls"):
            return super().update(t, arm, reward)

    def update_many(self, t: int, arms: Integers, rewards: Floats) -> int:
        with self._whole(f" after {t} pulls"):
            return super().update_many(t, arms, rewards)

    def pick(self, t: int, count: int, who: Eligible, hands: int = NOBODY, entry: str = "pick") -> list[int]:
        with self._whole(f" after {t} pulls"):
            return super().pick(t, count, who, hands, entry)

    def resume(self, arm: int) -> None:
        with self._whole():
            super().resume(arm)

    def _take(self, name: str, t: int, arm: int, reward: float) -> None:
        with self._whole(f" after {t} pulls"):
            super()._take(name, t, arm, reward)

    def cancel(self, arm: int, *, known: bool = False) -> bool:
        with self._whole():
            return super().cancel(arm, known=known)

    def warm(self, pulls: Integers, weight: Floats, sums: Floats, squares: Floats | None = None) -> None:
        with self._whole():
            super().warm(pulls, weight, sums, squares)

    def merge(self, pulls: Integers, weight: Floats, sums: Floats) -> None:
        with self._whole():
            super().merge(pulls, weight, sums)

    def forget(self, keep: float) -> None:
        with self._whole():
            super().forget(keep)

    def begin(self) -> None:
        with self._whole():
            super().begin()

    def add(self, priors: Floats) -> None:
        with self._whole():
            super().add(priors)
            self._compare_anew()

    def remove(self, arm: int) -> Moves:
        moves = super().remove(arm)
        self._compare_anew()
        return moves

    def _compare_anew(self) -> None:
        """Every index may have changed that is not kept, as it may ask for ``self.arms``."""
        if self.engine == "kinetic":
            self.memory.field("computed")[:] = 0
            self.memory.field("races")[:, UNTIL:] = OPEN

    @contextmanager
    def _whole(self, when: str = "") -> Iterator[None]:
        back = self._way_back()
        try:
            yield
        except InvalidValue:  # a call inside of this one was refused
            back()
            raise
        self._refuse(back, when)

    def _refuse(self, back: Callable[[], None], when: str) -> None:
        """Go back if an index was not a number."""
        if self.memory.field("fault")[0]:
            back()
            raise InvalidValue(
                f"the index of {self._program.policy!r} must be a number, got NaN or an error{when}"
            )
