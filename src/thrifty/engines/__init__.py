"""Engines: how the arm with the largest index is found. An engine never changes the law of the decisions."""

ENGINES = ("scan", "tournament", "sleepers")

# From how many arms an engine beats looking at every arm (measured once: see bench/).
TOURNAMENT_FROM = 64
SLEEPERS_FROM = 256
