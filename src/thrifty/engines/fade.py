"""Forgetting, decision by decision: in each cycle of ``rule.cycle`` decisions every arm has one turn, in
which what is known of it is multiplied by ``rule.keep``. The turns are spread evenly over the cycle.

In decision d of a cycle, d = 1, ..., c, the turn comes to the arms up to number K d/c. An arm whose turn is
still to come and that gets a number whose turn is over has it then and there.
"""

import math

from thrifty.engines import rounds
from thrifty.jit import kernel
from thrifty.state import calls, fading, statistics
from thrifty.state.fading import MADE, NEXT
from thrifty.state.statistics import ARMS, CLOCK


@kernel
def step(state, _):
    """A decision is to be made: first the arms whose turn it is."""
    turn, arms, cycle = state.turn, state.count[ARMS], state.rule.cycle
    turn[MADE] += 1
    end = min(int(arms * (turn[MADE] / cycle)), arms)
    last = -1
    for i in range(turn[NEXT], end):
        if fading.multiply(state, i, state.rule.keep):
            rounds.renew(state, i)
            if last >= 0 and state.engine.join != 0:
                calls.event(state.engine.join, (state, last))
            last = i
    if last >= 0 and state.engine.place != 0:  # levels are looked after once
        calls.event(state.engine.place, (state, last))
    turn[NEXT] = max(turn[NEXT], end)
    if turn[MADE] >= cycle:
        turn[NEXT] = turn[MADE] = 0


@kernel
def take_turn(state, i):
    """Arm i's turn, out of turn."""
    if fading.multiply(state, i, state.rule.keep):
        rounds.renew(state, i)
        if state.engine.place != 0:
            calls.event(state.engine.place, (state, i))


@kernel
def all_at_once(state, keep):
    """Forget all but this share of what every arm gave. Arms of which nothing is left are to be tried
    again."""
    for i in range(state.faded.size):
        lawful = statistics.has_law(state, i)
        fading.multiply(state, i, keep)
        _, weight = statistics.prior(state, i)
        if lawful and state.faded[i] + weight == 0.0:
            if state.place.size > 0 and state.place[i] >= 0:  # draws since it came to the line
                state.draws[i] += state.count[CLOCK] - state.start[i]
            state.waiting[0] += 1
            if state.engine.leave != 0:
                calls.event(state.engine.leave, (state, i))
            state.index[i] = -math.inf
