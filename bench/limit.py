"""How far thrifty is from what the machine can do.

- Dense Thompson sampling has to draw K indices a round: bench/dense.c draws them, and little else.
- A tournament has to read a path of its tree, and to write it: bench/touch.c does, and nothing else.
- Thompson sampling has to draw one index a round at least, and to touch the statistics of the arm that it
  pulls: sleepers draw a few ln K.
"""

import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from common import Row, compiled_c, progress
from engines import dense
from rounds import a_round

import thrifty
from thrifty.engines.memory import policy_stream
from thrifty.engines.tournament import BLOCK, slots


class Extent(NamedTuple):
    """How much is measured."""

    sizes: tuple[int, ...]
    repeats: int
    seconds: float  # of a slice
    draws: int  # of dense C, in one repeat
    rounds: int  # of touch.c, in one repeat


def levels(arms: int) -> int:
    """Of the tree above the blocks: 4 slots are one cache line, and the last level has a slot for each block.

    >>> [levels(arms) for arms in (20, 1000, 10**6)]
    [1, 3, 8]
    """
    count, total = 0, 0
    while total < slots(arms):
        count += 1
        total += 4**count
    return count


def touch(program: Path, depth: int, lines: int, rounds: int) -> float:
    """Nanoseconds of a round that touches a line on each of ``depth`` levels and one of ``lines`` below."""
    words = [str(word) for word in policy_stream(0, 0)]
    command = [str(program), str(depth), str(lines), str(rounds), *words]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])


def limits(extent: Extent) -> Row:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, toucher = compiled_c(folder), compiled_c(folder, "touch")
        progress("the limit: dense Thompson sampling beside C")
        drawn = [dense(program, arms, extent.draws, extent.repeats) for arms in (20, 1000)]
        return {
            "dense": drawn,
            "tournament": [tournament(toucher, arms, extent) for arms in extent.sizes],
            "sleepers": [sleepers(toucher, arms, extent, drawn) for arms in extent.sizes],
        }


def tournament(program: Path, arms: int, extent: Extent) -> Row:
    """TS-MA beside the memory that it has to touch."""
    progress(f"the limit, K = {arms:,}: TS-MA beside memory alone")
    depth, blocks = levels(arms), max(1, arms // BLOCK)
    least = statistics.median(touch(program, depth, blocks, extent.rounds) for _ in range(extent.repeats))
    row = a_round(thrifty.TSMA(), arms, extent.seconds, extent.repeats, "tournament")
    return row | {"levels": depth + 1, "least": least, "ratio": row["ns"] / least}


def sleepers(program: Path, arms: int, extent: Extent, drawn: Sequence[Row]) -> Row:
    """Exact Thompson sampling beside one draw, and one line of memory, a round."""
    progress(f"the limit, K = {arms:,}: sleepers beside one draw")
    line = statistics.median(touch(program, 0, arms, extent.rounds) for _ in range(extent.repeats))
    draw = min(row["c"] for row in drawn)
    row = a_round(thrifty.ThompsonSampling(), arms, extent.seconds, extent.repeats, "sleepers")
    return row | {"draw": draw, "line": line, "ratio": row["ns"] / (draw + line)}
