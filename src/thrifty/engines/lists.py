"""Policies that do not compare indices: they make a list of arms, pull these, and make the next list.

``state.marks`` says who is on a list, and three numbers of ``state.count`` where in it the policy is. Arms
without a law wait for their first reward and are passed over.
"""

from thrifty import indices
from thrifty.engines import history, rounds, young
from thrifty.engines.state import CURSOR, LEFT, STAGE
from thrifty.indices import dirichlet_sampling, dmed, ucb_improved
from thrifty.jit import kernel
from thrifty.numerics import kl, random


@kernel
def choose(rule, state, t):
    """The next arm to pull, t pulls having been made."""
    if state.waiting[0] == state.marks.size:
        return random.below(state.rng, state.marks.size)
    if rule.formula == indices.UCB_IMPROVED:
        return _choose_ucb_improved(rule, state)
    if rule.formula == indices.DIRICHLET_SAMPLING:
        return _choose_dirichlet(rule, state)
    return _choose_dmed(rule, state, t)


@kernel
def put_back(rule, state, i):
    """A pull of arm i that was handed out is not made, so it is still to come; UCB-Improved counts anyway."""
    marks, count = state.marks, state.count
    if rule.formula == indices.DIRICHLET_SAMPLING:
        count[LEFT] += 1 - marks[i]
        marks[i] = 1
    elif rule.formula != indices.UCB_IMPROVED and (marks[i] != count[STAGE] or i < count[CURSOR]):
        marks[i] = count[STAGE] + 1


@kernel
def move(rule, state, i, to):
    """Arm i gets a lower number, ``to``. If DMED is past that one, the arm is on its next list."""
    marks, count = state.marks, state.count
    marks[to] = marks[i]
    if rule.formula == indices.UCB_IMPROVED or rule.formula == indices.DIRICHLET_SAMPLING:
        return
    if marks[i] == count[STAGE] and to < count[CURSOR] and count[CURSOR] <= i:
        marks[to] = count[STAGE] + 1


@kernel
def _count(rule, state, i):
    """Pulls of arm i, those on their way and the prior's included."""
    return rounds.evidence(rule, state, i)[0] + young.count(state, i)


@kernel
def _best(state):
    """The largest mean."""
    best = -1.0
    for i in range(state.marks.size):
        if rounds.has_law(state, i):
            best = max(best, state.means[i])
    return best


@kernel
def _choose_dmed(rule, state, t):
    """marks: the pass whose list the arm is on. In the pass that is under way, those from the cursor on
    wait."""
    marks, count = state.marks, state.count
    best = _best(state)
    for i in range(marks.size):
        if rounds.has_law(state, i) and (marks[i] != count[STAGE] or i < count[CURSOR]):
            n, divergence = _count(rule, state, i), kl.bernoulli(state.means[i], best)
            if rule.formula == indices.DMED:
                passes = dmed.original(n, divergence, t)
            else:
                passes = dmed.log_t(n, divergence, t)
            if passes:
                marks[i] = count[STAGE] + 1
            state.evaluations[0] += 1
    while True:
        for i in range(count[CURSOR], marks.size):
            if marks[i] == count[STAGE] and rounds.has_law(state, i):
                count[CURSOR] = i + 1
                return i
        count[STAGE] += 1
        count[CURSOR] = 0


@kernel
def _stays(state, i):
    """Whether UCB-Improved has arm i to choose from."""
    return state.marks[i] == 0 and rounds.has_law(state, i)


@kernel
def _choose_ucb_improved(rule, state):
    """marks: 1 for arms that have gone. The stage is the phase.

    A phase ends when the rewards of its pulls are there, and until then those who are left are pulled in
    turn, as after the last one. If they were removed, all others return, and the phases begin anew.
    """
    marks, count = state.marks, state.count
    left = 0
    for i in range(marks.size):
        left += _stays(state, i)
    if left == 0:
        marks[:] = 0
        count[STAGE] = 0
    while count[STAGE] < ucb_improved.phases(rule.horizon):
        goal = ucb_improved.pulls(count[STAGE], rule.horizon)
        best, w, late = -1.0, ucb_improved.width(count[STAGE], rule.horizon), False
        for i in range(marks.size):
            if _stays(state, i):
                if _count(rule, state, i) < goal:
                    return i
                late = late or rounds.evidence(rule, state, i)[0] < goal
                best = max(best, state.means[i])
        if late:
            break
        for i in range(marks.size):
            if _stays(state, i) and ucb_improved.eliminated(state.means[i], best, w):
                marks[i] = 1
        count[STAGE] += 1
    while True:  # those who are left, in turn
        for i in range(count[CURSOR], marks.size):
            if _stays(state, i):
                count[CURSOR] = i + 1
                return i
        count[CURSOR] = 0


@kernel
def _choose_dirichlet(rule, state):
    """marks: 1 for arms that have won their duel and are not pulled yet. They are pulled in random order."""
    marks, count = state.marks, state.count
    if count[LEFT] == 0:
        _duel(rule, state)
    left = random.below(state.rng, count[LEFT])
    for i in range(marks.size):
        if marks[i] == 1:
            left -= 1
            if left < 0:
                marks[i] = 0
                count[LEFT] -= 1
                return i
    return -1


@kernel
def _duel(rule, state):
    """Everybody challenges the leader."""
    leader, ties = -1, 0
    for i in range(state.marks.size):
        if rounds.has_law(state, i):
            n = _count(rule, state, i)
            most = _count(rule, state, max(leader, 0))
            if leader < 0 or n > most or (n == most and state.means[i] > state.means[leader]):
                leader, ties = i, 1
            elif n == most and state.means[i] == state.means[leader]:
                ties += 1
                if random.below(state.rng, ties) == 0:
                    leader = i
    m, winners = state.means[leader], 0
    for i in range(state.marks.size):
        if i != leader and rounds.has_law(state, i) and _wins(rule, state, i, m):
            state.marks[i] = 1
            winners += 1
    if winners == 0:
        state.marks[leader] = 1
    state.count[LEFT] = max(winners, 1)


@kernel
def _wins(rule, state, i, m):
    """Whether arm i reaches the leader's mean m, by its own mean or by its index, which is drawn only if
    needed."""
    if state.means[i] >= m:
        return True
    values, times = history.of(state.history, state.spans, i)
    n = rounds.evidence(rule, state, i)[0]
    state.draws[i] += 1
    state.evaluations[0] += 1
    x = dirichlet_sampling.index(rule.family, values, times, n, m, rule.first, state.rng)
    return x >= m
