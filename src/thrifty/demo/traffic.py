"""Visitors of the products, in a process of their own. They ask the service over HTTP, as any product would;
what was lost is written to standard output, a line of JSON for each product and second.

It ends when standard input does. If that did not say ``stop``, whoever began it is dead, and his store goes.
"""

import heapq
import json
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np

from thrifty.client import Client, Decision
from thrifty.client.wire import Away, Refused
from thrifty.demo.dense import Dense, losses
from thrifty.demo.products import Product, products

TICK = 0.02  # seconds between looks at who has come
MOST = 0.25  # seconds of visitors that are made up for: a machine that is slower has fewer of them
STOP = "stop"
THRIFTY, DENSE, UNIFORM = "thrifty", "Thompson sampling, dense", "uniform"


@dataclass
class Report:
    """What has become of a product: ``lost`` is the true regret by who chose."""

    product: str
    seconds: float = 0.0  # since the start
    decisions: int = 0
    lost: dict[str, float] = field(default_factory=lambda: dict.fromkeys((THRIFTY, DENSE, UNIFORM), 0.0))
    draws: int = 0  # of the dense sampler
    visits: int = 0  # of each of which the service and the dense sampler were asked
    chosen: int = 0  # visits in which the dense sampler chose, and not control
    asking: float = 0.0  # seconds that the service took, HTTP and all
    choosing: float = 0.0  # seconds of processor time that the dense sampler took


class Admin:
    """Arms come and go over HTTP."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url).netloc
        self._connection = HTTPConnection(self._address, timeout=10.0)

    def replace(self, product: str, gone: list[str], come: list[str]) -> None:
        path = f"/v1/experiments/{quote(product, safe='')}/arms"
        self._ask("POST", path, {"arms": come})
        for arm in gone:
            self._ask("DELETE", f"{path}/{quote(arm, safe='')}")

    def _ask(self, method: str, path: str, value: Any = None) -> None:
        """Whatever the answer: somebody at the page may have done the same, or archived everything."""
        headers, body = {"content-type": "application/json"}, json.dumps(value).encode()
        for _ in range(2):  # a connection that was idle for long is closed
            try:
                self._connection.request(method, path, body, headers)
                self._connection.getresponse().read()
                return
            except (OSError, HTTPException):
                self._connection.close()


class Visits:
    """The visits of one product. The service decides for each, and the dense sampler for another visitor of
    the same kind: both have the same arms, the same delays and the same share of control."""

    def __init__(self, product: Product, client: Client, admin: Admin, seed: int) -> None:
        self._product, self._client, self._admin = product, client, admin
        self._rng = np.random.default_rng(seed)
        mean, weight = product.settings.get("prior", (0.0, 0.0))
        self._dense = Dense(len(product.arms), self._rng, (mean, weight), product.settings.get("half_life"))
        self._places = {arm: place for place, arm in enumerate(product.arms)}
        self._answers: list[tuple[float, int, Decision, float]] = []  # to the service, when they are due
        self._lessons: list[tuple[float, int, int, str, float]] = []  # of the dense sampler
        self._order = 0  # of what is due at the same moment
        self.report = Report(product.name)

    def go_on(self, now: float, elapsed: float) -> None:
        """What happens in the last ``elapsed`` seconds."""
        self._change(now)
        means = self._product.means
        best, uniform = losses(means, self._product.slate)
        for _ in range(self._rng.poisson(self._product.visitors * elapsed)):
            self._visit(now, means, best, uniform)
        self._answer(now)
        self.report.seconds, self.report.draws = now, self._dense.draws

    def _change(self, now: float) -> None:
        if gone := self._product.advance(now):
            come = {self._product.arms[place]: place for place in gone}
            for arm in gone.values():
                del self._places[arm]
            self._places |= come
            self._dense.replace([*gone])
            self._admin.replace(self._product.name, [*gone.values()], [*come])

    def _visit(self, now: float, means: Any, best: float, uniform: float) -> None:
        product, report = self._product, self.report
        began = time.perf_counter()
        try:
            made = (
                self._client.decide(product.name, rank=product.slate)
                if product.slate > 1
                else [self._client.decide(product.name)]
            )
        except (Away, Refused):  # paused at the page, say: he sees nothing
            return
        report.asking += time.perf_counter() - began
        report.visits += 1
        report.decisions += len(made)
        places = [self._places.get(decision.arm) for decision in made]  # None: of somebody at the page
        report.lost[THRIFTY] += best - sum(float(means[place]) for place in places if place is not None)
        report.lost[UNIFORM] += uniform
        for place, decision in zip(places, made, strict=True):
            delay, reward = self._taste(place)
            if reward or product.refusals:
                heapq.heappush(self._answers, (now + delay, self._next(), decision, reward))
        chosen = self._choose(now, control=made[0].control)
        report.lost[DENSE] += best - float(means[chosen].sum())
        for arm in chosen.tolist():
            delay, reward = self._taste(arm)
            if delay > product.window or not (reward or product.refusals):
                delay, reward = product.window, 0.0
            lesson = (now + delay, self._next(), arm, product.arms[arm], reward)
            heapq.heappush(self._lessons, lesson)

    def _choose(self, now: float, *, control: bool) -> Any:
        slate, arms = self._product.slate, len(self._product.arms)
        if control:
            return self._rng.choice(arms, slate, replace=False)
        began = time.thread_time()
        chosen = self._dense.choose(now, slate)
        self.report.choosing += time.thread_time() - began
        self.report.chosen += 1
        return chosen

    def _taste(self, place: int | None) -> tuple[float, float]:
        """When a visitor answers, in seconds from now, and what. Nobody likes an arm of somebody else's."""
        rate = 0.0 if place is None else float(self._product.rates[place])
        return self._rng.exponential(self._product.delay), float(self._rng.random() < rate)

    def _next(self) -> int:
        self._order += 1
        return self._order

    def _answer(self, now: float) -> None:
        answers = list(_due(self._answers, now))
        if answers:
            self._client.reward_many([one[2] for one in answers], [one[3] for one in answers])
        for _, _, place, arm, reward in _due(self._lessons, now):
            if self._product.arms[place] == arm:  # it has not gone
                self._dense.learn(place, reward, now)


