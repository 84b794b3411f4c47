"""What every contestant does, in an environment of its own: it is asked, and it answers.

A question is a line of JSON on standard input, ``{"do": "play", "seconds": 0.05}``, the answer a line on
standard output. Only the standard library is needed here.
"""

import json
import os
import platform
import random
import resource
import sys
import sysconfig
import time
from abc import ABC, abstractmethod
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

ANSWERS = sys.stdout

# The chance that arm i is rewarded, spread over [0, 0.9]: number i modulo 1024, so that the cache holds them.
CHANCES = [0.9 * (617 * i % 1024) / 1023 for i in range(1024)]
# Rewards of two arms, after which the next decision has a probability that is known; see ``Session.check``.
KNOWN = ([1, 0, 0, 0], [1, 0, 1, 1, 0, 1, 1, 1])


class Bandit(Protocol):
    """Arms are numbers from 0 on."""

    def select(self) -> int: ...
    def update(self, arm: int, reward: float) -> None: ...


class Session(ABC):
    """One contestant at work. The methods without an underscore are what it can be asked."""

    packages: tuple[str, ...] = ()  # whose versions matter
    # Policies that know nothing of an arm without a reward: every arm is pulled once before they are asked.
    pull_first: tuple[str, ...] = ("ucb1", "kl-ucb")
    small = 2  # arms of a first bandit, on which whatever happens once in a process is spent

    def __init__(self) -> None:
        self._started = time.process_time()
        self._bandit: Any = None
        self._random = random.Random(1)
        self._slice = 0  # how many decisions are timed together; 0 until that is known

    @abstractmethod
    def _new(self, policy: str, arms: int, seed: int) -> Bandit:
        """A bandit that has seen no reward yet."""

    def versions(self) -> dict[str, str]:
        return {"python": platform.python_version()} | {name: version(name) for name in self.packages}

    def environment(self) -> dict[str, float]:
        """Seconds of processor time for the start and all imports, and the bytes of what is installed."""
        folders = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
        files = [Path(at, name) for folder in folders for at, _, names in os.walk(folder) for name in names]
        return {"seconds": self._started, "bytes": sum(file.lstat().st_size for file in files)}

    def check(self, policy: str, draws: int) -> float:
        """Two arms, some rewards, then many decisions without learning: the share of the first arm."""
        bandit = self._new(policy, 2, 1)
        for arm, rewards in enumerate(KNOWN):
            for reward in rewards:
                bandit.update(arm, float(reward))
        return sum(bandit.select() == 0 for _ in range(draws)) / draws

    def begin(self, policy: str, arms: int, **details: Any) -> dict[str, float]:
        """A new bandit and its first decision: seconds, and the peak of memory above what there was."""
        _learn(self._ready(policy, min(arms, self.small)))
        self._bandit, self._slice = None, 0
        before, began = _resident_now(), time.perf_counter()
        self._bandit = self._ready(policy, arms, **details)
        _learn(self._bandit)
        return {"seconds": time.perf_counter() - began, "bytes": _resident_peak() - before}

    def _ready(self, policy: str, arms: int, **details: Any) -> Bandit:
        """A bandit that can be asked, every arm pulled once if its policy needs that."""
        bandit = self._new(policy, arms, 1, **details)
        if policy in self.pull_first:
            self._pull_all(bandit, [float(self._random.random() < CHANCES[i & 1023]) for i in range(arms)])
        return bandit

    def _pull_all(self, bandit: Any, rewards: list[float]) -> None:
        """One reward for each arm. One by one, unless the library learns many at once."""
        for arm, reward in enumerate(rewards):
            bandit.update(arm, reward)

    def runs(
        self, policy: str, means: list[float], horizon: int, runs: int, seconds: float
    ) -> list[list[int]]:
        """Whole runs, as many of ``runs`` as begin within ``seconds``: the pulls of every arm in each."""
        found: list[list[int]] = []
        until = time.perf_counter() + seconds
        while len(found) < runs and time.perf_counter() < until:
            found.append(self._run(policy, means, horizon, seed=len(found) + 1))
        return found

    def _run(self, policy: str, means: list[float], horizon: int, seed: int) -> list[int]:
        """The arms are shuffled, so that no place is a good one; the pulls are in the order of ``means``."""
        chance = random.Random(seed)
        order = chance.sample(range(len(means)), len(means))
        shuffled, pulls = [means[i] for i in order], [0] * len(means)
        bandit = self._new(policy, len(means), seed)
        select, update, uniform = bandit.select, bandit.update, chance.random
        first = len(means) if policy in self.pull_first else 0
        for t in range(horizon):
            arm = t if t < first else select()
            update(arm, 1.0 if uniform() < shuffled[arm] else 0.0)
            pulls[arm] += 1
        placed = dict(zip(order, pulls, strict=True))
        return [placed[i] for i in range(len(means))]

    def play(self, seconds: float) -> float:
        """Decisions and rewards one by one: nanoseconds of processor time for a pair, the mean of one slice.

        The first time, the number of decisions that take about so many seconds is looked for.
        """
        if self._slice:
            return self._timed(self._slice)
        rounds = 1
        while (ns := self._timed(rounds)) * rounds < 0.5e9 * seconds:
            rounds *= 2
        self._slice = rounds
        return ns

    def _timed(self, rounds: int) -> float:
        uniforms = [self._random.random() for _ in range(rounds)]
        select, update = self._bandit.select, self._bandit.update
        began = time.process_time_ns()
        for uniform in uniforms:
            arm = select()
            update(arm, 1.0 if uniform < CHANCES[arm & 1023] else 0.0)
        return (time.process_time_ns() - began) / rounds

    def tail(self, rounds: int) -> dict[str, list[int]]:
        """The nanoseconds that a caller waited, call by call: 50 %, 99 %, 99.9 % and 100 % quantiles."""
        select, update, now = self._bandit.select, self._bandit.update, time.perf_counter_ns
        selects, updates = [0] * rounds, [0] * rounds
        for j in range(rounds):
            uniform = self._random.random()
            began = now()
            arm = select()
            chosen = now()
            update(arm, 1.0 if uniform < CHANCES[arm & 1023] else 0.0)
            updates[j], selects[j] = now() - chosen, chosen - began
        return {"select": _quantiles(selects), "update": _quantiles(updates)}


def _learn(bandit: Bandit) -> None:
    bandit.update(bandit.select(), 1.0)


def _quantiles(values: list[int]) -> list[int]:
    values.sort()
    return [values[min(int(share * len(values)), len(values) - 1)] for share in (0.5, 0.99, 0.999, 1.0)]


# Of this process alone: ru_maxrss begins with the peak of the one that started it.
STATUS = Path("/proc/self/status")


def _resident_now() -> int:
    return _status("VmRSS") if STATUS.exists() else _resident_peak()


def _resident_peak() -> int:
    if STATUS.exists():
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _status(name: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return 1024 * int(line.split()[1])


def serve(session: Session) -> None:
    """Answer until the questions end."""
    for line in sys.stdin:
        question = json.loads(line)
        answer = getattr(session, question.pop("do"))(**question)
        print(json.dumps(answer), file=ANSWERS, flush=True)
