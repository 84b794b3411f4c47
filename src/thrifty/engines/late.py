"""Rewards that come late: a wheel of buckets, one for each round in which a reward may arrive."""

from typing import NamedTuple

import numpy as np

from thrifty.engines.state import Floats, Integers, Words
from thrifty.jit import kernel
from thrifty.numerics import random

PROMPT, UNIFORM, GEOMETRIC = range(3)


class Late(NamedTuple):
    """Delays, and the rewards on their way: one in each entry of ``arm``, ``reward`` and ``next``."""

    kind: int
    low: int
    high: int  # the longest delay
    scale: float  # geometric: the whole part of an exponential of this mean
    rng: Words
    wheel: Integers  # the first entry of each bucket, or -1
    free: Integers  # one number: the first unused entry
    arm: Integers
    reward: Floats
    next: Integers


def new_late(kind: int, low: int, high: int, scale: float, rng: Words) -> Late:
    """Nothing is on its way. At most one reward a round is sent, and it is away for up to ``high`` rounds."""
    room = high + 1
    return Late(
        kind=kind,
        low=low,
        high=high,
        scale=scale,
        rng=rng,
        wheel=np.full(room, -1, np.int64),
        free=np.zeros(1, np.int64),
        arm=np.zeros(room, np.int64),
        reward=np.zeros(room),
        next=np.append(np.arange(1, room), -1),
    )


@kernel
def delay(late):
    """How many more choices are made before a reward arrives."""
    if late.kind == GEOMETRIC:
        return min(int(random.exponential(late.rng) * late.scale), late.high)
    if late.low == late.high:
        return late.low
    return late.low + int(random.below(late.rng, late.high - late.low + 1))


@kernel
def send(late, t, i, reward):
    """Arm i was pulled in round t; the reward arrives after the choice of a later round, or of this one."""
    entry = late.free[0]
    late.free[0] = late.next[entry]
    late.arm[entry] = i
    late.reward[entry] = reward
    bucket = (t + delay(late)) % late.wheel.size
    late.next[entry] = late.wheel[bucket]
    late.wheel[bucket] = entry


@kernel
def arrive(late, t):
    """Take an entry whose reward arrives in round t off the wheel; -1 if there is none."""
    bucket = t % late.wheel.size
    entry = late.wheel[bucket]
    if entry >= 0:
        late.wheel[bucket] = late.next[entry]
        late.next[entry] = late.free[0]
        late.free[0] = entry
    return entry
