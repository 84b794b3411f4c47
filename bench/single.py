"""What single rounds on sleepers take.

The clock is read inside the compiled loop, and the same rounds are played several times. Their work is the
same each time, evaluation for evaluation; a pause of the machine is not.
"""

import ctypes
import math
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from common import PRIOR, Row, Run, spread
from numpy.typing import NDArray

import thrifty
from thrifty.engines import rounds
from thrifty.engines.sleepers.line import SWEEPING
from thrifty.jit import bound, kernel
from thrifty.policies.program import MODULES
from thrifty.state import calls
from thrifty.state.header import opened

NOW = time.CLOCK_MONOTONIC
CHOOSE, OBSERVE, PLACE, EVALUATIONS, SWEPT, COLUMNS = range(6)
TAIL = [1.0 - 10.0**-d for d in np.arange(0.25, 6.01, 0.25)]  # the quantiles that are kept for the figure

Table = NDArray[np.int64]

read_clock = ctypes.CDLL(None).clock_gettime
read_clock.argtypes, read_clock.restype = (ctypes.c_int, ctypes.c_ssize_t), ctypes.c_int
CLOCK = np.zeros(2, np.int64)  # the clock writes seconds and nanoseconds here


choose: Any = None  # an engine's
place: Any = None


def record(block, clock, address, out):
    """The loop of ``simulate``, with a look at the clock after each part of a round."""
    state = opened(block)
    initial = state.rule.arms if state.rule.prior_weight == 0.0 else 0
    for t in range(out.shape[0]):
        before, swept = state.evaluations[0], state.sweep[SWEEPING]
        read_clock(NOW, address)
        a = clock[0] * 10**9 + clock[1]
        i = t if t < initial else choose(state, t)
        read_clock(NOW, address)
        b = clock[0] * 10**9 + clock[1]
        rounds.observe(state, i, calls.pull(state.pull[0], (state, i)), t)
        read_clock(NOW, address)
        c = clock[0] * 10**9 + clock[1]
        place(state, i)
        read_clock(NOW, address)
        out[t, CHOOSE] = b - a
        out[t, OBSERVE] = c - b
        out[t, PLACE] = clock[0] * 10**9 + clock[1] - c
        out[t, EVALUATIONS] = state.evaluations[0] - before
        out[t, SWEPT] = swept


@cache
def recorder(engine: str) -> Any:
    """``record`` for an engine."""
    module = MODULES[engine]
    return kernel(bound(record, f"record_{engine}", choose=module.choose, place=module.place))


@kernel
def tick(clock, address, out):
    """What the clock says when nothing happens in between."""
    for t in range(out.size):
        read_clock(NOW, address)
        a = clock[0] * 10**9 + clock[1]
        read_clock(NOW, address)
        out[t] = clock[0] * 10**9 + clock[1] - a


def clock_ns() -> float:
    """How many nanoseconds of each part of a round are the clock's own."""
    out = np.zeros(10**5, np.int64)
    tick(CLOCK, CLOCK.ctypes.data, out)
    return float(np.median(out))


