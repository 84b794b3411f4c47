"""The last rewards, whatever their arms: of each arm, how many of them it has, and their sum.

They lie in a ring: their arms in ``window``, behind the number of rewards that it has seen, and what they
are in ``window_rewards``. One that leaves the ring is taken off its arm's sum. Each time that the ring has
gone round, the sums are made anew, so that no rounding piles up.
"""

import numpy as np

from thrifty.jit import hot, kernel
from thrifty.state import statistics
from thrifty.state.fields import Component, Field

SEEN, FIRST = range(2)  # in the ring: how many rewards it has seen, and where the entries begin
COUNT, SUM = range(2)  # the columns of state.recent

WINDOW = Component(
    "window",
    (
        Field("window", np.int64, None),  # whose the last rewards are, -1 if the arm has gone
        Field("window_rewards", rows=None),
        Field("recent", columns=2),  # how many of them an arm has, and their sum
    ),
)


def sizes(rewards: int) -> dict[str, int]:
    """The rows of a ring of so many."""
    return {"window": FIRST + rewards, "window_rewards": rewards}


@kernel
def keep(state, i, reward):
    """Arm i gave this reward."""
    window, rewards, recent = state.window, state.window_rewards, state.recent
    place = window[SEEN] % rewards.size
    if window[SEEN] >= rewards.size and window[FIRST + place] >= 0:
        old = window[FIRST + place]
        recent[old, COUNT] -= 1.0
        recent[old, SUM] -= rewards[place]
    window[SEEN] += 1
    window[FIRST + place] = i
    rewards[place] = reward
    recent[i, COUNT] += 1.0
    recent[i, SUM] += reward
    if place == rewards.size - 1:
        _sum_anew(state)


@kernel
def _sum_anew(state):
    """Of a full ring."""
    for i in range(len(state.recent)):
        state.recent[i, SUM] = 0.0
    for place in range(state.window_rewards.size):
        if state.window[FIRST + place] >= 0:
            state.recent[state.window[FIRST + place], SUM] += state.window_rewards[place]


@hot
def evidence(state, i):
    """Arm i's count and sum of rewards in the ring, the prior's pseudo-observations included."""
    mean, weight = statistics.prior(state, i)
    return state.recent[i, COUNT] + weight, state.recent[i, SUM] + mean * weight


@kernel
def rename(state, i, to):
    """Arm i gets the number ``to``, or goes if that is -1."""
    if state.recent[i, COUNT] > 0.0:
        for p in range(FIRST, state.window.size):
            if state.window[p] == i:
                state.window[p] = to
