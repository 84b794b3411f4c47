"""One simulated round: thrifty's compiled loop beside the loop that one writes around another library.

Their rounds are those of bench/online.py: a decision, a reward that is drawn, an update, from Python. Some of
them have simulators of their own, which are such loops too.
"""

from common import Row, Run, progress, spread, steady
from contestants import BETA, GAUSSIAN, KL_UCB, OTHER, UCB1, Entrant
from turns import Extent, compare

import thrifty
from thrifty.policies import Policy

OURS: tuple[tuple[str, Policy], ...] = (
    (GAUSSIAN, thrifty.ThompsonSampling()),
    (BETA, thrifty.ThompsonSampling("beta")),
    (UCB1, thrifty.UCB1()),
    (KL_UCB, thrifty.KLUCB()),
    (OTHER, thrifty.TSMA()),
)


def far(arms: int) -> int:
    """A horizon far away, because from n = T/K pulls on the index of KL-UCB++ is the mean, at no cost."""
    return 10**7 * arms


def a_round(policy: Policy, arms: int, seconds: float, repeats: int, engine: str = "auto") -> Row:
    """What a round costs in the compiled loop: processor time and evaluations."""
    run = Run(policy, spread(arms), engine, horizon=far(arms))
    run.begin()
    run.play(1)  # compiled, and in memory
    before, began = run.evaluations, run.t
    (ns,) = steady([run.play], seconds, repeats)
    evaluations = (run.evaluations - before) / (run.t - began)
    return {"engine": run.engine, "arms": arms, "ns": ns, "evaluations": evaluations}


def ours(extent: Extent) -> list[Row]:
    rows = []
    for algorithm, policy in OURS:
        for arms in extent.sizes:
            progress(f"a simulated round, K = {arms:,}: thrifty, {policy.label}")
            label = "thrifty" if algorithm != OTHER else f"thrifty, {policy.label}"
            found = a_round(policy, arms, extent.slice, extent.repeats)
            rows.append({"contestant": label, "algorithm": algorithm} | found)
    return rows


def theirs(entrant: Entrant, extent: Extent) -> list[Row]:
    """Rows of one peer; its process stays open."""
    for arms in extent.sizes:
        compare([entrant], arms, extent)
    return [{"algorithm": entrant.algorithm} | shortened(row) for row in entrant.rows]


def shortened(row: Row) -> Row:
    """Without the single slices."""
    return {key: value for key, value in row.items() if key != "slices"}
