"""The short way of decisions and rewards answers as uvicorn's does, and leaves the rest to that one."""

import asyncio
import json
import re
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from tests.support.served import COLOURS, Server, serving, url_of
from thrifty.serve import bodies, run, short
from thrifty.serve.app import create

DECIDE, REWARD, JSON = "/v1/experiments/colours/decisions", "/v1/rewards", "content-type: application/json"
HEALTH = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


def request(path: str, body: bytes, *lines: str, host: str = "127.0.0.1", method: str = "POST") -> bytes:
    head = [f"{method} {path} HTTP/1.1", f"host: {host}", *lines, f"content-length: {len(body)}", "", ""]
    return "\r\n".join(head).encode() + body


def question(count: int = 1) -> bytes:
    return request(DECIDE, b'{"count": %d}' % count, JSON)


class Talk:
    """A connection."""

    def __init__(self, url: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 30.0)
        self._file = self.socket.makefile("rb")

    def answer(self) -> tuple[int, dict[str, str], Any]:
        """The next one: status, headers, body."""
        status = int(self._file.readline().split()[1])
        headers: dict[str, str] = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode().partition(": ")
            headers[name] = value
        return status, headers, json.loads(self._file.read(int(headers["content-length"])))

    def ask(self, *parts: bytes) -> tuple[int, dict[str, str], Any]:
        for i, part in enumerate(parts):
            time.sleep(0.005 * (i > 0))
            self.socket.sendall(part)
        return self.answer()

    def ended(self) -> bool:
        return self._file.read(1) == b""

    def close(self) -> None:
        self._file.close()
        self.socket.close()


@contextmanager
def talk(url: str) -> Iterator[Talk]:
    made = Talk(url)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("short")) as (server, client):
        client.put("/v1/experiments/colours", json=COLOURS)
        client.put("/v1/experiments/a%2Fb", json=COLOURS)
        yield server


def rewards(*ids: str) -> bytes:
    body = json.dumps({"rewards": [{"decision": one, "reward": 1.0} for one in ids]})
    return request(REWARD, body.encode(), JSON)


def plain(answer: tuple[int, dict[str, str], Any]) -> tuple[int, dict[str, str], str]:
    """Without what is new each time."""
    status, headers, body = answer
    text = re.sub(r'"(id|position|request_id|arm)": "[^"]*"', "", json.dumps(body))
    kept = {name: value for name, value in headers.items() if name not in ("date", "x-request-id")}
    kept["content-length"] = ""  # of other arms
    return status, kept | {name: "" for name in headers if name in ("date", "x-request-id")}, text


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (question(), 200),
        (question(3), 200),
        (request("/v1/experiments/a%2Fb/decisions", b"{}", JSON), 200),
        (request(DECIDE, b"{}", JSON, "content-type: text/plain"), 200),  # the first counts
        (rewards("A" * 100), 200),
        (request(DECIDE, b"{}", JSON, host="localhost:80"), 200),
        (request(DECIDE, b"{}", JSON, "Connection: Keep-Alive"), 200),
        (request(DECIDE, b"{", JSON), 400),
        (request("/v1/experiments/none/decisions", b"{}", JSON), 404),
        (request("/v1/experiments/%FF/decisions", b"{}", JSON), 422),
        (request(DECIDE, b'{"count": 0}', JSON), 422),
        (request(DECIDE, b"{}"), 415),
        (request(DECIDE, b"{}", "content-type: text/plain", JSON), 415),
        (request(DECIDE, b"{}", JSON, host="shop.example"), 421),
        (request(REWARD, b'{"rewards": 1}', JSON), 422),
        (request(REWARD, b'{"rewards": [{"decision": "a", "reward": true}]}', JSON), 422),
    ],
)
def test_it_answers_as_the_long_way_does(server: Server, sent: bytes, status: int) -> None:
    with talk(server.url) as one, talk(server.url) as other:
        assert other.ask(HEALTH)[0] == 200  # from now on it is uvicorn's
        found = plain(one.ask(sent))
        assert found == plain(other.ask(sent))
        assert found[0] == status
        assert one.ask(question())[0] == other.ask(question())[0] == 200  # also after a refusal


def test_a_request_may_come_in_parts(server: Server) -> None:
    with talk(server.url) as one:
        for sent in (question(), rewards("A" * 100)):
            for i in range(1, len(sent), 7):
                assert one.ask(sent[:i], sent[i:])[0] == 200


@pytest.mark.parametrize(
    "sent",
    [
        HEALTH,
        request(f"{DECIDE}?a=1", b"{}", JSON),
        request(DECIDE, b"{}", JSON, "origin: https://shop.example"),
        request(DECIDE, b'{"among": ["red"], "count": 1' + b" " * 2**17 + b"}", JSON),
        f"POST {DECIDE} HTTP/1.1\r\nhost: localhost\r\n{JSON}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
    ],
)
def test_what_is_not_plain_goes_the_long_way(server: Server, sent: bytes) -> None:
    """Whole, in parts, and behind others."""
    with talk(server.url) as one:
        assert one.ask(question())[0] == 200
        assert one.ask(sent[:40], sent[40:70], sent[70:])[0] == 200
        assert one.ask(question())[0] == 200


