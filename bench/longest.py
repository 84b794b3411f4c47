"""The longest single decision, where something has to be done for many arms at once.

    uv run python bench/longest.py                               # every case with a million arms, a minute
    uv run python bench/longest.py --arms 10000000 beta          # ten million arms of the Beta law
    uv run python bench/longest.py --arms 10000 --rounds 1000    # a look

For each case: how long it takes to begin, the median of a decision and its reward, and the longest call after
the first decision, all in processor time, so that a pause of the machine does not count. What is compiled is
loaded before, by a bandit of a few arms. Cases:

beta       Thompson sampling, equal arms, prior (0.05, 20)
gaussian   the same with the Gaussian law
rank       slates of 10 without the arms of the last 30 slates, in a new bandit
young      ExpTS, all arms were pulled once but the last thousand
commit     TS-TD, every arm ends phase I in the same round
guess      a guessed horizon is doubled: TS-MA, TS-TD and KL-UCB++
ids        add_arm and remove_arm, the first and a hundred more, on ids that are numbers
grow       a hundred arms are added, into room that was spared for them
copy       add_arm where all of that room is used up: the memory is copied
"""

import argparse
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import thrifty
from thrifty.engines.memory import roomy
from thrifty.table import aligned

PRIOR = (0.05, 20.0)
Call = Callable[[], Any]
Case = Iterator[tuple[str, Call]]  # calls to be timed, each with its name; the first makes the bandit


def play(bandit: thrifty.Bandit, rounds: int, select: Call | None = None) -> Case:
    """Decisions and their rewards."""
    rng, select = np.random.default_rng(1), select or bandit.select
    for pays in (rng.random(rounds) < PRIOR[0]).tolist():
        made: list[Any] = []
        yield "select", lambda made=made: made.append(select())  # type: ignore[misc]
        for arm in made[0] if isinstance(made[0], list) else made:
            yield "update", lambda arm=arm, pays=pays: bandit.update(arm, float(pays))  # type: ignore[misc]


def begun(policy: thrifty.Policy, arms: int, made: list[thrifty.Bandit], **options: Any) -> tuple[str, Call]:
    return "begin", lambda: made.append(thrifty.Bandit(policy, arms, seed=1, **options))


def plain(policy: thrifty.Policy, arms: int, rounds: int) -> Case:
    made: list[thrifty.Bandit] = []
    yield begun(policy, arms, made, prior=PRIOR)
    yield from play(made[0], rounds)


