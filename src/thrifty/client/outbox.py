"""What waits for the service to come back: rewards, and decisions that nobody was shown.

One thread sends it while there is something to send, and ends when there is not. It is kept in memory alone.
"""

import logging
import threading
import time
from collections import Counter, deque
from itertools import islice
from typing import Any, NamedTuple

from thrifty.client.wire import Away, Refused, Wire

LOGGER = logging.getLogger("thrifty.client")
BATCH = 1000  # rewards of a request
SOON, SELDOM = 0.1, 5.0  # seconds between two attempts
REMEMBERED = 500.0  # seconds for which the service knows the key of a decision, and something to spare
FINE = ("counted", "cancelled", "repeated")
CLOSED = 409  # all of them are of experiments that were archived
TOO_MUCH = (400, 413, 422)  # a smaller batch may be taken

Reward = dict[str, Any]  # as the service wants it


class Asked(NamedTuple):
    """A decision that may have been made, and was not shown."""

    path: str
    ask: dict[str, Any]
    end: float


class Outbox:
    """At most ``most`` rewards, each of which is sent until the service has taken it."""

    def __init__(self, wire: Wire, timeout: float, most: int) -> None:
        self._wire, self._timeout, self._most = wire, timeout, most
        self._turn = threading.Condition()
        self._rewards: deque[Reward] = deque()
        self._asked: deque[Asked] = deque()
        self._thread: threading.Thread | None = None
        self.away = False  # the last attempt failed
        self._hurry = self._stop = False

    def __len__(self) -> int:
        return len(self._rewards)

    def add(self, rewards: list[Reward], why: str) -> None:
        """All of them, or none if there is no room, or nobody to send them any more."""
        with self._turn:
            if self._stop:
                raise Away(f"{why}; the client was closed meanwhile: these {len(rewards)} were not taken")
            if len(self._rewards) + len(rewards) > self._most:
                raise Away(
                    f"{why}; the queue has room for {self._most} rewards, and {len(self._rewards)} wait: "
                    f"these {len(rewards)} were not taken, and may be sent again later"
                )
            self._rewards.extend(rewards)
            self.away = True
            self._start()

    def forget(self, asked: Asked) -> None:
        """See to it that a decision which nobody was shown does not count."""
        with self._turn:
            if len(self._asked) < self._most:
                self._asked.append(asked)
                self._start()

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="thrifty-client", daemon=True)
            self._thread.start()

    def flush(self, timeout: float) -> int:
        """Wait until nothing waits. Returns how many rewards still do."""
        with self._turn:
            self._hurry = True
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._thread is None, timeout)
            self._hurry = False
            return len(self._rewards)

    def close(self, timeout: float) -> int:
        """Send what can be sent in time. Returns how many rewards are lost."""
        lost = self.flush(timeout)
        with self._turn:
            self._stop = True
            self._turn.notify_all()
        if lost:
            LOGGER.error("%d rewards were not sent, and are lost", lost)
        return lost

    def _run(self) -> None:
        pause, size = SOON, BATCH
        while True:
            with self._turn:
                if self._stop or not (self._rewards or self._asked):
                    self._thread, self.away = None, False
                    self._turn.notify_all()
                    return
                batch = list(islice(self._rewards, size))
            try:
                if batch:
                    self._send(batch)
                else:
                    self._cancel()
                pause, size, self.away = SOON, BATCH, False
            except Exception as error:
                if isinstance(error, Refused) and error.status in TOO_MUCH and batch:
                    if len(batch) > 1:
                        size = len(batch) // 2
                        continue
                    LOGGER.error("a reward was refused, and is lost: %s", error)
                    self._rewards.popleft()
                    continue
                self.away = True
                LOGGER.log(logging.WARNING if pause == SOON else logging.DEBUG, "rewards wait: %s", error)
                self._wait(max(pause, getattr(error, "after", 0.0)))
                pause = min(2 * pause, SELDOM)

    def _wait(self, pause: float) -> None:
        """Somebody who waits for the end does not wait for long."""
        end = time.monotonic() + pause
        with self._turn:
            while not self._stop and (left := end - time.monotonic()) > 0.0:
                if self._hurry:
                    self._turn.wait(min(left, SOON))
                    return
                self._turn.wait(left)

    def _send(self, batch: list[Reward]) -> None:
        results = send(self._wire, batch, self._timeout)
        with self._turn:
            for _ in batch:
                self._rewards.popleft()
        said = Counter(f"{one['status']}: {one['detail']}" for one in results if one["status"] not in FINE)
        for what, count in said.items():
            LOGGER.warning("%d of %d rewards were not counted, %s", count, len(batch), what)

    def _cancel(self) -> None:
        """The same key again brings the decision that was made, or another one: neither was shown."""
        asked = self._asked[0]
        if time.monotonic() < asked.end:
            try:
                made = self._wire.post(asked.path, asked.ask, self._timeout)["decisions"]
                send(self._wire, [{"decision": one["id"], "cancel": True} for one in made], self._timeout)
            except Refused as error:  # by now there is no such experiment, or it is paused
                LOGGER.info("a decision that was not shown is not cancelled: %s", error)
        self._asked.popleft()


def send(wire: Wire, rewards: list[Reward], timeout: float) -> list[dict[str, str]]:
    """What becomes of rewards, in order."""
    try:
        results = wire.post("/v1/rewards", {"rewards": rewards}, timeout).get("results")
    except Refused as error:
        if error.status != CLOSED:
            raise
        results = [{"status": "refused", "detail": error.detail} for _ in rewards]
    if not isinstance(results, list) or len(results) != len(rewards):
        raise Away(f"{wire.url} answered, and not as thrifty does")
    return results