def test_what_is_no_http_is_refused(server: Server) -> None:
    with talk(server.url) as one:
        assert one.ask(question())[0] == 200
        one.socket.sendall(b"what?\r\n\r\n")
        assert one._file.readline().startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "sent",
    [
        request(DECIDE, b"{}", JSON, "connection: close"),
        request(DECIDE, b"{}", JSON).replace(b"HTTP/1.1", b"HTTP/1.0"),
    ],
)
def test_a_client_may_end_the_connection_with_its_request(server: Server, sent: bytes) -> None:
    with talk(server.url) as one:
        status, headers, _ = one.ask(sent)
        assert (status, headers["connection"]) == (200, "close")
        assert one.ended()


def test_answers_come_in_order(server: Server) -> None:
    """Of requests that are sent at once, and while a reward is being written."""
    with talk(server.url) as one:
        made = [decision["id"] for decision in one.ask(question(40))[2]["decisions"]]
    for apart in (False, True):
        with talk(server.url) as one:
            for i, half in enumerate((made[:20], made[20:])):
                for sent in (rewards(half[0]), question(2 + i), rewards(*half[1:4]), question(5)):
                    one.socket.sendall(sent)
                    time.sleep(0.0005 * apart)
                found = [one.answer()[2] for _ in range(4)]
                assert [len(next(iter(body.values()))) for body in found] == [1, 2 + i, 3, 5]
                assert {result["status"] for body in found[::2] for result in body["results"]} <= {
                    "counted",
                    "repeated",
                }


def stuffed(one: Talk) -> int:
    """How many questions a server takes whose answers, of 400 KB each, nobody reads."""
    sent, asked = 0, request(DECIDE, b'{"count": 2000}' + b" " * 20_000, JSON)
    one.socket.settimeout(2.0)
    with suppress(TimeoutError):
        while sent < 10_000:
            one.socket.sendall(asked)
            sent += 1
            time.sleep(0.05 if sent < 10 else 0.0)  # one after the other, at first
    one.socket.settimeout(60.0)
    return sent


def test_who_does_not_read_is_not_read(server: Server) -> None:
    with talk(server.url) as one:
        sent = stuffed(one)
        assert 10 < sent < 10_000
        for _ in range(10):
            assert len(one.answer()[2]["decisions"]) == 2000


def play(folder: Path, scenario: Callable[[int], Awaitable[None]], **options: Any) -> None:
    """A server in this process, with settings that others do not need."""

    async def whole() -> None:
        app = create(url_of(folder))
        with run.listen("127.0.0.1", 0) as listening:
            server = uvicorn.Server(run.configured(app, http=short.protocol(app.api), **options))
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            while not server.started:
                await asyncio.sleep(0.01)
            await app.starting
            try:
                await scenario(listening.getsockname()[1])
            finally:
                server.should_exit = True
                await serving

    asyncio.run(whole())


def test_who_goes_before_the_answer_is_not_missed(tmp_path: Path) -> None:
    async def scenario(port: int) -> None:
        wrong: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            await client.put("/v1/experiments/colours", json=COLOURS)
            made = (await client.post(DECIDE, json={"count": 20})).json()["decisions"]
            for i, one in enumerate(made):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(rewards(one["id"]))
                await asyncio.sleep(0.0005 * (i % 3))
                writer.write(question())
                await asyncio.sleep(0.0005 * (i % 2))
                writer.transport.abort()
            await asyncio.sleep(0.2)
            again = json.loads(rewards(*(one["id"] for one in made)).partition(b"\r\n\r\n")[2])
            said = [one["status"] for one in (await client.post(REWARD, json=again)).json()["results"]]
        assert set(said) <= {"counted", "repeated"}
        assert "repeated" in said  # it was read, and nobody waited
        assert wrong == []

    play(tmp_path, scenario)


def test_who_sends_nothing_or_not_all_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short, "LOOK", 0.05)
    monkeypatch.setattr(bodies, "SLOW", 0.1)

    async def scenario(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(rewards("A" * 100))
        await reader.readuntil(b"]}")
        began = time.monotonic()
        assert await asyncio.wait_for(reader.read(), 30.0) == b""  # it is closed
        assert time.monotonic() - began > 0.9
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(rewards("A" * 100)[:-5])
        assert (await asyncio.wait_for(reader.readline(), 30.0)).startswith(b"HTTP/1.1 408")
        writer.close()

    play(tmp_path, scenario, timeout_keep_alive=1)
