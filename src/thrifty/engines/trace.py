"""What a simulated run keeps beside the policy's state: the problem, and the regret at the checkpoints."""

import numpy as np

from thrifty.jit import hot, kernel
from thrifty.numerics import random
from thrifty.state.fields import Component, Field

TRACE = Component(
    "trace",
    (
        Field("checkpoints", np.int64, None),
        Field("regret", rows=None),  # at the checkpoints
        Field("total", rows=1),  # the regret so far
        Field("passed", np.int64, 1),  # the checkpoints passed
    ),
)
PROBLEM = Component(
    "problem",
    (
        Field("pull", np.int64, 1),  # where the function is that gives a reward
        Field("arms", columns=2),  # its numbers for each arm
        Field("values", rows=None),  # its numbers for all
        Field("gaps"),
        Field("track_start", np.int64, 1, start=-1),  # the round in which the track begins, or -1
        Field("track", rows=None),  # where the problem moves: each arm's numbers, round by round
        Field("losses", rows=None),  # and its gaps
        Field("reward_rng", np.uint64, random.WORDS),
    ),
)


@kernel
def follow(state, t):
    """The problem moves to where it is in round t."""
    row = (t - state.track_start[0]) * state.gaps.size
    for i in range(state.gaps.size):
        state.arms[i, 0] = state.track[2 * (row + i)]
        state.arms[i, 1] = state.track[2 * (row + i) + 1]
        state.gaps[i] = state.losses[row + i]


@hot
def record(state, t, i):
    """Arm i was pulled, and t pulls were made with this one."""
    state.total[0] += state.gaps[i]
    if t == state.checkpoints[state.passed[0]]:
        state.regret[state.passed[0]] = state.total[0]
        state.passed[0] += 1
