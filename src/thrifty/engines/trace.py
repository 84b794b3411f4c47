"""What a simulated run keeps beside the policy's state: the problem, and the regret at the checkpoints."""

import numpy as np

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
        Field("reward_rng", np.uint64, random.WORDS),
    ),
)
