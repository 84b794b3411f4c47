"""Rewards that come late: a wheel of buckets, one for each round in which a reward may arrive."""

from typing import Any, NamedTuple

import numpy as np

from thrifty.engines import rounds
from thrifty.jit import kernel
from thrifty.numerics import random
from thrifty.state.calls import tell
from thrifty.state.fields import Component, Field

PROMPT, UNIFORM, GEOMETRIC = range(3)
KIND, LOW, HIGH = range(3)


LATE = Component(
    "late",
    (
        Field("late", np.int64, 3),  # KIND, LOW, HIGH
        Field("scale", rows=1),  # geometric: a delay is the whole part of an exponential of this mean
        Field("delay_rng", np.uint64, random.WORDS),
        Field("wheel", np.int64, None, start=-1),  # the first entry of each bucket, or -1
        Field("free", np.int64, 1),  # the first unused entry
        Field("late_arm", np.int64, None),  # of the rewards on their way, one in each entry
        Field("late_reward", rows=None),
        Field("next", np.int64, None),
    ),
)


class Delays(NamedTuple):
    """How late rewards are: ``low`` to ``high`` rounds, or geometric."""

    kind: int
    low: int
    high: int  # the longest delay
    scale: float = 0.0

    @property
    def sizes(self) -> dict[str, int]:
        """At most one reward a round is sent, and it is away for up to ``high`` rounds."""
        return dict.fromkeys(("wheel", "late_arm", "late_reward", "next"), self.high + 1)

    def write(self, state: Any, rng: Any) -> None:
        """Nothing is on its way."""
        state.late[:], state.scale[0], state.delay_rng[:] = self[:3], self.scale, rng
        state.next[:] = np.append(np.arange(1, self.high + 1), -1)


@kernel
def delay(state):
    """How many more choices are made before a reward arrives."""
    late = state.late
    if late[KIND] == GEOMETRIC:
        return min(int(random.exponential(state.delay_rng) * state.scale[0]), late[HIGH])
    if late[LOW] == late[HIGH]:
        return late[LOW]
    return late[LOW] + int(random.below(state.delay_rng, late[HIGH] - late[LOW] + 1))


@kernel
def send(state, t, i, reward):
    """Arm i was pulled in round t; the reward arrives after the choice of a later round, or of this one."""
    entry = state.free[0]
    state.free[0] = state.next[entry]
    state.late_arm[entry] = i
    state.late_reward[entry] = reward
    bucket = (t + delay(state)) % state.wheel.size
    state.next[entry] = state.wheel[bucket]
    state.wheel[bucket] = entry


@kernel
def arrive(state, t):
    """Take an entry whose reward arrives in round t off the wheel; -1 if there is none."""
    bucket = t % state.wheel.size
    entry = state.wheel[bucket]
    if entry >= 0:
        state.wheel[bucket] = state.next[entry]
        state.next[entry] = state.free[0]
        state.free[0] = entry
    return entry


@kernel
def step(state, i, reward, t):
    """A simulated round: arm i was pulled and its reward sent. Then those are learnt from that arrive."""
    rounds.spend(state, i)
    tell(state.engine.handed, state, i)
    send(state, t, i, reward)
    entry = arrive(state, t)
    while entry >= 0:
        j = state.late_arm[entry]
        if j >= 0:  # it is still there
            rounds.receive(state, j, state.late_reward[entry], t)
            tell(state.engine.place, state, j)
        entry = arrive(state, t)
