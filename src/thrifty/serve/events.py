"""What a row of the log says. Bodies are MessagePack arrays: small, and read without a look at other rows."""

from typing import Any, NamedTuple

import msgspec

# Kinds of rows. A decision has one outcome; what comes again is remarked.
CHANGE, DECISION = "p", "d"
REWARD, DEFAULT, EXPIRED, CANCELLED = "r", "f", "e", "c"
OUTCOMES = (REWARD, DEFAULT, EXPIRED, CANCELLED)
PAID = (REWARD, DEFAULT)  # those that are a reward
REPEATED, CONFLICT, LATE = "2", "!", "l"


class Row(NamedTuple):
    """A row of the log, by the columns of the table."""

    stream: int  # of whoever wrote it
    seq: int  # its place there
    kind: str
    experiment: int
    time: int  # microseconds since 1970; they never go back in a stream
    origin: int | None  # the stream of the decision
    number: int | None  # of the (first) decision
    due: int | None
    body: bytes


class Decided(msgspec.Struct, array_like=True, gc=False):
    """The body of decisions that were made together, with numbers that follow each other."""

    arms: list[int]  # serials
    control: list[int]  # which of them control made
    probability: list[float | None] | None  # of each, if that was asked for
    decided: int | None = None  # when, if this was added later from an id


class Closed(msgspec.Struct, array_like=True, gc=False):
    """The body of an outcome, or of a remark."""

    arm: int
    reward: float | None
    control: bool  # whether control made the decision


class Change(msgspec.Struct, array_like=True):
    """The body of a change to an experiment. Changes are ordered by their version, wherever they stand."""

    version: int
    author: str  # the name of the key
    what: str  # create, patch, add, pause, resume, remove
    value: Any


pack = msgspec.msgpack.Encoder().encode
read_decided = msgspec.msgpack.Decoder(Decided).decode
read_closed = msgspec.msgpack.Decoder(Closed).decode
read_change = msgspec.msgpack.Decoder(Change).decode
