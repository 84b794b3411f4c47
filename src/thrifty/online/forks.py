"""A fork finds no bandit in the middle of a call, and the child decides with random numbers of its own.

Before a fork the locks of all bandits are taken. Whoever waits for one lock with others in hand may wait for
ever, because a posterior of the user's may call other bandits, and may fork. So a thread that has waited for
long gives back what it holds, and begins again with the lock that it waited for. A thread that forks from
inside a call has one that it cannot give back: it goes without those that it could not get in time, and in
the child their bandits are lost.
"""

import os
import secrets
import threading
from collections import deque
from weakref import WeakSet

from thrifty import jit
from thrifty.online.locks import BUSY, FORKED, LOST, Lock

# Seconds to wait for one lock with others in hand; from inside a call longer, so that others give back first.
PATIENCE, INSIDE = 0.1, 1.0

_compiler = Lock(lambda seed: None)  # taken like that of a bandit: a child must not find it in use
_compiler.turn = jit.compiling
_locks: WeakSet[Lock] = WeakSet([_compiler])  # and of all bandits that there are
_births = threading.RLock()  # held while one more is added, and during a fork
_forks = threading.RLock()  # one fork at a time, but for those from inside a call
_fork = threading.local()  # held: what this thread has taken for a fork


def watch(lock: Lock) -> None:
    """There is a new bandit, and this is its lock."""
    with _births:
        _locks.add(lock)


def _before() -> None:
    """Wait until no other thread is inside a call, and let none begin."""
    _fork.held = []
    try:
        with _births:
            inside = any(_is_inside(lock) for lock in _locks)
        if not inside:
            _take(_forks)
        _take_all(inside)
    except BaseException:  # Ctrl-C; the fork is made all the same
        _after()
        raise


def _is_inside(lock: Lock) -> bool:
    """Whether this thread is inside a call."""
    if not lock.turn.acquire(blocking=False):
        return False
    inside = lock.state == BUSY
    lock.turn.release()
    return inside


def _take(lock: "threading.RLock", timeout: float = -1) -> bool:
    taken = lock.acquire(timeout=timeout)
    if taken:
        _fork.held.append(lock)
    return taken


def _take_all(inside: bool) -> None:
    """The locks of all bandits, and then ``_births``."""
    done: dict[Lock, None] = {}  # in the order in which they were taken
    while True:
        _take(_births)
        left = deque(lock for lock in _locks if lock not in done)
        if not left:
            return
        _fork.held.pop().release()
        while left:
            lock = left.popleft()
            if inside:
                _take(lock.turn, INSIDE)
                done[lock] = None
            elif _take(lock.turn, PATIENCE if done else -1):
                done[lock] = None
            else:
                for _ in done:
                    _fork.held.pop().release()
                left = deque([lock, *done, *left])
                done.clear()


def _after() -> None:
    """In the parent, as if nothing had happened."""
    while _fork.held:
        _fork.held.pop().release()


def _after_in_child() -> None:
    """The other threads are not here, and neither is what they hold."""
    global _births, _forks
    _after()
    _births, _forks = threading.RLock(), threading.RLock()
    for lock in list(_locks):
        if not lock.turn.acquire(blocking=False):
            lock.turn, lock.state = threading.RLock(), LOST
            continue
        if lock.state == BUSY:
            lock.reseed(secrets.randbits(63))
        elif lock.state != LOST:
            lock.state = FORKED
        lock.turn.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
