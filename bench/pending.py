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
from thrifty import problems
from thrifty.delays import ConstantDelay
from thrifty.engines import decide, late, play, rounds
from thrifty.engines.header import opened, rule_of
from thrifty.engines.state import new_memory, policy_stream, reward_stream
from thrifty.jit import entry
from thrifty.numerics import random
from thrifty.policies import Policy
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
def drive(header, arms, rewards, delays, losses, loss, chosen, pulls, horizon):
    """What ``Bandit`` does on scan, with some rewards that are late and others that never come."""
    state = opened(header)
    rule = rule_of(state)
    for t in range(horizon):
        decide._select(play.choose_scan, play.place_scan, header, t, chosen)
        i = chosen[0]
        pulls[i] += 1
        if random.uniform(losses) >= loss:
            late.send(delays, t, i, problems.pull(arms, i, rewards))
        e = late.arrive(delays, t)
        while e >= 0:
            rounds.receive(rule, state, delays.arm[e], delays.reward[e])
            e = late.arrive(delays, t)


def regrets(policy: Policy, delay: int, loss: float, pending_for: int | None, runs: int) -> Any:
    """Of every run the regret, and whether it is stuck. A seed has the same losses, whatever is asked."""
    arms = PROBLEM.arms()
    rule = policy.resolve(arms.gaps.size, HORIZON)
    pulls, chosen = np.zeros((runs, rule.arms), np.int64), np.zeros(1, np.int64)
    for run in range(runs):
        memory = new_memory(rule, policy_stream(1, run), "scan", pending_for=pending_for)
        losses, delays = random.generator(1, run, 3), ConstantDelay(delay).late(1, run)
        drive(memory.header, arms, reward_stream(1, run), delays, losses, loss, chosen, pulls[run], HORIZON)
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
