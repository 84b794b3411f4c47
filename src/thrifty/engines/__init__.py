"""Engines: how the arm with the largest index is found. An engine never changes the law of the decisions."""

ENGINES = ("scan", "tournament")

# From how many arms the tree beats looking at every committed index (measured once: see bench/engines.py).
TOURNAMENT_FROM = 64
