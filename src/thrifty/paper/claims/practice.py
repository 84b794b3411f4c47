"""What a practitioner is promised: any bounded reward (results ``bounded-*``), many arms (``cost-*``)."""

import math
from itertools import pairwise

import numpy as np

from thrifty.paper.claim import (
    DIRECTION,
    FAILS,
    HOLDS,
    UNTESTABLE,
    Claim,
    Results,
    estimate,
    fewest_runs,
    plus_minus,
    regret,
    seconds_per_round,
    setting,
    trajectory,
)
from thrifty.policies import TSMA, TSTD, EpsilonTS, Policy, ThompsonSampling
from thrifty.simulation.result import Result

# From the least regret up in Figure 1, with Bernoulli rewards.
ORDER: tuple[Policy, ...] = (
    EpsilonTS(),
    ThompsonSampling(),
    TSMA(0.0),
    TSMA(0.8),
    TSTD(0.8),
    TSTD(1.0),
)

LEARNS = 0.95  # the largest exponent of the regret that counts as learning; 1 means that nothing was learned


def any_bounded_reward(results: Results) -> Claim:
    """Holds if every policy learns on every problem, in a fixed order: that of ``ORDER``, by the means.

    It learns if no run gets stuck and the exponent of the regret over the last decade is at most 0.95
    (with Bernoulli rewards, TS-TD-1 has 0.90 at these K and T). In direction without the order.
    """
    exponents = [_last_exponent(one, policy) for one in results.values() for policy in ORDER]
    rows = [[one.labels.index(policy.label) for policy in ORDER] for one in results.values()]
    stuck = float(np.mean([one.stuck[row].mean() for one, row in zip(results.values(), rows, strict=True)]))
    ordered = all(
        regret(one, a).mean() < regret(one, b).mean() for one in results.values() for a, b in pairwise(ORDER)
    )
    learns = stuck == 0.0 and max(exponents) <= LEARNS
    finals = {policy.label: [estimate(regret(one, policy)) for one in results.values()] for policy in ORDER}
    first = next(iter(results.values()))
    return Claim(
        id="any-bounded-reward",
        place="Section 1; Section 4.2",
        claim="The algorithms work for any rewards with bounded support.",
        paper="any reward distribution with bounded support",
        measured="; ".join(
            f"{label} {', '.join(f'{value.mean:,.0f}' for value in row)}" for label, row in finals.items()
        )
        + f"; exponents over the last decade at most {max(exponents):.3f} (learning is counted up to "
        f"{LEARNS:g}), {100 * stuck:.0f} % of runs stuck"
        + f"; {'' if ordered else 'not '}in the order that they have in Figure 1",
        error=plus_minus([value.error for row in finals.values() for value in row]),
        runs=fewest_runs(results),
        settings=f"{setting(first)}; rewards: "
        + ", ".join(one.settings.problem.kind for one in results.values()),
        verdict=FAILS if not learns else HOLDS if ordered else DIRECTION,
    )


def steady_with_arms(results: Results) -> Claim:
    """Holds if the time per round grows less than 10-fold from K = 10 to the largest K, for both algorithms.

    In direction if for TS-MA alone; not testable if the times were lost with the provenance.
    """
    times = {policy: _times(results, policy) for policy in (TSMA(0.8), TSTD(0.8), ThompsonSampling())}
    known = all(math.isfinite(value) for row in times.values() for value in row.values())
    factors = {policy: row[max(row)] / row[min(row)] for policy, row in times.items()}
    if not known:
        verdict = UNTESTABLE
    elif factors[TSMA(0.8)] >= 10.0:
        verdict = FAILS
    else:
        verdict = HOLDS if factors[TSTD(0.8)] < 10.0 else DIRECTION
    arms = times[TSMA(0.8)]
    return Claim(
        id="steady-with-arms",
        place="Section 1; Appendix A",
        claim="Response stays steady as the number of arms grows.",
        paper="scalable; the number of draws does not depend on K",
        measured="microseconds a round: "
        + ", ".join(
            f"{policy.label} {1e6 * row[min(row)]:.2f} to {1e6 * row[max(row)]:,.1f}"
            for policy, row in times.items()
        )
        if known
        else "the times of these results were not kept",
        error=None,
        runs=fewest_runs(results),
        settings=f"K from {min(arms)} to {max(arms):,}, the first rounds, processor time",
        verdict=verdict,
    )


def _last_exponent(result: Result, policy: Policy) -> float:
    """d ln(regret) / d ln(t) over the last decade; 1 means that nothing was learned."""
    path = trajectory(result, policy).mean(axis=0)
    rounds = result.checkpoints
    start = int(np.abs(rounds - rounds[-1] / 10.0).argmin())
    return math.log(path[-1] / path[start]) / math.log(rounds[-1] / rounds[start])


def _times(results: Results, policy: Policy) -> dict[int, float]:
    """Seconds per round by the number of arms, from the results in which the policy was played."""
    return {
        one.settings.problem.gaps.size: seconds_per_round(one, policy)
        for one in results.values()
        if policy.label in one.labels
    }
