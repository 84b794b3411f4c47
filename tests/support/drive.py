"""Drive a compiled engine by hand: a run that can be stopped and looked at after any round."""

from typing import Any, NamedTuple

import numpy as np

from thrifty import delays
from thrifty.delays import Delay
from thrifty.engines import late, trace
from thrifty.engines.memory import Memory, Rule, delay_stream, policy_stream, reward_stream
from thrifty.policies import Policy
from thrifty.policies.program import Program, program
from thrifty.problems import Problem


class Run(NamedTuple):
    """A policy on an engine, and its memory, in which the problem, the regret and the delays are too."""

    playing: Program
    rule: Rule
    memory: Memory
    state: Any  # windows on the memory

    def play(self, start: int, stop: int) -> None:
        self.memory.write(self.rule)
        anew = start == 0 and self.rule.prior_weight > 0.0
        self.playing.entry("play")(self.memory.block, start, stop, anew)

    def play_all(self) -> np.ndarray:
        """Play every round; the arms that were pulled. The gap of an arm is its number, so that the regret
        tells."""
        self.state.gaps[:] = np.arange(self.rule.arms)
        self.play(0, self.rule.horizon)
        return np.diff(self.state.regret, prepend=0.0).astype(np.int64)

    @property
    def draws(self) -> np.ndarray:
        """Every arm's draws, those of arms that sleep included."""
        return self.playing.draws(self.memory)


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
    """With a checkpoint after every round."""
    arms, ways = problem.ready(), delays.clean(delay).late()
    rule = policy.resolve(arms.gaps.size, horizon)
    if prior is not None:
        rule = rule._replace(prior_mean=prior[0], prior_weight=prior[1])
    playing = program(policy, engine)
    sizes = {"checkpoints": horizon, "regret": horizon, "values": arms.values.size, **ways.sizes}
    beside = (trace.TRACE, trace.PROBLEM, late.LATE)
    memory = playing.memory(rule, policy_stream(seed, 0), None, beside, sizes)
    state = memory.state
    state.checkpoints[:] = np.arange(1, horizon + 1)
    state.pull[0], state.arms[:], state.values[:], state.gaps[:] = arms.address, *arms[1:]
    state.reward_rng[:] = reward_stream(seed, 0)
    ways.write(state, delay_stream(seed, 0))
    playing.compile(memory, "play")
    return Run(playing, rule, memory, state)
