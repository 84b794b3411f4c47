"""Totals by the period agree with the log, however often they are made."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from tests.support.served import COLOURS, check_memory, decide, play, reward, untended, url_of
from thrifty.errors import InvalidValue
from thrifty.serve import apart, reading, totals
from thrifty.serve.app import App
from thrifty.serve.audit import audit
from thrifty.serve.clock import Clock
from thrifty.serve.events import DECISION, Decided, Row, pack
from thrifty.serve.service import Service
from thrifty.serve.store import Store, arm_totals, draw_totals
from thrifty.serve.store import totals as kept

URL = "/v1/experiments/colours"


def test_each_row_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_700_000_000 * 10**6]
    monkeypatch.setattr(Clock, "now", lambda _: now[0])
    store = Store(url_of(tmp_path))

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS | {"arms": 30, "control": 0.5})
        for _ in range(5):
            ids = [made["id"] for made in await decide(client, count=40)]
            await reward(client, *({"decision": one, "reward": 0.5} for one in ids[:10]))
            await reward(client, {"decision": ids[0], "reward": 0.5}, {"decision": ids[11], "cancel": True})
            check_memory(app)
            apart.write(store, totals.notes(store.query, now[0]))
            apart.write(store, totals.notes(reading.plain(store.url), now[0]))
            assert audit(store)[1] == []
            now[0] += 40 * 10**6
        apart.write(store, totals.notes(store.query, now[0] + 10**8))
        assert audit(store)[1] == []

    with untended():
        play(tmp_path, scenario)
    with store.engine.connect() as connection:
        rows = connection.execute(sa.select(kept)).all()
        arms = connection.execute(sa.select(arm_totals)).all()
    assert len({row.period for row in rows}) == 4
    assert sum(row.decided for row in rows) == 200
    assert (sum(row.pulls for row in rows), sum(row.sum for row in rows)) == (50, 25.0)
    assert 60 < sum(row.decided for row in rows if row.control) < 140
    assert max(sum(row.period == period for row in arms) for period in {row.period for row in arms}) == 10
    with store.writing() as connection:
        connection.exec_driver_sql("update totals set pulls = pulls + 1 where control = 0")
    assert len(audit(store)[1]) == 4
    with store.writing() as connection:
        connection.exec_driver_sql("delete from totals")
    assert len(audit(store)[1]) == 8
    store.close()


def test_posterior_draws_are_counted_by_the_period(tmp_path: Path) -> None:
    """TS draws for every arm in each decision, and with many arms for a few of them; UCB1 never does."""
    beta = {"policy": {"name": "ThompsonSampling", "law": "beta"}, "arms": 3, "prior": [0.5, 2.0]}

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=beta)
        await client.put("/v1/experiments/other", json=COLOURS | {"policy": {"name": "UCB1"}})
        await client.put("/v1/experiments/many", json=beta | {"arms": 1000})
        await app.service.upkeep.note_draws(6)
        for period, count in ((7, 10), (8, 0), (9, 4), (9, 1)):
            for _ in range(count):
                await decide(client)
                await decide(client, "other")
                await decide(client, "many")
            await app.service.upkeep.note_draws(period)
        with app.service.store.engine.connect() as connection:
            rows = connection.execute(sa.select(draw_totals)).all()
        found = {(row.experiment, row.period): (row.draws, row.dense) for row in rows}
        assert {key: found.pop(key) for key in list(found) if key[0] < 3} == {
            (1, 7): (30, 30), (1, 9): (15, 15), (2, 7): (0, 20), (2, 9): (0, 10),
        }  # fmt: skip
        assert 10 <= found[3, 7][0] < 10 * 1000 / 4
        assert {key: dense for key, (_, dense) in found.items()} == {(3, 6): 0, (3, 7): 10_000, (3, 9): 5000}
        check_memory(app)

    with untended():
        play(tmp_path, scenario)


def test_a_store_stays_with_its_period(tmp_path: Path) -> None:
    """Rows of two lengths never mix; and a process that adds up short ones imports little."""
    store = Store(url_of(tmp_path))
    store.open(0, 1)
    store.open(0, 1)
    with pytest.raises(InvalidValue, match=r"period must be 1 s, by which .* has its totals, got 60"):
        store.open(0)
    rows = [Row(1, i, DECISION, 3, i * 10**6 + i, 1, i, 0, pack(Decided([i], [], None))) for i in (5, 6, 7)]
    assert sorted(totals.folded(rows, totals.length(store.query))) == [(3, 5), (3, 6), (3, 7)]
    store.close()
    with pytest.raises(InvalidValue, match="period must be at least 1, got 0"):
        Service(url_of(tmp_path), period=0)
    code = "import sys, thrifty.serve.totals; print({'numpy', 'sqlalchemy', 'asyncio'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "set()\n"
