"""Everything that happened can be read, line by line, from any position on."""

import json
from pathlib import Path
from typing import Any

import httpx

from tests.support.served import COLOURS, check_memory, decide, play, reward
from thrifty.serve.app import App

URL = "/v1/experiments/colours"


async def events(client: httpx.AsyncClient, **query: Any) -> list[dict[str, Any]]:
    answer = await client.get(f"{URL}/events", params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_what_happened_is_read_from_any_position_on(tmp_path: Path) -> None:
    async def first(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"control": 0.5})
        await client.put("/v1/experiments/other", json=COLOURS)
        made = await decide(client, count=3)
        await decide(client, "other")
        await reward(client, {"decision": made[0]["id"], "reward": 0.5})
        await reward(
            client, {"decision": made[0]["id"], "reward": 1.0}, {"decision": made[1]["id"], "cancel": True}
        )
        await client.patch(f"{URL}/arms/red", json={"paused": True})
        check_memory(app)
        found = await events(client)
        assert [line["event"] for line in found] == [
            "change", "decisions", "reward", "conflict", "cancelled", "change",
        ]  # fmt: skip
        assert (found[0]["what"], found[0]["author"]) == ("create", "local")
        assert [(one["arm"], one["control"]) for one in found[1]["decisions"]] == [
            (one["arm"], one["control"]) for one in made
        ]
        assert (found[2]["decision"], found[2]["reward"]) == (found[1]["decisions"][0]["decision"], 0.5)
        assert (found[5]["what"], found[5]["value"]) == ("pause", "red")
        assert [line["time"] for line in found] == sorted(line["time"] for line in found)

    async def second(client: httpx.AsyncClient, app: App) -> None:
        await decide(client, count=2)
        check_memory(app)
        found = await events(client)
        assert len(found) == 7
        assert len({line["position"] for line in found}) == 7
        for i, line in enumerate(found):
            assert await events(client, after=line["position"]) == found[i + 1 :]
            assert await events(client, after=line["position"], limit=2) == found[i + 1 : i + 3]
        for wrong in ("x", "12-3", f"{found[0]['position']}x", "-"):
            assert (await client.get(f"{URL}/events", params={"after": wrong})).status_code == 422

    play(tmp_path, first)
    play(tmp_path, second)