def rank(arms: int, rounds: int) -> Case:
    made: list[thrifty.Bandit] = []
    yield begun(thrifty.ThompsonSampling(), arms, made, prior=PRIOR)
    last: deque[list[Any]] = deque(maxlen=min(30, arms // 100))

    def slate() -> list[Any]:
        last.append(made[0].rank(10, exclude=[arm for slate in last for arm in slate]))
        return last[-1]

    yield from play(made[0], rounds // 10, slate)


def young(arms: int, rounds: int) -> Case:
    made: list[thrifty.Bandit] = []
    once = np.random.default_rng(2).random(arms) < np.linspace(0.0, 0.9, arms)
    known = {
        "arm": np.arange(arms),
        "pulls": np.where(np.arange(arms) < arms - min(1000, arms // 10), 1, 0),
        "mean": once.astype(float),
    }
    yield begun(thrifty.ExpTS(), arms, made, prior=(0.5, 1.0), statistics=known)
    yield from play(made[0], rounds)


def commit(arms: int, rounds: int) -> Case:
    made: list[thrifty.Bandit] = []
    yield begun(thrifty.TSTD(alpha=0.5, phi=min(1000, rounds // 2)), arms, made, prior=PRIOR, horizon=10**7)
    yield from play(made[0], rounds)


def guess(policy: thrifty.Policy, arms: int, rounds: int) -> Case:
    made: list[thrifty.Bandit] = []
    known = {"arm": np.arange(arms), "pulls": np.full(arms, 2), "mean": np.linspace(0.0, 0.1, arms)}
    known["pulls"][:50] = 1
    yield begun(policy, arms, made, statistics=known)
    horizon = made[0].horizon
    yield from play(made[0], rounds)
    if made[0].horizon == horizon:
        raise SystemExit("bench/longest.py guess: the horizon was not doubled")


def ids(arms: int, rounds: int) -> Case:
    made: list[thrifty.Bandit] = []
    yield begun(thrifty.ThompsonSampling(), arms, made, prior=PRIOR)
    bandit = made[0]
    for i in range(1, 101):
        yield from play(bandit, 2)
        yield "remove_arm", lambda i=i: bandit.remove_arm(arms - 3 * i)  # type: ignore[misc]
        yield "add_arm", lambda i=i: bandit.add_arm(arms + i)  # type: ignore[misc]


def grow(arms: int, rounds: int) -> Case:
    made: list[thrifty.Bandit] = []
    yield begun(thrifty.ThompsonSampling(), arms, made, prior=PRIOR)
    for i in range(100):
        yield from play(made[0], 2)
        yield "add_arm", lambda i=i: made[0].add_arm(f"new {i}")  # type: ignore[misc]


def copy(arms: int, rounds: int) -> Case:
    made: list[thrifty.Bandit] = []
    yield begun(thrifty.ThompsonSampling(), arms, made, prior=PRIOR)
    made[0].add_arms(range(arms, roomy(arms)))
    yield from play(made[0], rounds)
    yield "add_arm", lambda: made[0].add_arm("new")


CASES: dict[str, Callable[[int, int], Case]] = {
    "beta": lambda *size: plain(thrifty.ThompsonSampling("beta"), *size),
    "gaussian": lambda *size: plain(thrifty.ThompsonSampling(), *size),
    "rank": rank,
    "young": young,
    "commit": commit,
    "guess TS-MA": lambda *size: guess(thrifty.TSMA(), *size),
    "guess TS-TD": lambda *size: guess(thrifty.TSTD(), *size),
    "guess KL-UCB++": lambda *size: guess(thrifty.KLUCBPlusPlus(), *size),
    "ids": ids,
    "grow": grow,
    "copy": copy,
}


def row(name: str, arms: int, rounds: int) -> list[str]:
    for _ in CASES[name](1000, 100):  # compiled
        _[1]()
    times: dict[str, list[int]] = {}
    for what, call in CASES[name](arms, rounds):
        before = time.process_time_ns()
        call()
        times.setdefault(what, []).append(time.process_time_ns() - before)
    first = times["select"][0] + times["update"][0]
    median = np.median(times["select"]) + np.median(times["update"]) * len(times["update"]) / len(
        times["select"]
    )
    after = {
        what: spent[1:] if what in ("select", "update") else spent
        for what, spent in times.items()
        if what != "begin"
    }
    what = max(after, key=lambda what: max(after[what]))
    place = after[what].index(max(after[what]))
    return [
        name,
        f"{arms:,}",
        f"{times['begin'][0] / 1e9:.2f}",
        f"{first / 1e6:.1f}",
        f"{median / 1e3:.1f}",
        f"{max(after[what]) / 1e6:.1f}",
        f"{what} {place + 1:,}",
        str(sum(ns > 20e6 for spent in after.values() for ns in spent)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", help="those whose names begin like this (default: all)")
    parser.add_argument("--arms", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=3000, help="decisions in each case")
    options = parser.parse_args()
    heading = ["case", "arms", "begin, s", "first, ms", "median, µs", "longest, ms", "which", "over 20 ms"]
    rows = []
    for name in CASES:
        if not options.cases or any(name.startswith(case) for case in options.cases):
            rows.append(row(name, options.arms, options.rounds))
            print(*rows[-1], flush=True)
    print(f"\n{aligned(heading, rows)}")


if __name__ == "__main__":
    main()
