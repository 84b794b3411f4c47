"""Any number of threads may call one bandit."""

import copy
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.crowd import EVERY_CASE, FORKING, LIMIT, Crowd, assert_sound, in_child, new_bandit, use
from tests.support.live import refused
from tests.support.own import Bell, Sampler
from thrifty.policies import Policy


@pytest.fixture(autouse=True)
def _threads_change_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def assert_crowds_are_served(case: str, folder: Path, rounds: int) -> None:
    """Also while processes are forked: each finds a bandit that works, with nothing done by half."""
    bandit = new_bandit(case)
    file = None if case.startswith("own") else folder / "bandit.npz"
    crowd = Crowd(bandit, file, rounds)

    def child() -> str:
        assert_sound(bandit)
        use(bandit, f"guest-{10**9}")
        bandit.select_many(20)
        assert_sound(copy.copy(bandit))
        return "fine"

    def fork() -> None:
        assert in_child(child) == "fine"

    crowd.play(fork)


@EVERY_CASE
@FORKING
def test_threads_and_forks_at_once(case: str, tmp_path: Path) -> None:
    assert_crowds_are_served(case, tmp_path, 200)


@pytest.mark.slow
@EVERY_CASE
@FORKING
def test_threads_and_forks_at_once_for_long(case: str, tmp_path: Path) -> None:
    assert_crowds_are_served(case, tmp_path, 20_000)


def test_two_threads_on_many_arms() -> None:
    """A segmentation fault, before there were locks."""
    bandit, errors = thrifty.Bandit(thrifty.TSMA(), 2000, seed=1), []

    def work() -> None:
        try:
            for _ in range(3000):
                arm = bandit.select()
                bandit.update(arm, arm % 2)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    table = bandit.statistics()
    assert errors == []
    assert (table["pulls"].sum(), table["pending"].sum(), bandit.decisions) == (6000, 0, 6000)
    np.testing.assert_array_equal(table["mean"], np.arange(2000) % 2)


def test_a_bandit_does_not_wait_for_another() -> None:
    """One is inside a call, which lasts until the other one has decided."""
    decided = threading.Event()

    class Slow(Bell):
        def observe(self, arm: Any, reward: float) -> None:
            assert decided.wait(LIMIT)

    slow = thrifty.Bandit(thrifty.ThompsonSampling(law=Slow()), 2)
    thread = threading.Thread(target=slow.update, args=(0, 1.0))
    thread.start()
    thrifty.Bandit(thrifty.ThompsonSampling(), 2).select()
    decided.set()
    thread.join(LIMIT)
    assert slow.statistics()["pulls"].tolist() == [1, 0]


def test_what_is_given_may_take_its_time() -> None:
    """A bandit is free while it is told what another thread has still to decide."""
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(), 3, seed=1)
    chosen: queue.Queue[int] = queue.Queue()
    thread = threading.Thread(target=lambda: [chosen.put(bandit.select()) for _ in range(3)])
    bandit.update_many((thread.start() or chosen.get(timeout=LIMIT) for _ in range(1)), [1.0])
    arms = (chosen.get(timeout=LIMIT) for _ in range(2))
    bandit.update_many(arms, (bandit.select() * 0.0 for _ in range(2)))
    assert bandit.statistics()["pulls"].tolist() == [1, 1, 1]
    assert bandit.decisions == 5


class Calling(Bell):
    """Calls the bandit that it belongs to."""

    call: Callable[[], Any] = staticmethod(lambda: None)

    def observe(self, arm: Any, reward: float) -> None:
        self.call()
        super().observe(arm, reward)

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Any:
        self.call()
        return super().draw(arm, size, rng)


@pytest.mark.parametrize(
    "call",
    [
        lambda bandit: bandit.select(),
        lambda bandit: bandit.select_many(2),
        lambda bandit: bandit.update(0, 1.0),
        lambda bandit: bandit.update_many([0], [1.0]),
        lambda bandit: bandit.cancel(0),
        lambda bandit: bandit.add_arm("new"),
        lambda bandit: bandit.remove_arm(0),
        lambda bandit: bandit.merge({"arm": [0], "pulls": [1], "mean": [1.0]}),
        lambda bandit: bandit.reseed(1),
        lambda bandit: bandit.save("bandit.npz"),
        copy.copy,
        copy.deepcopy,
        pickle.dumps,
    ],
)
def test_a_bandit_is_not_changed_from_inside_a_call(call: Callable[[thrifty.Bandit], Any]) -> None:
    posterior = Calling()
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=posterior), 2, seed=1)
    bandit.update_many(bandit.select_many(2), [0.0, 1.0])
    bandit.select()
    posterior.call = lambda: call(bandit)  # type: ignore[method-assign]
    for outer in (bandit.select, lambda: bandit.select_many(3), lambda: bandit.update(1, 0.5)):
        with refused(thrifty.InvalidCall, "must not be changed, saved or copied from inside a call", bandit):
            outer()
    posterior.call = lambda: None  # type: ignore[method-assign]
    bandit.update(bandit.select(), 1.0)
    assert bandit.statistics()["pulls"].sum() == 3


