"""Experiments and their arms change while they run, and the changes are there after a restart."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.served import COLOURS, check_memory, decide, play, reward, table
from thrifty.serve.app import App
from thrifty.serve.experiments import Experiment

URL = "/v1/experiments/colours"


def test_arms_come_rest_and_go(tmp_path: Path) -> None:
    async def first(client: httpx.AsyncClient, app: App) -> str:
        await client.put(URL, json=COLOURS)
        made = await decide(client, count=2)
        red = next(one["id"] for one in made if one["arm"] == "red")
        added = await client.post(f"{URL}/arms", json={"arms": ["blue", "a/b"]})
        assert (added.status_code, added.json()["arms"]) == (201, 4)
        again = await client.post(f"{URL}/arms", json={"arms": ["grey", "blue"]})
        assert (again.status_code, "grey" in await table(client)) == (422, False)
        assert {one["arm"] for one in await decide(client, count=4)} >= {"blue", "a/b"}
        paused = await client.patch(f"{URL}/arms/a%2Fb", json={"paused": True})
        assert paused.json() | {"pending": 0} == {
            "arm": "a/b", "pulls": 0, "mean": None, "pending": 0, "paused": True,
        }  # fmt: skip
        assert (await client.delete(f"{URL}/arms/red")).status_code == 204
        assert (await client.delete(f"{URL}/arms/red")).status_code == 404
        assert {one["arm"] for one in await decide(client, count=20)} == {"blue", "green"}
        assert await reward(client, {"decision": red, "reward": 1.0}) == ["counted"]  # of an arm that went
        assert (await client.post(f"{URL}/arms", json={"arms": ["red"]})).status_code == 201  # another one
        rows = await table(client)
        assert (rows["red"]["pulls"], len(rows)) == (0, 4)
        check_memory(app)
        return red

    async def second(client: httpx.AsyncClient, app: App) -> None:
        check_memory(app)
        rows = await table(client)
        assert {name for name, row in rows.items() if row["paused"]} == {"a/b"}
        assert set(rows) == {"a/b", "blue", "green", "red"}
        assert await reward(client, {"decision": red, "reward": 1.0}) == ["repeated"]
        assert (await client.patch(f"{URL}/arms/a%2Fb", json={"paused": False})).json()["paused"] is False
        for name in ("blue", "green", "red"):
            assert (await client.patch(f"{URL}/arms/{name}", json={"paused": True})).status_code == 200
        last = await client.patch(f"{URL}/arms/a%2Fb", json={"paused": True})
        assert last.status_code == 422
        assert {one["arm"] for one in await decide(client, count=5)} == {"a/b"}
        assert (await client.put(URL, json=COLOURS)).status_code == 200  # whatever was changed since
        check_memory(app)

    red = play(tmp_path, first)
    play(tmp_path, second)


def test_settings_are_changed(tmp_path: Path) -> None:
    async def first(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"arms": 3})
        sent = [{"decision": one["id"], "reward": 0.5} for one in await decide(client, count=30)]
        assert set(await reward(client, *sent[:20])) == {"counted"}
        changed = await client.patch(
            URL, json={"policy": {"name": "ThompsonSampling"}, "control": 0.5, "default_reward": 0.0}
        )
        assert changed.json()["policy"] == {"name": "ThompsonSampling", "law": "gaussian"}
        assert changed.json()["control"] == 0.5
        check_memory(app)
        made = await decide(client, count=100)
        assert 20 < sum(one["control"] for one in made) < 80
        assert (await client.patch(URL, json={"paused": True})).json()["paused"] is True
        assert (await client.post(f"{URL}/decisions", json={})).status_code == 409
        assert await reward(client, sent[20]) == ["counted"]
        assert (await client.patch(URL, json={"archived": True})).status_code == 200
        assert await reward(client, sent[21], sent[0], {"decision": "x", "reward": 1.0}) == [
            "refused",
            "refused",
            "unknown",
        ]
        assert (await client.post("/v1/rewards", json={"rewards": sent[21:23]})).status_code == 409
        assert (await client.post(f"{URL}/decisions", json={})).status_code == 409

    async def second(client: httpx.AsyncClient, app: App) -> None:
        check_memory(app)
        found = (await client.get(URL)).json()
        assert (found["archived"], found["paused"], found["control"]) == (True, True, 0.5)
        assert (found["policy"]["name"], found["default_reward"]) == ("ThompsonSampling", 0.0)

    play(tmp_path, first)
    play(tmp_path, second)


@pytest.mark.parametrize(
    "patch",
    [
        {"policy": {"name": "DMED"}},
        {"policy": {"name": "os:system"}},
        {"policy": {"name": "TSMA", "alpha": 3}},
        {"policy": {"name": "TSMA", "beta": 3}},
        {"policy": "TSMA"},
        {"control": 1.5},
        {"floor": 0.9},
        {"default_reward": 7},
        {"reward_window": 0},
        {"reward_window": None},
        {"arms": 3},
        {"paused": "yes"},
        [],
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_changes_nothing(tmp_path: Path, patch: Any) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        before = (await client.get(URL)).json()
        answer = await client.patch(URL, json=patch)
        assert answer.status_code == 422, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert set(answer.json()) >= {"title", "status", "detail", "request_id"}
        assert (await client.get(URL)).json() == before

    play(tmp_path, scenario)


async def _under_way(app: App) -> None:
    """Until a change is handed in, which is not written yet."""
    while not app.service._locks["colours"].locked():
        await asyncio.sleep(0)


def test_a_change_that_nobody_waits_for_is_made_before_the_next(tmp_path: Path) -> None:
    async def first(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        with app.service.store.writing():  # so that the log has to wait
            asked = asyncio.create_task(client.post(f"{URL}/arms", json={"arms": ["blue"]}))
            await _under_way(app)
            asked.cancel()
            other = asyncio.create_task(client.post(f"{URL}/arms", json={"arms": ["grey"]}))
            await asyncio.sleep(0.1)
        assert (await other).status_code == 201
        assert [*await table(client)] == ["blue", "green", "grey", "red"]

    async def second(client: httpx.AsyncClient, app: App) -> None:
        assert [*await table(client)] == ["blue", "green", "grey", "red"]

    play(tmp_path, first)
    play(tmp_path, second)


def test_rewards_meet_a_policy_that_would_refuse_them(tmp_path: Path) -> None:
    """They were taken while it was on its way: they count, in memory too."""

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        ids = [made["id"] for made in await decide(client, count=4)]
        asked = asyncio.create_task(client.patch(URL, json={"policy": {"name": "ExpTS"}}))
        await _under_way(app)
        assert await reward(client, *({"decision": one, "reward": 0.5} for one in ids)) == ["counted"] * 4
        assert (await asked).status_code == 200
        assert sum(row["pulls"] for row in (await table(client)).values()) == 4
        check_memory(app)

    play(tmp_path, scenario)


@pytest.mark.parametrize("half_life", [None, 0.5])
def test_a_policy_is_told_what_it_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half_life: float | None
) -> None:
    """It is put to work in another thread; meanwhile the one before decides and learns."""
    there, go_on = threading.Event(), threading.Event()

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        beta = {"name": "ThompsonSampling", "law": "beta"}
        await client.put(URL, json=COLOURS | {"policy": beta, "half_life": half_life, "prior": [0.5, 1]})
        before = await decide(client, count=6)
        real = Experiment._play

        def slowly(*arguments: Any) -> Any:
            there.set()
            assert go_on.wait(60.0)
            return real(*arguments)

        monkeypatch.setattr(Experiment, "_play", slowly)
        asked = asyncio.create_task(client.patch(URL, json={"policy": beta | {"law": "gaussian"}}))
        await asyncio.to_thread(there.wait, 60.0)
        made = before[:4] + (await decide(client, count=300))[:250]
        sent = [{"decision": one["id"], "reward": 1.0} for one in made]
        sent[::5] = [{"decision": one["id"], "cancel": True} for one in made[::5]]
        assert {*await reward(client, *sent)} == {"counted", "cancelled"}
        go_on.set()
        assert (await asked).json()["policy"]["law"] == "gaussian"
        assert (await client.get(URL)).json()["pending"] == 52
        check_memory(app)
        await reward(client, {"decision": before[5]["id"], "reward": 1.0})
        check_memory(app)

    play(tmp_path, scenario)
