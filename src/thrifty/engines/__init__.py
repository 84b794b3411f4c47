"""Engines: how the arm with the largest index is found. An engine never changes the law of the decisions."""

ENGINES = ("scan", "tournament", "sleepers", "kinetic")

# From how many arms an engine beats looking at every arm: measured, see bench/. Sleepers save draws, so it
# depends on the schedule and on what a draw costs; and with a larger epsilon too many arms would be drawn one
# by one.
TOURNAMENT_FROM = 64
KINETIC_FROM = 64
FASTER_FROM = {"tournament": TOURNAMENT_FROM, "kinetic": KINETIC_FROM}  # unless the policy says otherwise
KINETIC_FROM_COSTLY = 8  # with an index that has to be solved for
SLEEPERS_FROM = {"fresh": 24, "epsilon": 64, "duel": 24}  # unless the law says otherwise: ``sleeps_from``
SLEEPERS_EPSILON = 0.03
