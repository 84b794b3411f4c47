"""The way through: an experiment, decisions, rewards, and all of it again after a restart."""

from pathlib import Path

import httpx

from tests.support.served import COLOURS, check_memory, decide, play, reward, serving, table
from thrifty.serve.app import App
from thrifty.serve.log import STEP


def test_what_was_counted_is_there_after_a_restart(tmp_path: Path) -> None:
    async def first(client: httpx.AsyncClient, app: App) -> str:
        assert (await client.put("/v1/experiments/colours", json=COLOURS)).status_code == 201
        assert (await client.put("/v1/experiments/colours", json=COLOURS)).status_code == 200
        made = await decide(client, count=4)
        one, two, three, four = (decision["id"] for decision in made)
        assert {decision["arm"] for decision in made} == {"red", "green"}
        rewards = [
            {"decision": one, "reward": 1},
            {"decision": two, "reward": 0.25},
            {"decision": three, "cancel": True},
        ]
        assert await reward(client, *rewards) == ["counted", "counted", "cancelled"]
        assert await reward(client, *rewards) == ["repeated"] * 3
        assert await reward(client, {"decision": one, "reward": 0.5}) == ["conflict"]
        assert await reward(client, {"decision": four, "reward": 7}) == ["refused"]
        assert await reward(client, {"decision": four[:-1] + "A", "reward": 1}) == ["unknown"]
        check_memory(app)
        return four

    async def second(client: httpx.AsyncClient, app: App) -> None:
        check_memory(app)
        rows = await table(client)
        assert sum(row["pulls"] for row in rows.values()) == 2
        assert sum(row["pending"] for row in rows.values()) == 1
        assert sum(row["pulls"] * row["mean"] for row in rows.values() if row["pulls"]) == 1.25
        assert await reward(client, {"decision": four, "reward": 0.0}, {"decision": four, "reward": 1.0}) == [
            "counted",
            "conflict",
        ]
        described = (await client.get("/v1/experiments/colours")).json()
        assert (described["decisions"], described["pulls"], described["pending"]) == (4, 3, 0)
        check_memory(app)

    four = play(tmp_path, first)
    play(tmp_path, second)


def test_what_comes_again_is_found_among_more_than_one_statement_writes(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, app: App) -> None:
        await client.put("/v1/experiments/colours", json=COLOURS)
        made = [decision["id"] for decision in await decide(client, count=3 * STEP + 1)]
        sent = [{"decision": one, "reward": 1.0} for one in made]
        assert await reward(client, *sent[:5]) == ["counted"] * 5
        again = {"decision": made[-1], "reward": 0.0}
        said = await reward(client, *sent, again)
        assert said == ["repeated"] * 5 + ["counted"] * (len(made) - 5) + ["conflict"]
        check_memory(app)

    play(tmp_path, body)


def test_it_runs_in_a_process_of_its_own_and_stops_when_told(tmp_path: Path) -> None:
    with serving(tmp_path, real=True) as (server, client):
        assert client.put("/v1/experiments/a%2Fb", json=COLOURS).status_code == 201
        answer = client.post("/v1/experiments/a%2Fb/decisions", json={}).json()
        assert answer["degraded"] is False
        assert client.get("/v1/experiments").json()["experiments"][0]["name"] == "a/b"
        assert server.stop() == 0
    with serving(tmp_path) as (server, client):
        assert client.get("/v1/experiments/a%2Fb").json()["decisions"] == 1
        sent = {"rewards": [{"decision": answer["decisions"][0]["id"], "reward": 1.0}]}
        assert client.post("/v1/rewards", json=sent).json()["results"][0]["status"] == "counted"
