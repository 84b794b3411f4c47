"""Single rewards, for policies that need more than sums: they are read from the log, and are a set.

A reward is known by its decision, (start, number), which also throws the coin of a policy that rounds: so it
falls the same way in every process, whenever the reward is read.
"""

import math
import struct
import sys
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
import numpy as np

from thrifty.arrays import Floats, Integers
from thrifty.serve import apart
from thrifty.serve.events import PAID, read_closed
from thrifty.serve.store import Store

Key = tuple[int, int]  # of a decision: its start, and its number there
KEY = struct.Struct(">QQ")
BITS = 53  # of a coin


def coin(key: Key) -> float:
    """A number in [0, 1) that follows from a decision's id, uniform over all ids."""
    digest = blake2b(KEY.pack(*key), digest_size=8, person=b"thrifty coin").digest()
    return math.ldexp(int.from_bytes(digest) >> (64 - BITS), -BITS)


def rounded(unit: float, grid: int, thrown: float) -> float:
    """A reward in [0, 1], to one of the two next multiples of 1/grid, by a coin so that the mean stays."""
    whole = int(unit * grid)
    return (whole + (thrown < unit * grid - whole)) / grid


class Singles(NamedTuple):
    """Rewards of an experiment, a row each."""

    arms: Integers  # serials
    rewards: Floats
    starts: Integers
    numbers: Integers

    def joined(self, others: dict[Key, tuple[int, float]]) -> "Singles":
        """These and others, each once."""
        near = np.isin(self.numbers, np.array([number for _, number in others], np.int64))
        there = {*zip(self.starts[near].tolist(), self.numbers[near].tolist(), strict=True)}
        new = [(*others[key], *key) for key in others if key not in there]
        return joined([self, columns(new)])


def columns(rows: list[tuple[int, float, int, int]]) -> Singles:
    """Rows (arm, reward, start, number)."""
    arms, rewards, starts, numbers = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Singles(
        np.array(arms, np.int64),
        np.array(rewards, float),
        np.array(starts, np.int64),
        np.array(numbers, np.int64),
    )


def joined(parts: list[Singles]) -> Singles:
    return Singles(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def read(store: Store, experiments: set[int]) -> dict[int, Singles]:
    """All that the log has of these experiments, in short transactions."""
    parts: dict[int, list[Singles]] = {number: [columns([])] for number in experiments}
    if experiments:
        streams = store.streams()
        starts = {stream: start for start, stream in streams.items()}
        for stream in streams.values():
            seq = 0
            while rows := store.rows(stream, seq):
                seq = rows[-1].seq
                if not {row.origin for row in rows} <= {None, *starts}:  # of another store, added meanwhile
                    starts = {number: start for start, number in store.streams().items()}
                found: dict[int, list[tuple[int, float, int, int]]] = {}
                for row in rows:
                    if row.kind in PAID and row.experiment in experiments:
                        body = read_closed(row.body)
                        if body.reward is not None and row.origin is not None and row.number is not None:
                            one = (body.arm, body.reward, starts[row.origin], row.number)
                            found.setdefault(row.experiment, []).append(one)
                for number, some in found.items():
                    parts[number].append(columns(some))
    return {number: joined(some) for number, some in parts.items()}


async def fetched(store: Store, experiment: int) -> Singles:
    """The same of one experiment, read by another process: decisions do not wait."""
    written = await apart.run(__name__, store.url, str(experiment))
    found = msgspec.msgpack.decode(written, type=list[bytes])
    kinds: list[Any] = [column.dtype for column in columns([])]
    return Singles(*(np.frombuffer(column, kind) for column, kind in zip(found, kinds, strict=True)))


if __name__ == "__main__":
    opened, wanted = Store(sys.argv[1]), int(sys.argv[2])
    sys.stdout.buffer.write(msgspec.msgpack.encode([one.tobytes() for one in read(opened, {wanted})[wanted]]))
    opened.close()
