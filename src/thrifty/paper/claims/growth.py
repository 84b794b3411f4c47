"""How draws, regret and time grow with the horizon (results ``growth-T1e*``)."""

import math
from collections.abc import Callable
from functools import partial
from itertools import product

from thrifty import theory
from thrifty.paper.claim import (
    CLEAR,
    DIRECTION,
    FAILS,
    HOLDS,
    UNTESTABLE,
    Claim,
    Estimate,
    Results,
    draws_on,
    estimate,
    fewest_runs,
    plus_minus,
    regret,
    seconds_per_round,
    setting,
    short,
    slope,
)
from thrifty.policies import TSMA, TSTD, Policy, ThompsonSampling
from thrifty.simulation.result import Result

ALPHAS = (0.0, 0.5, 0.8, 1.0)  # of these experiments
VANILLA = ("figure1", "draws-m1")  # the results with Vanilla TS on the same problem, at two horizons
SETTLED = 100_000  # the horizon from which the time per round is not mostly the start of a run


def root_growth(results: Results) -> Claim:
    """See ``_suboptimal_growth``."""
    return _suboptimal_growth(results, 0.0, "√T ln^2.5(T), of order √T")


def polylogarithmic_growth(results: Results) -> Claim:
    """See ``_suboptimal_growth``."""
    return _suboptimal_growth(results, 1.0, "ln³(T), polylogarithmic")


def _suboptimal_growth(results: Results, alpha: float, order: str) -> Claim:
    """The exponent of the draws of a sub-optimal arm, from T/10 to T, for the largest T.

    Not testable if such an arm still draws in 90 % of the rounds: it has not left phase I, and the growth is
    linear by construction. Holds if the exponent is not clearly above that of the stated order over the
    same decade; in direction if it is clearly below 1, the exponent of Vanilla TS.
    """
    ordered = _by_horizon(results)
    (before, _), (last, _) = pair = list(ordered.items())[-2:]
    totals = {t: estimate(draws_on(one, TSTD(alpha), optimal=False)) for t, one in ordered.items()}
    exponent = slope([before, last], [totals[t] for t, _ in pair])
    logs = math.log(math.log(last) / math.log(before)) / math.log(last / before)
    stated = 0.5 * (1.0 - alpha) + 0.5 * (5.0 + alpha) * logs
    busy = totals[last].mean / last
    if busy >= 0.9:
        verdict = UNTESTABLE
    elif exponent.mean <= stated + CLEAR * exponent.error:
        verdict = HOLDS
    else:
        verdict = DIRECTION if Estimate(1.0 - exponent.mean, exponent.error).positive else FAILS
    return Claim(
        id=f"ts-td-{alpha:g}-growth-of-draws",
        place="Section 4.3; Section 6",
        claim=f"With α = {alpha:g}, TS-TD's draws for a sub-optimal arm grow like {order}.",
        paper=f"O({order.split(',')[0]}/gap²), exponent {stated:.2f} over the last decade",
        measured=f"exponent {exponent.mean:.2f} from T={short(before)} to {short(last)}, where such an arm "
        f"draws in {100 * busy:.0f} % of the rounds"
        + ("; it has not left phase I, so nothing of the order can be seen" if busy >= 0.9 else ""),
        error=plus_minus([exponent.error]),
        runs=fewest_runs(ordered),
        settings=f"{_range(ordered)}, α={alpha:g}; shares of T: "
        + ", ".join(f"{total.mean / t:.2f}" for t, total in totals.items()),
        verdict=verdict,
    )


def ts_ma_regret_order(results: Results) -> Claim:
    """See ``_regret_order``."""
    return _regret_order(results, TSMA, theory.ts_ma, "Section 4.2, Theorem 3")


def ts_td_regret_order(results: Results) -> Claim:
    """See ``_regret_order``; the bound is the paper's with its proof repaired."""
    return _regret_order(results, TSTD, theory.ts_td_repaired, "Section 4.3, Theorem 4")


