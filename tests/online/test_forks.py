"""A forked process has bandits that work, and random numbers of its own."""

import copy
import gc
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.crowd import FORKING, LIMIT, in_child
from tests.support.own import Bell, Sampler
from thrifty import jit
from thrifty.online import forks

pytestmark = FORKING


def learned() -> list[thrifty.Bandit]:
    """Bandits with some rewards, one for each kind of random stream."""
    policies = [
        thrifty.ThompsonSampling(),
        thrifty.ThompsonSampling(law="beta"),
        Sampler(),
        thrifty.ThompsonSampling(law=Bell()),  # type: ignore[arg-type]
    ]
    bandits = [thrifty.Bandit(policy, 20, seed=1) for policy in policies]
    for bandit in bandits:
        bandit.update_many(range(20), np.arange(20) % 2)
    return bandits


def decisions(bandits: list[thrifty.Bandit]) -> str:
    return json.dumps([bandit.select_many(50) for bandit in bandits])


def test_children_do_not_decide_alike() -> None:
    """One chance in 20^50 apart; and the parent goes on as if there had been no fork."""
    bandits = learned()
    alone = copy.deepcopy(bandits)
    children = [in_child(lambda: decisions(bandits)) for _ in range(2)]
    for ours, *others in zip(*map(json.loads, (decisions(bandits), *children)), strict=True):
        assert len({str(found) for found in (ours, *others)}) == 3
    bandits = copy.deepcopy(alone)
    in_child(lambda: decisions(bandits))
    assert decisions(bandits) == decisions(alone)


def test_a_child_that_is_saved_first_does_not_decide_alike() -> None:
    """Nor do copies of it, whatever the first call is."""
    bandits = learned()
    child = in_child(lambda: decisions(copy.deepcopy(bandits)))
    assert set(map(str, json.loads(child))).isdisjoint(map(str, json.loads(decisions(bandits))))


def test_a_fork_waits_for_the_compiler() -> None:
    """The thread that compiles is not in the child, which could then never compile anything."""
    begun, done = threading.Event(), []

    def compile_slowly() -> None:
        with jit.compiling:
            begun.set()
            time.sleep(0.3)
            done.append(True)

    thread = threading.Thread(target=compile_slowly)
    thread.start()
    begun.wait()
    assert in_child(lambda: f"{len(done)} {jit.compiling.acquire(blocking=False)}") == "1 True"
    thread.join()


def test_a_child_can_be_reseeded() -> None:
    bandits = learned()

    def work() -> str:
        for bandit in bandits:
            bandit.reseed(7)
        return decisions(bandits)

    assert in_child(work) == in_child(work) == work()


class Waiting(Bell):
    """Stays in ``observe`` for a reward of 1 until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.go_on = threading.Event(), threading.Event()

    def observe(self, arm: Any, reward: float) -> None:
        super().observe(arm, reward)
        if reward == 1.0:
            self.inside.set()
            assert self.go_on.wait(LIMIT)


def started(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_fork_waits_for_calls() -> None:
    """One in the middle of which a thread is; so the child has all of it."""
    posterior = Waiting()
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=posterior), 2, seed=1)  # type: ignore[arg-type]
    others = [thrifty.Bandit(thrifty.ThompsonSampling(), 2) for _ in range(3)]
    thread = started(lambda: bandit.update_many([0, 1], [1.0, 0.5]))
    assert posterior.inside.wait(LIMIT)
    timer = threading.Timer(4 * forks.PATIENCE, posterior.go_on.set)
    timer.start()
    assert in_child(lambda: (bandit.statistics()["pulls"].tolist(), others[0].select())) == "([1, 1], 0)"
    timer.join(LIMIT)
    thread.join(LIMIT)


class Forking(Bell):
    """Forks in ``draw``."""

    def __init__(self) -> None:
        super().__init__()
        self.work: Callable[[], Any] = lambda: "nothing"
        self.said: list[str] = []

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Any:
        self.said.append(in_child(lambda: json.dumps([self.work(), rng.random()])))
        return super().draw(arm, size, rng)


def forking() -> tuple[Forking, thrifty.Bandit]:
    posterior = Forking()
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=posterior), 1, seed=1)  # type: ignore[arg-type]
    bandit.update(0, 0.5)
    return posterior, bandit


def test_a_fork_from_inside_a_call() -> None:
    """The child is inside the call too, and has other random numbers in it."""
    posterior, bandit = forking()
    other = thrifty.Bandit(thrifty.ThompsonSampling(), 2)
    posterior.work = lambda: (bandit.statistics()["pulls"].tolist(), other.select())
    bandit.select()
    bandit.select()
    assert [json.loads(said)[0] for said in posterior.said] == [[[1], 0]] * 2
    assert len({json.loads(said)[1] for said in posterior.said}) == 2
    assert bandit.decisions == 2


def test_forks_from_inside_two_calls_at_once() -> None:
    """Neither can wait for the other to be over. In the child, the other's bandit is lost, and says so."""
    posteriors, bandits = zip(*(forking() for _ in range(2)), strict=True)
    meeting = threading.Barrier(2)

    def fork(ours: int) -> Callable[[], None]:
        def work() -> str:
            other = bandits[1 - ours]
            found = []
            for call in (other.select, other.statistics, lambda: copy.copy(other), other.select):
                with pytest.raises(thrifty.InvalidCall, match="when a posterior forks this process") as error:
                    call()
                found.append(error)
            assert "decisions" in repr(bandits[ours])
            return f"lost {len(found)}"

        posteriors[ours].work = work

        def run() -> None:
            bandits[ours].select()

        return run

    for posterior in posteriors:
        draw = posterior.draw

        def together(*args: Any, draw: Any = draw) -> Any:
            meeting.wait(LIMIT)
            drawn = draw(*args)
            meeting.wait(LIMIT)  # so that both are inside while each forks
            return drawn

        posterior.draw = together
    threads = [started(fork(ours)) for ours in range(2)]
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive()
    for posterior, bandit in zip(posteriors, bandits, strict=True):
        assert [json.loads(said)[0] for said in posterior.said] == ["lost 4"]
        assert bandit.decisions == 1


