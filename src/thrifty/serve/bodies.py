"""Bodies of requests: what is wanted, not too large, not too slow.

One timer is there for all who read. A timer for each would cost more than a decision does.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

BODY = 64 * 2**20  # bytes of a request
SLOW = 30.0  # seconds that a body may take

Receive = Callable[[], Awaitable[Any]]


class Refused(Exception):
    """A request that is refused before it is read."""

    def __init__(self, status: int, detail: str) -> None:
        self.status = status
        super().__init__(detail)


class Bodies:
    """Reads them."""

    def __init__(self) -> None:
        self._since: dict[asyncio.Task[Any], float] = {}  # who reads, and since when: the oldest first
        self._late: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def read(self, receive: Receive, most: int | None = None) -> bytes:
        """What was sent, if it has at most so many bytes: 64 MB unless told."""
        most = BODY if most is None else most
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        self._since[task] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(SLOW, self._look, loop)
        try:
            return await _whole(receive, most)
        except asyncio.CancelledError:
            if task not in self._late:
                raise
            task.uncancel()
            raise Refused(408, f"a body must be sent within {SLOW:g} s") from None
        finally:
            del self._since[task]
            self._late.discard(task)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Whoever takes too long is told so."""
        now, self._timer = loop.time(), None
        for task, since in self._since.items():
            if now < since + SLOW:
                self._timer = loop.call_at(since + SLOW, self._look, loop)
                break
            self._late.add(task)
            task.cancel()


def check_body(media: str, length: str, wanted: str = "application/json", most: int | None = None) -> None:
    """Whether a body is read, by the headers content-type and content-length of its request."""
    most = BODY if most is None else most
    media = media.partition(";")[0].strip().lower()
    if media != wanted:
        raise Refused(415, f"content-type must be {wanted}, got {media!r}")
    if length.isascii() and length.isdigit() and (len(length) > 12 or int(length) > most):
        raise Refused(413, f"a body must have at most {most} bytes, got {length[:20]}")


async def _whole(receive: Receive, most: int) -> bytes:
    message = await receive()
    whole: bytes = message.get("body", b"")
    if message.get("more_body"):
        parts = bytearray(whole)
        while message.get("more_body"):
            message = await receive()
            parts += message.get("body", b"")
            if len(parts) > most:
                break
        whole = bytes(parts)
    if message["type"] == "http.disconnect":
        raise Refused(400, "a body must be sent whole")
    if len(whole) > most:
        raise Refused(413, f"a body must have at most {most} bytes, got more")
    return whole
