"""Rewards that are late and rewards that are lost: for how many decisions should a pull without its reward
count?

    uv run python bench/pending.py [--runs RUNS] [--policy NAME ...]

prints a table for each policy, with mean regrets, their standard errors and the share of stuck runs, in which
one bad arm got most of the pulls; and how much more than the better of both extremes (for ever, never) each
answer costs at most. Ten Bernoulli arms, one with mean 0.9 and nine with 0.8, without a prior.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import thrifty
from thrifty.delays import ConstantDelay
from thrifty.engines import entries, late, rounds, trace
from thrifty.engines.memory import delay_stream, policy_stream, reward_stream
from thrifty.jit import entry
from thrifty.numerics import random
from thrifty.policies import Policy
from thrifty.policies.program import program
from thrifty.state import calls, young
from thrifty.state.header import opened
from thrifty.table import aligned

PROBLEM, HORIZON = thrifty.Bernoulli([0.9] + [0.8] * 9), 10_000
POLICIES: tuple[Policy, ...] = (
    thrifty.UCB1(),
    thrifty.KLUCB(),
    thrifty.KLUCBPlusPlus(),
    thrifty.IMED(),
    thrifty.TSMA(),
    thrifty.ThompsonSampling("beta"),
)
DELAYS, LOSSES = (0, 100, 1000), (0.0, 0.1, 0.5, 0.9)
PENDING_FOR = (None, 0, 10, 100, 300, 1000, 3000)
EXTREMES = (None, 0)


@entry
def drive(block, losses, loss, chosen, pulls, horizon):
    """What ``Bandit`` does on scan, with some rewards that are late and others that never come."""
    state = opened(block)
    for t in range(horizon):
        entries.select_many(block, t, chosen)
        i = chosen[0]
        pulls[i] += 1
        if random.uniform(losses) >= loss:
            late.send(state, t, i, calls.pull(state.pull[0], (state, i)))
        e = late.arrive(state, t)
        while e >= 0:
            rounds.receive(state, state.late_arm[e], state.late_reward[e], t)
            e = late.arrive(state, t)


def regrets(policy: Policy, delay: int, loss: float, pending_for: int | None, runs: int) -> Any:
    """Of every run the regret, and whether it is stuck. A seed has the same losses, whatever is asked."""
    arms, playing, delays = PROBLEM.ready(), program(policy, "scan"), ConstantDelay(delay).late()
    rule = policy.resolve(arms.gaps.size, HORIZON)
    beside = (trace.PROBLEM, late.LATE, *(() if pending_for is None else (young.YOUNG,)))
    sizes = {"values": arms.values.size, "ring": young.words(pending_for)} | delays.sizes
    pulls, chosen = np.zeros((runs, rule.arms), np.int64), np.zeros(1, np.int64)
    for run in range(runs):
        memory = playing.memory(rule, policy_stream(1, run), beside=beside, sizes=sizes)
        playing.compile(memory, "select_many")
        memory.state.pull[0], memory.state.reward_rng[:] = arms.address, reward_stream(1, run)
        memory.state.arms[:], memory.state.values[:] = arms.params, arms.values
        delays.write(memory.state, delay_stream(1, run))
        drive(memory.block, random.generator(1, run, 3), loss, chosen, pulls[run], HORIZON)
    bad = np.where(arms.gaps > 0.0, pulls, 0).max(axis=1)
    return pulls @ arms.gaps, 2 * bad > HORIZON


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=60, help="for each number")
    parser.add_argument("--policy", action="append", help="the name of a policy, such as IMED; all if none")
    asked = parser.parse_args(arguments)
    names = [str(n) for n in PENDING_FOR]
    worst = []
    for policy in POLICIES:
        if asked.policy and type(policy).__name__ not in asked.policy:
            continue
        rows, ratios = [], np.ones(len(PENDING_FOR))
        for delay in DELAYS:
            for loss in LOSSES:
                print(f"\r{policy.label}, {delay}, {loss:.0%}   ", end="", file=sys.stderr, flush=True)
                found = [regrets(policy, delay, loss, n, asked.runs) for n in PENDING_FOR]
                means = np.array([regret.mean() for regret, _ in found])
                ratios = np.maximum(ratios, means / min(means[PENDING_FOR.index(n)] for n in EXTREMES))
                rows.append(
                    (
                        f"{delay:,}",
                        f"{loss:.0%}",
                        *(
                            f"{regret.mean():,.0f} ± {regret.std(ddof=1) / asked.runs**0.5:,.0f}"
                            + (f", {stuck.mean():.0%}" if stuck.any() else "")
                            for regret, stuck in found
                        ),
                    )
                )
        print("\r" + " " * 40, file=sys.stderr)
        print(f"\n{policy.label}: regret at T = {HORIZON:,}, {asked.runs} runs, and stuck ones\n")
        print(aligned(("delay", "lost", *names), rows), flush=True)
        worst.append((policy.label, *(f"{ratio:.2f}" for ratio in ratios)))
    print("\nat most so many times the better of None and 0\n")
    print(aligned(("policy", *names), worst))


if __name__ == "__main__":
    main()
