"""HTTP to one service: connections that are kept, time-outs that hold for a whole request, and its errors."""

import json
import socket
import ssl
import time
from collections import deque
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from thrifty.client.values import shown
from thrifty.errors import InvalidType, InvalidValue, ThriftyError

IDLE = 100  # connections that are kept at most
LATER = (408, 429)  # and from 500 on: the same request may be fine later


class Away(ThriftyError):
    """The service cannot be reached, did not answer in time, or cannot serve now.

    ``sent`` says whether the request may have reached it all the same, ``after`` for how many seconds it
    wants to be left alone.
    """

    def __init__(self, detail: str, sent: bool = True, after: float = 0.0) -> None:
        self.sent, self.after = sent, after
        super().__init__(detail)


class Refused(ThriftyError):
    """The service said no: ``status`` and ``detail`` are its own, ``field`` is the one that was wrong, and
    ``request_id`` is in its log too."""

    def __init__(self, status: int, detail: str, field: str = "", request_id: str = "") -> None:
        self.status, self.detail, self.field, self.request_id = status, detail, field, request_id
        super().__init__(f"{status}: {detail}" + (f" (request {request_id})" if request_id else ""))


class _Until:
    """A socket that is read until a moment, and not for some seconds each time."""

    end = 0.0

    def recv_into(self, *arguments: Any) -> int:
        self.settimeout(_left(self.end))  # type: ignore[attr-defined]
        return super().recv_into(*arguments)  # type: ignore[misc, no-any-return]


class _PlainSocket(_Until, socket.socket):
    pass


class _SecureSocket(_Until, ssl.SSLSocket):
    pass


class Wire:
    """Requests to the service at ``url``, by any number of threads."""

    def __init__(self, url: str, key: str | None) -> None:
        if not isinstance(url, str):
            raise InvalidType(f"url must be a text, got {shown(url)}")
        try:
            parts = urlsplit(url)
            self._port, self._host = parts.port, parts.hostname
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not self._host or parts.query or parts.username:
            raise InvalidValue(f"url must be such as http://127.0.0.1:8642, got {shown(url)}")
        if key is not None and not isinstance(key, str):
            raise InvalidType(f"key must be a text or None, got {type(key).__name__}")  # it is a secret
        if key is not None and not (key.isascii() and key.isprintable() and key.strip()):
            raise InvalidValue("key must be as thrifty keys create printed it, got something else")
        self.url, self._prefix = url, parts.path.rstrip("/")
        self._secure = None
        if parts.scheme == "https":
            self._secure = ssl.create_default_context()
            self._secure.sslsocket_class = _SecureSocket
        self._headers = {"content-type": "application/json", "accept": "application/json"}
        if key is not None:
            self._headers["authorization"] = f"Bearer {key.strip()}"
        self._idle: deque[HTTPConnection] = deque()

    def close(self) -> None:
        """Connections that nobody uses. Others are closed by those who use them."""
        while self._idle:
            self._idle.pop().close()

    def post(self, path: str, value: Any, timeout: float) -> Any:
        """What the service answers. What is asked must be such that asking twice does no harm."""
        body = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
        end, sent = time.monotonic() + timeout, False
        while True:
            try:
                connection, kept = self._take(end)
            except OSError as error:
                raise Away(f"{self.url} cannot be reached: {_said(error)}", sent) from None
            sent = True
            try:
                answer, whole = self._ask(connection, path, body, end)
            except TimeoutError:
                connection.close()
                raise Away(f"{self.url} did not answer within {timeout:g} s") from None
            except (OSError, HTTPException) as error:
                connection.close()
                if not kept:  # else it was closed while nobody used it, or the service ended: see which
                    raise Away(f"{self.url} broke off: {_said(error)}") from None
            except BaseException:  # Ctrl-C: an answer that is still to come is none of the next request
                connection.close()
                raise
            else:
                if answer.will_close or len(self._idle) >= IDLE:
                    connection.close()
                else:
                    self._idle.append(connection)
                return self._read(answer, whole)

    def _take(self, end: float) -> tuple[HTTPConnection, bool]:
        """A connection, and whether it was used before."""
        try:
            return self._idle.pop(), True
        except IndexError:
            pass
        timeout = _left(end)
        new = (
            HTTPConnection(str(self._host), self._port, timeout)
            if self._secure is None
            else HTTPSConnection(str(self._host), self._port, timeout=timeout, context=self._secure)
        )
        try:
            new.connect()
        except BaseException:
            new.close()
            raise
        if self._secure is None:
            new.sock = _PlainSocket(fileno=new.sock.detach())
        return new, False

    def _ask(
        self, connection: HTTPConnection, path: str, body: bytes, end: float
    ) -> tuple[HTTPResponse, bytes]:
        sock: Any = connection.sock
        sock.end = end
        sock.settimeout(_left(end))
        connection.request("POST", self._prefix + path, body, self._headers)
        answer = connection.getresponse()
        return answer, answer.read()

    def _read(self, answer: HTTPResponse, body: bytes) -> Any:
        try:
            value = json.loads(body)
        except ValueError:
            value = None
        if answer.status == 200 and isinstance(value, dict):
            return value
        problem = value if isinstance(value, dict) else {}
        detail = str(problem.get("detail") or f"{answer.reason}, which is not how thrifty answers")
        if answer.status in LATER or answer.status >= 500:
            after = answer.headers.get("retry-after", "")
            raise Away(
                f"{self.url} cannot now, {answer.status}: {detail}",
                sent=answer.status != 503,
                after=float(after) if after.isdecimal() else 0.0,
            )
        field, number = (str(problem.get(name, "")) for name in ("field", "request_id"))
        raise Refused(answer.status, detail, field, number)


def _left(end: float) -> float:
    """Seconds until then."""
    left = end - time.monotonic()
    if left <= 0.0:
        raise TimeoutError
    return left


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
