"""The decision service: how long a start takes with a long log, and what a checkpoint costs those who ask.

A store is written with so many arms and events, half of them decisions and half rewards, of which some are
behind the last checkpoint. Then a server is started on it, again and again. The last one makes a checkpoint,
as there is a lot behind the one before, while it is asked at a steady rate.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from service import THRIFTY, Server

from thrifty.serve import apart, checkpoints, events
from thrifty.serve.clock import SECOND, Clock
from thrifty.serve.events import Closed, Decided, Row, pack, read_closed
from thrifty.serve.log import INSERT_OUTCOMES, INSERT_ROWS
from thrifty.serve.store import Store

DAY = 86400 * SECOND
TOGETHER = 50_000  # rows of a transaction


def rows(arms: int, count: int, stream: int, seq: int, number: int) -> Iterator[tuple[Row, Row]]:
    """Decisions and their rewards, in a stream from a place on."""
    now, rng = Clock().now(), np.random.default_rng(seq)
    for i, arm in enumerate(rng.integers(0, arms, count).tolist()):
        place = (stream, number + i)
        made = pack(Decided([arm], [], None))
        decided = Row(stream, seq + 2 * i, events.DECISION, 1, now, *place, now + DAY, made)
        closed = pack(Closed(arm, float(arm % 2), False))
        yield decided, Row(stream, seq + 2 * i + 1, events.REWARD, 1, now, *place, None, closed)


def insert(connection: Any, statement: str, rows: list[Any]) -> None:
    connection.exec_driver_sql(statement.format(f"({', '.join('?' * len(rows[0]))})"), rows)


def add(store: Store, arms: int, count: int) -> None:
    """So many decisions with their rewards, in a stream of their own."""
    stream, _ = store.open_stream(Clock().now())
    for first in range(0, count, TOGETHER // 2):
        size = min(TOGETHER // 2, count - first)
        pairs = list(rows(arms, size, stream, 1 + 2 * first, first))
        with store.writing() as connection:
            insert(connection, INSERT_ROWS, [row for pair in pairs for row in pair])
            outcomes = [
                (stream, row.number, row.kind, read_closed(row.body).reward, stream, row.seq)
                for _, row in pairs
            ]
            insert(connection, INSERT_OUTCOMES, outcomes)
            last = (pairs[-1][1].seq, stream)
            connection.exec_driver_sql("update streams set committed = ? where id = ?", last)
        store.shorten()


def ready(server: Server) -> None:
    with httpx.Client(base_url=server.url, timeout=60.0, trust_env=False) as client:
        while client.get("/readyz").status_code != 200:
            time.sleep(0.01)


def start(url: str, core: int) -> tuple[Server, float, float]:
    """A server, and the seconds and processor seconds until it was ready."""
    began = time.perf_counter()
    server = Server("thrifty", [sys.executable, "-c", THRIFTY, "serve", "--port", "0", "--store", url], core)
    ready(server)
    return server, time.perf_counter() - began, server.cpu


class Asking(threading.Thread):
    """Decides and rewards at a steady rate, and notes how long each took."""

    def __init__(self, url: str, rate: float) -> None:
        super().__init__()
        self._url, self._rate = url, rate
        self.over = threading.Event()
        self.waits: list[tuple[float, float]] = []  # when, and how long

    def run(self) -> None:
        with httpx.Client(base_url=self._url, timeout=60.0, trust_env=False) as client:
            while not self.over.wait(1.0 / self._rate):
                began = time.perf_counter()
                made = client.post("/v1/experiments/bench/decisions", json={}).json()["decisions"][0]
                decided = time.perf_counter()
                sent = {"rewards": [{"decision": made["id"], "reward": 1.0}]}
                client.post("/v1/rewards", json=sent)
                self.waits += [(began, decided - began), (decided, time.perf_counter() - decided)]


def newest(store: Store) -> int:
    with store.engine.connect() as connection:
        return int(connection.exec_driver_sql("select coalesce(max(id), 0) from checkpoints").scalar_one())


def checkpoint(server: Server, store: Store, seconds: float) -> None:
    """The longest waits while a checkpoint is made, as there is a lot behind the last one, and afterwards."""
    before, began = newest(store), time.perf_counter()
    asking = Asking(server.url, 50.0)
    asking.start()
    while newest(store) == before:
        time.sleep(0.05)
    made = time.perf_counter()
    time.sleep(seconds)
    asking.over.set()
    asking.join()
    for what, part in (
        (
            f"while a checkpoint is made, {made - began:.1f} s",
            [wait for at, wait in asking.waits if at < made],
        ),
        (f"afterwards, {seconds:.0f} s", [wait for at, wait in asking.waits if at >= made]),
    ):
        marks = 1e3 * np.quantile(part, [0.5, 0.99, 1.0])
        print("{}: p50 {:.1f}, p99 {:.1f}, longest {:.1f} ms".format(what, *marks))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", type=int, default=1_000_000)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--behind", type=int, default=100_000, help="events behind the last checkpoint")
    parser.add_argument("--repeats", type=int, default=3, help="starts")
    parser.add_argument("--seconds", type=float, default=20.0, help="of asking, after a checkpoint is made")
    parser.add_argument("--core", type=int, default=0, help="of the server")
    parser.add_argument("--store", type=Path, help="one that was written before, or is to be kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="thrifty-bench-") as folder:
        file = options.store or Path(folder) / "thrifty.db"
        url = f"sqlite:///{file}"
        store = Store(url)
        if not file.exists():
            server, *_ = start(url, options.core)
            definition = {"policy": {"name": "TSMA"}, "arms": options.arms}
            where = f"{server.url}/v1/experiments/bench"
            put = httpx.put(where, json=definition, timeout=600.0, trust_env=False)
            assert put.status_code == 201, put.text
            server.stop()
            add(store, options.arms, (options.events - options.behind) // 2)
            apart.write(store, checkpoints.notes(store))
            add(store, options.arms, options.behind // 2)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {file.stat().st_size / 1e9:.2f} GB")
        for i in range(options.repeats):
            if i > 0:
                server.stop()
            server, took, cpu = start(url, options.core)
            print(f"ready after {took:.1f} s, {cpu:.1f} s of processor time")
        checkpoint(server, store, options.seconds)
        server.stop()
        store.close()


if __name__ == "__main__":
    main()
