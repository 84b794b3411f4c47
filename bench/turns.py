"""Decisions and rewards one by one, by turns: what disturbs the machine for a while disturbs everybody."""

import os
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from common import Row, progress
from contestants import Entrant

LEAST = 3  # slices of each contestant, however long they take
ROOM = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 3.0  # bytes that one contestant may have


class Extent(NamedTuple):
    """How much is measured."""

    sizes: tuple[int, ...]
    repeats: int
    slice: float  # seconds of each
    limit: float  # seconds that a contestant may take for one K


def compare(contest: Sequence[Entrant], arms: int, extent: Extent) -> None:
    """Decisions and rewards one by one, with this many arms: a slice of each contestant, by turns.

    Who would take too long for that only begins, if that alone can be waited for: its memory is known then.
    Who would need more than ``ROOM`` does not begin.
    """
    playing = []
    for entrant in contest:
        row: Row = {"contestant": entrant.label, "arms": arms}
        expected = forecast(entrant.rows[-1], arms) if entrant.rows else {}
        entrant.rows.append(row)
        scaled = expected.get("extrapolated", {"begin": 0.0, "bytes": 0.0})
        too_large = scaled["bytes"] > ROOM
        if too_large or expected.get("would_take", 0.0) > extent.limit:
            row |= expected
            if too_large or scaled["begin"] > extent.limit:
                continue
        progress(f"K = {arms:,}: {entrant.label} begins")
        if entrant.failure or entrant.ask("versions") is None:  # how long it takes to start is not counted
            continue
        begun = entrant.ask("begin", 3.0 * extent.limit, policy=entrant.policy, arms=arms)
        if begun is not None:
            row |= {"begin": begun["seconds"], "bytes": begun["bytes"]}
            if "extrapolated" in row:
                row["extrapolated"] |= {"begin": begun["seconds"], "bytes": begun["bytes"]}
            elif entrant.ask("play", 3.0 * extent.limit, seconds=extent.slice) is not None:
                row["slices"] = []
                playing.append((entrant, row))
    for turn in range(extent.repeats):
        for entrant, row in playing:
            if entrant.failure or (turn >= LEAST and sum(row["slices"]) > 1e8 * extent.limit):
                continue
            if (ns := entrant.ask("play", extent.limit, seconds=extent.slice)) is not None:
                row["slices"].append(ns)
    for entrant in contest:
        row = entrant.rows[-1]
        if entrant.failure:
            row["failed"] = entrant.failure
        elif "slices" in row:
            row["ns"] = statistics.median(row["slices"])


def forecast(before: Row, arms: int) -> Row:
    """What would be found with more arms if everything grew with their number, from the row before."""
    known, factor = before.get("extrapolated", before), arms / before["arms"]
    if "ns" not in known:
        return {}
    scaled = {name: factor * known[name] for name in ("begin", "ns", "bytes")}
    return {"would_take": scaled["begin"] + (1 + LEAST) * scaled["ns"] / 1e9, "extrapolated": scaled}
