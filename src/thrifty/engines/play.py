"""The one simulation loop, and its compiled form for each engine.

``_play`` is inlined into a named function per engine that binds the engine's kernels, which is the form
that Numba's disk cache accepts. It plays rounds ``start`` to ``stop`` of a run, so that a long run can be
played in slices, with progress shown in between; where the cuts lie changes nothing.
"""

from thrifty import problems
from thrifty.engines import kinetic, late, lists, rounds, scan, sleepers, tournament
from thrifty.engines.header import opened, rule_of
from thrifty.engines.state import CLOCKED, LISTED, OWN, SPENT
from thrifty.indices import ada_ucb
from thrifty.jit import entry, hot, inlined, kernel


@inlined
def _play(begin, choose, place, header, arms, rewards, delays, trace, start, stop, anew):
    """Returns how many rounds were played: ``stop``, or fewer if there was nothing to choose by.

    ``anew``: the rule is new, so that whatever was kept for an arm is made again first.
    """
    state = opened(header)
    rule = rule_of(state)
    if anew:
        begin(rule, state)
    prompt = delays.kind == late.PROMPT
    initial = rule.arms if rule.prior_weight == 0.0 else 0
    t = start
    while t < stop:
        i = t if t < initial else choose(rule, state, t)
        if i < 0:
            break
        reward = problems.pull(arms, i, rewards)
        if prompt:
            rounds.observe(rule, state, i, reward)
            place(rule, state, i)
        else:
            rounds.spend(rule, state, i)
            if rule.schedule == CLOCKED:
                place(rule, state, i)
            late.send(delays, t, i, reward)
            e = late.arrive(delays, t)
            while e >= 0:
                rounds.receive(rule, state, delays.arm[e], delays.reward[e])
                place(rule, state, delays.arm[e])
                e = late.arrive(delays, t)
        t += 1
        trace.total[0] += arms.gaps[i]
        if t == trace.checkpoints[trace.passed[0]]:
            trace.regret[trace.passed[0]] = trace.total[0]
            trace.passed[0] += 1
    return t


@kernel
def begin_scan(rule, state):
    for i in range(state.index.size):
        if rounds.has_law(state, i):
            state.pending[i, 1] = 0
            rounds.renew(rule, state, i)
    if state.spread.size > 0:
        ada_ucb.fill(state.weights, state.order, state.position, state.prefix, state.spread)


@kernel
def begin_tournament(rule, state):
    begin_scan(rule, state)
    tournament.build(state.tree, state.index)


@kernel
def begin_kinetic(rule, state):
    begin_scan(rule, state)
    kinetic.begin(state)


@kernel
def begin_sleepers(rule, state):
    begin_scan(rule, state)
    sleepers.begin(rule, state)


@hot
def choose_scan(rule, state, t):
    """The arm, or -1 if the index of some arm is not a number."""
    if rule.schedule == LISTED:
        return lists.choose(rule, state, t)
    if rule.schedule == OWN and not rounds.refresh_own(rule, state, t):
        return -1
    rounds.refresh(rule, state, t)
    i = scan.choose(state.index, state.rng)
    while state.pending[i, 1] & SPENT:
        rounds.replace(rule, state, i)
        i = scan.choose(state.index, state.rng)
    return i


@hot
def choose_tournament(rule, state, t):
    i = tournament.choose(state.tree, state.index, state.rng)
    while state.pending[i, 1] & SPENT:
        rounds.replace(rule, state, i)
        tournament.place(state.tree, state.index, i)
        i = tournament.choose(state.tree, state.index, state.rng)
    return i


@hot
def choose_kinetic(rule, state, t):
    return kinetic.choose(rule, state, t)


@hot
def choose_sleepers(rule, state, t):
    return sleepers.choose(rule, state)


@hot
def place_scan(rule, state, i):
    pass


@hot
def place_tournament(rule, state, i):
    tournament.place(state.tree, state.index, i)


@hot
def place_kinetic(rule, state, i):
    kinetic.place(rule, state, i)


@hot
def place_sleepers(rule, state, i):
    sleepers.place(rule, state, i)


@entry
def play_scan(header, arms, rewards, delays, trace, start, stop, anew):
    return _play(
        begin_scan, choose_scan, place_scan,
        header, arms, rewards, delays, trace, start, stop, anew,
    )  # fmt: skip


@entry
def play_tournament(header, arms, rewards, delays, trace, start, stop, anew):
    return _play(
        begin_tournament, choose_tournament, place_tournament,
        header, arms, rewards, delays, trace, start, stop, anew,
    )  # fmt: skip


@entry
def play_sleepers(header, arms, rewards, delays, trace, start, stop, anew):
    return _play(
        begin_sleepers, choose_sleepers, place_sleepers,
        header, arms, rewards, delays, trace, start, stop, anew,
    )  # fmt: skip


@entry
def play_kinetic(header, arms, rewards, delays, trace, start, stop, anew):
    return _play(
        begin_kinetic, choose_kinetic, place_kinetic,
        header, arms, rewards, delays, trace, start, stop, anew,
    )  # fmt: skip


PLAYS = {
    "scan": play_scan,
    "tournament": play_tournament,
    "sleepers": play_sleepers,
    "kinetic": play_kinetic,
}
