"""Every failing write is survived: the n-th one, once and for a while; and a commit whose answer is lost."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from tests.support.served import COLOURS, check_memory, decide, play, table
from thrifty.serve import log as log_module
from thrifty.serve.app import App


class Faults:
    """Statements of transactions that may write fail: the n-th one, and so many behind it."""

    def __init__(self, app: App) -> None:
        self.first, self.many, self.seen = 0, 0, 0
        engine = app.service.store.engine
        sa.event.listen(engine, "before_cursor_execute", self._execute)
        self._commit = engine.dialect.do_commit
        engine.dialect.do_commit = self._commits  # type: ignore[method-assign]
        self.lost = False  # whether the answer of a commit is

    def arm(self, first: int, many: int = 1) -> None:
        self.first, self.many, self.seen = first, many, 0

    @property
    def met(self) -> bool:
        return self.seen >= self.first

    def repair(self) -> None:
        self.many = 0

    def _execute(self, connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if connection.get_execution_options().get("immediate"):
            self._count()

    def _commits(self, connection: Any) -> None:
        if connection.in_transaction:
            self._count()
        self._commit(connection)
        if self.lost:
            self.lost = False
            raise OSError("the answer is lost")

    def _count(self) -> None:
        self.seen += 1
        if self.first <= self.seen < self.first + self.many:
            raise OSError("no space left on device")


async def until_told(client: httpx.AsyncClient, *rewards: dict[str, Any]) -> list[str]:
    """As a client does: again, as long as the answer is 503."""
    while (answer := await client.post("/v1/rewards", json={"rewards": rewards})).status_code == 503:
        assert answer.headers["retry-after"] == "1"
        await asyncio.sleep(0.005)
    return [result["status"] for result in answer.json()["results"]]


def with_faults(folder: Path, scenario: Callable[[httpx.AsyncClient, App, Faults], Awaitable[None]]) -> None:
    async def whole(client: httpx.AsyncClient, app: App) -> None:
        assert (await client.put("/v1/experiments/colours", json=COLOURS)).status_code == 201
        faults = Faults(app)
        await scenario(client, app, faults)

    play(folder, whole)

    async def restarted(client: httpx.AsyncClient, app: App) -> None:
        check_memory(app)

    play(folder, restarted)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "RETRY", 0.01)


@pytest.mark.parametrize("many", [1, 4, 10**9])
def test_any_write_may_fail(tmp_path: Path, many: int) -> None:
    """Once, some times, and for ever: until somebody repairs it."""

    async def scenario(client: httpx.AsyncClient, app: App, faults: Faults) -> None:
        counted = n = 0
        while True:
            n += 1
            faults.arm(n, many)
            repaired = asyncio.get_running_loop().call_later(0.03 if many > 4 else 1e6, faults.repair)
            one, two = [decision["id"] for decision in await decide(client, count=2)]
            said = await until_told(
                client, {"decision": one, "reward": 1.0}, {"decision": two, "cancel": True}
            )
            repaired.cancel()
            counted += 1
            assert said in (["counted", "cancelled"], ["repeated", "repeated"])
            if not faults.met:
                break
        assert n > 5
        assert sum(row["pulls"] for row in (await table(client)).values()) == counted
        check_memory(app)

    with_faults(tmp_path, scenario)


def test_a_commit_whose_answer_is_lost_is_not_made_twice(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App, faults: Faults) -> None:
        for _ in range(3):
            (one,) = await decide(client)
            await asyncio.sleep(0.05)  # it is written
            faults.lost = True
            assert await until_told(client, {"decision": one["id"], "reward": 0.5}) == ["repeated"]
            assert not faults.lost
        assert sum(row["pulls"] for row in (await table(client)).values()) == 3
        check_memory(app)

    with_faults(tmp_path, scenario)


@pytest.mark.parametrize("pragma", ["max_page_count = 1", "query_only = 1"])
def test_a_full_disk_and_a_file_that_is_read_only(tmp_path: Path, pragma: str) -> None:
    """As SQLite itself meets them: what is written has pages to be got, and a connection may not write."""

    async def scenario(client: httpx.AsyncClient, app: App, faults: Faults) -> None:
        name, _, bad = pragma.partition(" = ")
        good = {"max_page_count": "1073741823", "query_only": "0"}[name]
        value = [bad]

        def limit(connection: sa.Connection) -> None:
            connection.exec_driver_sql(f"pragma {name} = {value[0]}").close()

        sa.event.listen(app.service.store.engine, "begin", limit)
        made = [one for _ in range(20) for one in await decide(client, count=100)]
        sent = [{"decision": one["id"], "reward": 1.0} for one in made]
        assert (await client.post("/v1/rewards", json={"rewards": sent})).status_code == 503
        assert (await client.get("/readyz")).json()["degraded"] is True
        assert (await client.patch("/v1/experiments/colours", json={"control": 0.5})).status_code == 503
        value[0] = good
        said = await until_told(client, *sent)
        assert set(said) in ({"counted"}, {"repeated"})  # told at once, or when it was in the queue
        assert sum(row["pulls"] for row in (await table(client)).values()) == 2000
        assert (await client.get("/v1/experiments/colours")).json()["control"] == 0.0
        check_memory(app)

    with_faults(tmp_path, scenario)


def test_rewards_that_come_while_a_commit_is_under_way_that_fails_are_not_kept_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are in the queue, behind what is tried again and again."""

    async def scenario(client: httpx.AsyncClient, app: App, faults: Faults) -> None:
        begun, fails, commit = threading.Event(), threading.Event(), app.service.log._commit

        def held(*arguments: Any, **options: Any) -> Any:
            begun.set()
            fails.wait()
            return commit(*arguments, **options)

        (one,) = await decide(client)
        await until_told(client, {"decision": one["id"], "reward": 1.0})  # nothing else is to be written
        monkeypatch.setattr(app.service.log, "_commit", held)
        (one,) = await decide(client)
        await asyncio.to_thread(begun.wait)
        faults.arm(1, 10**9)
        sent = {"rewards": [{"decision": one["id"], "reward": 1.0}]}
        asked = asyncio.create_task(client.post("/v1/rewards", json=sent))
        await asyncio.sleep(0.05)
        assert app.service.log.queued == 2
        fails.set()
        assert (await asyncio.wait_for(asked, 5.0)).status_code == 503
        faults.repair()
        assert await until_told(client, *sent["rewards"]) == ["repeated"]

    with_faults(tmp_path, scenario)


