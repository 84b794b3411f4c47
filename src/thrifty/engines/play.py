"""The one simulation loop, and its compiled form for each engine.

``_play`` is inlined into a named function per engine that binds the engine's kernels, which is the form
that Numba's disk cache accepts. It plays rounds ``start`` to ``stop`` of a run, so that a long run can be
played in slices, with progress shown in between; where the cuts lie changes nothing.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from thrifty import problems
from thrifty.engines import rounds, scan, tournament
from thrifty.jit import entry, entry_here, inlined, kernel


@inlined
def _play(begin, choose, after, rule, state, arms, rewards, trace, start, stop):
    if start == 0 and rule.prior_weight > 0.0:
        begin(rule, state)
    initial = rule.arms if rule.prior_weight == 0.0 else 0
    for t in range(start, stop):
        i = t if t < initial else choose(rule, state, t)
        rounds.observe(rule, state, i, problems.pull(arms, i, rewards))
        after(state, i)
        trace.total[0] += arms.gaps[i]
        if t + 1 == trace.checkpoints[trace.passed[0]]:
            trace.regret[trace.passed[0]] = trace.total[0]
            trace.passed[0] += 1


@kernel
def _begin_scan(rule, state):
    for i in range(rule.arms):
        rounds.renew(rule, state, i)


@kernel
def _begin_tournament(rule, state):
    _begin_scan(rule, state)
    tournament.build(state.tree, state.index)


@kernel
def _choose_scan(rule, state, t):
    rounds.refresh(rule, state, t)
    return scan.choose(state.index, state.rng)


@kernel
def _choose_tournament(rule, state, t):
    return tournament.choose(state.tree, state.rng)


@kernel
def _after_scan(state, i):
    pass


@kernel
def _after_tournament(state, i):
    tournament.place(state.tree, i, state.index[i])


@entry
def play_scan(rule, state, arms, rewards, trace, start, stop):
    _play(_begin_scan, _choose_scan, _after_scan, rule, state, arms, rewards, trace, start, stop)


@entry
def play_tournament(rule, state, arms, rewards, trace, start, stop):
    _play(
        _begin_tournament, _choose_tournament, _after_tournament,
        rule, state, arms, rewards, trace, start, stop,
    )  # fmt: skip


@cache
def play_custom(index: Callable[..., float]) -> Callable[..., None]:
    """Scan for a user's own index, computed anew for every arm in every round; not cached on disk."""

    @kernel
    def choose(rule, state, t):
        for i in range(rule.arms):
            n = state.pulls[i] + rule.prior_weight
            state.index[i] = index(n, state.means[i], t, rule, state.rng)
        return scan.choose(state.index, state.rng)

    @entry_here
    def play(rule, state, arms, rewards, trace, start, stop):
        _play(_begin_scan, choose, _after_scan, rule, state, arms, rewards, trace, start, stop)

    compiled: Callable[..., Any] = play
    return compiled
