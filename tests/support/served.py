"""A server in a process of its own, and the application without a socket."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.support.forks import Forked
from thrifty.serve import kernels, keys, singles
from thrifty.serve.app import App, create
from thrifty.serve.arms import Arms, needs_singles
from thrifty.serve.audit import audit
from thrifty.serve.experiments import Experiment
from thrifty.serve.fold import Fold, Tally
from thrifty.serve.store import Store
from thrifty.serve.upkeep import Upkeep
from thrifty.state.history import HISTORY, SIZE, START

COLOURS: dict[str, Any] = {"policy": {"name": "TSMA"}, "arms": ["red", "green"]}
PROGRAM = "import sys; from thrifty.cli import main; sys.exit(main())"


def url_of(folder: Path) -> str:
    return f"sqlite:///{folder / 'thrifty.db'}"


def made(folder: Path, name: str, *scopes: str) -> str:
    """A new key of a store that no server has."""
    store = Store(url_of(folder))
    store.open(0)
    key = keys.create(store, name, list(scopes), 1)
    store.close()
    return key


class Server:
    """``thrifty serve``, until it is stopped or killed. It is forked from a process that has imported what it
    needs, unless it is to start as the ``real`` one does."""

    def __init__(
        self, folder: Path, *options: str, program: str = PROGRAM, stderr: Any = None, real: bool = False
    ) -> None:
        arguments = ["serve", "--port", "0", "--store", url_of(folder), *options]
        self.process: Any = (
            subprocess.Popen(
                [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=stderr, text=True
            )
            if real
            else Forked(program, arguments, stderr)
        )
        first = self.process.stdout.readline()
        found = re.search(r"at (http://\S+)", first)
        assert found, f"no address in {first!r}"
        self.url = found[1]

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int:
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        code: int = self.process.wait(20)
        self.process.stdout.close()
        return code

    def wait(self, client: httpx.Client) -> None:
        """Until it is ready."""
        for _ in range(600):
            if client.get("/readyz").status_code == 200:
                return
            time.sleep(0.05)
        raise AssertionError("the server did not become ready")


@contextmanager
def serving(
    folder: Path, *options: str, program: str = PROGRAM, stderr: Any = None, real: bool = False
) -> Iterator[tuple[Server, httpx.Client]]:
    server = Server(folder, *options, program=program, stderr=stderr, real=real)
    try:
        with httpx.Client(base_url=server.url, timeout=300.0, trust_env=False) as client:
            server.wait(client)
            yield server, client
    finally:
        server.kill()


Scenario = Callable[[httpx.AsyncClient, App], Awaitable[Any]]


def play(folder: Path, scenario: Scenario, **options: Any) -> Any:
    """Play a scenario against the application, in a loop of its own. What is not compiled yet is compiled
    here: to start another process for that takes longer than most scenarios."""

    async def whole() -> Any:
        app = create(url_of(folder), **options)
        async with app.lifespan():
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                await app.starting
                return await scenario(client, app)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "are_kept", lambda *_: True)
        return asyncio.run(whole())


@contextmanager
def untended() -> Iterator[None]:
    """Services that add up nothing by themselves: a test does so, which would count twice."""

    async def nothing(_: Upkeep) -> None:
        pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Upkeep, "keep", nothing)
        yield


async def decide(client: httpx.AsyncClient, name: str = "colours", **ask: Any) -> list[dict[str, Any]]:
    """The decisions that were made."""
    answer = await client.post(f"/v1/experiments/{name}/decisions", json=ask)
    assert answer.status_code == 200, answer.text
    return answer.json()["decisions"]  # type: ignore[no-any-return]


async def reward(client: httpx.AsyncClient, *rewards: dict[str, Any]) -> list[str]:
    """What became of rewards."""
    answer = await client.post("/v1/rewards", json={"rewards": rewards})
    assert answer.status_code == 200, answer.text
    return [result["status"] for result in answer.json()["results"]]


async def table(client: httpx.AsyncClient, name: str = "colours") -> dict[str, Any]:
    """What is shown of each arm."""
    answer = await client.get(f"/v1/experiments/{name}/arms", params={"sort": "arm"})
    return {row.pop("arm"): row for row in answer.json()["arms"]}


def kept(arms: Arms) -> dict[int, list[list[float]]]:
    """Of each arm, the different rewards that its policy keeps, and how often each came."""
    memory = arms._core.memory
    if not memory.has(HISTORY):
        return {}
    state, serials = memory.state, arms.statistics()[0].tolist()
    spans = zip(state.spans[:, START].tolist(), state.spans[:, SIZE].tolist(), strict=True)
    return {
        serial: state.history[start : start + size].tolist()
        for serial, (start, size) in zip(serials, spans, strict=True)
    }


def check_singles(app: App, experiment: Experiment) -> None:
    """A policy that needs single rewards has those of the log, each with its coin."""
    now = experiment.arms
    assert now is not None
    experiment.singles = singles.read(app.service.store, {experiment.id})[experiment.id]
    experiment.work()
    experiment.forget()
    assert experiment.arms is not None
    assert kept(now) == kept(experiment.arms)
    for before, after in zip(now.statistics(), experiment.arms.statistics(), strict=True):
        order = [np.argsort(arms.statistics()[0]) for arms in (now, experiment.arms)]
        np.testing.assert_allclose(before[order[0]], after[order[1]], rtol=1e-9, atol=1e-9)
    experiment.arms = now


def check_memory(app: App) -> Fold:
    """What is in memory is the fold of the log, and the log agrees with itself."""
    while app.service.log.queued:  # decisions are written behind
        time.sleep(0.001)
    fold, faults = audit(app.service.store)
    assert faults == []
    for experiment in app.service.experiments.values():
        logged, here = fold.tallies.get(experiment.id, Tally()), experiment.tally
        logged.reach(here.decided.size)
        for column in ("decided", "closed", "pulls"):
            assert getattr(logged, column)[: here.decided.size].tolist() == getattr(here, column).tolist()
        np.testing.assert_allclose(logged.sums[: here.decided.size], here.sums, rtol=1e-12, atol=1e-12)
        assert experiment.arms is not None
        serials, pulls, sums, pending = experiment.arms.statistics()
        assert sorted(serials.tolist()) == experiment.roster.serials().tolist()
        assert pulls.tolist() == here.pulls[serials].tolist()
        if needs_singles(experiment.policy):
            check_singles(app, experiment)
        elif here.half_life is None:
            np.testing.assert_allclose(sums, here.sums[serials], rtol=1e-9, atol=1e-9)
        assert pending.tolist() == (here.decided - here.closed)[serials].tolist()
    return fold
