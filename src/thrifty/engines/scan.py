"""Scan: look at every arm's index. It runs every policy and is obviously right: the oracle for the others."""

from thrifty.jit import kernel
from thrifty.numerics import random


@kernel
def choose(index, rng):
    """The arm with the largest index; one uniform is drawn if and only if there is a tie to break.

    Two plain passes (find the maximum, count who attains it) have no branch to mispredict, unlike one
    clever pass.
    """
    top, arm = index[0], 0
    for i in range(1, index.size):
        larger = index[i] > top
        arm = i if larger else arm
        top = index[i] if larger else top
    ties = 0
    for i in range(index.size):
        ties += index[i] == top
    if ties > 1:
        left = random.below(rng, ties)
        arm = -1
        while left >= 0:
            arm += 1
            left -= index[arm] == top
    return arm
