"""Clients that cost little: requests over kept connections, as fast as they are answered or at a rate.

At a rate, a request's time begins when it should have been sent: if none was free to send it, it waited. How
much of that is the clients' own, who wake up every millisecond, is measured beside it.
"""

import asyncio
import gc
import re
import time
from collections import deque
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import uvloop

DECIDE = "/v1/experiments/bench/decisions"
REWARD = "/v1/rewards"
ID = re.compile(rb'"id":"([^"]+)"')
TICK = 0.001  # seconds


def request(host: str, path: str, body: bytes) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode() + body


class Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self) -> None:
        self._data = b""
        self._done: Callable[[bytes], None] | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def ask(self, request: bytes, done: Callable[[bytes], None]) -> None:
        self._done = done
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, body = self._data.partition(b"\r\n\r\n")
        if not found:
            return
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) < size:
            return
        assert head[9:12] == b"200", self._data
        self._data, done, self._done = b"", self._done, None
        assert done is not None
        done(body)

    def connection_lost(self, error: Exception | None) -> None:
        if self._done is not None:
            raise ConnectionError("the server broke off")


async def _connect(url: str, count: int) -> tuple[str, list[Connection]]:
    parts = urlsplit(url)
    loop = asyncio.get_running_loop()
    made = [await loop.create_connection(Connection, parts.hostname, parts.port) for _ in range(count)]
    return parts.netloc, [protocol for _, protocol in made]


async def _closed(url: str, body: bytes, connections: int, seconds: float) -> tuple[int, float]:
    host, pool = await _connect(url, connections)
    whole, count, began = request(host, DECIDE, body), 0, time.perf_counter()
    waiting, ended = connections, asyncio.get_running_loop().create_future()

    def again(connection: Connection) -> None:
        nonlocal count, waiting

        def done(_: bytes) -> None:
            nonlocal count, waiting
            count += 1
            if time.perf_counter() - began < seconds:
                connection.ask(whole, done)
                return
            waiting -= 1
            if waiting == 0:
                ended.set_result(None)

        connection.ask(whole, done)

    for connection in pool:
        again(connection)
    await ended
    took = time.perf_counter() - began
    for connection in pool:
        connection.transport.close()
    return count, took


def as_fast_as_they_are_answered(
    url: str, body: bytes, connections: int, seconds: float
) -> tuple[int, float]:
    """How many requests for decisions were answered, and in how many seconds."""
    return uvloop.run(_closed(url, body, connections, seconds))


async def _open(url: str, rate: float, connections: int, seconds: float) -> dict[str, Any]:
    host, pool = await _connect(url, connections)
    free, late = deque(pool), deque[tuple[float, bytes, bool]]()
    ids: deque[bytes] = deque()
    times: dict[bool, list[float]] = {True: [], False: []}
    own: list[float] = []  # seconds from when a request was due until it was its turn
    question = request(host, DECIDE, b"{}")
    began = time.perf_counter()
    sent = told = 0

    def send(due: float, whole: bytes, decides: bool) -> None:
        connection = free.popleft()

        def done(answer: bytes) -> None:
            times[decides].append(time.perf_counter() - due)
            if decides:
                ids.append(ID.search(answer)[1])  # type: ignore[index]
            free.append(connection)
            if late:
                send(*late.popleft())

        connection.ask(whole, done)

    def hand_in(due: float, whole: bytes, decides: bool) -> None:
        own.append(time.perf_counter() - due)
        if free:
            send(due, whole, decides)
        else:
            late.append((due, whole, decides))

    while (now := time.perf_counter() - began) < seconds:
        while sent < now * rate:
            hand_in(began + sent / rate, question, True)
            sent += 1
        while told < now * rate and ids:
            reward = b'{"rewards":[{"decision":"%s","reward":%d}]}' % (ids.popleft(), told % 2)
            hand_in(max(began + told / rate, began + now - TICK), request(host, REWARD, reward), False)
            told += 1
        await asyncio.sleep(TICK)
    took = time.perf_counter() - began
    counts = {decides: len(found) for decides, found in times.items()}
    late.clear()  # what was never sent is not waited for
    while len(free) < connections:
        await asyncio.sleep(TICK)
    for connection in pool:
        connection.transport.close()
    return {"decisions": counts[True] / took, "rewards": counts[False] / took, "times": times, "own": own}


def at_a_rate(url: str, rate: float, connections: int, seconds: float) -> dict[str, Any]:
    """Decisions and as many rewards, each so many a second: how many were answered, and after which times;
    and of these, what was the clients' own."""
    gc.disable()  # a collection of the clients' own would hold up hundreds of requests
    try:
        return uvloop.run(_open(url, rate, connections, seconds))
    finally:
        gc.enable()
