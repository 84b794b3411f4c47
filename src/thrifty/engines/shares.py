"""What control and the floor decide in a simulated run: ``online.shares`` has the formula, for a bandit. The
random numbers are drawn in the same order as there."""

import numpy as np

from thrifty.jit import kernel
from thrifty.numerics import random
from thrifty.state.fields import Component, Field
from thrifty.state.statistics import ARMS

CONTROL, FLOOR = range(2)

SHARES = Component(
    "shares",
    (
        Field("shares", rows=2),  # CONTROL, FLOOR
        Field("control_arm", np.int64, 1, start=-1),  # -1: any arm
    ),
)


@kernel
def share(state, _):
    """The arm that control or the floor chooses; the number of arms, if the policy is to choose."""
    control, floor, arms = state.shares[CONTROL], state.shares[FLOOR], state.count[ARMS]
    by_control = control > 0.0 and random.uniform(state.rng) < control
    if by_control and state.control_arm[0] >= 0:
        return state.control_arm[0]
    if by_control or (floor > 0.0 and random.uniform(state.rng) < arms * floor):
        return random.below(state.rng, arms) if arms > 1 else 0
    return arms
