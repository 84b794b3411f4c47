"""Requests that nobody would make: none is met with a fault, and memory stays the fold of the log."""

import random
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest

from tests.support.served import COLOURS, check_memory, play
from thrifty.serve.app import App

NAMES = ["colours", "other", "a%2Fb", "%00", "%E2%82%AC", ".", "..", "x" * 300, "%", ""]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**31,
    2**63,
    2**70,
    0.5,
    -0.0,
    1e308,
    1e-320,
    "",
    "red",
    "green",
    "0",
    "é",
    "\x00",
    "x" * 300,
    [],
    {},
    ["red"],
    ["red", "red"],
    [[]],
    {"name": "TSMA"},
    {"name": "ThompsonSampling", "law": "beta"},
    {"name": "TSMA", "alpha": "x"},
    {"name": []},
    [0, 1],
    [1, 0],
    ["a", "b"],
    3,
]
FIELDS = [
    "policy",
    "arms",
    "reward_range",
    "prior",
    "horizon",
    "half_life",
    "control",
    "control_arm",
    "floor",
    "burn_in",
    "reward_window",
    "default_reward",
    "paused",
    "archived",
    "count",
    "rank",
    "among",
    "exclude",
    "probability",
    "key",
    "rewards",
    "decision",
    "reward",
    "cancel",
    "limit",
    "after",
    "sort",
    "search",
]
PATHS = [
    "/v1/experiments",
    "/v1/experiments/{}",
    "/v1/experiments/{}/arms",
    "/v1/experiments/{}/arms/{}",
    "/v1/experiments/{}/decisions",
    "/v1/experiments/{}/events",
    "/v1/rewards",
    "/{}",
    "/metrics",
    "/readyz",
]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
EXPECTED = {200, 201, 204, 400, 404, 405, 409, 413, 415, 422}


def body(rng: random.Random, ids: list[str]) -> bytes:
    def value(depth: int) -> Any:
        if depth and rng.random() < 0.3:
            return [value(depth - 1) for _ in range(rng.randint(0, 3))]
        if depth and rng.random() < 0.3:
            return {rng.choice(FIELDS): value(depth - 1) for _ in range(rng.randint(0, 3))}
        return rng.choice(ids) if rng.random() < 0.2 else rng.choice(VALUES)

    kind = rng.random()
    if kind < 0.3:
        made: Any = COLOURS | {rng.choice(FIELDS[:12]): rng.choice(VALUES)}
    elif kind < 0.5:
        made = {"rewards": [{"decision": rng.choice(ids), "reward": rng.choice(VALUES)} for _ in range(2)]}
    elif kind < 0.7:
        made = {rng.choice(FIELDS[12:20]): rng.choice(VALUES) for _ in range(rng.randint(0, 2))}
    else:
        made = value(3)
    text = bytearray(msgspec.json.encode(made))
    if rng.random() < 0.1 and text:
        text[rng.randrange(len(text))] = rng.randrange(256)
    return bytes(text)


def fuzz(folder: Path, requests: int, seed: int) -> None:
    rng = random.Random(seed)

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put("/v1/experiments/colours", json=COLOURS)
        ids = ["x"]
        seen: dict[int, int] = {}
        for _ in range(requests):
            if len(ids) < 50:
                answer = await client.post("/v1/experiments/colours/decisions", json={})
                ids += [one["id"] for one in answer.json().get("decisions", [])]
            names = [rng.choice(NAMES) if rng.random() < 0.5 else "colours" for _ in range(2)]
            path = rng.choice(PATHS).format(*names)
            query = f"?{rng.choice(FIELDS)}={quote(str(rng.choice(VALUES)))}" if rng.random() < 0.3 else ""
            media = "application/json" if rng.random() < 0.95 else "text/plain"
            url = httpx.URL("http://127.0.0.1").copy_with(raw_path=(path + query).encode("ascii", "replace"))
            answer = await client.request(
                rng.choice(METHODS), url, content=body(rng, ids), headers={"content-type": media}
            )
            assert answer.status_code in EXPECTED, (answer.request, answer.request.content, answer.text)
            seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
        assert {200, 404, 405, 422} <= set(seen)
        check_memory(app)

    play(folder, scenario)


def test_no_request_is_a_fault(tmp_path: Path) -> None:
    fuzz(tmp_path, 1500, seed=1)


@pytest.mark.slow
def test_no_request_of_a_hundred_thousand_is_a_fault(tmp_path: Path) -> None:
    fuzz(tmp_path, 100_000, seed=2)
