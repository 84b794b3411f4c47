"""Work that another process does, so that decisions do not wait for it. It reads the store, and says what the
one writer is to write."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import msgspec

from thrifty.errors import ThriftyError
from thrifty.serve.store import Store

YIELDING = 10  # its priority, as in nice: whoever serves comes first, also on one core
THREADS = ThreadPoolExecutor(32, "thrifty-apart")  # each waits for a process
Notes = list[list[tuple[str, list[Any]]]]  # transactions: statements with their values


async def run(module: str, *arguments: str, sent: bytes = b"") -> bytes:
    """What a module writes that is run with these arguments. An error says what went wrong."""
    other = _Other([sys.executable, "-m", module, *arguments], sent)
    try:
        code, written, said = await asyncio.get_running_loop().run_in_executor(THREADS, other.run)
    except BaseException:
        other.end()
        raise
    if code:
        raise ThriftyError(f"{module}: {said.decode(errors='replace')[-500:] or 'it was ended'}")
    return written


class _Other:
    """Another process. A thread begins it and waits for it: an event loop would fork, which takes the longer
    the more memory there is, and all who ask would wait."""

    def __init__(self, command: list[str], sent: bytes) -> None:
        self._command, self._sent = command, sent
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def run(self) -> tuple[int, bytes, bytes]:
        pipe = subprocess.PIPE
        with subprocess.Popen(
            self._command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            # Ctrl-C in a terminal is for who serves, who ends it then. Not a session of its own: Linux may
            # give each session the same share of a core, whatever the priorities in it.
            process_group=0,
        ) as process:
            self._process = process
            if self._ended:
                process.kill()
            with suppress(AttributeError, OSError):  # Windows has no such thing; or it is over
                own = os.getpriority(os.PRIO_PROCESS, 0)
                os.setpriority(os.PRIO_PROCESS, process.pid, max(own, YIELDING))
            written, said = process.communicate(self._sent)
            return process.returncode, written, said

    def end(self) -> None:
        self._ended = True
        if self._process is not None:
            self._process.kill()


async def notes(module: str, store: Store) -> Notes:
    """What is to be written, one short transaction after the other."""
    written = await run(module, store.url)
    return await asyncio.to_thread(msgspec.msgpack.decode, written, type=Notes)


def tell(make: Callable[[Store], Iterable[Any]]) -> None:
    """The other side of it."""
    store = Store(sys.argv[1])
    sys.stdout.buffer.write(msgspec.msgpack.encode(list(make(store))))
    store.close()


def write(store: Store, made: Iterable[Any]) -> None:
    """Where no server runs."""
    for note in made:
        with store.writing() as connection:
            for statement, values in note:
                connection.exec_driver_sql(statement, tuple(values))
