"""kill -9 at random moments under load: what was acknowledged is there, and counts once."""

import random
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.served import COLOURS, PROGRAM, serving, url_of
from thrifty.serve import log, run, service
from thrifty.serve.audit import audit
from thrifty.serve.events import DECISION, REWARD, read_closed, read_decided
from thrifty.serve.store import Store
from thrifty.serve.tokens import Signer

CLIENTS = 4


class Load:
    """Clients that decide, reward what they decided, and note what they were told."""

    def __init__(self, url: str, seed: int) -> None:
        self.issued: list[str] = []
        self.told: dict[str, tuple[str, float]] = {}  # decision: its arm, and the reward that was counted
        self._url, self._seed = url, seed
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _run(self, number: int) -> None:
        rng = random.Random(f"{self._seed} {number}")
        try:
            with httpx.Client(base_url=self._url, trust_env=False, timeout=10.0) as client:
                while True:
                    ask = {"count": rng.choice([1, 1, 5])}
                    made = client.post("/v1/experiments/colours/decisions", json=ask).json()["decisions"]
                    self.issued += [decision["id"] for decision in made]
                    sent = [
                        {"decision": decision["id"], "reward": rng.randint(0, 4) / 4}
                        for decision in made
                        if rng.random() < 0.8
                    ]
                    if not sent:
                        continue
                    arms = {decision["id"]: decision["arm"] for decision in made}
                    results = client.post("/v1/rewards", json={"rewards": sent}).json()["results"]
                    for one, result in zip(sent, results, strict=True):
                        assert result["status"] == "counted"
                        self.told[one["decision"]] = (arms[one["decision"]], one["reward"])
        except httpx.TransportError:
            return  # it is gone


def again(client: httpx.Client, told: dict[str, tuple[str, float]]) -> set[str]:
    """What is said of rewards that were counted."""
    items = list(told.items())
    found: set[str] = set()
    for i in range(0, len(items), 5000):
        sent = [{"decision": key, "reward": reward} for key, (_, reward) in items[i : i + 5000]]
        answer = client.post("/v1/rewards", json={"rewards": sent}).json()
        found |= {result["status"] for result in answer["results"]}
    return found


def kills(folder: Path, count: int, seed: int) -> None:
    rng = random.Random(seed)
    issued: list[str] = []
    told: dict[str, tuple[str, float]] = {}
    last: dict[str, tuple[str, float]] = {}  # before the last kill; all of them are asked for at the end
    for i in range(count):
        with serving(folder) as (server, client):
            client.put("/v1/experiments/colours", json=COLOURS)
            assert again(client, last) <= {"repeated"}
            load = Load(server.url, seed + i)
            time.sleep(rng.uniform(0.05, 0.6))
            server.kill()
            load.join()
            issued += load.issued
            last = load.told
            told |= last
    assert len(set(issued)) == len(issued) > count
    with serving(folder) as (_, client):
        assert again(client, told) == {"repeated"}
        rows = client.get("/v1/experiments/colours/arms").json()["arms"]
    check(folder, told, rows)


def check(folder: Path, told: dict[str, tuple[str, float]], rows: list[dict[str, Any]]) -> None:
    """The log agrees with itself, with what was told, and with what the server showed."""
    store = Store(url_of(folder))
    fold, faults = audit(store)
    assert faults == []
    rewards = [(row, read_closed(row.body)) for row in store.log() if row.kind == REWARD]
    assert len({(row.origin, row.number) for row, _ in rewards}) == len(rewards) >= len(told)
    tally = fold.tallies[1]
    serials = {"red": 0, "green": 1}
    for row in rows:
        arm = serials[row["arm"]]
        assert row["pulls"] == tally.pulls[arm]
        assert row["pulls"] * (row["mean"] or 0.0) == pytest.approx(tally.sums[arm], rel=1e-12)
        assert row["pending"] == tally.decided[arm] - tally.closed[arm]
        mine = [reward for name, reward in told.values() if name == row["arm"]]
        assert row["pulls"] >= len(mine)
        assert tally.sums[arm] >= sum(mine) - 1e-9
    store.close()


def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path) -> None:
    kills(tmp_path, 3, seed=1)


