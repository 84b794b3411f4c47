"""Edited snapshots, honest in every way but one: each is refused, or is a bandit that works.

``python -m tests.support.fuzz FIRST LAST CASE ...`` tries the edits FIRST to LAST - 1 of each case, and
prints how many files were refused and loaded. An edit that takes more than five seconds of processor time, or
crashes, ends the process by a signal; what it was is the last thing printed.
"""

import json
import math
import os
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from tests.support.recorded import FOLDER, begun
from thrifty import Bandit, storage
from thrifty.errors import FileError
from thrifty.online import snapshot, version_0_1_0

SECONDS = 5
CALLS = 200
WHOLE = (0, 1, -1, 2, 3, 7, 64, 2**31, 2**53 + 1, 2**62, -(2**63), 2**63 - 1)
REAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-300, 1e300, -1e300, 1e16, math.nan, math.inf, -math.inf)
VALUES: tuple[Any, ...] = (
    None, True, False, "", "text", "beta", "scan", "sleepers", "tournament", "kinetic", [], {}, [1, 2],
    [0.5, 1.0], [[[]]], {"name": "TSMA"}, 10**400, 10**15, 1024, 0.999, *WHOLE, *REAL,
)  # fmt: skip

GROUPS = {
    "scan": (
        "scan-gaussian",
        "scan-duel",
        "scan-priors",
        "scan-variance",
        "scan-gamma",
        "ada-ucb-priors",
        "imed",
    ),
    "tournament": ("tournament-ts-ma", "tournament-texts", "tournament-kl-ucb-plus-plus", "warm"),
    "sleepers-fresh": ("sleepers-gaussian", "sleepers-beta", "sleepers-texts"),
    "sleepers-epsilon": ("sleepers-epsilon",),
    "sleepers-duel": ("sleepers-duel", "sleepers-duel-texts"),
    "kinetic": ("kinetic-kl-ucb", "kinetic-ucb-v"),
    "histories": ("npts", "npts-prior", "imed-bounded"),
    "lists": ("dirichlet-sampling", "dmed", "ucb-improved", "fixed-arm", "explore-then-commit"),
    "forgetting": ("discounted", "window"),
}


def pick(rng: Generator, values: Any) -> Any:
    return values[rng.integers(len(values))]


def edited_array(array: Any, rng: Generator, arms: int) -> Any:
    """One edit that knows what such arrays are made of."""
    array = array.copy()
    flat = array.reshape(-1)
    rows = array if array.ndim else array.reshape(1)
    kind = rng.integers(10)
    if not flat.size or kind == 0:  # another shape or type
        return pick(
            rng, [rows[:-1], np.append(rows, rows[-1:], axis=0), array.astype("f4"), flat, array[None]]
        )
    i, j = rng.integers(len(rows), size=2)
    if kind == 1:
        rows[[i, j]] = rows[[j, i]]
    elif kind == 2:
        rows[i] = rows[j]
    elif kind == 3:
        rows[min(i, j) : max(i, j) + 1] = 0
    elif kind == 4:
        flat.view(np.uint8)[rng.integers(flat.nbytes)] ^= np.uint8(1 << rng.integers(8))
    elif kind == 5:
        rng.shuffle(rows)
    elif array.dtype.kind == "f":
        values = (*REAL, arms, arms - 1.0, flat[i % flat.size] * 1.001, flat[i % flat.size] + rng.normal())
        flat[rng.integers(flat.size)] = pick(rng, values)
    else:
        old = int(flat[rng.integers(flat.size)])
        value = pick(rng, (*WHOLE, arms, arms - 1, arms + 1, old + 1, old - 1))
        flat[rng.integers(flat.size)] = np.array(value % 2**64, np.uint64).astype(flat.dtype)
    return array


def edit_table(table: dict[str, Any], rng: Generator, arms: int) -> None:
    """One entry of a table, or of a table in it."""
    name = pick(rng, sorted(table))
    if isinstance(table[name], dict) and table[name] and rng.random() < 0.8:
        edit_table(table[name], rng, arms)
    elif rng.random() < 0.05:
        del table[name]
    elif rng.random() < 0.05:
        table["more"] = pick(rng, VALUES)
    else:
        old = table[name]
        near = [old + 1, old - 1, old * 2] if type(old) in (int, float) else []
        table[name] = pick(rng, (*VALUES, *near, arms, arms - 1))


