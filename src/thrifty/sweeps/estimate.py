"""How long a sweep will take: each policy plays the beginning of a run, and the rest is extrapolated."""

import dataclasses
import math
from collections.abc import Callable
from functools import cache

import numpy as np

from thrifty.simulation.plan import Plan
from thrifty.simulation.run import compile_for, play_run
from thrifty.simulation.spec import Spec

FIRST = 250  # rounds after the initial pulls
ENOUGH = 0.02  # seconds: what takes so long can be measured
SHARE = 0.1  # of all rounds


@cache
def seconds(spec: Spec) -> tuple[float, ...]:
    """Processor time of all runs of each policy."""
    ready = spec.plan()
    compile_for(ready)

    def one_run(p: int) -> float:
        initial = 0 if spec.prior else ready.stages[p][0][1].initial

        def play(rounds: int) -> float:
            outcome = play_run(_beginning(ready, initial + rounds), p, 0)
            return outcome.seconds if outcome else 0.0

        grows = getattr(ready.policies[p], "keeps_rewards", False)
        return extrapolated(play, spec.horizon - initial, spec.runs, grows=grows)

    return tuple(spec.runs * one_run(p) for p in range(len(spec.policies)))


def extrapolated(play: Callable[[int], float], rounds: int, runs: int = 1, *, grows: bool) -> float:
    """The seconds of a run of so many rounds after the initial pulls, if ``play`` tells those of fewer.

    Twice as many are played again and again, until that takes long enough to be measured, or is a good part
    of all rounds of all runs.
    """
    played = [min(FIRST, rounds)]
    taken = [play(played[0])]
    while played[-1] < rounds and (
        len(played) < 3 or (taken[-1] < ENOUGH and played[-1] < SHARE * runs * rounds)
    ):
        played.append(min(2 * played[-1], rounds))
        taken.append(play(played[-1]))
    return taken[-1] if played[-1] == rounds else _whole(played, taken, rounds, grows=grows)


def _whole(played: list[int], taken: list[float], rounds: int, *, grows: bool) -> float:
    """The rounds that were added last say what a round costs. Where every reward is kept they cost more and
    more: there seconds go with a power of the rounds, from 1 to 2."""
    (before, s), (last, total) = ((played[i], taken[i]) for i in (-2, -1))
    power = 1.0
    if grows and total > s > taken[0]:
        power = math.log((total - taken[0]) / (s - taken[0])) / math.log(last / before)
        power = min(max(power, 1.0), 2.0)
    per_round = max(total - s, 0.0) / (last**power - before**power)
    return total + float(per_round * (rounds**power - last**power))


def _beginning(ready: Plan, horizon: int) -> Plan:
    """The same up to this round, with the rules of the whole."""
    return dataclasses.replace(
        ready,
        settings=dataclasses.replace(ready.settings, horizon=horizon),
        checkpoints=np.array([horizon]),
        stages=tuple([stage for stage in stages if stage[0] < horizon] for stages in ready.stages),
    )
