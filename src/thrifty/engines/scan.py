"""Scan: look at every arm's index. It runs every policy and is obviously right: the oracle for the others."""

from thrifty.jit import hot
from thrifty.numerics import random


@hot
def choose(index, rng):
    """The arm with the largest index; one uniform is drawn if and only if there is a tie to break.

    Two plain passes (find the maximum, see who attains it) have no branch to mispredict, unlike one
    clever pass.
    """
    top = index[0]
    for i in range(1, index.size):
        top = index[i] if index[i] > top else top
    ties = arm = 0
    for i in range(index.size):
        attained = index[i] == top
        ties += attained
        arm += i * attained  # the sum of one number, unless there is a tie
    if ties > 1:
        left = random.below(rng, ties)
        arm = -1
        while left >= 0:
            arm += 1
            left -= index[arm] == top
    return arm
