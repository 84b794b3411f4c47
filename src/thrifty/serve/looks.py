"""What is known of an experiment's arms: how likely each is the best, and densities; means with intervals
where the policy has no law.

It is computed beside decisions, in another thread, on a copy of the numbers that is made some arms at a time:
nothing waits for it, as kernels release the interpreter.
"""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from thrifty.arrays import Floats, Integers
from thrifty.errors import ThriftyError
from thrifty.online import known, outlook
from thrifty.online.core import Core
from thrifty.online.ids import Ids
from thrifty.online.player import new_player, rule_of
from thrifty.online.rewards import Rewards
from thrifty.policies import Policy
from thrifty.serve.arms import in_units, needs_singles
from thrifty.serve.clock import SECOND
from thrifty.serve.intervals import Sums, interval
from thrifty.serve.messages import Definition

LEADING = 6  # arms that are shown
TOGETHER = 10_000  # arms that are copied at a time
SHARE = 0.01  # of the time of a core, for all experiments
PAUSE = 5.0  # seconds between looks, at least, if periods are not shorter
REST = 60.0  # seconds after one that failed
# The thread's priority, as in nice. Not more: who has the interpreter and waits for the processor, which some
# other program takes, holds up everybody. With 10 that was 320 ms, with 5 no more than with 0, 50 ms.
YIELDING = 5
NOTE = (
    "insert into outlooks values (?, ?, ?, ?, ?) on conflict do update set "
    "arm = excluded.arm, probability = excluded.probability, loss = excluded.loss"
)


class Numbers(NamedTuple):
    """What is left of the pulls, of the sums and of the squares of arms that may be chosen."""

    serials: Integers
    pulls: Integers
    weight: Floats
    sums: Floats
    squares: Floats

    def of(self, some: Integers) -> "Numbers":
        serials, pulls, *left = self
        return Numbers(serials[some], pulls[some], *(column[some] for column in left))


class Look(NamedTuple):
    """What was known at a time, of the arms that lead; the best first. Lists are empty without a law, and
    intervals with one."""

    at: int  # microseconds since 1970
    arms: list[int]
    known: int  # of how many arms something was,
    there: int  # of so many
    probabilities: list[float]
    losses: list[float]
    x: list[float]
    densities: list[list[float]]
    intervals: list[tuple[float, float, float]]  # mean, low, high


class Watch:
    """When an experiment is to be looked at again, and what was seen."""

    def __init__(self) -> None:
        self.look: Look | None = None
        self.noted = 0  # the period of which it is in the store
        self._seen: object = None
        self._next = 0.0

    def is_due(self, state: object) -> bool:
        """Whether anything changed, and there is time."""
        return state != self._seen and time.monotonic() >= self._next

    def saw(self, look: Look, state: object, took: float, others: int, period: int) -> None:
        """A look took so many seconds of a processor; with ``others`` the time is shared."""
        self.look, self._seen = look, state
        self._next = time.monotonic() + max(min(PAUSE, period), took * others / SHARE)

    def failed(self) -> None:
        """It is tried again, but not every second: it may fail for long."""
        self._next = time.monotonic() + REST


async def copied(experiment: Any, now: int) -> Numbers:
    """The numbers of an experiment's arms, each arm's of one moment."""
    roster, tally = experiment.roster, experiment.tally
    serials = roster.serials()
    if roster.paused:
        serials = serials[~np.isin(serials, np.fromiter(roster.paused, np.int64))]
    numbers = Numbers(serials, np.empty(serials.size, np.int64), *(np.empty(serials.size) for _ in range(3)))
    for i in range(0, serials.size, TOGETHER):
        some = serials[i : i + TOGETHER]
        for column, part in zip(numbers[1:], (tally.pulls[some], *tally.left(some, now)), strict=True):
            column[i : i + TOGETHER] = part
        await asyncio.sleep(0)
    return numbers


