"""Levels, for the probability that an arm has the largest index: ``engines.largest`` says what they are.

A bandit that is never asked for a probability has none of this.
"""

import numpy as np

from thrifty.state.fields import Component, Field

SIZE = 64  # levels
LEADERS = 5  # so many arms are set aside, to see how the others stand

# In state.level_numbers: how many levels there are; the address of the law's ``parameters`` and ``sf``; the
# arm below which none is counted at the spare level, -1 if there is none; how often there was one; whether
# the levels are to be built anew; whether ``sf`` of the user's own was no number; whether anything changed
# since the last question; and how many questions came after a change.
COUNT, PARAMETERS, SF, CURSOR, AGE, STALE, FAULT, NEWS, ASKED, NUMBERS = range(10)

LEVELS = Component(
    "levels",
    (
        Field("level_at", rows=SIZE + 1, saved=False),  # in order; behind them the spare one
        Field("totals", np.int64, SIZE + 1, columns=2, saved=False),  # R there: whole parts, and the rest
        Field("leaders", np.int64, LEADERS, saved=False),  # arms with the largest r where R is about 1; or -1
        Field("lead", rows=LEADERS, saved=False),  # and these r, the smallest first
        Field("middle", rows=1, saved=False),  # the level where that is
        Field("counted", np.int64, saved=False),  # 0, or 1 + the age of the last spare level it counts in
        Field("level_numbers", np.int64, NUMBERS, saved=False),
        Field("curve", rows=SIZE, saved=False),  # of one question: R, and two weights of each level
        Field("weighed", rows=SIZE, columns=2, saved=False),
    ),
)
