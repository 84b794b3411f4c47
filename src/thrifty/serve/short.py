"""A short way for decisions and rewards: from the connection to the service, and back in one piece. uvicorn
and ASGI take more time than all the rest, for tasks, events, timers and an answer in two parts.

A connection stays here as long as each of its requests is a plain one: a decision or a reward, which comes
alone and soon. With the first that is not, the connection goes to uvicorn's own protocol, and stays there.
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from math import inf
from typing import Any

import httptools
import uvicorn
from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from thrifty.serve.app import REWARDS, Api, problem, unavailable

MOST = 2**16  # bytes of a request
LOOK = 1.0  # seconds between looks at who sends nothing, or not all
LONG = (b"transfer-encoding", b"expect", b"upgrade", b"origin")  # headers that uvicorn or others answer
KEPT = b"keep-alive"
OK = b"HTTP/1.1 200 OK\r\n"
JSON = b"content-type: application/json\r\ncontent-length: %d\r\n\r\n"


def protocol(api: Api) -> Any:
    """For uvicorn's option ``http``: what makes the protocol of a connection."""

    def make(**options: Any) -> asyncio.Protocol:
        return Short(api, options["config"], options["server_state"], lambda: HttpToolsProtocol(**options))

    return make


class Short(asyncio.Protocol):
    """A connection. ``state`` is what uvicorn knows of all of them, ``long`` makes its own protocol."""

    def __init__(
        self, api: Api, config: uvicorn.Config, state: Any, long: Callable[[], asyncio.Protocol]
    ) -> None:
        self._api, self._config, self._state, self._long = api, config, state, long
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._data = b""  # of a request that is not answered yet
        self._begun = self._complete = 0  # messages in it
        self._task: asyncio.Task[None] | None = None  # a reward that is being written
        self._later = b""  # what came meanwhile
        self._used = 0.0  # when something came last
        self._timer: asyncio.TimerHandle | None = None
        self._full = False  # of answers that nobody reads
        self._ends = False  # with the answer
        self._transport: Any

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._state.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._leave()

    def _leave(self) -> None:
        self._state.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        del self._parser  # it knows us

    def shutdown(self) -> None:
        """The server stops."""
        self._ends = True
        if self._task is None:
            self._transport.close()

    def pause_writing(self) -> None:
        self._full = True
        self._transport.pause_reading()  # who does not read is not read

    def resume_writing(self) -> None:
        self._full = False
        self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self._task is not None:
            self._later += data
            self._transport.pause_reading()
            return
        self._used = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(LOOK, self._look)
        self._data += data
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._hand_over()
            return
        if self._begun > 1 or len(self._data) > MOST:
            self._hand_over()
        elif self._complete:
            self._answer()

    def on_message_begin(self) -> None:
        self._begun += 1
        self._url = self._body = b""
        self._headers: dict[bytes, bytes] = {}

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.setdefault(name.lower(), value)  # of several with one name, as Starlette has it

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self._complete += 1

    def _answer(self) -> None:
        parser, headers = self._parser, self._headers
        path = self._url.decode("latin-1")
        if (
            not self._api.is_frequent(parser.get_method().decode(), path)
            or not path.isascii()
            or "?" in path
            or "#" in path
            or parser.get_http_version() != "1.1"
            or headers.get(b"connection", KEPT).lower() != KEPT
            or any(name in headers for name in LONG)
            or len(self._state.connections) >= (self._config.limit_concurrency or inf)
        ):
            self._hand_over()
            return
        self._data, self._begun, self._complete = b"", 0, 0
        try:
            self._api.check(path, headers)
            if path == REWARDS:
                self._task = task = self._loop.create_task(self._reward(self._body))
                self._state.tasks.add(task)
                task.add_done_callback(self._state.tasks.discard)
            else:
                self._write_json(self._api.decided(path, self._body))
        except Exception as error:
            self._write_response(problem(error))

    async def _reward(self, body: bytes) -> None:
        try:
            self._write_json(await self._api.rewarded(body))
        except asyncio.CancelledError:  # by uvicorn, which does not wait for ever
            self._write_response(unavailable("the service is being stopped"))
        except Exception as error:
            self._write_response(problem(error))
        self._task = None
        if self._later:
            self._data, self._later = self._later, b""
            self._hand_over()

    def _write_json(self, answer: bytes) -> None:
        self._write(OK, JSON % len(answer) + answer)

    def _write_response(self, response: Response) -> None:
        status = HTTPStatus(response.status_code)
        lines = b"".join(b"%b: %b\r\n" % line for line in response.raw_headers)
        first = b"HTTP/1.1 %d %b\r\n" % (status, status.phrase.encode())
        self._write(first, lines + b"\r\n" + bytes(response.body))

    def _write(self, first: bytes, rest: bytes) -> None:
        """The first line of an answer, the date, and the rest."""
        if not self._transport.is_closing():
            lines = b"".join([b"%b: %b\r\n" % line for line in self._state.default_headers])
            ends = b"connection: close\r\n" if self._ends else b""
            self._transport.write(first + lines + ends + rest)
            if self._ends:
                self._transport.close()

    def _hand_over(self) -> None:
        """The connection, with what came and was not answered."""
        if self._transport.is_closing():
            return
        self._leave()
        long = self._long()
        self._transport.set_protocol(long)
        long.connection_made(self._transport)
        if self._full:
            long.pause_writing()
        self._transport.resume_reading()
        long.data_received(self._data)

    def _look(self) -> None:
        """Who sends a part alone is waited for elsewhere; who sends nothing for a while is not."""
        if self._data:
            self._hand_over()
        elif self._task is None and self._loop.time() > self._used + self._config.timeout_keep_alive:
            self._transport.close()
        else:
            self._timer = self._loop.call_later(LOOK, self._look)
