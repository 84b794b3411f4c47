"""A line on standard error for each request, if that is asked for: method, path, status, how long it took,
and the request id if something was wrong. No header, query or body is in it, and so no secret."""

import logging
import time
from typing import Any

LOGGER = logging.getLogger("thrifty.serve")


def logged(app: Any) -> Any:
    """The same application, with a line for each request."""

    async def call(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        began, seen = time.perf_counter(), {"status": "no answer", "id": ""}

        async def noted(message: Any) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = str(message["status"])
                seen["id"] = dict(message["headers"]).get(b"x-request-id", b"").decode("latin-1")
            await send(message)

        try:
            await app(scope, receive, noted)
        finally:
            path = scope.get("raw_path", b"").partition(b"?")[0].decode("latin-1")
            took = 1000.0 * (time.perf_counter() - began)
            LOGGER.info("%s %r: %s in %.1f ms %s", scope["method"], path, seen["status"], took, seen["id"])

    return call
