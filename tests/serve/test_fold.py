"""State is a function of the set of events: the same log in any order gives the same."""

import random
import shutil
from pathlib import Path

import httpx
import numpy as np

from tests.support.served import COLOURS, check_memory, decide, play, reward, url_of
from thrifty.serve.app import App
from thrifty.serve.experiments import restored
from thrifty.serve.fold import Fold
from thrifty.serve.store import Store

FADING = COLOURS | {"policy": {"name": "ThompsonSampling", "law": "beta"}, "half_life": 0.05}
URL = "/v1/experiments/colours"


async def some_life(client: httpx.AsyncClient, app: App) -> list[str]:
    """Decisions, outcomes of every kind that a client can make, and changes."""
    rng = random.Random(5)
    await client.put(URL, json=COLOURS)
    await client.put("/v1/experiments/other", json=FADING | {"reward_range": [-1, 3]})
    ids: list[str] = []
    for i in range(12):
        ids += [made["id"] for made in await decide(client, count=rng.randint(1, 6))]
        ids += [made["id"] for made in await decide(client, "other", rank=2)]
        for _ in range(3):
            value = {"cancel": True} if rng.random() < 0.2 else {"reward": rng.random()}
            await reward(client, {"decision": rng.choice(ids), **value})
        if i in (3, 6):
            await client.post(f"{URL}/arms", json={"arms": [f"more {i}"]})
        if i == 8:
            await client.patch(f"{URL}/arms/red", json={"paused": True})
            await client.delete(f"{URL}/arms/more%203")
    check_memory(app)
    return ids


def test_a_hundred_random_orders_give_one_state(tmp_path: Path) -> None:
    play(tmp_path, some_life)
    store = Store(url_of(tmp_path))
    rows, names = list(store.log()), store.experiments()
    store.close()
    assert len({row.kind for row in rows}) >= 5
    first = Fold(rows).add(rows)
    for seed in range(100):
        random.Random(seed).shuffle(rows)
        fold = Fold(rows).add(rows)
        assert set(fold.tallies) == set(first.tallies)
        for number, tally in first.tallies.items():
            other = fold.tallies[number]
            other.reach(tally.decided.size)
            size = tally.decided.size
            assert other.columns == tally.columns
            for column in ("decided", "closed", "pulls"):
                assert getattr(other, column)[:size].tolist() == getattr(tally, column).tolist()
            for column in {*tally.columns} & {"sums", "weight", "faded"}:
                one, two = getattr(other, column)[:size], getattr(tally, column)
                np.testing.assert_allclose(one, two, rtol=1e-12)
        found = restored(names, fold.tallies, fold.history)
        roster = found["colours"].roster
        assert [roster.name(serial) for serial in roster.serials()] == ["red", "green", "more 6"]
        assert roster.paused == {0}


def test_a_serial_that_a_restored_store_gives_out_again_is_another_arm(tmp_path: Path) -> None:
    folder, kept = tmp_path / "live", tmp_path / "kept"
    folder.mkdir()

    async def first(client: httpx.AsyncClient, app: App) -> None:
        await client.put(URL, json=COLOURS)

    async def before(client: httpx.AsyncClient, app: App) -> str:
        await client.post(f"{URL}/arms", json={"arms": ["lost"]})
        return str((await decide(client, among=["lost"]))[0]["id"])

    async def after(client: httpx.AsyncClient, app: App) -> None:
        assert await reward(client, {"decision": lost, "reward": 1.0}) == ["unknown"]
        await client.post(f"{URL}/arms", json={"arms": ["new"]})
        assert await reward(client, {"decision": lost, "reward": 1.0}) == ["unknown"]
        check_memory(app)

    play(folder, first)
    shutil.copytree(folder, kept)
    lost = play(folder, before)
    play(kept, after)


def test_no_id_is_issued_twice_from_a_restored_backup(tmp_path: Path) -> None:
    """What was decided after the backup was made is still good, and counts once."""
    folder, kept = tmp_path / "live", tmp_path / "kept"
    folder.mkdir()

    async def more(client: httpx.AsyncClient, app: App) -> list[str]:
        await client.put(URL, json=COLOURS)
        return [made["id"] for made in await decide(client, count=50)]

    async def restored_one(client: httpx.AsyncClient, app: App) -> list[str]:
        sent = [{"decision": one, "reward": 1.0} for one in (before[0], after[0], after[1])]
        assert await reward(client, *sent) == ["counted"] * 3
        assert await reward(client, *sent) == ["repeated"] * 3
        ids = [made["id"] for made in await decide(client, count=50)]
        described = (await client.get(URL)).json()
        assert (described["decisions"], described["pulls"], described["pending"]) == (102, 3, 99)
        check_memory(app)
        return ids

    before = play(folder, more)
    shutil.copytree(folder, kept)
    after = play(folder, more)
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)
    again = play(folder, restored_one)
    assert len({*before, *after, *again}) == 150