def test_while_the_store_is_away_decisions_go_on_and_rewards_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(client: httpx.AsyncClient, app: App, faults: Faults) -> None:
        (one,) = await decide(client)
        faults.arm(1, 10**9)
        sent = {"rewards": [{"decision": one["id"], "reward": 1.0}]}
        assert (await client.post("/v1/rewards", json=sent)).status_code == 503
        answer = await client.post("/v1/experiments/colours/decisions", json={"count": 3})
        assert answer.json()["degraded"] is True
        assert (await client.get("/readyz")).json()["degraded"] is True
        assert (await client.post("/v1/rewards", json=sent)).status_code == 503
        monkeypatch.setattr(log_module, "QUEUE", 2)  # it is full now
        full = await client.post("/v1/experiments/colours/decisions", json={})
        assert (full.status_code, full.headers["retry-after"]) == (503, "1")
        monkeypatch.undo()
        faults.arm(10**9)
        later = [{"decision": made["id"], "reward": 1.0} for made in answer.json()["decisions"]]
        assert await until_told(client, *sent["rewards"], *later) == ["repeated", *["counted"] * 3]
        assert (await client.post("/v1/experiments/colours/decisions", json={})).json()["degraded"] is False
        await asyncio.sleep(0.1)
        check_memory(app)

    with_faults(tmp_path, scenario)
