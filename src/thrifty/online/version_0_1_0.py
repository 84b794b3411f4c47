"""Snapshots of thrifty 0.1.0: one block of memory, read by a table of its fields that never changes again.

``converted`` turns such a file into one that keeps arrays by name, by component.
"""

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

LAYOUT = "185375eb9f883b27"  # how 0.1.0 named the way its states are laid out

# The fields in order, with their columns. They are integers, but for those named below.
FIELDS = {
    "count": 1, "evaluations": 1, "waiting": 1, "rng": 1, "pulls": 1, "sums": 1, "means": 1, "params": 2,
    "index": 1, "draws": 1, "pending": 2, "prior": 2, "tree": 2, "kept": 1, "best": 1, "age": 1, "line": 2,
    "woken": 4, "place": 1, "ends": 1, "levels": 1, "start": 1, "since": 1, "seen": 1, "older": 1, "newer": 1,
    "squares": 1, "weights": 1, "order": 1, "position": 1, "prefix": 1, "spread": 1, "races": 3, "history": 2,
    "spans": 3, "marks": 1, "rule": 1,
}  # fmt: skip
FLOATS = {
    "sums", "means", "params", "index", "prior", "tree", "kept", "best", "line", "woken", "levels", "squares",
    "weights", "prefix", "spread", "races", "history",
}  # fmt: skip
APART = {"rng", "ends", "history", "levels", "evaluations"}  # whose rows are not arms

# The single numbers in the field count, and where they are today.
COUNT = (
    "arms", "handed", "engine", "clock", "swept", "sweeping", "oldest", "newest", "used", "stage", "cursor",
    "left",
)  # fmt: skip
NUMBERS = {
    "count": ("arms", "handed", "clock"), "sweep": ("swept", "sweeping"), "queue": ("oldest", "newest"),
    "used": ("used",), "lists": ("stage", "cursor", "left"),
}  # fmt: skip
# What the components of today keep of these.
COMPONENTS = {
    "arms": ("count", "evaluations", "rng", "pulls", "sums", "index", "draws", "pending"),
    "prior": ("prior",),
    "kept": ("kept",),
    "duel": ("best", "age"),
    "line": ("line", "start", "ends", "levels", "sweep"),
    "queue": ("queue", "older", "newer", "since", "seen"),
    "squares": ("squares",),
    "ranks": ("weights",),
    "history": ("history", "spans", "used"),
    "own": ("own",),
    "lists": ("marks", "lists"),
}
RULE, GROUPS, WOKEN, BLOCK = 20, 25, 64, 16

# What a policy keeps: for each, when its index changes.
CHANGES = {
    "ThompsonSampling": "fresh", "ExpTS": "fresh", "EpsilonTS": "epsilon", "ExpTSPlus": "epsilon",
    "TSMA": "aggregate", "TSTD": "duel", "NPTS": "historic", "MultinomialTS": "historic", "DMED": "listed",
    "UCBImproved": "listed", "DirichletSampling": "listed",
}  # fmt: skip
SQUARES = {"UCB1Tuned", "UCBV"}
HISTORIES = {"NPTS", "MultinomialTS", "DirichletSampling"}


