"""Hand-made results in which what the paper says is true, and ways to make single things untrue.

No policy is played here: the arrays are written down from formulas, with a small known spread of the runs.
"""

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from thrifty.paper.experiments import Experiment, experiments
from thrifty.policies import (
    TSMA,
    TSTD,
    EpsilonTS,
    ExpTS,
    ExpTSPlus,
    KLUCBPlusPlus,
    Policy,
    ThompsonSampling,
    batch_size,
)
from thrifty.simulation.plan import plan
from thrifty.simulation.result import Result

RUNS = 4
SPREAD = np.array([-1.0, 1.0, 0.5, -0.5])  # of the runs around their mean; mean 0, standard error 0.456


def world() -> dict[str, Result]:
    """Results by name, as ``gather`` would give them."""
    return {one.name: _made(one) for one in experiments(full=False)}


def changed(result: Result, policy: Policy, **factors: float) -> Result:
    """The result with a policy's ``regret``, ``draws`` or other array multiplied by a factor."""
    row = result.labels.index(policy.label)
    arrays = {}
    for name, factor in factors.items():
        array = getattr(result, name).astype(float)
        array[row] *= factor
        arrays[name] = array
    return dataclasses.replace(result, **arrays)


def redrawn(result: Result, policy: Policy, *, optimal: float, others: float) -> Result:
    """The result with other draws per optimal and per sub-optimal arm, almost alike in all runs."""
    row = result.labels.index(policy.label)
    draws = result.draws.astype(float)
    best = result.settings.problem.gaps == 0.0
    draws[row] = np.where(best, optimal, others) * (1.0 + 1e-4 * SPREAD[:, None])
    return dataclasses.replace(result, draws=draws)


def timed(result: Result, seconds: Callable[[Policy], float]) -> Result:
    """The result with other times per round."""
    total = result.settings.runs * result.settings.horizon
    kinds = {policy.label: policy for policy in (TSMA(0.8), TSTD(0.8), KLUCBPlusPlus(), ThompsonSampling())}
    return dataclasses.replace(
        result,
        provenance={
            "seconds": [total * seconds(kinds.get(label, KLUCBPlusPlus())) for label in result.labels]
        },
    )


def _made(one: Experiment) -> Result:
    settings = plan(one.policies, one.problem, one.horizon, RUNS, 1, one.prior, one.engine).settings
    gaps = one.problem.gaps
    moments = np.unique(np.geomspace(1, one.horizon, 40).round().astype(np.int64))
    regret = np.empty((len(one.policies), RUNS, moments.size))
    draws = np.empty((len(one.policies), RUNS, gaps.size))
    for p, policy in enumerate(one.policies):
        path = _regret(policy, one) * (moments / one.horizon) ** 0.2
        regret[p] = path * (1.0 + 0.002 * SPREAD[:, None])
        for best in (True, False):
            draws[p][:, (gaps == 0.0) == best] = _draws(policy, one, best)
        if not isinstance(policy, ThompsonSampling | TSMA) and policy != TSTD(0.0):
            draws[p] *= 1.0 + 1e-5 * SPREAD[:, None]
    seconds = [RUNS * one.horizon * 1e-6] * len(one.policies)
    return Result(
        settings=settings,
        checkpoints=moments,
        regret=regret,
        pulls=np.full(draws.shape, one.horizon // gaps.size),
        draws=draws,
        evaluations=draws.sum(axis=2),
        provenance={"seconds": seconds},
    )


def _regret(policy: Policy, one: Experiment) -> float:
    """What each policy loses in the end."""
    arms, t = one.problem.gaps.size, one.horizon
    if one.group == "worst-case":
        return 0.5 * math.sqrt(t * arms * (math.log(arms) if policy == ThompsonSampling() else 1.0))
    level = {ThompsonSampling: 1500.0, EpsilonTS: 1400.0, TSMA: 1900.0, TSTD: 2000.0, ExpTS: 400.0}
    if policy == TSTD(0.0) or (isinstance(policy, EpsilonTS) and policy.epsilon == 1.0):
        level[type(policy)] = level[ThompsonSampling]
    level |= {ExpTSPlus: 200.0, KLUCBPlusPlus: 280.0}
    law = 5.0 if getattr(policy, "law", "gaussian") == "beta" else 1.0
    growth = math.log(t) / math.log(1e5)
    return level[type(policy)] * (1.0 + 0.1 * getattr(policy, "alpha", 0.0)) * growth / law


def _draws(policy: Policy, one: Experiment, best: bool) -> float:
    """What each policy draws for one arm."""
    arms, t = one.problem.gaps.size, one.horizon
    m = int((one.problem.gaps == 0.0).sum())
    if isinstance(policy, ThompsonSampling | ExpTS) or policy == TSTD(0.0):
        return t - arms if one.group != "growth" or best else _order(t, 0.0)
    if isinstance(policy, EpsilonTS | ExpTSPlus):
        return (getattr(policy, "epsilon", None) or 1.0 / arms) * (t - arms)
    if isinstance(policy, TSTD) and one.group == "arms":
        return t if best else 0.5 * t / (arms - 1)
    if isinstance(policy, TSTD):
        return (
            t
            if best
            else _order(t, policy.alpha)
            if one.group == "growth"
            else (1.0 - policy.alpha) * 3e5 + 2e4
        )
    if isinstance(policy, TSMA):
        share = 0.94 + 0.03 * (m - 1) / 9.0 if one.group != "arms" else 1.0
        size = batch_size(t, policy.alpha) if policy.sampling == "batch" else 1
        return size * t * (share / m if best else (1.0 - share) / (arms - m))
    return 0.0


def _order(t: int, alpha: float) -> float:
    """The order that the paper states, with a constant that keeps it below half of the rounds."""
    return 0.01 * t ** (0.5 * (1.0 - alpha)) * math.log(t) ** (0.5 * (5.0 + alpha))
