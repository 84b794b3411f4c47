"""What the data of a page costs: processor time of each thing that is shown, of a page of many arms in every
order, of a look at what is known, and of a start of the process that adds up totals.

    uv run python bench/views.py                 # a million arms, some minutes
    uv run python bench/views.py --arms 10000    # seconds
"""

import argparse
import asyncio
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import numpy as np

from thrifty.serve import looks, totals, views
from thrifty.serve.app import App, create
from thrifty.serve.arms import read_policy
from thrifty.serve.clock import SECOND
from thrifty.serve.events import Change
from thrifty.serve.experiments import Experiment
from thrifty.table import aligned

POINTS = 290  # periods of a chart


def cost(call: Callable[[], Any], times: int = 100) -> float:
    """Seconds of processor time of a call, the first apart."""
    call()
    begun = time.thread_time()
    for _ in range(times):
        call()
    return (time.thread_time() - begun) / times


def start() -> float:
    """Of the process that adds up totals, once its bytecode is there."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        command = [sys.executable, "-c", "import thrifty.serve.totals"]
        spent = []
        for _ in range(4):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, env=environment | {"PYTHONPYCACHEPREFIX": folder})
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(spent)


async def shown(app: App) -> list[tuple[str, str]]:
    """Each thing that the page of an experiment shows, whose charts are full."""
    service = app.service
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        url = "/v1/experiments/shown"
        await client.put(url, json={"policy": {"name": "TSMA"}, "arms": 10, "control": 0.1})
        for _ in range(10):
            made = (await client.post(f"{url}/decisions", json={"count": 1000})).json()["decisions"]
            sent = [{"decision": one["id"], "reward": 0.5} for one in made]
            await client.post("/v1/rewards", json={"rewards": sent})
    experiment, now = service.find("shown"), service.now() // (60 * SECOND)
    with service.store.writing() as connection:
        for period in range(now - POINTS, now):
            for control in (False, True):
                values = (experiment.id, period, control, 1000, 900, 450.0, 225.0)
                connection.exec_driver_sql(totals.ADD, values)
            for arm in range(totals.LEADING):
                connection.exec_driver_sql(totals.ADD_ARM, (experiment.id, period, arm, 100, 90, 45.0))
    experiment.history.add(0)
    service.upkeep.over = now
    await service.upkeep.look_at(experiment)

    def anew() -> None:
        experiment.history.shown = None
        views.curves(service, experiment)

    calls: dict[str, Callable[[], Any]] = {
        "a row of all experiments": lambda: views.row(service, experiment),
        "what is known": lambda: views.known(service, experiment),
        "the latest 20": lambda: views.latest(service, experiment),
        "the changes": lambda: views.changes(service, experiment),
        "densities": lambda: views.densities(service, experiment),
        f"curves of {POINTS} points, once for each period": anew,
        "curves, until the period is over": lambda: views.curves(service, experiment),
    }
    return [(name, f"{1e6 * cost(call):,.1f} µs") for name, call in calls.items()]


def many(policy: dict[str, Any], arms: Any, count: int) -> Experiment:
    """An experiment with rewards of every arm."""
    experiment, rng = Experiment(1, 1, "many"), np.random.default_rng(1)
    definition = {"policy": policy, "arms": arms}
    experiment.apply(Change(1, "local", "create", {"created": 0, "definition": definition}), 0)
    tally = experiment.tally
    tally.pulls[:count] = rng.geometric(0.1, count)
    tally.sums[:count] = tally.squares[:count] = tally.pulls[:count] * rng.random(count)
    tally.decided[:count] = tally.closed[:count] = tally.pulls[:count]
    return experiment


def pages(count: int) -> list[tuple[str, str]]:
    """Pages of arms, with names and without."""
    rng, rows = random.Random(1), []
    names = [f"product-{i:07d} {rng.choice('abcdef')}" for i in range(count)]
    rng.shuffle(names)
    for what, arms in (("numbered", count), ("named", names)):
        experiment = many({"name": "TSMA"}, arms, count)
        begun = time.thread_time()
        experiment.page("arm", "", 50, None)
        rows.append((f"{what} arms by name, the first time", f"{1e3 * (time.thread_time() - begun):,.0f} ms"))
        for sort in ("arm", "-pulls", "-mean", "pending"):
            for search in ("", "7"):
                took = cost(partial(experiment.page, sort, search, 50, None), 5)
                having = f', with "{search}" in it' if search else ""
                rows.append((f"{what} arms by {sort}{having}", f"{1e3 * took:,.1f} ms"))
    return rows


def looked(count: int) -> list[tuple[str, str]]:
    """A look at what is known, and the copy that is made for it in the thread of the event loop."""
    rows = []
    for table in ({"name": "TSMA"}, {"name": "ThompsonSampling", "law": "beta"}, {"name": "UCB1"}):
        experiment, policy = many(table, count, count), read_policy(table)
        engine = policy.engine_for(count)
        looks.rehearse(policy, engine)
        begun = time.thread_time()
        numbers = asyncio.run(looks.copied(experiment, 0))
        copied, begun = time.thread_time() - begun, time.thread_time()
        looks.look(policy, experiment.now, engine, numbers, 0)
        took = time.thread_time() - begun
        parts = -(-count // looks.TOGETHER)
        rows.append((f"{policy.label}, a look", f"{took:.2f} s"))
        rows.append((f"{policy.label}, its copy, in {parts} parts", f"{1e3 * copied:.1f} ms"))
    return rows


async def served(folder: str) -> list[tuple[str, str]]:
    app = create(f"sqlite:///{folder}/thrifty.db")
    async with app.lifespan():
        await app.starting
        return await shown(app)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arms", type=int, default=10**6)
    count = parser.parse_args().arms
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(served(folder))
    rows.append(("a start of the process that adds up", f"{1e3 * start():.0f} ms"))
    print(aligned(("processor time of", ""), rows))
    print(f"\n{count:,} arms")
    print(aligned(("processor time of", ""), [*pages(count), *looked(count)]))


if __name__ == "__main__":
    main()