def converted(
    header: dict[str, Any], block: NDArray[Any], ids: NDArray[Any]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays as they are today."""
    policy, engine, room = header["policy"], header["engine"], header["room"]
    inside = policy["policy"] if policy["name"] == "Binarised" else policy
    sizes = _sizes(inside, engine, room, header["priors"], header["entries"])
    if block.dtype != np.int64 or block.shape != (sum(sizes.values()),):
        raise ValueError("its settings are not those of its data")
    parts = np.split(block, np.cumsum(list(sizes.values()))[:-1])
    fields = dict(zip(FIELDS, parts, strict=True))
    arms = int(fields["count"][0])
    if not 1 <= arms <= room:
        raise ValueError("its settings are not those of its data")
    rows = {
        name: part.view(_dtype(name)).reshape(-1, FIELDS[name])[: None if name in APART else arms]
        for name, part in fields.items()
    }
    count = dict(zip(COUNT, fields["count"].tolist(), strict=True))
    found: dict[str, Any] = {name: part if FIELDS[name] > 1 else part[:, 0] for name, part in rows.items()}
    found |= {name: np.array([count[each] for each in of], np.int64) for name, of in NUMBERS.items()}
    found["own"] = rows["params"][:, 0]  # of K_inf
    there = _components(inside, engine, priors=header["priors"])
    arrays = {"ids": ids} | {name: found[name] for component in there for name in COMPONENTS[component]}
    return {
        "kind": header["kind"],
        "version": 2,
        "policy": policy,
        "engine": engine,
        "settings": header["settings"] | {"pending_for": None},
        "components": dict.fromkeys(there, 1),
    }, arrays


def _components(policy: dict[str, Any], engine: str, *, priors: bool) -> list[str]:
    """Which a state has: in the present sense, that of version 1 of each."""
    changes, name = _changes(policy), policy["name"]
    asleep = engine == "sleepers" and changes != "epsilon"
    having = {
        "arms": True,
        "prior": priors,
        "kept": changes in ("aggregate", "duel"),
        "duel": changes == "duel",
        "line": asleep,
        "queue": asleep and changes == "duel",
        "squares": name in SQUARES,
        "ranks": name == "AdaUCB",
        "history": name in HISTORIES or changes == "historic",
        "own": name == "IMED" and changes == "historic",
        "lists": changes == "listed",
    }
    return [component for component, has in having.items() if has]


def digest(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """Of everything in the file, so that a change shows."""
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _changes(policy: dict[str, Any]) -> str:
    if policy["name"] == "IMED" and policy["family"] == "bounded":
        return "historic"
    return CHANGES.get(policy["name"], "")


def _dtype(name: str) -> Any:
    return np.uint64 if name == "rng" else np.float64 if name in FLOATS else np.int64


def _sizes(policy: dict[str, Any], engine: str, room: Any, priors: Any, entries: Any) -> dict[str, int]:
    """How many words each field takes."""
    if type(room) is not int or type(entries) is not int or type(priors) is not bool:
        raise TypeError("room and entries must be integers, and priors true or false")
    if room < 1 or entries < 0:
        raise ValueError("room must be at least 1, and entries at least 0")
    changes, name = _changes(policy), policy["name"]
    duel = room if changes == "duel" else 0
    drawn = room if changes in ("aggregate", "duel") else 0
    ranks = room if name == "AdaUCB" else 0
    asleep = room if engine == "sleepers" else 0
    racing = room if engine == "kinetic" else 0
    late = min(duel, asleep)
    history = name in HISTORIES or changes == "historic"
    tree = engine == "tournament" or (engine == "sleepers" and changes != "fresh")
    rows = dict.fromkeys(("pulls", "sums", "means", "params", "index", "draws", "pending"), room)
    rows |= dict.fromkeys(("weights", "order", "position", "prefix", "spread"), ranks)
    rows |= dict.fromkeys(("since", "seen", "older", "newer"), late)
    rows |= dict.fromkeys(("line", "place", "start"), asleep)
    rows |= {
        "count": len(COUNT), "evaluations": 1, "waiting": 1, "rng": 4, "rule": RULE,
        "prior": room if priors else 0, "tree": _slots(room) if tree else 0, "kept": drawn, "best": duel,
        "age": duel or racing, "woken": WOKEN if asleep else 0, "ends": GROUPS if asleep else 0,
        "levels": 7 if asleep else 0, "squares": room if name in SQUARES else 0,
        "races": 2 << (room - 1).bit_length() if racing else 0, "history": entries,
        "spans": room if history else 0, "marks": room if changes == "listed" else 0,
    }  # fmt: skip
    return {name: columns * rows[name] for name, columns in FIELDS.items()}


def _slots(room: int) -> int:
    """The size of the tree of maxima."""
    level = total = 4
    while level * BLOCK < room:
        level *= 4
        total += level
    return total
