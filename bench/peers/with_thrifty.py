"""thrifty.Bandit, with a policy that is named like ``TSMA`` or ``ThompsonSampling law=beta``."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from contest import CHANCES, Session, serve

import thrifty
from thrifty.policies import POLICIES

PRIOR = (0.5, 1.0)  # no initial pulls: a million of them would be a benchmark of their own
HORIZON = 10**9  # far away: beyond n = T/K pulls the index of KL-UCB++ is the mean, at no cost


class Thrifty(Session):
    packages = ("thrifty", "numba", "numpy")
    small = 1000  # enough for the engine of larger ones, whose kernels are loaded then

    def _new(self, policy: str, arms: int, seed: int, past: int = 0) -> thrifty.Bandit:
        """With ``past``, every arm has so many rewards behind it."""
        name, *options = policy.split()
        made = POLICIES[name](**dict(option.split("=") for option in options))
        statistics = None
        if past:
            successes = np.random.default_rng(1).binomial(past, np.resize(CHANCES, arms))
            statistics = {"arm": np.arange(arms), "pulls": np.full(arms, past), "mean": successes / past}
        return thrifty.Bandit(made, arms, HORIZON, seed=seed, prior=PRIOR, statistics=statistics)

    def many(self, batch: int, seconds: float) -> dict[str, float]:
        """``select_many`` and ``update_many``, with lists and with arrays: nanoseconds for each decision.

        So many batches are timed together that the clock does not count.
        """
        together = max(1, 1000 // batch)
        spent, decisions = {"select": 0.0, "lists": 0.0, "arrays": 0.0}, 0
        while not decisions or sum(spent.values()) < 1e9 * seconds:
            for kind, made in (("lists", list), ("arrays", np.array)):
                began = time.process_time_ns()
                arms = [self._bandit.select_many(batch) for _ in range(together)]
                chosen = time.process_time_ns()
                told = [(made(part), made([self._reward(arm) for arm in part])) for part in arms]
                ready = time.process_time_ns()
                for part, rewards in told:
                    self._bandit.update_many(part, rewards)
                spent[kind] += time.process_time_ns() - ready
                spent["select"] += (chosen - began) / 2.0  # it is done for the lists and for the arrays
            decisions += together * batch
        return {name: ns / decisions for name, ns in spent.items()}

    def _reward(self, arm: int) -> float:
        return 1.0 if self._random.random() < CHANCES[arm & 1023] else 0.0

    def snapshot(self, repeats: int) -> dict[str, float]:
        """Seconds to save and to load, as a caller waits for them, and the bytes of the file."""
        saves, loads = [], []
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bandit.npz"
            for _ in range(repeats):
                began = time.perf_counter()
                self._bandit.save(path)
                saved = time.perf_counter()
                again: Any = thrifty.Bandit.load(path)
                loads.append(time.perf_counter() - saved)
                saves.append(saved - began)
            size = path.stat().st_size
        if again.select_many(100) != self._bandit.select_many(100):
            raise SystemExit("a loaded bandit must decide as the saved one does")
        return {"save": statistics.median(saves), "load": statistics.median(loads), "bytes": size}


serve(Thrifty())
