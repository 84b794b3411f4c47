"""The document of the contract, what Prometheus reads, and the application inside another one."""

import asyncio
import json
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.support.served import COLOURS, decide, play, reward, serving, url_of
from thrifty.serve.app import App, create

URL = "/v1/experiments/colours"


def references(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {part["$ref"]} if "$ref" in part else set()
        return own.union(*map(references, part.values()))
    return set().union(*map(references, part)) if isinstance(part, list) else set()


def test_the_document_says_what_there_is(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        found = (await client.get("/openapi.json")).json()
        assert found["openapi"] == "3.1.0"
        assert set(found["paths"]["/v1/experiments/{name}"]) == {"get", "put", "patch"}
        schemas = found["components"]["schemas"]
        assert {name.rpartition("/")[2] for name in references(found)} <= set(schemas)
        assert schemas["Definition"]["additionalProperties"] is False
        assert schemas["Definition"]["required"] == ["policy", "arms"]
        assert schemas["Definition"]["properties"]["reward_window"]["default"] == 86400.0
        for path, methods in found["paths"].items():
            for method, operation in methods.items():
                body = {"json": {}} if "requestBody" in operation else {}
                answer = await client.request(
                    method, path.replace("{name}", "none").replace("{arm}", "a"), **body
                )
                assert str(answer.status_code) in operation["responses"], (method, path, answer.text)

    play(tmp_path, scenario)


def plain(part: Any) -> Any:
    """A schema without tuples, which the tool below does not read in answers: lists of their first item."""
    if isinstance(part, dict):
        items = {"items": part["prefixItems"][0]} if "prefixItems" in part else {}
        return {key: plain(value) for key, value in part.items() if key != "prefixItems"} | items
    return [plain(one) for one in part] if isinstance(part, list) else part


@pytest.mark.slow
def test_schemathesis_finds_no_fault(tmp_path: Path) -> None:
    """Requests made from the document: none is a fault, and every answer is one that the document has."""
    document, checks = tmp_path / "document.json", "not_a_server_error,status_code_conformance"
    with serving(tmp_path) as (server, client):
        client.put(URL, json=COLOURS).raise_for_status()
        document.write_text(json.dumps(plain(client.get("/openapi.json").json())))
        tool = ["uv", "tool", "run", "--from", "schemathesis==4.32.5", "schemathesis", "run"]
        more = ",content_type_conformance,response_schema_conformance,response_headers_conformance"
        given = [str(document), "--url", server.url, "--max-examples", "100", "--seed", "1"]
        done = subprocess.run(
            [*tool, *given, "--checks", checks + more], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "14 passed" in done.stdout
        server.wait(client)


def test_prometheus_is_told_by_experiment(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        ids = [made["id"] for made in await decide(client, count=3)]
        await reward(client, {"decision": ids[0], "reward": 1.0}, {"decision": "x", "reward": 1.0})
        text = (await client.get("/metrics")).text
        for line in (
            'thrifty_decisions_total{experiment="colours"} 3.0',
            'thrifty_closed_total{experiment="colours"} 1.0',
            'thrifty_reward_answers_total{status="counted"} 1.0',
            'thrifty_reward_answers_total{status="unknown"} 1.0',
            "thrifty_store_away 0.0",
            "thrifty_ready 1.0",
        ):
            assert line in text.splitlines()
        assert '"red"' not in text

    play(tmp_path, scenario)


def test_it_can_be_mounted_in_another_application(tmp_path: Path) -> None:
    async def whole() -> None:
        app = create(url_of(tmp_path))

        @asynccontextmanager
        async def lifespan(_: Starlette) -> Any:
            async with app.lifespan():
                yield

        outer = Starlette(routes=[Mount("/bandits", app)], lifespan=lifespan)
        async with lifespan(outer):
            await app.starting
            transport = httpx.ASGITransport(outer)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                made = await client.put("/bandits/v1/experiments/a%2Fb", json=COLOURS)
                assert (made.status_code, made.json()["name"]) == (201, "a/b")
                asked = await client.post("/bandits/v1/experiments/a%2Fb/decisions", json={})
                assert asked.status_code == 200

    asyncio.run(whole())


def test_a_hundred_clients_at_once(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        issued: list[str] = []

        async def one() -> None:
            for _ in range(10):
                (made,) = await decide(client)
                issued.append(made["id"])
                assert await reward(client, {"decision": made["id"], "reward": 1.0}) == ["counted"]

        await asyncio.gather(*(one() for _ in range(100)))
        assert len(set(issued)) == 1000
        found = (await client.get(URL)).json()
        assert (found["decisions"], found["pulls"], found["mean"]) == (1000, 1000, 1.0)

    play(tmp_path, scenario)