def test_a_bandit_may_be_read_from_inside_a_call() -> None:
    posterior, seen = Calling(), []
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=posterior), 2)

    def read() -> None:
        seen.append((len(bandit), bandit.decisions, bandit.statistics()["pulls"].tolist(), repr(bandit)[:19]))

    posterior.call = read  # type: ignore[method-assign]
    bandit.update_many([0, 0], [0.0, 1.0])
    assert seen == [(2, 0, [0, 0], "<Bandit of 2 arms, "), (2, 0, [1, 0], "<Bandit of 2 arms, ")]


def test_a_reward_that_calls_its_bandit() -> None:
    class Odd(Fraction):
        def __float__(self) -> float:
            bandit.update(1, 0.0)
            return 1.0

    bandit = thrifty.Bandit(thrifty.TSMA(), 2)
    with refused(thrifty.InvalidCall, "by a posterior, an id or a reward of your own", bandit):
        bandit.update(0, Odd(1))


def test_a_signal_handler_meets_a_bandit_that_is_whole() -> None:
    """It is refused while it interrupts a call, and is served otherwise; it never waits for itself."""
    bandit, heard = thrifty.Bandit(thrifty.TSMA(), 100, seed=1), {True: 0, False: 0}

    def handle(*_: object) -> None:
        try:
            assert_whole(copy.copy(bandit))
            heard[True] += 1
        except thrifty.InvalidCall:
            heard[False] += 1

    def assert_whole(other: thrifty.Bandit) -> None:
        table = other.statistics()
        assert table["pulls"].sum() + table["pending"].sum() == other.decisions

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        while min(heard.values()) < 20:
            bandit.update(bandit.select(), 1.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert_whole(bandit)


CALLS = {
    "select": lambda bandit: bandit.select(),
    "without some": lambda bandit: bandit.select(exclude=[0, 1]),
    "update": lambda bandit: bandit.update(1, 0.5),
    "decide": lambda bandit: bandit.decide(),
}


class Interrupted:
    """A lock just after which Ctrl-C comes: when it was taken, or when it was given back."""

    def __init__(self, turn: Any, after: str) -> None:
        self._turn, self._after = turn, after

    def acquire(self) -> None:
        self._turn.acquire()
        if self._after == "acquire":
            raise KeyboardInterrupt

    def release(self) -> None:
        self._turn.release()
        if self._after == "release":
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", ["acquire", "release"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_interrupt_beside_the_lock(call: Callable[[thrifty.Bandit], Any], after: str) -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 5, 10**6, seed=1)
    call(bandit)
    before, turn = pulls(bandit), bandit._lock.turn
    bandit._lock.turn = Interrupted(turn, after)
    with pytest.raises(KeyboardInterrupt):
        call(bandit)
    bandit._lock.turn = turn
    assert free(bandit)
    assert pulls(bandit) == before + (after == "release")
    call(bandit)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_interrupts_at_any_moment(call: Callable[[thrifty.Bandit], Any]) -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 5, 10**6, seed=1)
    call(bandit)
    rng, heard = np.random.default_rng(1), 0
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for _ in range(1000):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 3e-5))
                for _ in range(10):
                    call(bandit)
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            except KeyboardInterrupt:
                heard += 1
            assert bandit._lock.state == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert heard > 20
    assert free(bandit)
    if call is not CALLS["update"]:  # nobody asked for those
        assert bandit.decisions == pulls(bandit)


def pulls(bandit: thrifty.Bandit) -> int:
    """All, with and without a reward."""
    statistics = bandit.statistics()
    return int(statistics["pending"].sum() + statistics["pulls"].sum())


def free(bandit: thrifty.Bandit) -> bool:
    """Whether another thread gets its turn, and nobody is said to be inside."""
    got: list[bool] = []
    thread = threading.Thread(target=lambda: got.append(bandit._lock.turn.acquire(False)))
    thread.start()
    thread.join(LIMIT)
    if got != [True] or bandit._lock.state != 0:
        return False
    bandit._lock.turn = threading.RLock()  # that thread is gone, and has the other for ever
    return True


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_interrupt_while_it_waits(call: Callable[[thrifty.Bandit], Any]) -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 5, 10**6, seed=1)
    call(bandit)
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with bandit._lock.turn:
            inside.set()
            leave.wait(LIMIT)

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait(LIMIT)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            call(bandit)
    finally:
        signal.signal(signal.SIGALRM, before)
        leave.set()
        thread.join(LIMIT)
    assert free(bandit)
    call(bandit)


@pytest.mark.parametrize("policy", [thrifty.TSMA(), thrifty.NPTS(), Sampler()], ids=repr)
def test_an_array_that_changes_meanwhile(policy: Policy) -> None:
    """What was checked is what is used, though another thread writes into the array."""
    bandit, arms = thrifty.Bandit(policy, 5, seed=1), np.zeros(1000, np.int64)
    over = threading.Event()

    def scribble() -> None:
        while not over.is_set():
            arms[-1] = 10**15
            arms[-1] = 4

    thread = threading.Thread(target=scribble)
    thread.start()
    taken = 0
    for _ in range(200):
        try:
            bandit.update_many(arms, np.ones(1000))
            taken += 1
        except thrifty.InvalidValue:
            pass
    over.set()
    thread.join(LIMIT)
    assert bandit.statistics()["pulls"].sum() == 1000 * taken