async def beside(work: Callable[[], Any]) -> tuple[Any, float]:
    """What some work returns, done in a thread that nobody waits for at the end, and the seconds of processor
    time that it took."""
    loop, answer = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if not answer.done():
            answer.set_exception(error) if error is not None else answer.set_result(result)

    def run() -> None:
        if sys.platform == "linux":  # where a thread has a priority of its own
            os.setpriority(os.PRIO_PROCESS, 0, max(os.getpriority(os.PRIO_PROCESS, 0), YIELDING))
        begun, result, error = time.thread_time(), None, None
        try:
            result = work()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, (result, time.thread_time() - begun), error)

    threading.Thread(target=run, name="thrifty-look", daemon=True).start()
    return await answer  # type: ignore[no-any-return]


def look(policy: Policy, definition: Definition, engine: str, numbers: Numbers, now: int) -> Look:
    """What is known by these numbers. ``engine`` is the one at work, whose kernels are there."""
    rewards, law = Rewards(policy, definition.reward_range), policy.played.drawn_from
    prior, _ = known.read_prior(definition.prior, numbers.serials.size, rewards)
    least = 0.0 if law is None else law.least
    counts = numbers.weight + (prior[1] if prior else 0.0)
    some = np.flatnonzero((numbers.pulls > 0) | (counts > 0.0) & (prior is not None))
    if law is not None:
        some = some[counts[some] > least]
    there, numbers = numbers.serials.size, numbers.of(some)
    if law is None or needs_singles(policy) or some.size < 2:
        return _measured(rewards, numbers, there, now)
    player = new_player(
        policy, Ids(some.size), definition.horizon, 0, prior, None, None, engine, definition.burn_in
    )
    rule = rule_of(policy, some.size, player.horizon, prior, definition.burn_in)
    player.core.follow(rule._replace(temper=1.0))  # what is known, whatever the policy makes of it to explore
    left = in_units(rewards, numbers.pulls, numbers.weight, numbers.sums, numbers.squares)
    player.take_over(numbers.pulls, *left, np.zeros(some.size, np.int64))
    core = player.core
    assert isinstance(core, Core)
    arms, chances, losses = outlook.look(core, law, None)
    arms, chances, losses = arms[:LEADING], chances[:LEADING], losses[:LEADING]
    edges, densities = outlook.densities(core, law, arms)
    x = rewards.zero + rewards.width * 0.5 * (edges[:-1] + edges[1:])
    return Look(
        now,
        numbers.serials[arms].tolist(),
        some.size,
        there,
        chances.tolist(),
        (rewards.width * losses).tolist(),
        x.tolist(),
        (densities / rewards.width).tolist(),
        [],
    )


def _measured(rewards: Rewards, numbers: Numbers, there: int, now: int) -> Look:
    """Means with intervals, of the arms that were pulled most."""
    pulled = int(np.count_nonzero(numbers.pulls))
    count = min(LEADING, pulled)
    best = np.argpartition(-numbers.pulls, count - 1)[:count] if count else np.zeros(0, np.int64)
    best = best[np.lexsort((numbers.serials[best], -numbers.pulls[best]))]
    whole = Sums(*(float(column.sum()) for column in numbers[2:])).side(rewards) if pulled else None
    found = [
        interval(Sums(*(float(column[i]) for column in numbers[2:])), whole, rewards) for i in best if whole
    ]
    return Look(now, numbers.serials[best].tolist(), pulled, there, [], [], [], [], found)


def rehearse(policy: Policy, engine: str) -> None:
    """Look at two arms: all that it takes is compiled then, or loaded."""
    one = np.array([1, 2])
    prior = (0.5, 1.0) if policy.needs_prior else None
    definition = Definition(policy={}, arms=2, prior=prior)
    with suppress(ThriftyError):  # nobody can tell, or a law of the operator's own is none
        look(policy, definition, engine, Numbers(one, 3 * one, 3.0 * one, 1.0 * one, 1.0 * one), 0)


def note(experiment: int, now: int, period: int, look: Look) -> list[tuple[str, tuple[Any, ...]]]:
    """What is kept of a look, by the period of so many seconds; nothing without a law, or if one of the
    operator's own gives no numbers, which a store does not take."""
    values = (*look.arms[:1], *look.probabilities[:1], *look.losses[:1])
    if not look.probabilities or not np.isfinite(values).all():
        return []
    return [(NOTE, (experiment, now // (period * SECOND), *values))]
