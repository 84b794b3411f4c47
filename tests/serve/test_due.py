"""Decisions whose window closes: each gets one outcome, whoever comes first, also while nobody was there."""

import asyncio
import random
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.served import COLOURS, check_memory, decide, play, reward, table
from thrifty.serve import due
from thrifty.serve.app import App
from thrifty.serve.events import CONFLICT, DEFAULT, EXPIRED, LATE, REWARD
from thrifty.serve.log import Outcome
from thrifty.serve.messages import Reward

URL = "/v1/experiments/colours"


def totals(rows: dict[str, Any]) -> tuple[int, float, int]:
    pulls = sum(row["pulls"] for row in rows.values())
    total = sum(row["pulls"] * row["mean"] for row in rows.values() if row["pulls"])
    return pulls, total, sum(row["pending"] for row in rows.values())


async def closed(client: httpx.AsyncClient, pending: int = 0) -> dict[str, Any]:
    for _ in range(400):
        rows = await table(client)
        if totals(rows)[2] <= pending:
            return rows
        await asyncio.sleep(0.02)
    raise AssertionError(f"still pending: {rows}")


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due, "PATIENCE", 0.0)
    monkeypatch.setattr(due, "PAUSE", 0.02)


@pytest.mark.parametrize("default", [0.25, None])
def test_what_is_due_is_closed_once(tmp_path: Path, default: float | None) -> None:
    async def first(client: httpx.AsyncClient, app: App) -> list[str]:
        await client.put(URL, json=COLOURS | {"reward_window": 1, "default_reward": default})
        ids = [made["id"] for made in await decide(client, count=10)]
        assert await reward(client, *({"decision": one, "reward": 1.0} for one in ids[:4])) == ["counted"] * 4
        rows = await closed(client)
        assert totals(rows) == ((4, 4.0, 0) if default is None else (10, 5.5, 0))
        late = await reward(client, *({"decision": one, "reward": 1.0} for one in ids))
        assert late == ["repeated"] * 4 + ["late"] * 6
        check_memory(app)
        return [made["id"] for made in await decide(client, count=5)]  # they fall due while nobody is there

    async def second(client: httpx.AsyncClient, app: App) -> None:
        await closed(client)
        check_memory(app)
        kinds = [row.kind for row in app.service.store.log()]
        assert kinds.count(EXPIRED if default is None else DEFAULT) == 11
        assert await reward(client, {"decision": ids[0], "reward": 1.0}) == ["late"]

    ids = play(tmp_path, first)
    time.sleep(1.1)
    play(tmp_path, second)


def test_queues_of_clients_come_first_after_an_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def first(client: httpx.AsyncClient, app: App) -> list[str]:
        await client.put(URL, json=COLOURS | {"reward_window": 1, "default_reward": 0.0})
        return [made["id"] for made in await decide(client, count=10)]

    async def second(client: httpx.AsyncClient, app: App) -> None:
        sent = [{"decision": one, "reward": 1.0} for one in ids[:6]]
        assert await reward(client, *sent) == ["counted"] * 6  # after their window, before its default
        assert totals(await closed(client)) == (10, 6.0, 0)
        check_memory(app)

    ids = play(tmp_path, first)
    time.sleep(1.1)
    monkeypatch.setattr(due, "PATIENCE", 0.5)
    play(tmp_path, second)


def test_where_nothing_was_open_nobody_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"reward_window": 1, "default_reward": 0.0})
        before = totals(await table(client))[0]
        await decide(client, count=10)
        assert totals(await closed(client)) == (before + 10, 0.0, 0)

    monkeypatch.setattr(due, "PATIENCE", 600.0)
    play(tmp_path, scenario)  # a new store
    play(tmp_path, scenario)  # and one in which all was closed


def test_a_reward_meets_its_default(tmp_path: Path) -> None:
    """Both are on their way at once: one outcome each."""

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"reward_window": 1, "default_reward": 0.0})
        app.service.due.stopped = "walks are made here"
        ids = [made["id"] for made in await decide(client, count=1000)]
        await asyncio.sleep(1.05)
        rewards = [
            reward(client, *({"decision": one, "reward": 1.0} for one in ids[i::10])) for i in range(10)
        ]
        statuses = await asyncio.gather(*rewards[:5], app.service.due.walk(), *rewards[5:])
        said = [status for part in statuses if isinstance(part, list) for status in part]
        assert set(said) <= {"counted", "late"}
        pulls, total, pending = totals(await table(client))
        assert (pulls, total, pending) == (1000, float(said.count("counted")), 0)
        kinds = [row.kind for row in app.service.store.log()]
        assert kinds.count(REWARD) + kinds.count(DEFAULT) == 1000
        check_memory(app)

    play(tmp_path, scenario)


def meet(folder: Path, batches: int, seed: int) -> None:
    """Each reward and its default are handed in one right after the other, whichever is first, and a hundred
    of both are in one commit: the first one counts."""
    rng = random.Random(seed)

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        service, walker = app.service, app.service.due
        await client.put(URL, json=COLOURS | {"reward_window": 1, "default_reward": 0.0})
        walker.stopped = "walks are made here"
        made = [[one["id"] for one in await decide(client, count=100)] for _ in range(batches)]
        check_memory(app)  # all of it is written
        rows = walker._due(time.time_ns() // 1000 + 10**7)
        assert len(rows) == batches
        first = 0
        for row, ids in zip(rows, made, strict=True):
            answers = []
            for default, one in zip(walker._outcomes(row), ids, strict=True):
                given = service._read(Reward(decision=one, reward=1.0))
                assert isinstance(given, Outcome)
                pair = [given, default]
                rng.shuffle(pair)
                first += pair[0] is given
                answers += [service.log.closed([each], service._closing([each])) for each in pair]
            kinds = [written[0].kind for written in await asyncio.gather(*answers)]
            assert {*zip(kinds[::2], kinds[1::2], strict=True)} <= {(REWARD, CONFLICT), (DEFAULT, LATE)}
        assert totals(await table(client)) == (100 * batches, float(first), 0)
        logged = [row.kind for row in service.store.log()]
        assert (logged.count(REWARD), logged.count(DEFAULT)) == (first, 100 * batches - first)
        check_memory(app)

    play(folder, scenario)


def test_whichever_is_first_counts(tmp_path: Path) -> None:
    meet(tmp_path, 5, seed=1)


@pytest.mark.slow
def test_whichever_is_first_counts_ten_thousand_times(tmp_path: Path) -> None:
    meet(tmp_path, 100, seed=2)


def test_a_clock_that_jumps_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"default_reward": 0.0})
        await decide(client, count=3)
        ahead = time.time() + 2 * 86400
        monkeypatch.setattr(due.time, "time", lambda: ahead)
        while not app.service.due.stopped:
            await asyncio.sleep(0.01)
        assert "the clock jumped by 17" in app.service.due.stopped
        assert totals(await table(client))[2] == 3

    play(tmp_path, scenario)


def test_a_clock_that_was_ahead_at_the_last_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decided then is due before the decisions that were closed last."""

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"reward_window": 1, "default_reward": 0.0})
        await decide(client, count=2)
        await closed(client)

    real, steady = time.time_ns, time.time
    with monkeypatch.context() as ahead:
        ahead.setattr(time, "time_ns", lambda: real() + 86400 * 10**9)
        ahead.setattr(time, "time", lambda: steady() + 86400.0)
        play(tmp_path, scenario)
    play(tmp_path, scenario)