def edited(source: Path, target: Path, rng: Generator) -> str:
    """Write the file with one to three edits and a digest that fits; returns what was edited."""
    if rng.random() < 0.02:  # any byte, and no digest
        raw = bytearray(source.read_bytes())
        raw[rng.integers(len(raw))] ^= 1 << rng.integers(8)
        target.write_bytes(raw)
        return "a byte"
    header, arrays = storage.read(source, "bandit")
    del header["format"], header["digest"]
    arms = len(arrays["pulls"]) if "pulls" in arrays else int(arrays["block"][0])
    edits = []
    for _ in range(rng.integers(1, 4)):
        name = "header" if rng.random() < 0.3 else pick(rng, sorted(arrays))
        edits.append(name)
        if name == "header":
            edit_table(header, rng, arms)
        elif rng.random() < 0.01:
            del arrays[name]
        elif name == "ids" and rng.random() < 0.5:
            arrays[name] = np.frombuffer(json.dumps(pick(rng, VALUES)).encode(), np.uint8)
        else:
            arrays[name] = edited_array(arrays[name], rng, arms)
        if not arrays or not header:
            break
    digest = (version_0_1_0.digest if "block" in arrays else snapshot._digest)(header, arrays)
    header = {"format": storage.FORMAT, **header, "digest": digest}
    np.savez(target, header=np.array(json.dumps(header)), **arrays)
    return ", ".join(edits)


def some_reward(bandit: Bandit, rng: Generator) -> float:
    low, high = bandit._rewards.range or (0.0, 4.0)
    return (
        float(pick(rng, [low, high])) if bandit.policy.rewards == "binary" else float(rng.uniform(low, high))
    )


def with_decisions(bandit: Bandit) -> None:
    """Some are open, of control too, and one of an arm that is gone; others had their rewards."""
    bandit.control, rng = 0.5, np.random.default_rng(1)
    for now in range(12):
        made = bandit.decide(rank=2, now=now) if bandit.policy.ranks else bandit.decide(count=2, now=now)
        if now % 2:
            bandit.reward(made[0], some_reward(bandit, rng))
    bandit.control = 0.0
    bandit.remove_arm(made[1].arm)


def work(bandit: Bandit, rng: Generator, folder: Path) -> None:
    """Calls of every kind. What is chosen is there, and statistics are finite."""
    asked: list[Any] = []
    bandit.expire(float(rng.integers(12)), pick(rng, [None, some_reward(bandit, rng)]))
    bandit.control = 0.0
    for key in [key for key, _ in bandit._ledger.open.items()]:
        bandit.reward(key, some_reward(bandit, rng))
    for call in range(CALLS):
        kind = rng.integers(100)
        if kind < 45 or not asked:
            asked += [bandit.select()] if kind % 4 else bandit.select_many(3)
            bandit._ids.number(asked[-1])
        elif kind < 80:
            bandit.update(asked.pop(rng.integers(len(asked))), some_reward(bandit, rng))
        elif kind < 85:
            arm = pick(rng, bandit.statistics()["arm"])
            bandit.update(arm, some_reward(bandit, rng))
            if arm in asked:
                asked.remove(arm)
        elif kind < 90:
            bandit.cancel(asked.pop(rng.integers(len(asked))))
        elif kind < 94:
            own = {"prior": (some_reward(bandit, rng), 1.5)} if bandit._player.core.has_priors else {}
            bandit.add_arm(f"new {call}", **own)
        elif kind < 98 and len(bandit) > 1:
            gone = pick(rng, bandit.statistics()["arm"])
            bandit.remove_arm(gone)
            asked = [arm for arm in asked if arm != gone]
    bandit.save(folder / "again.npz")
    table = bandit.statistics()
    low, high = bandit._rewards.range or (-math.inf, math.inf)
    pulled = table["pulls"] > 0
    assert len(set(table["arm"])) == len(table["arm"]) == len(bandit)
    assert all((table[name] >= 0).all() for name in ("pulls", "draws", "pending"))
    assert np.isfinite(table["mean"][pulled]).all()
    assert ((table["mean"][pulled] >= low) & (table["mean"][pulled] <= high)).all()
    Bandit.load(folder / "again.npz")


def run(case: str, first: int, last: int, folder: Path) -> Counter[str]:
    """Try these edits of a case."""
    source, target = folder / f"{case}.npz", folder / "edited.npz"
    bandit = begun(case)
    with_decisions(bandit)
    bandit.save(source)
    first_version = FOLDER / "0.1.0" / source.name
    sources = [source, first_version] if first_version.exists() else [source, source]
    for path in sources:
        work(Bandit.load(path), np.random.default_rng(0), folder)  # which also compiles what is needed
    counts: Counter[str] = Counter()
    for number in range(first, last):
        rng = np.random.default_rng([number, *case.encode()])
        old = rng.random() < 0.2
        print(f"\n{case} {number} ", end="", flush=True)
        print(edited(sources[old], target, rng), end="", flush=True)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            bandit = Bandit.load(target)
        except FileError:
            counts["refused"] += 1
        else:
            work(bandit, rng, folder)
            counts["loaded"] += 1
        signal.setitimer(signal.ITIMER_PROF, 0)
    return counts


if __name__ == "__main__":
    first, last, *names = sys.argv[1:]
    total: Counter[str] = Counter()
    os.fsync = lambda _: None  # no power will fail
    with tempfile.TemporaryDirectory() as name:
        for case in names:
            total += run(case, int(first), int(last), Path(name))
    print(f"\n{json.dumps(total)}")
