"""``Client``: decisions and rewards of a service, from any thread of any process, and a product that goes on
without it."""

import logging
import os
import secrets
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, overload
from urllib.parse import quote
from weakref import WeakSet

from thrifty.client.outbox import BATCH, REMEMBERED, Asked, Outbox, Reward, send
from thrifty.client.values import (
    MOST,
    Decision,
    Result,
    integer,
    key_of,
    listed,
    number,
    seconds,
    text,
    texts,
)
from thrifty.client.wire import Away, Refused, Wire
from thrifty.errors import InvalidCall, InvalidType, InvalidValue

LOGGER = logging.getLogger("thrifty.client")
QUIET = 10.0  # seconds between two warnings that there was a fallback

_clients: "WeakSet[Client]" = WeakSet()


class Client:
    """A decision service, which may be away.

    Any number of threads may use one client. A forked process gets connections of its own and an empty queue:
    what waited is sent by its parent. Close a client, or use it in a ``with``: what waits is sent then.

    Args:
        url: where the service is, such as ``http://127.0.0.1:8642``.
        key: one that ``thrifty keys create`` printed, if the service has keys.
        decide_timeout: seconds that a decision may take, looking up the name of the host aside.
        reward_timeout: seconds that a request with rewards may take.
        queue: how many rewards wait at most while the service is away. They wait in memory: those that a
            client has not sent when it is killed are lost.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        decide_timeout: float = 0.25,
        reward_timeout: float = 5.0,
        queue: int = 100_000,
    ) -> None:
        self._decide_timeout = seconds("decide_timeout", decide_timeout)
        self._reward_timeout = seconds("reward_timeout", reward_timeout)
        self._queue = integer("queue", queue, 10**9)
        self._wire = Wire(url, key)
        self._closed = False
        self._quiet = 0.0  # no warning before this time
        self._begin()
        _clients.add(self)

    def _begin(self) -> None:
        """In a new process, with nothing of the parent's."""
        self._wire.close()
        self._outbox = Outbox(self._wire, self._reward_timeout, self._queue)

    def __repr__(self) -> str:
        return f"Client({self._wire.url!r})"

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def queued(self) -> int:
        """How many rewards wait for the service."""
        return len(self._outbox)

    def flush(self, timeout: float | None = None) -> int:
        """Wait for at most ``timeout`` seconds until all rewards are sent; None is ``reward_timeout``.
        Returns how many still wait."""
        return self._outbox.flush(self._reward_timeout if timeout is None else seconds("timeout", timeout))

    def close(self, timeout: float | None = None) -> int:
        """Wait as ``flush`` does, for at most ``timeout`` seconds, and end. Returns how many rewards are
        lost; 0 if it was closed before."""
        wait = self._reward_timeout if timeout is None else seconds("timeout", timeout)
        if self._closed:
            return 0
        self._closed = True
        lost = self._outbox.close(wait)
        self._wire.close()
        return lost

    @overload
    def decide(
        self,
        experiment: str,
        count: None = None,
        rank: None = None,
        *,
        among: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        probability: bool = False,
        fallback: str | Sequence[str] | None = None,
        key: str | None = None,
    ) -> Decision: ...

    @overload
    def decide(
        self,
        experiment: str,
        count: int | None = None,
        rank: int | None = None,
        *,
        among: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        probability: bool = False,
        fallback: str | Sequence[str] | None = None,
        key: str | None = None,
    ) -> list[Decision]: ...

    def decide(
        self,
        experiment: str,
        count: int | None = None,
        rank: int | None = None,
        *,
        among: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        probability: bool = False,
        fallback: str | Sequence[str] | None = None,
        key: str | None = None,
    ) -> Decision | list[Decision]:
        """A ``Decision``: which arm to show.

        With ``count`` a list of so many decisions of the ``experiment``, with ``rank`` a list of so many
        different arms, the best first. Only arms ``among`` these, without those to ``exclude``, may be
        chosen. ``probability`` asks how likely the choice was. The same ``key`` again, within ten minutes, is
        the same decision; without one each call is a decision of its own, however often it has to be sent.

        If the service does not decide, because it is away, slow or says no, the decision is ``fallback``, an
        arm, or with ``rank`` a list of arms; it has no id. Without a fallback there is an error: ``Away`` or
        ``Refused``. A decision that came too late to be shown is cancelled later, so that it does not count.
        """
        self._check_open()
        path, ask, size = _asked(experiment, count, rank, among, exclude, probability)
        spare = _fallback(fallback, count, rank)
        ask["key"] = secrets.token_hex(16) if key is None else text("key", key)
        try:
            made = self._decide(path, ask, size, rank is not None)
        except (Away, Refused) as error:
            if isinstance(error, Away) and error.sent and key is None:
                self._outbox.forget(Asked(path, ask, time.monotonic() + REMEMBERED))
            if spare is None:
                raise
            self._warn(error)
            made = spare
        return made[0] if count is None and rank is None else made

    def _decide(self, path: str, ask: dict[str, Any], size: int, rank: bool) -> list[Decision]:
        answer = self._wire.post(path, ask, self._decide_timeout)
        try:
            made = [
                Decision(one["id"], one["arm"], one["control"], one["probability"])
                for one in answer["decisions"]
            ]
        except (KeyError, TypeError):
            made = []
        if not made or (len(made) != size and not rank):
            raise Away(f"{self._wire.url} answered, and not as thrifty does")
        return made

    def _warn(self, error: Exception) -> None:
        """That there are fallbacks, now and then."""
        now = time.monotonic()
        if now >= self._quiet:
            self._quiet = now + QUIET
            LOGGER.warning("fallback: %s", error)

    def reward(self, decision: Decision | str, reward: float) -> Result:
        """A ``decision``, or the one with this id, gave ``reward``.

        Returns when the service has it on disk, and what it said. If it is away the reward is queued: it is
        sent when the service is back, or when the client is closed. If the queue is full there is an error,
        ``Away``.
        """
        return self.reward_many([decision], [reward])[0]

    def reward_many(self, decisions: Iterable[Decision | str], rewards: Iterable[float]) -> list[Result]:
        """Many ``rewards`` at once, each of its decision in ``decisions``. If one of them is no number or no
        decision, none is sent."""
        keys, values = listed("decisions", decisions), listed("rewards", rewards)
        if len(keys) != len(values):
            raise InvalidValue(
                f"decisions and rewards must be equally many, got {len(keys)} and {len(values)} of them"
            )
        named = zip(keys, values, strict=True)
        single = len(keys) == 1
        return self._tell(
            [
                (
                    key_of("decision" if single else f"decisions[{i}]", key),
                    {"reward": number("reward" if single else f"rewards[{i}]", value)},
                )
                for i, (key, value) in enumerate(named)
            ]
        )

    def cancel(self, decision: Decision | str) -> Result:
        """The arm of this ``decision`` was not shown: it does not count."""
        return self._tell([(key_of("decision", decision), {"cancel": True})])[0]

    def _tell(self, told: list[tuple[str | None, Reward]]) -> list[Result]:
        self._check_open()
        sent = [{"decision": key, **what} for key, what in told if key is not None]
        found = iter(self._send(sent))
        none = Result("fallback", "the service did not decide this")
        return [none if key is None else next(found) for key, _ in told]

    def _send(self, rewards: list[Reward]) -> list[Result]:
        results: list[Result] = []
        why = f"{self._wire.url} was away a moment ago"
        while (batch := rewards[len(results) : len(results) + BATCH]) and not self._outbox.away:
            try:
                said = send(self._wire, batch, self._reward_timeout)
            except Away as error:
                why = str(error)
                break
            results += [Result(one["status"], one["detail"]) for one in said]
        left = rewards[len(results) :]
        if left:
            self._outbox.add(left, why)
        return results + [Result("queued", why)] * len(left)

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidCall("a client must not be used after it was closed, got a call on one that was")