def test_a_posterior_that_asks_another_bandit() -> None:
    """A thread holds one lock and waits for another, while a fork needs both, in whatever order."""
    for first in (True, False):
        inner = [thrifty.Bandit(thrifty.ThompsonSampling(), 2)] if first else []
        over = threading.Event()

        class Asking(Bell):
            def observe(self, arm: Any, reward: float) -> None:
                inner[0].select()  # noqa: B023

        outer = thrifty.Bandit(thrifty.ThompsonSampling(law=Asking()), 2)  # type: ignore[arg-type]
        inner = inner or [thrifty.Bandit(thrifty.ThompsonSampling(), 2)]

        def ask() -> None:
            while not over.is_set():  # noqa: B023
                outer.update(0, 1.0)  # noqa: B023

        threads = [started(ask) for _ in range(2)]
        for _ in range(3):
            assert in_child(lambda: (outer.update(0, 1.0), inner[0].select())[0]) == "None"  # noqa: B023
        over.set()
        for thread in threads:
            thread.join(LIMIT)
            assert not thread.is_alive()


def test_bandits_that_are_born_and_die_meanwhile() -> None:
    """Each child uses the last one that was made; forks come from two threads."""
    last, over, said = [thrifty.Bandit(thrifty.TSMA(), 2)], threading.Event(), set()

    def make() -> None:
        while not over.is_set():
            last[0] = thrifty.Bandit(thrifty.TSMA(), 2)
            last[0].update(last[0].select(), 1.0)

    def work() -> str:
        last[0].update(last[0].select(), 1.0)
        return str(last[0].statistics()["pulls"].sum() in (1, 2))

    threads = [started(make) for _ in range(2)]
    forkers = [started(lambda: said.update(in_child(work) for _ in range(10))) for _ in range(2)]
    for thread in forkers:
        thread.join(LIMIT)
        assert not thread.is_alive()
    over.set()
    for thread in threads:
        thread.join(LIMIT)
    assert said == {"True"}


def test_a_bandit_that_is_gone_is_forgotten() -> None:
    gc.collect()
    before = len(forks._locks)
    bandit = thrifty.Bandit(thrifty.TSMA(), 2)
    assert len(forks._locks) == before + 1
    del bandit
    gc.collect()
    assert len(forks._locks) == before


def test_an_interrupted_fork_keeps_no_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while it waits: the parent's bandits can be used by any thread."""
    bandit = thrifty.Bandit(thrifty.TSMA(), 2)
    taken = []

    def interrupted(inside: bool) -> None:
        taken.append(forks._take(bandit._lock.turn))
        raise KeyboardInterrupt

    monkeypatch.setattr(forks, "_take_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        forks._before()
    assert taken == [True]
    thread = started(bandit.select)
    thread.join(LIMIT)
    assert bandit.decisions == 1
    assert forks._births.acquire(blocking=False)
    forks._births.release()
