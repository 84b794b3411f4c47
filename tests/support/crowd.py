"""Threads that call one bandit at once, for every engine, and processes that are forked meanwhile."""

import copy
import os
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.own import Bell, Sampler
from thrifty.policies import Policy

LIMIT = 60.0  # seconds after which something is said to hang


CASES: dict[str, Callable[[], tuple[Policy, str, int]]] = {
    "scan": lambda: (thrifty.ThompsonSampling(), "scan", 8),
    "tournament": lambda: (thrifty.TSMA(), "tournament", 500),
    "sleepers": lambda: (thrifty.ThompsonSampling(), "sleepers", 100),
    "sleepers, duel": lambda: (thrifty.TSTD(phi=4), "sleepers", 50),
    "kinetic": lambda: (thrifty.UCB1(), "kinetic", 50),
    "history": lambda: (thrifty.NPTS(), "scan", 4),
    "own index": lambda: (Sampler(), "scan", 8),
    "own posterior": lambda: (thrifty.ThompsonSampling(law=Bell()), "scan", 4),  # type: ignore[arg-type]
}
EVERY_CASE = pytest.mark.parametrize("case", CASES)
FORKING = pytest.mark.filterwarnings(
    "ignore:.*fork.*:DeprecationWarning"
)  # with threads, from Python 3.12 on


def new_bandit(case: str) -> thrifty.Bandit:
    """One whose kernels are all compiled: in a child, nothing should have to be."""
    policy, engine, arms = CASES[case]()
    bandit = thrifty.Bandit(policy, [f"arm-{i}" for i in range(arms)], seed=1, engine=engine)
    bandit.update_many([f"arm-{i}" for i in range(arms)], [reward(f"arm-{i}") for i in range(arms)])
    use(bandit, "guest-0")
    return bandit


def reward(arm: str) -> float:
    """Of every pull of this arm; its neighbours have others, and all sums are exact."""
    return (int(arm.split("-")[1]) % 15 + 1) / 16


def use(bandit: thrifty.Bandit, guest: str) -> None:
    """Change everything that can be changed."""
    bandit.add_arm(guest)
    arm = bandit.select()
    bandit.update(arm, reward(arm))
    bandit.cancel(bandit.select())
    decision = bandit.decide()
    bandit.reward(decision, reward(decision.arm))
    bandit.cancel(bandit.decide())
    bandit.update_many([guest, guest], [reward(guest)] * 2)
    bandit.remove_arm(guest)


def assert_sound(bandit: thrifty.Bandit) -> None:
    """Every reward was counted at its arm, and nothing was done by half."""
    table = bandit.statistics()
    columns = [table[name] for name in ("arm", "pulls", "mean", "draws", "pending")]
    for arm, pulls, mean, _, pending in zip(*columns, strict=True):
        assert pending >= 0
        assert mean == reward(arm) if pulls > 0 else np.isnan(mean)


class Crowd:
    """Players who keep books, and others who add and remove arms, copy, save, and read."""

    def __init__(self, bandit: thrifty.Bandit, file: Path | None, rounds: int) -> None:
        self.bandit, self.file, self.rounds = bandit, file, rounds
        table = bandit.statistics()
        self.pulls = Counter(dict(zip(table["arm"], table["pulls"].tolist(), strict=True)))
        self.pending = Counter(dict(zip(table["arm"], table["pending"].tolist(), strict=True)))
        self.errors: list[str] = []
        self._writing = threading.Lock()  # a Counter that two threads update loses counts
        self.over = threading.Event()
        self.players = [threading.Thread(target=self._run, args=(self._play, seed)) for seed in range(3)]
        others = (self._come_and_go, self._keep, self._read)
        self.others = [threading.Thread(target=self._run, args=(work,)) for work in others]

    def _run(self, work: Callable[..., Any], *args: Any) -> None:
        try:
            found = work(*args) or ()
            with self._writing:
                for books, kept in zip((self.pulls, self.pending), found, strict=False):
                    books.update(kept)
        except BaseException:
            self.errors.append(traceback.format_exc())

    def _play(self, seed: int) -> tuple[Counter[str], Counter[str]]:
        rng, bandit = np.random.default_rng(seed), self.bandit
        pulls, pending = Counter[str](), Counter[str]()
        for _ in range(self.rounds):
            arms = [bandit.select()] if rng.random() < 0.7 else bandit.select_many(3)
            pending.update(arms)
            outcome = rng.random()
            try:
                if outcome < 0.2:
                    bandit.cancel(arms[0])
                    pending.subtract(arms[:1])
                elif outcome < 0.6:
                    bandit.update(arms[0], reward(arms[0]))
                    pending.subtract(arms[:1])
                    pulls.update(arms[:1])
                elif outcome < 0.9:
                    bandit.update_many(arms, [reward(arm) for arm in arms])
                    pending.subtract(arms)
                    pulls.update(arms)
            except thrifty.InvalidValue:
                assert any(arm.startswith("guest") for arm in arms)  # which another thread has removed
        return pulls, pending

    def _come_and_go(self) -> None:
        number = 0
        while not self.over.is_set():
            number += 1
            self.bandit.add_arm(f"guest-{number}")
            if number > 3:
                self.bandit.remove_arm(f"guest-{number - 3}")
            time.sleep(0.001)

    def _keep(self) -> None:
        while not self.over.is_set():
            assert_sound(copy.copy(self.bandit))
            if self.file is not None:
                self.bandit.save(self.file)
                assert_sound(thrifty.Bandit.load(self.file))
            time.sleep(0.001)

    def _read(self) -> None:
        while not self.over.is_set():
            assert_sound(self.bandit)
            assert 0 < len(self.bandit) < self.bandit.decisions + 10_000
            assert repr(self.bandit).startswith("<Bandit of ")

    def play(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Until the players are done; then the books are compared."""
        for thread in (*self.players, *self.others):
            thread.start()
        try:
            while any(player.is_alive() for player in self.players):
                meanwhile()
                time.sleep(0.01)
        finally:
            self.over.set()
        for thread in (*self.players, *self.others):
            thread.join(LIMIT)
            assert not thread.is_alive()
        assert self.errors == []
        assert_sound(self.bandit)
        table = self.bandit.statistics()
        for name, books in (("pulls", self.pulls), ("pending", self.pending)):
            found = dict(zip(table["arm"], table[name].tolist(), strict=True))
            assert found == {arm: books[arm] for arm in table["arm"]}


def in_child(work: Callable[[], Any]) -> str:
    """What it returns in a forked process, as a text; nobody waits for a child that hangs."""
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(work())
        except BaseException:
            said = traceback.format_exc()
        os.write(target, said.encode()[:60_000])
        os._exit(0)
    os.close(target)
    deadline = time.monotonic() + LIMIT
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "it hangs"
        time.sleep(0.001)
    with os.fdopen(source, "rb") as pipe:
        return pipe.read().decode()
