"""Stores of earlier schemas are brought up to date, whatever is killed meanwhile; newer ones are refused."""

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from tests.support.served import check_memory, decide, play, reward, table, url_of
from thrifty.cli import main
from thrifty.errors import FileError
from thrifty.serve import apart, migrations, totals
from thrifty.serve import store as stores
from thrifty.serve.app import App
from thrifty.serve.audit import audit
from thrifty.serve.clock import Clock
from thrifty.serve.store import Store

STORES = Path(__file__).parent / "stores"  # what ``thrifty serve`` of that day had written, as SQL
URL = "/v1/experiments/colours"


def made(folder: Path, schema: int) -> list[str]:
    """A store of an earlier schema; returns ids of decisions that are open there."""
    script = (STORES / f"schema_{schema}.sql").read_text()
    raw = sqlite3.connect(folder / "thrifty.db")
    raw.executescript(script)
    raw.close()
    return [line.split()[-1] for line in script.splitlines() if line.startswith("-- id ")]


def shape(store: Store) -> Any:
    """Tables with their columns, keys and indices."""
    inspector = sa.inspect(store.engine)
    return {
        name: (
            {
                column["name"]: (str(column["type"]), column["nullable"])
                for column in inspector.get_columns(name)
            },
            inspector.get_pk_constraint(name)["constrained_columns"],
            sorted(str(index["name"]) for index in inspector.get_indexes(name)),
        )
        for name in inspector.get_table_names()
    }


@pytest.mark.parametrize("schema", range(1, stores.SCHEMA))
def test_a_store_of_an_earlier_schema_is_opened(tmp_path: Path, schema: int) -> None:
    open_ids = made(tmp_path, schema)

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        check_memory(app)
        rows = await table(client)
        assert {name: (row["pulls"], row["pending"]) for name, row in rows.items()} == {
            "blue": (7, 2), "green": (3, 2), "red": (5, 0),
        }  # fmt: skip
        assert rows["red"]["mean"] == pytest.approx(0.35)
        assert [name for name, row in rows.items() if row["paused"]] == ["green"]
        assert (await client.get("/v1/experiments/fading")).json()["pulls"] == 6
        sent = [{"decision": one, "reward": 1.0} for one in open_ids]
        assert await reward(client, *sent) == ["counted"] * 4
        assert len(await decide(client, count=5)) == 5
        check_memory(app)

    play(tmp_path, scenario)
    play(tmp_path, lambda client, app: _checked(app))
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    stores_of = [Store(url_of(folder)) for folder in (tmp_path, fresh)]
    stores_of[1].open(0)
    assert shape(stores_of[0]) == shape(stores_of[1])
    apart.write(stores_of[0], totals.notes(stores_of[0].query, 2 * Clock().now()))  # made again
    assert audit(stores_of[0])[1] == []
    assert stores_of[0].query("select sum(pulls) from totals where experiment = 1") == [(19,)]
    for store in stores_of:
        store.close()


async def _checked(app: App) -> None:
    check_memory(app)


def test_commands_leave_it_to_the_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of an older thrifty may be at work."""
    made(tmp_path, 1)
    assert main(["audit", "--store", url_of(tmp_path)]) == 2
    assert "has schema 1, this version reads 3: thrifty serve brings it up to date" in capsys.readouterr().err
    raw = sqlite3.connect(tmp_path / "thrifty.db")
    assert raw.execute("select value from meta where name = 'schema'").fetchone() == ("1",)
    raw.close()


PROGRAM = """
import sys, time
from thrifty.serve import migrations, store
from thrifty.serve.store import Store

def step(connection):
    connection.exec_driver_sql("create table more (number integer)")
    for number in range(100):
        connection.exec_driver_sql("insert into more values (?)", (number,))
        if number == int(sys.argv[2]):
            print("here", flush=True)
            time.sleep(60)

store.SCHEMA += 1
migrations.STEPS[store.SCHEMA - 1] = step
Store(sys.argv[1]).open(0)
"""


def test_one_that_is_killed_is_repeated(tmp_path: Path) -> None:
    """From a made-up schema, after its table is there, in the middle of its rows, and at their end."""
    made(tmp_path, 1)
    command = [sys.executable, "-c", PROGRAM, url_of(tmp_path)]
    for number in (0, 50, 99):
        with subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "here\n"
            process.kill()
        raw = sqlite3.connect(tmp_path / "thrifty.db")
        assert raw.execute("select value from meta where name = 'schema'").fetchone() == ("1",)
        tables = {name for (name,) in raw.execute("select name from sqlite_master")}
        raw.close()
        assert not {"more", "outlooks"} & tables
    for _ in range(2):  # the second finds it made
        subprocess.run([*command, "-1"], check=True)
    raw = sqlite3.connect(tmp_path / "thrifty.db")
    assert raw.execute("select count(*), sum(number) from more").fetchone() == (100, 4950)
    assert raw.execute("select value from meta where name = 'schema'").fetchone() == ("4",)
    raw.close()
    with pytest.raises(FileError, match="has schema 4, this version reads 3: upgrade thrifty"):
        Store(url_of(tmp_path)).open(0)


def test_each_schema_has_its_step_and_its_store() -> None:
    assert sorted(migrations.STEPS) == list(range(1, stores.SCHEMA))
    assert sorted(path.name for path in STORES.iterdir()) == [
        f"schema_{schema}.sql" for schema in range(1, stores.SCHEMA)
    ]
