"""A ledger as arrays of a file, and back, if they say what can be.

KEYS has the ids of open decisions, as JSON. For each there is a row (arm, control, slate) in ROWS, the arm by
its number, with -1 for one that is gone and for no slate; in SINCE (time, share). SLATES has (rewards, sum)
of those slates, and LIFT both sides. A ledger that has nothing to tell takes no arrays.
"""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.online.decisions import Arm, Open, Slate
from thrifty.online.ids import Ids
from thrifty.online.ledger import Ledger
from thrifty.online.lift import Side, Sides
from thrifty.online.shares import LEAST, Shares
from thrifty.storage import Arrays

KEYS, ROWS, SINCE, SLATES, LIFT = NAMES = ("open_ids", "open_rows", "open_since", "slates", "lift")
COUNTS = 2  # of a side's numbers, which come first

Bounds = tuple[float, float]


def pack(ledger: Ledger, ids: Ids) -> Arrays:
    arrays: Arrays = {}
    if len(ledger.open):
        keys, rows, since = [], [], []
        slates: dict[Slate | None, int] = {None: -1}
        for key, (arm, time, control, share, slate) in ledger.open.items():
            number = -1 if arm.gone else ids.number(arm.name)
            keys.append(key)
            rows.append((number, int(control), slates.setdefault(slate, len(slates) - 1)))
            since.append((time, share))
        arrays[KEYS] = np.frombuffer(json.dumps(keys).encode(), np.uint8)
        arrays[ROWS], arrays[SINCE] = np.array(rows, np.int64), np.array(since)
        arrays[SLATES] = np.array([slate.seen for slate in slates if slate], float).reshape(-1, 2)
    if ledger.sides != Sides():
        arrays[LIFT] = np.array(ledger.sides)
    return arrays


def unpack(arrays: Arrays, ids: Ids, shares: Shares, bounds: Bounds) -> Ledger:
    """The same from arrays that ``pack`` may have made, but for pulls that should be pending."""
    ledger = Ledger(shares)
    if LIFT in arrays:
        ledger.sides = _sides(arrays[LIFT], bounds)
    if decisions := {name: array for name, array in arrays.items() if name != LIFT}:
        _open(ledger, ids, bounds, **decisions)
    return ledger


def _sides(numbers: NDArray[Any], bounds: Bounds) -> Sides:
    _check(LIFT, numbers, np.float64, (2, len(Side._fields)))
    sides = [Side(int(n), int(slates), *rest) for n, slates, *rest in numbers.tolist()]
    counts = numbers[:, :COUNTS]
    fine = np.isfinite(numbers).all() and _within(counts, 0, checks.COUNT) and (counts % 1 == 0).all()
    for side in sides if fine else ():
        heavy = side.rewards / LEAST * 1.001
        sums = side.weights, side.spread, side.square, side.size
        fine &= side.slates <= side.rewards <= side.weight * 1.001 and side.weight <= heavy
        fine &= bounds[0] - 1e-9 <= side.mean <= bounds[1] + 1e-9
        fine &= min(sums) >= 0.0 and (side.weights > 0.0) == (side.rewards > 0)
    if not fine:
        raise ValueError(f"{LIFT} must be sums of weighted rewards")
    return Sides(*sides)


def _open(
    ledger: Ledger,
    ids: Ids,
    bounds: Bounds,
    open_ids: NDArray[Any],
    open_rows: NDArray[Any],
    open_since: NDArray[Any],
    slates: NDArray[Any],
) -> None:
    keys = json.loads(open_ids.tobytes())
    if type(keys) is not list or set(map(type, keys)) != {str} or len(set(keys)) < len(keys):
        raise ValueError(f"{KEYS} must be different texts")
    _check(ROWS, open_rows, np.int64, (len(keys), 3))
    _check(SINCE, open_since, np.float64, (len(keys), 2))
    _check(SLATES, slates, np.float64, (len(slates), 2))
    arms, control, slate = open_rows.T
    time, share = open_since.T
    counts, totals = slates.T
    if not _within(arms, -1, len(ids) - 1):
        raise ValueError(f"{ROWS} must be of arms, or of -1 for those that are gone")
    if not _within(control, 0, 1) or not _within(slate, -1, len(slates) - 1):
        raise ValueError(f"{ROWS} must say of each whether it is control's, and its slate or -1")
    fine = np.isfinite(time).all() and _within(share, 0.0, 1.0)
    if not fine or ((share > 0.0) & ((share < LEAST) | ((share < 1.0) & (1.0 - share < LEAST)))).any():
        raise ValueError(f"{SINCE} must be times and shares of control")
    if (control > (share > 0.0)).any():
        raise ValueError(f"{SINCE} must have a share where control has chosen")
    if not _within(counts, 0, checks.COUNT) or (counts % 1 > 0.0).any():
        raise ValueError(f"{SLATES} must have counts")
    if not ((totals >= bounds[0] * counts - 1e-9) & (totals <= bounds[1] * counts + 1e-9)).all():
        raise ValueError(f"{SLATES} must have sums of so many rewards")
    records = [Slate(int(count), total) for count, total in slates.tolist()]
    gone = Arm(None)
    gone.gone = True
    for key, (arm, chosen, part), (made, c) in zip(
        keys, open_rows.tolist(), open_since.tolist(), strict=True
    ):
        shared = gone if arm < 0 else ledger.open.arm(ids.name(arm))
        ledger.open.put(key, Open(shared, made, bool(chosen), c, records[part] if part >= 0 else None))


def _check(name: str, array: NDArray[Any], dtype: Any, shape: tuple[int, ...]) -> None:
    if array.dtype != dtype or array.shape != shape:
        right = f"{np.dtype(dtype)} of shape {shape}"
        raise ValueError(f"{name} must be {right}, got {array.dtype} of shape {array.shape}")


def _within(values: NDArray[Any], low: float, high: float) -> bool:
    """No NaN is."""
    return bool(((values >= low) & (values <= high)).all())
