"""Engines: how the arm with the largest index is found. An engine never changes the law of the decisions."""

ENGINES = ("scan", "tournament", "sleepers", "kinetic")

# From how many arms an engine beats looking at every arm: measured, see bench/. Sleepers save draws, so it
# depends on the schedule and on what a draw costs; and with a larger epsilon too many arms would be drawn one
# by one.
TOURNAMENT_FROM = 64
KINETIC_FROM = 64
KINETIC_FROM_COSTLY = 8  # with an index that has to be solved for
SLEEPERS_FROM = {"fresh": 384, "epsilon": 64, "duel": 48}
SLEEPERS_FROM_COSTLY = 24  # fresh and duel, with a law whose draws cost more than the Gaussian's
SLEEPERS_FROM_SOLVED = 8  # fresh, with a law whose draws have to be solved for
SLEEPERS_EPSILON = 0.03
