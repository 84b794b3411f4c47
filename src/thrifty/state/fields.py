"""What components keep in a state: each declares its own fields, and all else is generic over them.

A *component* is a part of a state that is there or not: the tree of an engine, the squares that a formula
needs, the history of rewards. Its module declares its fields, and how they start if not with zeros.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

ARM, PLACE = "arm", "place"  # rows: one for each arm, by its number; or as many, in an order of their own


class Field(NamedTuple):
    """An array of a state."""

    name: str
    dtype: Any = np.float64
    rows: Any = ARM  # see above; or a number, a function of the capacity, or None: as many as are asked for
    columns: int = 1  # 0: as many as are asked for, side by side
    start: float = 0  # what a new arm, or a new state, has there
    saved: bool = True  # else it follows from the rest, or is scratch


class Component(NamedTuple):
    """A part of a state. Snapshots know it by name and version.

    A new field belongs to a new component: in one that is there already, it would make older files refused.
    """

    name: str
    fields: tuple[Field, ...]
    start: Callable[[Any, int], None] | None = None  # (state, arms): what zeros and ``start`` do not say
    rebuild: Callable[[Any, int], None] | None = None  # (state, capacity): make what follows from the rest
    version: int = 1
