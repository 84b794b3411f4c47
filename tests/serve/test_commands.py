"""The commands beside a server that runs: audit, backup, export, arms."""

from pathlib import Path

import httpx
import polars
import pytest

from tests.support.served import COLOURS, check_memory, decide, play, reward, serving, url_of
from thrifty.cli import main
from thrifty.serve.app import App
from thrifty.serve.store import Store

URL = "/v1/experiments/colours"


def test_audit_backup_and_export_while_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, copy, target = ["--store", url_of(tmp_path)], tmp_path / "copy", tmp_path / "colours.parquet"
    copy.mkdir()

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        await client.put("/v1/experiments/other", json=COLOURS)
        made = await decide(client, count=30) + await decide(client)
        await reward(
            client,
            *({"decision": one["id"], "reward": 0.5} for one in await decide(client, "other", count=3)),
        )
        sent = [{"decision": one["id"], "reward": i / 40} for i, one in enumerate(made)]
        await reward(client, *sent[:20], {"decision": made[20]["id"], "cancel": True}, sent[30])
        check_memory(app)
        assert main(["audit", *store]) == 0
        assert "colours: 31 decisions, 22 closed, 21 rewards" in capsys.readouterr().out
        assert main(["backup", str(copy / "thrifty.db"), *store]) == 0
        assert main(["backup", str(copy / "thrifty.db"), *store]) == 2
        assert main(["export", "colours", "--parquet", str(target), *store]) == 0
        table = polars.read_parquet(target)
        assert table.columns == ["arm", "reward", "propensity", "time"]
        wanted = [(made[i]["arm"], i / 40) for i in (*range(20), 30)]
        assert list(zip(table["arm"], table["reward"], strict=True)) == wanted
        assert table["time"].is_sorted()
        assert main(["export", "none", "--parquet", str(target), *store]) == 2
        await decide(client)

    async def restored(client: httpx.AsyncClient, app: App) -> None:
        assert (await client.get(URL)).json()["decisions"] == 31
        check_memory(app)

    play(tmp_path, scenario)
    play(copy, restored)
    damaged = Store(url_of(tmp_path))
    with damaged.writing() as connection:
        connection.exec_driver_sql("update outcomes set kind = 'e' where number = 3")
    damaged.close()
    capsys.readouterr()
    assert main(["audit", *store]) == 2
    assert "2 faults" in capsys.readouterr().err


def test_there_must_be_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["audit"], ["keys", "list"], ["backup", str(tmp_path / "x")]):
        assert main([*command, "--store", url_of(tmp_path)]) == 2
        assert "there is no store" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_arms_are_added_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "arms.txt"
    file.write_text("".join(f"arm/{i}\n" for i in range(12_000)))
    with serving(tmp_path) as (server, client):
        client.put("/v1/experiments/a%2Fb", json=COLOURS)
        command = ["arms", "add", "a/b", str(file), "--url", server.url]
        assert main(command) == 0
        assert "a/b has 12,002 arms" in capsys.readouterr().out
        assert client.get("/v1/experiments/a%2Fb").json()["arms"] == 12_002
        assert main(command) == 2
        assert "0 of 12,000 arms were added" in capsys.readouterr().err
