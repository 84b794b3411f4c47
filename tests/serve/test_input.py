"""Bad input changes nothing, and the answer names the field and what would be right."""

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.served import COLOURS, check_memory, decide, play, reward, table
from thrifty.errors import InvalidValue
from thrifty.serve import bodies, messages, problems, recent, roster
from thrifty.serve import service as service_module
from thrifty.serve.app import App

URL = "/v1/experiments/colours"
JSON = {"content-type": "application/json"}


def problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert found["status"] == status
    assert found["request_id"] == answer.headers["x-request-id"]
    return found


DEFINITIONS = [
    ({}, "policy"),
    ({"policy": {}, "arms": 2}, "policy"),
    ({"policy": {"name": 1}, "arms": 2}, "policy"),
    ({"arms": 0}, "arms"),
    ({"arms": -1}, "arms"),
    ({"arms": []}, "arms"),
    ({"arms": ["a", "a"]}, "arms[1]"),
    ({"arms": [""]}, "arms"),
    ({"arms": ["x" * 201]}, "arms"),
    ({"arms": [1]}, "arms"),
    ({"arms": True}, "arms"),
    ({"arms": 10**12}, "arms"),
    ({"reward_range": [1, 0]}, "reward_range"),
    ({"reward_range": [0]}, "reward_range"),
    ({"prior": [0.5]}, "prior"),
    ({"prior": [0.5, -1]}, "prior"),
    ({"horizon": 0}, "horizon"),
    ({"half_life": 60}, "cannot forget"),
    ({"control": 2}, "control"),
    ({"control": "0.5"}, "control"),
    ({"control_arm": "blue"}, "control_arm"),
    ({"floor": 0.6}, "floor"),
    ({"burn_in": -1}, "burn_in"),
    ({"reward_window": 0}, "reward_window"),
    ({"default_reward": 2}, "default_reward"),
    ({"colour": 1}, "colour"),
    ({"default_reward": True}, "default_reward"),
    ({"policy": {"name": "DMED"}}, "policy"),
    ({"policy": {"name": "Oracle"}}, "policy"),
    ({"policy": {"name": "thrifty:TSMA"}}, "policy"),
    ({"policy": {"name": "TSMA", "law": {"name": "os"}}}, "policy"),
    ({"policy": {"name": "TSMA", "colour": 1}}, "policy.colour must be one of alpha, law"),
]


