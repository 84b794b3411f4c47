"""What kernels work on: a rule says how indices are made, a state holds what the next round needs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thrifty.engines import tournament
from thrifty.numerics import random

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

# The schedules, and KL-UCB++ whose index is a function of the statistics instead of a draw.
FRESH, EPSILON, AGGREGATE, DUEL, KL_UCB_PLUS_PLUS = range(5)
SCHEDULES = {"fresh": FRESH, "epsilon": EPSILON, "aggregate": AGGREGATE, "duel": DUEL}


class Rule(NamedTuple):
    """A policy resolved for one number of arms and one horizon. The same types for every policy, so that
    each kernel is compiled once."""

    schedule: int
    arms: int
    horizon: int
    law: int = 0
    temper: float = 1.0  # V: the law is that of (n/V, S/V)
    phi: float = 1.0
    epsilon: float = 1.0
    batch: bool = False
    own: tuple[float, ...] = ()  # what a user's own index calls self
    prior_mean: float = 0.0
    prior_weight: float = 0.0  # 0: every arm is pulled once instead


class State(NamedTuple):
    """Every array is changed in place by the kernels; entry i belongs to arm i."""

    pulls: Integers
    sums: Floats  # of rewards, the prior's apart
    means: Floats  # the prior's pseudo-observations included, like the law's parameters
    params: Floats  # (K, 2): the law, recomputed only when its arm is pulled
    index: Floats  # type: ignore[assignment]  # the largest is pulled
    best: Floats  # duel: the best draw since the last pull
    age: Integers  # duel: how many draws that is
    draws: Integers
    evaluations: Integers  # one number
    tree: Floats  # (slots, 2): tournament: the largest index below each slot, and how many arms attain it
    rng: Words


class Trace(NamedTuple):
    """What a run leaves behind: the regret at the checkpoints."""

    checkpoints: Integers
    regret: Floats
    total: Floats  # one number: the regret so far
    passed: Integers  # one number: the checkpoints passed


def new_state(rule: Rule, rng: Words, *, tree: bool) -> State:
    """A state before the first round. Arms that were never pulled have an index of -inf."""
    k = rule.arms
    duel = k if rule.schedule == DUEL else 0
    nodes = np.full((tournament.slots(k) if tree else 0, 2), -np.inf)
    nodes[:, 1] = 0.0
    return State(
        pulls=np.zeros(k, np.int64),
        sums=np.zeros(k),
        means=np.zeros(k),
        params=np.zeros((k, 2)),
        index=np.full(k, -np.inf),
        best=np.full(duel, -np.inf),
        age=np.zeros(duel, np.int64),
        draws=np.zeros(k, np.int64),
        evaluations=np.zeros(1, np.int64),
        tree=nodes,
        rng=rng,
    )


def new_trace(checkpoints: Integers) -> Trace:
    return Trace(checkpoints, np.zeros(checkpoints.size), np.zeros(1), np.zeros(1, np.int64))


def policy_stream(seed: int, run: int) -> Words:
    """The policy's random stream: of the seed and the run, and of nothing else."""
    return random.generator(seed, run, 0)


def reward_stream(seed: int, run: int) -> Words:
    """The rewards' random stream, independent of the policy's."""
    return random.generator(seed, run, 1)