def _due(heap: list[Any], now: float) -> Iterator[Any]:
    while heap and heap[0][0] <= now:
        yield heapq.heappop(heap)


def run(url: str, seed: int, stopping: threading.Event) -> None:
    """Until it is to stop. It takes at most a quarter of a core, and the service about as much: on a slow
    machine fewer visitors come."""
    admin = Admin(url)
    with Client(url, decide_timeout=5.0) as client:
        found = products(np.random.default_rng(seed))
        visits = [Visits(product, client, admin, seed + i) for i, product in enumerate(found, 1)]
        start = time.monotonic()
        last = told = pause = 0.0
        while not stopping.wait(pause):
            now, worked = time.monotonic() - start, time.process_time()
            for one in visits:
                one.go_on(now, min(now - last, MOST))
            if now >= told:
                _tell(visits)
                told = int(now) + 1.0
            took, worked = time.monotonic() - start - now, time.process_time() - worked
            pause, last = max(TICK - took, 4.0 * worked - took, 0.0), now
        _tell(visits)


def _tell(visits: list[Visits]) -> None:
    for one in visits:
        print(json.dumps(asdict(one.report)), flush=True)


def main() -> None:
    url, seed, folder = sys.argv[1:]
    stopping, told = threading.Event(), []

    def listen() -> None:
        told.append(sys.stdin.readline().strip())
        stopping.set()

    threading.Thread(target=listen, daemon=True).start()
    try:
        run(url, int(seed), stopping)
    except BrokenPipeError:
        sys.stdout = None  # nobody is there to be told
    if STOP not in told:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
