"""One call at a time on each bandit, whatever the number of threads. Bandits do not wait for each other."""

import secrets
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from thrifty.errors import InvalidCall

Method = TypeVar("Method", bound=Callable[..., Any])

# A thread is inside a call; this process was forked, and the random stream is still the parent's; it was
# forked while a thread that is not here was inside a call.
IDLE, BUSY, FORKED, LOST = range(4)


class Lock:
    """Of one bandit. ``reseed`` gives it another random stream: a forked process needs one of its own.

    The lock itself lets its thread in again, so that a signal handler never waits for what it interrupts;
    ``state`` says whether there was something to interrupt.
    """

    __slots__ = ("__weakref__", "reseed", "state", "turn")

    def __init__(self, reseed: Callable[[int], None]) -> None:
        self.turn = threading.RLock()
        self.state = IDLE
        self.reseed = reseed

    def prepare(self) -> None:
        """Before a call, if the state is not idle."""
        if self.state == BUSY:
            raise InvalidCall(
                "a bandit must not be changed, saved or copied from inside a call on it, got such a call: "
                "by a posterior, an id or a reward of your own, or by a signal handler"
            )
        self.check()
        self.reseed(secrets.randbits(63))

    def check(self) -> None:
        """Whether a bandit can be read."""
        if self.state == LOST:
            raise InvalidCall(
                "a bandit must not be in the middle of a call of another thread when a posterior forks this "
                "process, got one that was: load it, or make it anew"
            )


def locked(method: Method) -> Method:
    """A method of a bandit that waits while another thread is inside one. From inside one it is refused.

    ``with`` would take two thirds of a microsecond of a decision and its reward, these calls a fifth. Python
    hears Ctrl-C after a call, never on the way from ``try`` to one: so what was taken is given back. Only who
    is interrupted while it waits has nothing to give back, and the lock says so.
    """

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock = self._lock
        turn = lock.turn
        try:
            turn.acquire()
            if lock.state:
                lock.prepare()
            try:
                lock.state = BUSY
                return method(self, *args, **kwargs)
            finally:
                lock.state = IDLE
        finally:
            try:
                turn.release()
            except RuntimeError:
                pass  # it was interrupted while it waited

    return cast(Method, call)


def reading(method: Method) -> Method:
    """The same for a method that changes nothing, and is welcome from inside a call."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._lock.turn:
            self._lock.check()
            return method(self, *args, **kwargs)

    return cast(Method, call)
