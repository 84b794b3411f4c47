"""The log as others read it: a line of JSON for each row, with its position, which is an opaque text."""

from typing import Any

import msgspec

from thrifty import checks
from thrifty.errors import InvalidValue
from thrifty.serve import events
from thrifty.serve.clock import moment
from thrifty.serve.events import Row, read_change, read_closed, read_decided
from thrifty.serve.experiments import Experiment
from thrifty.serve.store import Store

EVENTS = {
    events.REWARD: "reward",
    events.DEFAULT: "default",
    events.EXPIRED: "expired",
    events.CANCELLED: "cancelled",
    events.REPEATED: "repeated",
    events.CONFLICT: "conflict",
    events.LATE: "late",
}
BYTES = 8 * 2**20  # from where on an answer ends
_encode = msgspec.json.Encoder().encode


def position(start: int, seq: int) -> str:
    """A place of the log, as others know it."""
    return f"{start:x}-{seq}"


def lines(store: Store, experiment: Experiment, after: str | None, limit: int) -> bytes:
    """So many lines of an experiment behind a position, or fewer if they are long."""
    starts = store.streams()
    stream, seq = _place(after, starts)
    known = {number: start for start, number in starts.items()}
    found: list[Row] = []
    for number in sorted(known):
        if number >= stream and len(found) < limit:
            begin = seq if number == stream else 0
            found += store.rows(number, begin, limit - len(found), experiment.id)
    written = bytearray()
    for row in found:
        written += _encode(_line(row, known, experiment)) + b"\n"
        if len(written) > BYTES:
            break
    return bytes(written)


def _place(after: str | None, starts: dict[int, int]) -> tuple[int, int]:
    if after is None:
        return 0, 0
    start, _, seq = after.partition("-")
    try:
        return starts[int(start, 16)], checks.integer("seq", int(seq), 0, 2**62)
    except (ValueError, KeyError):
        raise InvalidValue(f"after must be a position of this store, got {checks.shown(after)}") from None


def _line(row: Row, starts: dict[int, int], experiment: Experiment) -> dict[str, Any]:
    name = experiment.roster.name
    line: dict[str, Any] = {"position": position(starts[row.stream], row.seq), "time": moment(row.time)}
    if row.kind == events.CHANGE:
        change = read_change(row.body)
        value = name(change.value) if change.what in ("pause", "resume", "remove") else change.value
        return line | {"event": "change", "author": change.author, "what": change.what, "value": value}
    assert row.origin is not None
    assert row.number is not None
    if row.kind == events.DECISION:
        made = read_decided(row.body)
        chances: list[Any] = made.probability or [None] * len(made.arms)
        return line | {
            "event": "decisions",
            "due": moment(row.due or 0),
            "decisions": [
                {
                    "decision": position(starts[row.origin], row.number + i),
                    "arm": name(arm),
                    "control": i in made.control,
                    "probability": chance,
                }
                for i, (arm, chance) in enumerate(zip(made.arms, chances, strict=True))
            ],
        }
    body = read_closed(row.body)
    return line | {
        "event": EVENTS[row.kind],
        "decision": position(starts[row.origin], row.number),
        "arm": name(body.arm),
        "reward": body.reward,
        "control": body.control,
    }
