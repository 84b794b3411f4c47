"""The worst-case rates on the hard instance: one arm better by sqrt(K ln K / T) (results ``hard-K*-T1e*``).

No policy can lose more than T gap = sqrt(K T ln K) there. So the bounds, which are as large or larger, cannot
be contradicted; what can be seen is how close the regret comes to this ceiling, and how it grows with T.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial

from thrifty.paper.claim import (
    CLEAR,
    DIRECTION,
    FAILS,
    HOLDS,
    UNTESTABLE,
    Claim,
    Estimate,
    Results,
    estimate,
    fewest_runs,
    plus_minus,
    regret,
    short,
    slope,
)
from thrifty.paper.experiments import ARMS
from thrifty.policies import TSMA, TSTD, Policy, ThompsonSampling
from thrifty.simulation.result import Result

COMMON = 100_000  # the horizon at which K varies
TOLERANCE = 0.05  # of an exponent
OURS = (TSMA(0.0), TSMA(1.0), TSTD(1.0))

Shapes = Mapping[Policy, Callable[[float], float]]


def vanilla_horizon(results: Results) -> Claim:
    """See ``_rate``; the shape is sqrt(T)."""
    return _rate(results, "T", {ThompsonSampling(): math.sqrt}, "Section 4.1, Theorem 1", "√(KT ln K)")


def vanilla_arms(results: Results) -> Claim:
    """See ``_rate``; the shape is sqrt(K ln K)."""
    shapes: Shapes = {ThompsonSampling(): partial(_root_logarithm, power=1.0)}
    return _rate(results, "K", shapes, "Section 4.1, Theorem 1", "√(KT ln K)")


def ours_horizon(results: Results) -> Claim:
    """See ``_rate``; the shape is sqrt(T ln^(1+alpha) T)."""
    shapes: Shapes = {policy: partial(_root_logarithm, power=1.0 + policy.alpha) for policy in OURS}
    return _rate(results, "T", shapes, "Sections 4.2 and 4.3, Theorems 3 and 4", "√(KT ln^(1+α) T)")


def ours_arms(results: Results) -> Claim:
    """See ``_rate``; the shape is sqrt(K)."""
    shapes: Shapes = dict.fromkeys(OURS, math.sqrt)
    return _rate(results, "K", shapes, "Sections 4.2 and 4.3, Theorems 3 and 4", "√(KT ln^(1+α) T)")


def _root_logarithm(x: float, power: float) -> float:
    return math.sqrt(x * math.log(x) ** power)


def _rate(results: Results, axis: str, shapes: Shapes, place: str, order: str) -> Claim:
    """The exponent of the regret along one axis, against those of the stated shape and of the ceiling.

    In T, holds if it is at most 0.05 or 3 standard errors above the stated one; in direction if it is further
    above while the regret stays within a factor of 2 of the ceiling. In K, not testable: the regret comes
    closer to the ceiling as K grows, so that its exponent says nothing about the bound.
    """
    points = _along(results, axis)
    ceiling = slope(list(points), [Estimate(_most(one), 0.0) for one in points.values()]).mean
    verdicts, words, errors = [], [], []
    for policy, shape in shapes.items():
        values = [estimate(regret(one, policy)) for one in points.values()]
        exponent = slope(list(points), values)
        stated = slope(list(points), [Estimate(shape(x), 0.0) for x in points])
        ratios = [value.mean / _most(one) for value, one in zip(values, points.values(), strict=True)]
        excess = exponent.mean - stated.mean
        if axis == "K":
            verdicts.append(UNTESTABLE)
        elif excess <= TOLERANCE or excess <= CLEAR * exponent.error:
            verdicts.append(HOLDS)
        else:
            verdicts.append(DIRECTION if max(ratios) <= 2.0 * min(ratios) else FAILS)
        words.append(
            f"{policy.label} {exponent.mean:.2f} for {stated.mean:.2f}, "
            f"{min(ratios):.2f} to {max(ratios):.2f} of √(KT ln K)"
        )
        errors.append(exponent.error)
    name = "vanilla" if ThompsonSampling() in shapes else "ts-ma-ts-td"
    fixed = f"K={ARMS}" if axis == "T" else f"T={short(COMMON)}"
    limit = (
        ": nothing larger is possible here"
        if axis == "T"
        else ", so this instance cannot contradict the bound; a larger exponent means that the regret "
        "comes nearer to the ceiling"
    )
    return Claim(
        id=f"{name}-worst-case-{axis}",
        place=f"{place}; Appendix F",
        claim=f"The worst-case regret of {'Vanilla TS' if name == 'vanilla' else 'TS-MA and TS-TD'} is "
        f"O({order}); here its growth with {axis}.",
        paper=order,
        measured=f"exponents in {axis}: {'; '.join(words)}. The ceiling T gap = √(KT ln K) itself has "
        f"{ceiling:.2f}{limit}",
        error=plus_minus(errors, "on an exponent"),
        runs=fewest_runs(results),
        settings=f"gap √(K ln K / T), {fixed}, {axis} from {short(min(points))} to {short(max(points))}",
        verdict=max(verdicts, key=(HOLDS, DIRECTION, FAILS, UNTESTABLE).index),
    )


def _along(results: Results, axis: str) -> dict[float, Result]:
    """The results along one axis: K at the common horizon, or T at the paper's number of arms."""
    points = {}
    for one in results.values():
        arms, horizon = one.settings.problem.gaps.size, one.settings.horizon
        if axis == "T" and arms == ARMS:
            points[float(horizon)] = one
        if axis == "K" and horizon == COMMON:
            points[float(arms)] = one
    return dict(sorted(points.items()))


def _most(one: Result) -> float:
    arms, horizon = one.settings.problem.gaps.size, one.settings.horizon
    return math.sqrt(arms * horizon * math.log(arms))
