"""A checkpoint is a convenience: with it, without it, damaged or newer, the state is the same."""

import asyncio
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from tests.support.served import COLOURS, check_memory, decide, play, reward, url_of
from thrifty.serve import apart, checkpoints, totals
from thrifty.serve.app import App
from thrifty.serve.audit import audit
from thrifty.serve.clock import SECOND, Clock
from thrifty.serve.store import Store, pieces
from thrifty.serve.store import checkpoints as heads

URL = "/v1/experiments/colours"


async def life(client: httpx.AsyncClient, app: App) -> None:
    await client.put(URL, json=COLOURS)
    ids = [made["id"] for made in await decide(client, count=20)]
    await reward(client, *({"decision": one, "reward": 0.5} for one in ids[:9]))
    await client.post(f"{URL}/arms", json={"arms": [f"arm {app.service.log.start}"]})
    check_memory(app)


def damage(store: Store, how: str) -> None:
    with store.writing() as connection:
        last = connection.execute(sa.select(sa.func.max(heads.c.id))).scalar_one()
        if how == "missing":
            connection.execute(heads.delete().where(heads.c.id == last))
        elif how == "newer":
            connection.execute(heads.update().where(heads.c.id == last).values(version=99))
        elif how == "torn":
            connection.execute(pieces.delete().where(pieces.c.checkpoint == last, pieces.c.piece == 0))
        elif how == "nonsense":
            body = b"nonsense"
            connection.execute(pieces.update().where(pieces.c.checkpoint == last).values(body=body))
            digest = checkpoints._digest(body)
            connection.execute(heads.update().where(heads.c.id == last).values(digest=digest))
        elif how == "altered":
            query = sa.select(pieces.c.body).where(pieces.c.checkpoint == last)
            body = bytearray(connection.execute(query).scalars().first() or b"")
            body[len(body) // 2] ^= 1
            connection.execute(pieces.update().where(pieces.c.checkpoint == last).values(body=bytes(body)))
        else:
            connection.execute(heads.delete())


@pytest.mark.parametrize("how", ["missing", "newer", "torn", "altered", "nonsense", "all"])
def test_the_state_is_the_same_whatever_became_of_checkpoints(tmp_path: Path, how: str) -> None:
    play(tmp_path, life)
    store = Store(url_of(tmp_path))
    apart.write(store, checkpoints.notes(store))
    store.close()
    play(tmp_path, life)
    store = Store(url_of(tmp_path))
    apart.write(store, checkpoints.notes(store))
    apart.write(store, checkpoints.notes(store))  # nothing new: none is made
    assert checkpoints.state(store)[1] == 0
    before = checkpoints.state(store)[0]
    damage(store, how)
    after, behind = checkpoints.state(store)
    assert after.difference(before) == []
    assert behind > 0
    assert audit(store)[1] == []
    store.close()

    async def restarted(client: httpx.AsyncClient, app: App) -> None:
        check_memory(app)

    play(tmp_path, restarted)


def test_two_are_kept_and_each_is_in_small_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "PIECE", 20)
    for _ in range(4):
        play(tmp_path, life)
        store = Store(url_of(tmp_path))
        apart.write(store, checkpoints.notes(store))
        with store.engine.connect() as connection:
            numbers = connection.execute(sa.select(heads.c.id).order_by(heads.c.id)).scalars().all()
            bodies = connection.execute(sa.select(pieces.c.checkpoint, pieces.c.body)).all()
        assert {number for number, _ in bodies} == set(numbers)
        assert len(numbers) <= checkpoints.KEPT
        assert len(bodies) > len(numbers)
        assert max(len(body) for _, body in bodies) <= 20
        store.close()


def test_one_is_made_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 20)

    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await life(client, app)
        while not checkpoints.newest(app.service.store).read:
            await asyncio.sleep(0.05)
        assert checkpoints.state(app.service.store)[1] == 0
        last = list(app.service.store.log())[-1]
        assert checkpoints.newest(app.service.store).read == {1: last.seq}
        check_memory(app)

    play(tmp_path, scenario)


def test_an_audit_finds_nothing_wrong_while_all_of_it_is_at_work(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)
        done = asyncio.Event()

        async def traffic() -> None:
            while not done.is_set():
                made = await decide(client, count=5)
                await reward(client, *({"decision": one["id"], "reward": 0.5} for one in made[:3]))

        async def keep() -> None:
            while not done.is_set():
                for note in (
                    *checkpoints.notes(store),
                    *totals.notes(store.query, Clock().now() + 60 * SECOND),
                ):
                    await app.service.log.note(note)
                await asyncio.sleep(0.01)

        store = Store(url_of(tmp_path))
        working = [asyncio.create_task(work()) for work in (traffic, traffic, keep)]
        for _ in range(8):
            await asyncio.sleep(0.1)
            assert (await asyncio.to_thread(audit, store))[1] == []
        done.set()
        await asyncio.gather(*working)
        check_memory(app)
        store.close()

    play(tmp_path, scenario)


def test_an_audit_says_what_is_wrong(tmp_path: Path) -> None:
    play(tmp_path, life)
    store = Store(url_of(tmp_path))
    apart.write(store, checkpoints.notes(store))
    assert audit(store)[1] == []
    with store.writing() as connection:
        connection.exec_driver_sql("delete from log where kind = 'd'")
        connection.exec_driver_sql("delete from outcomes where number = 0")
        connection.exec_driver_sql("insert into outcomes values (1, 999, 'r', 1.0, 1, 999)")
    _, faults = audit(store)
    store.close()
    said = "\n".join(faults)
    for part in (
        "outcome that is not in the log",
        "kept otherwise",
        "without a decision",
        "newest checkpoint",
    ):
        assert part in said
