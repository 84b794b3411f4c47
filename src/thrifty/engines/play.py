"""The one simulation loop, and its compiled form for each engine.

``_play`` is inlined into a named function per engine that binds the engine's kernels, which is the form
that Numba's disk cache accepts. It plays rounds ``start`` to ``stop`` of a run, so that a long run can be
played in slices, with progress shown in between; where the cuts lie changes nothing.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numba

from thrifty import problems
from thrifty.engines import rounds, scan, tournament
from thrifty.jit import config, entry, entry_here, inlined, kernel


@inlined
def _play(begin, choose, after, rule, state, arms, rewards, trace, start, stop):
    """Returns how many rounds were played: ``stop``, or fewer if there was nothing to choose by."""
    if start == 0 and rule.prior_weight > 0.0:
        begin(rule, state)
    initial = rule.arms if rule.prior_weight == 0.0 else 0
    t = start
    while t < stop:
        i = t if t < initial else choose(rule, state, t)
        if i < 0:
            break
        rounds.observe(rule, state, i, problems.pull(arms, i, rewards))
        after(state, i)
        t += 1
        trace.total[0] += arms.gaps[i]
        if t == trace.checkpoints[trace.passed[0]]:
            trace.regret[trace.passed[0]] = trace.total[0]
            trace.passed[0] += 1
    return t


@inlined
def _begin_scan(rule, state):
    for i in range(rule.arms):
        rounds.renew(rule, state, i)


@inlined
def _begin_tournament(rule, state):
    _begin_scan(rule, state)
    tournament.build(state.tree, state.index)


@inlined
def _choose_scan(rule, state, t):
    rounds.refresh(rule, state)
    return scan.choose(state.index, state.rng)


@inlined
def _choose_tournament(rule, state, t):
    return tournament.choose(state.tree, state.index, state.rng)


@inlined
def _after_scan(state, i):
    pass


@inlined
def _after_tournament(state, i):
    tournament.place(state.tree, state.index, i)


@entry
def play_scan(rule, state, arms, rewards, trace, start, stop):
    return _play(_begin_scan, _choose_scan, _after_scan, rule, state, arms, rewards, trace, start, stop)


@entry
def play_tournament(rule, state, arms, rewards, trace, start, stop):
    return _play(
        _begin_tournament, _choose_tournament, _after_tournament,
        rule, state, arms, rewards, trace, start, stop,
    )  # fmt: skip


@cache
def play_own(index: Callable[..., float]) -> Callable[..., int]:
    """Scan for a user's own index, computed anew for every arm in every round; not cached on disk."""
    formula: Any = (
        index if config.DISABLE_JIT or hasattr(index, "py_func") else numba.njit(error_model="numpy")(index)
    )

    @kernel
    def choose(rule, state, t):
        """The arm, or -1 if some arm's index is not a number."""
        for i in range(rule.arms):
            n = state.pulls[i] + rule.prior_weight
            state.index[i] = formula(rule.own, n, state.means[i], t, state.rng)
            if math.isnan(state.index[i]):
                return -1
        return scan.choose(state.index, state.rng)

    @entry_here
    def play_own_index(rule, state, arms, rewards, trace, start, stop):
        return _play(_begin_scan, choose, _after_scan, rule, state, arms, rewards, trace, start, stop)

    return play_own_index
