"""Drive a compiled engine by hand: a run that can be stopped and looked at after any round."""

from typing import NamedTuple

import numpy as np

from thrifty import delays
from thrifty.delays import Delay
from thrifty.engines.late import Late
from thrifty.engines.play import PLAYS
from thrifty.engines.state import (
    Rule,
    State,
    Trace,
    Words,
    new_state,
    new_trace,
    policy_stream,
    reward_stream,
    write_rule,
)
from thrifty.policies import Policy
from thrifty.problems import Arms, Problem


class Run(NamedTuple):
    """What an engine's kernel is given."""

    engine: str
    rule: Rule
    state: State
    arms: Arms
    rewards: Words
    delays: Late
    trace: Trace

    def play(self, start: int, stop: int) -> None:
        write_rule(self.state, self.rule)
        anew = start == 0 and self.rule.prior_weight > 0.0
        PLAYS[self.engine](self.state.header, *self[3:], start, stop, anew)

    def play_all(self) -> np.ndarray:
        """Play every round; the arms that were pulled. The gap of an arm is its number, so that the regret
        tells."""
        numbered = self.arms._replace(gaps=np.arange(float(self.rule.arms)))
        self._replace(arms=numbered).play(0, self.rule.horizon)
        return np.diff(self.trace.regret, prepend=0.0).astype(np.int64)


def new_run(
    policy: Policy,
    problem: Problem,
    horizon: int,
    *,
    engine: str = "scan",
    prior: tuple[float, float] | None = None,
    seed: int = 0,
    delay: int | Delay = 0,
) -> Run:
    arms = problem.arms()
    rule = policy.resolve(arms.gaps.size, horizon)
    if prior is not None:
        rule = rule._replace(prior_mean=prior[0], prior_weight=prior[1])
    state = new_state(rule, policy_stream(seed, 0), engine)
    trace = new_trace(np.arange(1, horizon + 1))
    late = delays.clean(delay).late(seed, 0)
    return Run(engine, rule, state, arms, reward_stream(seed, 0), late, trace)
