"""Checkpoints: the fold at stated places of the log, so that a start need not read all of it.

One is made from the one before and the log, by another process, and written by the one writer, in pieces that
are small enough to wait for. It is a convenience: one that is missing, damaged or newer costs time and
nothing else. Two are kept.
"""

import itertools
import logging
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import msgspec
import numpy as np
import sqlalchemy as sa

from thrifty.serve import apart
from thrifty.serve.events import Row
from thrifty.serve.fold import Fold
from thrifty.serve.store import Store, checkpoints, pieces
from thrifty.serve.totals import Note

LOGGER = logging.getLogger("thrifty.serve")
VERSION = 2
PIECE = 256 * 1024  # bytes
KEPT = 2
EVERY = 60_000  # places of the log


def state(store: Store) -> tuple[Fold, int]:
    """What the log amounts to: the newest checkpoint that can be read, and what came after it; and how many
    rows that were."""
    fold = newest(store)
    counter = itertools.count()
    fold.add(row for row, _ in zip(store.log(fold.read.copy()), counter, strict=False))
    return fold, next(counter)


def newest(store: Store) -> Fold:
    """The newest checkpoint that can be read, with all changes; if there is none, these alone."""
    changes = store.changes()
    with store.engine.connect() as connection:
        heads = connection.execute(sa.select(checkpoints).order_by(checkpoints.c.id.desc())).all()
        for head in heads:
            query = sa.select(pieces.c.body).where(pieces.c.checkpoint == head.id).order_by(pieces.c.piece)
            body = b"".join(connection.execute(query).scalars())
            if head.version == VERSION and head.digest == _digest(body):
                try:
                    return _unpacked(body, changes)
                except Exception:  # whatever it is: a checkpoint is a convenience
                    LOGGER.exception("checkpoint %d is not what it should be", head.id)
            LOGGER.warning("checkpoint %d cannot be read: the one before it is taken", head.id)
    return Fold(changes)


def notes(store: Store) -> Iterator[Note]:
    """One more checkpoint, in many short transactions."""
    fold = newest(store)
    before = fold.read.copy()
    fold.add(store.log(before))
    if fold.read == before:
        return
    body = _packed(fold)
    parts = [body[i : i + PIECE] for i in range(0, len(body), PIECE)]
    with store.engine.connect() as connection:
        there = connection.execute(sa.select(pieces.c.checkpoint, pieces.c.piece)).all()
        heads = connection.execute(sa.select(checkpoints.c.id).order_by(checkpoints.c.id)).scalars().all()
    number = max([0, *heads, *(checkpoint for checkpoint, _ in there)]) + 1
    for i, part in enumerate(parts):
        yield [("insert into pieces values (?, ?, ?)", (number, i, part))]
    kept = [*heads, number][-KEPT:]
    yield [
        ("insert into checkpoints values (?, ?, ?, ?)", (number, VERSION, _digest(body), len(parts))),
        ("delete from checkpoints where id < ?", (kept[0],)),
    ]
    for key in there:  # what is left of others, of one that was not finished too
        if key[0] not in kept:
            yield [("delete from pieces where checkpoint = ? and piece = ?", tuple(key))]


def _packed(fold: Fold) -> bytes:
    tallies: dict[int, list[bytes]] = {}
    for number, tally in fold.tallies.items():
        used = np.flatnonzero(tally.decided + tally.closed)
        size = int(used[-1]) + 1 if used.size else 0
        tallies[number] = [getattr(tally, column)[:size].tobytes() for column in tally.columns]
    return zlib.compress(msgspec.msgpack.encode([fold.read, tallies]), 1)


def _unpacked(body: bytes, changes: list[Row]) -> Fold:
    fold = Fold(changes)
    read, tallies = msgspec.msgpack.decode(
        zlib.decompress(body), type=tuple[dict[int, int], dict[int, list[bytes]]]
    )
    fold.read = read
    for number, columns in tallies.items():
        tally = fold.tally(number)
        for name, column in zip(tally.columns, columns, strict=True):
            empty: Any = getattr(tally, name)
            setattr(tally, name, np.frombuffer(column, empty.dtype).copy())
    return fold


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=32).digest()


if __name__ == "__main__":
    apart.tell(notes)
