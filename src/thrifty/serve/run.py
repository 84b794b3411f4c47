"""``thrifty serve``: a server around the application."""

import asyncio
import gc
import logging
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn

from thrifty.errors import InvalidValue, ThriftyError
from thrifty.serve import keys, own, short
from thrifty.serve.app import LOOPBACK, create, unavailable
from thrifty.serve.config import Settings, secret_of
from thrifty.serve.origins import shared
from thrifty.serve.requests import logged
from thrifty.serve.store import Store

HERE = ("127.0.0.1", "::1", "localhost")
CONNECTIONS = 1000  # at once; more get 503
STOP = 1  # seconds for requests that are under way


def serve(settings: Settings) -> None:
    """Until it is stopped."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    own.allow(settings.policies)
    names = (*LOOPBACK, settings.host, *settings.hosts)
    app = create(settings.store, None if "*" in names else names, secret_of(settings))
    asked = shared(app, settings.origins)
    if settings.host not in HERE:
        check_keys(settings)
    app.service.open()
    with listen(settings.host, settings.port) as listening:
        shown = f"[{settings.host}]" if ":" in settings.host else settings.host
        print(welcome(f"http://{shown}:{listening.getsockname()[1]}", app.service.store.path), flush=True)
        config = (
            configured(logged(asked))
            if settings.log_requests
            else configured(asked, http=short.protocol(app.api))
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)  # the server stops by itself, and raises them again
        server = uvicorn.Server(config)
        app.started, app.service.created = keep, gc.freeze
        app.failed = lambda: setattr(server, "should_exit", True)
        server.run(sockets=[listening])
    if app.starting.done() and not app.starting.cancelled() and app.starting.exception() is not None:
        raise ThriftyError(f"the service cannot start: {app.starting.exception()}")


def keep() -> None:
    """What is there stays there: to look for garbage among it would hold up everybody for 50 ms, again and
    again."""
    gc.collect()
    gc.freeze()


def ended(app: Any) -> Any:
    """The same application. Whoever is not answered when the server stops is told so."""

    async def call(scope: Any, receive: Any, send: Any) -> None:
        try:
            await app(scope, receive, send)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            with suppress(RuntimeError):  # the answer is under way
                await unavailable("the service is being stopped")(scope, receive, send)

    return call


def listen(host: str, port: int) -> socket.socket:
    """A socket there. What is written is sent at once, whatever loop runs: asyncio's own leaves that to who
    makes the socket, and an answer in two parts would wait 40 ms for the second."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=2048)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def configured(app: Any, **others: Any) -> uvicorn.Config:
    """How an application is served."""
    return uvicorn.Config(
        ended(app),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=STOP,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        **others,
    )


def check_keys(settings: Settings) -> None:
    """Others can reach it: there must be a key."""
    store = Store(settings.store)
    try:
        if not Path(store.path).exists() or not any(key.revoked is None for key in keys.listed(store)):
            raise InvalidValue(
                f"host must be one of {', '.join(HERE)} as long as there is no key (thrifty keys create), "
                f"got {settings.host!r}"
            )
    finally:
        store.close()


def welcome(url: str, path: str) -> str:
    return f"""\
thrifty serves {path} at {url}

Try:
  curl -X PUT {url}/v1/experiments/colours -H 'content-type: application/json' \\
    -d '{{"policy": {{"name": "TSMA"}}, "arms": ["red", "green"]}}'
  curl {url}/v1/experiments/colours/decisions -H 'content-type: application/json' -d '{{}}'

Ctrl-C, or SIGTERM, stops it: what was accepted is written first."""