def test_definitions_that_cannot_be_are_refused(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        for wrong, named in DEFINITIONS:
            body = wrong if ("policy" in wrong and "arms" in wrong) or not wrong else COLOURS | wrong
            found = problem(await client.put(URL, json=body), 422)
            assert named in found["detail"], found
        assert (await client.get("/v1/experiments")).json() == {"experiments": [], "next": None}
        assert app.service.store.experiments() == []
        assert list(app.service.store.log()) == []

    play(tmp_path, scenario)


BODIES: list[tuple[str, bytes, int]] = [
    ("decisions", b"", 400),
    ("decisions", b"{", 400),
    ("decisions", b"[]", 422),
    ("decisions", b"\xff", 400),
    ("decisions", b'{"among": ["re\xe9d"]}', 400),
    ("decisions", b'{"count": 0}', 422),
    ("decisions", b'{"count": 1, "rank": 1}', 422),
    ("decisions", b'{"count": 10001}', 422),
    ("decisions", b'{"count": true}', 422),
    ("decisions", b'{"rank": 3}', 422),
    ("decisions", b'{"among": []}', 422),
    ("decisions", b'{"among": ["blue"]}', 422),
    ("decisions", b'{"exclude": ["red", "green"]}', 422),
    ("decisions", b'{"kount": 1}', 422),
    ("decisions", b'{"probability": true}', 400),
    ("decisions", b'{"key": ""}', 422),
    ("decisions", b"[" * 10**5, 422),
    ("rewards", b'{"rewards": []}', 422),
    ("rewards", b'{"rewards": [{"decision": "ID", "reward": true}]}', 422),
    ("rewards", b'{"rewards": [{"decision": "ID", "reward": "1"}]}', 422),
    ("rewards", b'{"rewards": [{"decision": "ID", "reward": NaN}]}', 400),
    ("rewards", b'{"rewards": [{"decision": "ID", "reward": 1e999}]}', 422),
    ("rewards", b'{"rewards": [{"decision": 1, "reward": 1}]}', 422),
    ("rewards", b'{"rewards": [{"decision": "ID", "reward": null}]}', 422),
    ("rewards", b'{"rewards": [{"decision": "ID", "reward": 1, "rewad": 1}]}', 422),
]


def test_bodies_that_cannot_be_are_refused_and_change_nothing(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        (made,) = await decide(client)
        before = await table(client)
        for where, body, status in BODIES:
            path = "/v1/rewards" if where == "rewards" else f"{URL}/decisions"
            sent = body.replace(b"ID", made["id"].encode())
            answer = await client.post(path, content=sent, headers=JSON)
            assert answer.status_code in (400, 422), (body, answer.text)
            problem(answer, answer.status_code if len(body) > 100 else status)
        for part in (b"[", b'{"name": "TSMA", "law": '):
            for depth in (900, 100_000):
                sent = b'{"policy": {"name": "TSMA", "law": ' + part * depth + b"1"
                closing = (b"]" if part == b"[" else b"}") * depth + b"}}"
                answer = await client.patch(URL, content=sent + closing, headers=JSON)
                assert answer.status_code in (400, 422), answer.text
        assert await table(client) == before
        for wrong in (
            {},
            {"reward": 1.0, "cancel": True},
            {"cancel": False},
            {"reward": -0.1},
            {"reward": 1e300},
        ):
            assert await reward(client, {"decision": made["id"], **wrong}) == ["refused"]
        assert await table(client) == before
        assert await reward(client, {"decision": made["id"], "reward": 1}) == ["counted"]
        check_memory(app)

    play(tmp_path, scenario)


def test_paths_methods_media_types_and_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY", 1000)

    async def chunks() -> Any:
        for _ in range(20):
            yield b" " * 100

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        problem(await client.get("/v1/nothing"), 404)
        problem(await client.get("/v1/experiments/none"), 404)
        problem(await client.post("/v1/experiments/none/decisions", json={}), 404)
        wrong = problem(await client.post(URL, json={}), 405)["detail"]
        assert {"PUT", "GET", "PATCH", "POST"} <= {*re.findall("[A-Z]+", wrong)}
        for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
            problem(await client.put(URL, content=b"{}", headers={"content-type": media}), 415)
        problem(await client.put(URL, content=b"{" + b" " * 1000, headers=JSON), 413)
        problem(await client.put(URL, content=chunks(), headers=JSON), 413)
        problem(await client.put(f"/v1/experiments/{'x' * 201}", json=COLOURS), 422)
        problem(await client.put("/v1/experiments/%FF", json=COLOURS), 422)
        for query in ("limit=0", "limit=x", "limit=99999", "sort=colour", "after=x"):
            await client.put(URL, json=COLOURS)
            problem(await client.get(f"{URL}/arms?{query}"), 422)

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("", {"control": 3}, "control"),
        ("", {"arms": ["a", "a"]}, "arms[1]"),
        ("", {"policy": {"name": "none"}}, "policy.name"),
        ("", {"policy": {"name": "TSMA", "alpha": "x"}}, "policy.alpha"),
        ("", {"policy": {"name": "TSMA", "alpha": 3}}, "policy.alpha"),
        ("", {"colour": 1}, "colour"),
        ("", {"default_reward": 2}, "default_reward"),
        ("/decisions", {"among": ["red", "blue"]}, "among[1]"),
        ("/decisions", {"count": 1, "rank": 1}, "rank"),
        ("/arms", {}, "arms"),
        ("/arms", {"arms": [str(i) for i in range(messages.MOST_NEW + 1)]}, "arms"),
    ],
)
def test_the_field_is_named_and_the_request_is_in_the_log(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    body: Any,
    field: str,
) -> None:
    caplog.set_level("INFO", "thrifty.serve")
    monkeypatch.setattr(problems, "_REFUSALS", problems.Sparing())  # others may have used up this second's

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        whole = body if path else COLOURS | body
        answer = await client.request("POST" if path else "PUT", URL + path, json=whole)
        found = problem(answer, 422)
        assert found["field"] == field
        assert f"request {found['request_id']}: 422 " in caplog.text

    play(tmp_path, scenario)