def _regret_order(
    results: Results,
    kind: type[TSMA] | type[TSTD],
    bound: Callable[..., theory.Bound],
    place: str,
) -> Claim:
    """Holds if the regret is below the bound, with the proof's constants, wherever that is below T gap.

    Not testable if it says nothing at any of these horizons. The exponents over the last decade beside it
    show how far the order itself has come out.
    """
    ordered = _by_horizon(results)
    before, last = list(ordered)[-2:]
    shares: dict[str, float] = {}
    for (t, one), alpha in product(ordered.items(), ALPHAS):
        gaps = theory.positive_gaps(one.settings.problem.expectations.tolist())
        most = theory.total_regret(partial(bound, alpha=alpha), gaps, t)
        if most < t * max(gaps):
            shares[f"T={short(t)}, α={alpha:g}"] = float(regret(one, kind(alpha)).mean()) / most
    exponents = {
        alpha: slope([before, last], [estimate(regret(ordered[t], kind(alpha))) for t in (before, last)])
        for alpha in ALPHAS
    }
    logs = math.log(math.log(last) / math.log(before)) / math.log(last / before)
    closest = max(shares, key=lambda cell: shares[cell], default=None)
    return Claim(
        id=f"{kind.short.lower()}-regret-order",
        place=place,
        claim=f"The regret of {kind.short}-α is O(ln^(1+α)(T)/gap) for each sub-optimal arm.",
        paper="O(ln^(1+α)(T)/gap)",
        measured=(
            f"{100 * shares[closest]:.0f} % of the bound at most, where it says something ({closest})"
            if closest
            else "the bound, with its constants, says nothing at these horizons"
        )
        + f"; exponents from T={short(before)} to {short(last)}: "
        + ", ".join(
            f"{value.mean:.2f} (α={alpha:g}; the order has {(1.0 + alpha) * logs:.2f})"
            for alpha, value in exponents.items()
        ),
        error=plus_minus([value.error for value in exponents.values()], "on an exponent"),
        runs=fewest_runs(ordered),
        settings=f"{_range(ordered)}, {_fixed(ordered)}",
        verdict=UNTESTABLE if closest is None else HOLDS if max(shares.values()) <= 1.0 else FAILS,
    )


def steady_with_volume(results: Results) -> Claim:
    """Holds if the time per round at the largest T is less than twice that at T = 10^5, for both algorithms.

    Not testable if the times were lost with the provenance. Beside it, if it was played: Vanilla TS.
    """
    ordered = {t: one for t, one in _by_horizon(results).items() if t >= SETTLED}
    times = {policy.label: _times(ordered, policy) for policy in (TSMA(0.8), TSTD(0.8))}
    known = all(math.isfinite(value) for row in times.values() for value in row.values())
    steady = all(row[max(row)] < 2.0 * row[min(row)] for row in times.values())
    others = {one.settings.horizon: one for name, one in results.items() if name in VANILLA}
    vanilla = {t: value for t, value in _times(others, ThompsonSampling()).items() if math.isfinite(value)}
    if len(vanilla) > 1:
        times[ThompsonSampling().label] = vanilla
    return Claim(
        id="steady-with-volume",
        place="Appendix A",
        claim="Response stays steady as the volume of interactions grows.",
        paper="a steady response speed",
        measured="nanoseconds a round: "
        + ", ".join(
            f"{label} {row[min(row)]:.0f} (T={short(min(row))}) to {row[max(row)]:.0f} (T={short(max(row))})"
            for label, row in times.items()
        )
        if known
        else "the times of these results were not kept",
        error=None,
        runs=fewest_runs(ordered),
        settings=f"{_range(ordered)}, {_fixed(ordered)}",
        verdict=UNTESTABLE if not known else HOLDS if steady else FAILS,
    )


def _by_horizon(results: Results) -> dict[int, Result]:
    found = {one.settings.horizon: one for name, one in results.items() if name.startswith("growth-")}
    return dict(sorted(found.items()))


def _times(by_horizon: dict[int, Result], policy: Policy) -> dict[int, float]:
    """Nanoseconds per round."""
    return {t: 1e9 * seconds_per_round(one, policy) for t, one in by_horizon.items()}


def _fixed(ordered: dict[int, Result]) -> str:
    return setting(ordered[min(ordered)], horizon=False)


def _range(ordered: dict[int, Result]) -> str:
    return f"T from {short(min(ordered))} to {short(max(ordered))}"
