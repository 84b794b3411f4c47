"""Kernels that are not compiled yet are compiled in another process, so that decisions do not wait."""

import asyncio
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np

from thrifty import cache
from thrifty.checks import is_ours
from thrifty.engines.memory import Rule
from thrifty.policies import Policy
from thrifty.policies.program import program
from thrifty.serve import apart, looks
from thrifty.serve.arms import ENTRIES, read_policy, rehearse, table_of


async def prepare(policy: Policy, engine: str) -> None:
    """They are in Numba's cache, and loaded, for a policy on an engine."""
    if not are_kept(policy, engine):
        await apart.run(__name__, sent=_asked(policy, engine))
        with suppress(OSError):  # where nothing can be kept
            _mark(policy, engine).touch()
    await asyncio.to_thread(load, policy, engine)


def are_kept(policy: Policy, engine: str) -> bool:
    """Whether another process need not compile them first: a mark beside them says so."""
    ours = is_ours(type(policy.played))  # others are kept in no cache
    return not ours or _mark(policy, engine).exists()


def _asked(policy: Policy, engine: str) -> bytes:
    return msgspec.json.encode([table_of(policy), engine, ENTRIES])


def _mark(policy: Policy, engine: str) -> Path:
    return cache.folder() / f"served-{sha256(_asked(policy, engine)).hexdigest()[:16]}"


def load(policy: Policy, engine: str) -> None:
    playing = program(policy, engine)
    memory = playing.memory(Rule(2, 2), np.ones(4, np.uint64), beside=playing.online)
    playing.compile(memory, *ENTRIES, "select", "update")
    rehearse(policy)
    looks.rehearse(policy, engine)


if __name__ == "__main__":
    table, on, _ = msgspec.json.decode(sys.stdin.buffer.read())
    load(read_policy(table), on)