CHECKPOINTING = f"""
import asyncio
from thrifty.serve import apart, checkpoints, totals
checkpoints.EVERY, checkpoints.PIECE = 50, 4
made = {{module.__name__: module.notes for module in (checkpoints, totals)}}

async def notes(module, store):  # in this process, where pieces are as small as that
    return await asyncio.to_thread(lambda: list(made[module](store)))

apart.notes = notes
{PROGRAM}"""


def test_a_checkpoint_that_is_being_written_is_no_more_than_that(tmp_path: Path) -> None:
    """The server is killed when some of its pieces are there and the last is not."""
    told: dict[str, tuple[str, float]] = {}
    torn = 0
    for i in range(4):
        with serving(tmp_path, program=CHECKPOINTING) as (server, client):
            client.put("/v1/experiments/colours", json=COLOURS)
            assert again(client, told) <= {"repeated"}
            load = Load(server.url, i)
            for _ in range(2000):
                if unfinished(tmp_path):
                    break
                time.sleep(0.002)
            server.kill()
            load.join()
            told |= load.told
        torn += unfinished(tmp_path)
        store = Store(url_of(tmp_path))
        assert audit(store)[1] == []
        store.close()
    assert torn > 0
    with serving(tmp_path) as (_, client):
        assert again(client, told) == {"repeated"}
        rows = client.get("/v1/experiments/colours/arms").json()["arms"]
    check(tmp_path, told, rows)


def unfinished(folder: Path) -> bool:
    """Whether there are pieces of a checkpoint that is newer than all that are whole."""
    store = Store(url_of(folder))
    query = "select max(checkpoint) > (select coalesce(max(id), 0) from checkpoints) from pieces"
    with store.engine.connect() as connection:
        found = bool(connection.exec_driver_sql(query).scalar())
    store.close()
    return found


def test_a_stop_writes_all_that_was_accepted(tmp_path: Path) -> None:
    """Decisions too, which are written behind; and it does not take long."""
    with serving(tmp_path) as (server, client):
        client.put("/v1/experiments/colours", json=COLOURS)
        load = Load(server.url, 3)
        time.sleep(0.7)
        assert server.stop() == 0
        load.join()
    store = Store(url_of(tmp_path))
    fold, faults = audit(store)
    signer, origins = Signer(store.secrets(0)), store.streams()
    logged = {
        (row.origin, row.number + i)
        for row in store.log()
        if row.kind == DECISION and row.number is not None
        for i in range(len(read_decided(row.body).arms))
    }
    store.close()
    tokens = [token for one in load.issued if (token := signer.read(one)) is not None]
    assert faults == []
    assert len(tokens) == len(load.issued) > 10
    assert {(origins[token.start], token.number) for token in tokens} <= logged
    assert fold.tallies[1].pulls.sum() >= len(load.told)


def queued(client: httpx.Client, rows: int) -> None:
    """Wait until so many wait to be written."""
    while f"thrifty_queue {rows}.0" not in client.get("/metrics").text:
        time.sleep(0.01)


def test_a_stop_does_not_wait_for_what_cannot_be_written(tmp_path: Path) -> None:
    """Another process has the store: what was not acknowledged is refused, and it is said what is lost."""
    assert run.STOP + service.LAST + service.PATIENCE + log.LAST <= 4  # and a second for all the rest: 5
    said = tmp_path / "said"
    with said.open("w") as stderr, serving(tmp_path, stderr=stderr) as (server, client):
        client.put("/v1/experiments/colours", json=COLOURS)
        one = client.post("/v1/experiments/colours/decisions", json={}).json()["decisions"][0]
        answers: list[httpx.Response] = []
        sent = {"rewards": [{"decision": one["id"], "reward": 1.0}]}
        url = f"{server.url}/v1/rewards"
        thread = threading.Thread(
            target=lambda: answers.append(httpx.post(url, json=sent, timeout=60.0, trust_env=False))
        )
        queued(client, 0)
        other = sqlite3.connect(tmp_path / "thrifty.db", isolation_level=None)
        other.execute("begin immediate")
        thread.start()
        queued(client, 1)
        assert server.stop() == 0
        thread.join()
        other.close()
    assert [(answer.status_code, answer.json()["detail"]) for answer in answers] == [
        (503, "the service is being stopped")
    ]
    assert "1 rows of the log could not be written" in said.read_text()
    assert "Traceback" not in said.read_text()


@pytest.mark.slow
def test_nothing_is_lost_in_a_thousand_kills(tmp_path: Path) -> None:
    kills(tmp_path, 1000, seed=2)