def single_rounds(make: Callable[[], Run], played: int, passes: int) -> Row:
    """Play the same rounds ``passes`` times; of each round, the least time it took counts."""
    tables, begins = [], []
    for _ in range(passes):
        run = make()
        began = time.thread_time_ns()
        run.begin()
        begins.append(time.thread_time_ns() - began)
        out = np.zeros((played, COLUMNS), np.int64)
        recorder(run.program.engine)(run.memory.block, CLOCK, CLOCK.ctypes.data, out)
        tables.append(out)
    if any((table[:, EVALUATIONS] != tables[0][:, EVALUATIONS]).any() for table in tables):
        sys.exit("bench/single.py must do the same work in every pass, and the evaluations differ")
    least: Table = np.minimum.reduce(tables)
    ns = np.minimum.reduce([_round(table) for table in tables])
    evaluations, swept = least[:, EVALUATIONS], least[:, SWEPT] == 1
    arms = run.rule.arms
    slowest = np.argsort(ns)[:-4:-1]
    return {
        "arms": arms,
        "rounds": played,
        "passes": passes,
        "begin": min(begins),
        "mean": float(ns.mean()),
        "quantiles": dict(zip(("median", "p99", "p99.9"), np.quantile(ns, [0.5, 0.99, 0.999]), strict=True)),
        "maximum": int(ns.max()),
        "maximum_by_the_clock": int(max(_round(table).max() for table in tables)),
        "evaluations_per_log": float(evaluations.mean() / math.log(arms)),
        "evaluations_maximum": int(evaluations.max()),
        "slowest": [{"round": int(t), "ns": int(ns[t]), "evaluations": int(evaluations[t])} for t in slowest],
        "parts": {
            "choose": float(least[:, CHOOSE].mean()),
            "pull and observe": float(least[:, OBSERVE].mean()),
            "place": _mean(least[~swept, PLACE]),
            "place and sweep": _mean(least[swept, PLACE]),
        },
        "sweeping": float(swept.mean()),
        "tail": [[p, float(x)] for p, x in zip(TAIL, np.quantile(ns, TAIL), strict=True)],
    }


def _round(table: Table) -> Table:
    total: Table = table[:, : PLACE + 1].sum(axis=1)
    return total


def _mean(values: Table) -> float:
    return float(values.mean()) if values.size else 0.0


def first_problem(arms: int) -> Callable[[], Run]:
    return partial(Run, thrifty.ThompsonSampling(), spread(arms), "sleepers", horizon=10**7)


def worse_cases(arms: int) -> Sequence[tuple[str, Callable[[], Run], int]]:
    """What may hurt the engine more than the two problems do: a name, how it starts, how many rounds."""
    rng = np.random.default_rng(1)
    means = np.array(spread(arms).means)
    once = (rng.random(arms) < means).astype(float)

    def start(
        policy: thrifty.policies.Policy,
        problem: thrifty.problems.Problem,
        pulls: Table | int = 0,
        sums: NDArray[np.float64] | float = 0.0,
        prior: tuple[float, float] | None = PRIOR,
    ) -> Run:
        run = Run(policy, problem, "sleepers", horizon=10**7, prior=prior)
        run.state.pulls[:] = pulls
        run.state.sums[:] = sums
        return run

    ts, slight = thrifty.ThompsonSampling(), (0.5, 1e-9)
    arm = np.arange(arms)
    first, ahead, last = arm == 0, arm < 30, arm < arms - 1000
    falls = thrifty.Gaussian(np.where(ahead, -1000.0, 0.1))
    old = np.where(first, 10**4, rng.integers(10, 100, arms))
    fades = thrifty.Bernoulli(np.where(first, 0.0, 0.3))
    sure = thrifty.Bernoulli((means > 0.45).astype(float))
    expts, duel = thrifty.ExpTS(), thrifty.TSTD(alpha=0.5, phi=1000)
    many = arms // 4
    return (
        ("every arm pulled first, no prior", partial(start, ts, spread(arms), prior=None), arms + many),
        ("every arm was pulled once", partial(start, ts, spread(arms), 1, once), many),
        ("half pays always, half never", partial(start, ts, sure, 1, sure.expectations), many),
        (
            "the leader stops paying",
            partial(start, ts, fades, old, np.floor(old * np.where(first, 0.9, 0.3)), slight),
            many,
        ),
        (  # thirty arms at N(10, 1), all others at N(0.1, 0.001^2)
            "thirty far ahead fall behind all",
            partial(start, ts, falls, np.where(ahead, 1, 10**6), np.where(ahead, 10.0, 10**5), slight),
            10**4,
        ),
        (
            "ExpTS, the last thousand at n = 1",
            partial(start, expts, spread(arms), last.astype(int), last * once),
            3000,
        ),
        ("TS-TD-0.5, all commit in one round", partial(start, duel, spread(arms)), 10**4),
    )
