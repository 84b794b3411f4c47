"""What policies keep that make a list of arms, pull these, and make the next list."""

import numpy as np

from thrifty.state.fields import Component, Field

STAGE, CURSOR, LEFT, NUMBERS = range(4)  # the single numbers in state.lists

LISTS = Component(
    "lists",
    (
        Field("marks", np.int64),  # who is on a list
        Field("lists", np.int64, NUMBERS),  # where in it the policy is
    ),
)
