"""A policy that is not compiled yet is compiled in another process. Who asks for it waits, nobody else."""

import asyncio
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.support.served import COLOURS, check_memory, decide, play
from thrifty.serve import apart, kernels
from thrifty.serve.app import App

URL = "/v1/experiments/colours"
OTHER = {"policy": {"name": "TSMA", "alpha": 0.25}, "arms": 2}
are_kept = kernels.are_kept


def test_nobody_else_waits_for_a_policy_that_is_being_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(kernels, "_mark", lambda *_: tmp_path / "mark")

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        compiled = asyncio.Event()

        async def run(module: str, *, sent: bytes) -> bytes:
            asked.append((module, msgspec.json.decode(sent)[0]["alpha"]))
            await compiled.wait()
            return b""

        await client.put(URL, json=COLOURS)
        monkeypatch.setattr(kernels, "are_kept", are_kept)
        monkeypatch.setattr(apart, "run", run)
        put = asyncio.create_task(client.put("/v1/experiments/other", json=OTHER))
        patch = asyncio.create_task(client.patch(URL, json={"policy": OTHER["policy"]}))
        while len(asked) < 2:
            await asyncio.sleep(0.001)
        assert len(await decide(client, count=5)) == 5
        assert (await client.get("/v1/experiments/other")).status_code == 404
        assert (await client.get(URL)).json()["policy"]["alpha"] == 0.0
        assert not put.done()
        assert not patch.done()
        compiled.set()
        assert (await put).status_code == 201
        assert (await patch).json()["policy"]["alpha"] == 0.25
        assert asked == [("thrifty.serve.kernels", 0.25)] * 2
        await client.put("/v1/experiments/third", json=OTHER)  # what is compiled is there
        assert len(asked) == 2
        check_memory(app)

    play(tmp_path, scenario)