def _asked(
    experiment: object, count: object, rank: object, among: object, exclude: object, probability: object
) -> tuple[str, dict[str, Any], int]:
    """Where to ask, what, and how many decisions that is."""
    path = f"/v1/experiments/{quote(text('experiment', experiment), safe='')}/decisions"
    if count is not None and rank is not None:
        raise InvalidValue(f"count and rank must not both be given, got {count!r} and {rank!r}")
    if not isinstance(probability, bool):
        raise InvalidType(f"probability must be True or False, got {probability!r}")
    ask: dict[str, Any] = {}
    size = 1
    if count is not None:
        ask["count"] = size = integer("count", count, MOST)
    if rank is not None:
        ask["rank"] = size = integer("rank", rank, MOST)
    if among is not None:
        ask["among"] = texts("among", among)
    if exclude is not None:
        ask["exclude"] = texts("exclude", exclude)
    if probability:
        ask["probability"] = True
    return path, ask, size


def _fallback(fallback: object, count: int | None, rank: int | None) -> list[Decision] | None:
    """What is decided without the service."""
    if fallback is None:
        return None
    if rank is None or isinstance(fallback, str):
        arms = [text("fallback", fallback)] * (count or 1)
    else:
        arms = texts("fallback", fallback)[:rank]
        if not arms:
            raise InvalidValue("fallback must have at least one arm, got none")
    return [Decision(None, arm, False, None) for arm in arms]


def _after_fork() -> None:
    for client in list(_clients):
        client._begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
