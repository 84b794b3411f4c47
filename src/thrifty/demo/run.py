"""The service on a temporary store, in this process, and visitors of three products in another one."""

import asyncio
import json
import logging
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np
import uvicorn

from thrifty.demo import summary, traffic
from thrifty.demo.products import Product, products
from thrifty.demo.traffic import Report
from thrifty.demo.truth import Truths
from thrifty.errors import InvalidValue, ThriftyError
from thrifty.serve import kernels
from thrifty.serve.app import App, create
from thrifty.serve.arms import read_policy
from thrifty.serve.messages import Definition
from thrifty.serve.run import configured, listen

HOST, PORT = "127.0.0.1", 8642
PERIOD = 1  # seconds of the totals, so that curves move
PATIENCE = 10.0  # seconds in which visitors go home


def demo(seconds: float | None = None, port: int | None = None) -> None:
    """For so many ``seconds``, or until Ctrl-C, at this ``port``, or at one that is free."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(message)s")
    shown = products(np.random.default_rng())
    with free(port) as listening, tempfile.TemporaryDirectory(prefix="thrifty-demo-") as folder:
        truths = Truths()
        app = create(f"sqlite:///{folder}/thrifty.db", truth=truths, period=PERIOD)
        app.service.open()
        asyncio.run(_live(app, listening, shown, truths, folder, seconds))
        if truths.last:
            print(f"\n{summary.text(app.service, shown, truths.last)}")


def free(port: int | None) -> socket.socket:
    """A socket that listens at the port, or at one that is free."""
    if port is not None and not 0 <= port <= 65535:
        raise InvalidValue(f"--port must be from 0 to 65535, got {port}")
    for wanted in (PORT, 0) if port is None else (port,):
        try:
            return listen(HOST, wanted)
        except OSError as error:
            refused = error.strerror
    raise InvalidValue(
        f"--port must be one that is free (without --port one is found), got {port}: {refused}"
    )


class _Server(uvicorn.Server):
    """Ctrl-C does not end it: visitors leave first."""

    def __init__(self, app: App, interrupted: Callable[[], Any]) -> None:
        super().__init__(configured(app, lifespan="off"))
        self._interrupted = interrupted

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._interrupted()


async def _live(
    app: App,
    listening: socket.socket,
    shown: list[Product],
    truths: Truths,
    folder: str,
    seconds: float | None,
) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    server = _Server(app, lambda: loop.call_soon_threadsafe(stop.set))
    url = f"http://{HOST}:{listening.getsockname()[1]}"
    async with app.lifespan():
        await app.starting
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            if await _done(_create(app, shown), stop):
                print(welcome(url, shown, seconds), flush=True)
                await _visited(url, folder, truths, stop, seconds)
        finally:
            server.should_exit = True
            await serving


async def _done(work: Coroutine[Any, Any, None], stop: asyncio.Event, seconds: float | None = None) -> bool:
    """Whether it is done before it is time to stop; then it is given up."""
    tasks = [asyncio.create_task(work), asyncio.create_task(stop.wait())]
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    done = tasks[0].done() and not stop.is_set()
    for task in tasks:
        task.cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    if done and isinstance(found[0], BaseException):
        raise found[0]
    return done


async def _create(app: App, shown: list[Product]) -> None:
    """The experiments. Their policies are compiled first, side by side, if they were not."""
    definitions = [msgspec.convert(product.definition, Definition) for product in shown]
    policies = [read_policy(definition.policy) for definition in definitions]
    played = [(one, one.engine_for(len(it.arms))) for one, it in zip(policies, shown, strict=True)]
    missing = [pair for pair in played if not kernels.are_kept(*pair)]
    if missing:
        began, labels = time.monotonic(), ", ".join(policy.label for policy, _ in missing)
        print(f"compiling {labels}, once on this machine ", end="", flush=True)
        dots = asyncio.create_task(_dots())
        try:
            await asyncio.gather(*(kernels.prepare(*pair) for pair in missing))
        finally:
            dots.cancel()
        print(f" {time.monotonic() - began:.0f} s", flush=True)
    for product, definition in zip(shown, definitions, strict=True):
        await app.service.put(product.name, definition)


async def _dots() -> None:
    """Something goes on."""
    while True:
        print(".", end="", flush=True)
        await asyncio.sleep(2.0)


async def _visited(url: str, folder: str, truths: Truths, stop: asyncio.Event, seconds: float | None) -> None:
    """Visitors come until it is time to stop."""
    seed = str(secrets.randbits(32))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", traffic.__name__, url, seed, folder),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is not for them
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        failed = await _done(_follow(process.stdout, truths), stop, seconds)
        process.stdin.write(f"{traffic.STOP}\n".encode())
        process.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(_follow(process.stdout, truths), PATIENCE)
            await asyncio.wait_for(process.wait(), PATIENCE)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    if failed:
        raise ThriftyError("no more visitors come: standard error says why")


async def _follow(lines: asyncio.StreamReader, truths: Truths) -> None:
    async for line in lines:
        truths.add(Report(**json.loads(line)))


def welcome(url: str, shown: list[Product], seconds: float | None) -> str:
    about = "\n".join(f"  {product.name:<6}{product.about}" for product in shown)
    ends = "Ctrl-C ends it" if seconds is None else f"It ends in {seconds:g} s, or by Ctrl-C"
    return f"""\
Three simulated products ask a service which arm to show:

{about}

Open {url} to see what it learns, and what it really loses: here the truth is known.

{ends}, with a summary. What is kept meanwhile is in a temporary store, and goes."""