def test_refused_requests_do_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "thrifty.serve")
    began = time.monotonic()
    for _ in range(5 * problems.LINES):
        problems.problem_of(InvalidValue("nothing must be wrong"))
    seconds = int(time.monotonic()) - int(began) + 1
    assert len(caplog.records) <= seconds * problems.LINES


def test_rewards_of_a_request(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        sent = [{"decision": "x", "reward": 1}] * (messages.MOST_REWARDS + 1)
        problem(await client.post("/v1/rewards", json={"rewards": sent}), 422)
        unknown = await client.post("/v1/rewards", json={"rewards": [sent[0], sent[0] | {"rewad": 1}]})
        assert problem(unknown, 422)["field"] == "rewards[1].rewad"
        assert await reward(client, *sent[1:]) == ["unknown"] * messages.MOST_REWARDS

    play(tmp_path, scenario)


def test_answers_are_kept_for_a_while_and_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MOST", 5)
    kept = recent.Recent()
    made = [messages.Made("", "a", control=False, probability=None)] * 2
    answers = [messages.Decisions(made, str(i), degraded=False) for i in range(4)]
    for i, answer in enumerate(answers):
        kept.add(1, str(i), i, answer)
    assert [kept.get(1, str(i), 3) for i in range(4)] == [None, None, *answers[2:]]
    assert kept.get(1, "2", 1 + recent.KEPT) is answers[2]
    assert [kept.get(1, key, 2 + recent.KEPT) for key in "23"] == [None, answers[3]]
    assert kept.get(1, "3", 3 + recent.KEPT) is None


def test_the_same_key_gets_the_same_answer(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        await client.put("/v1/experiments/other", json=COLOURS)
        first = await decide(client, count=3, key="a")
        assert await decide(client, count=3, key="a") == first
        assert await decide(client, count=3, key="b") != first
        assert await decide(client, "other", count=3, key="a") != first
        assert (await client.get(URL)).json()["decisions"] == 6

    play(tmp_path, scenario)


def test_arms_are_shown_in_pages(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"arms": 25})
        made = await decide(client, count=25)
        sent = [{"decision": one["id"], "reward": int(one["arm"]) / 25} for one in made]
        assert set(await reward(client, *sent)) == {"counted"}
        seen: list[str] = []
        after = ""
        while after is not None:
            page = (await client.get(f"{URL}/arms?sort=-mean&limit=10&after={after}")).json()
            seen += [row["arm"] for row in page["arms"]]
            after = page["next"]
        assert seen == [str(arm) for arm in reversed(range(25))]
        found = (await client.get(f"{URL}/arms?search=2&sort=arm")).json()["arms"]
        assert [row["arm"] for row in found] == ["12", "2", "20", "21", "22", "23", "24"]

    play(tmp_path, scenario)


def test_limits_on_experiments_arms_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "MOST_EXPERIMENTS", 1)
    monkeypatch.setattr(roster, "MOST_ARMS", 4)
    monkeypatch.setattr(bodies, "SLOW", 0.05)

    async def slowly() -> Any:
        while True:
            yield b" "
            await asyncio.sleep(0.01)

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        assert (await client.put(URL, json=COLOURS)).status_code == 201
        found = problem(await client.put("/v1/experiments/more", json=COLOURS), 422)
        assert "at most 1 experiments" in found["detail"]
        assert (await client.post(f"{URL}/arms", json={"arms": ["a", "b"]})).status_code == 201
        assert (await client.delete(f"{URL}/arms/a")).status_code == 204
        assert "at most 4" in problem(await client.post(f"{URL}/arms", json={"arms": ["c"]}), 422)["detail"]
        problem(await client.post(f"{URL}/decisions", content=slowly(), headers=JSON), 408)
        check_memory(app)

    play(tmp_path, scenario)
