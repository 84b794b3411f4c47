"""All bounds for one problem and horizon, as rows that a table can print."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from thrifty import checks
from thrifty.schedules.batch import phi
from thrifty.theory import worst_case as wc
from thrifty.theory.anytime import ts_ma_anytime, ts_ma_anytime_draws, ts_td_anytime, ts_td_anytime_draws
from thrifty.theory.bound import Bound, nonvacuous_from, positive_gaps, total_regret
from thrifty.theory.draws import ts_ma_draws, ts_td_draws, vanilla_draws
from thrifty.theory.epsilon_ts import epsilon_ts_sharp
from thrifty.theory.limits import first_order, vanilla_limit
from thrifty.theory.lower import lower_bound
from thrifty.theory.sleepers import sleepers_draws, tosses
from thrifty.theory.ts_ma import ts_ma, ts_ma_sharp
from thrifty.theory.ts_ma_beta import ts_ma_beta_exponent, ts_ma_beta_sharp
from thrifty.theory.ts_td import ts_td_as_written, ts_td_refined, ts_td_repaired, ts_td_sharp
from thrifty.theory.vanilla import agrawal_goyal, best_split, refined, sharp, theorem1

ALPHAS = (0.0, 1.0)  # the two ends, when the caller names none


class Row(NamedTuple):
    """One bound. What does not apply to it is None."""

    name: str
    regret: float
    """The bound on the regret at the horizon, summed over the arms."""
    coefficient: float | None
    """What stands before growth/gap^2 in the pulls of an arm: the largest over the arms, where they differ.
    Of the asymptotic lower bound: what stands before ln T in the regret."""
    nonvacuous_from: float | None
    """The horizon from which the bound is below T times the largest gap."""
    draws: float | None
    """Posterior samples in all; for TS-TD an upper bound."""


def table(means: Sequence[float], horizon: float, alpha: float | Sequence[float] | None = None) -> list[Row]:
    """The bounds for Bernoulli rewards with these means; but for the first and those of Beta samples, for any
    rewards in [0, 1].

    ``alpha`` is one value or several; None means 0 and 1.

    >>> for row in table([0.9, 0.8], 1e6)[:4]:
    ...     print(f"{row.name:36} {row.regret:9.3g} {row.nonvacuous_from or 0.0:9.3g}")
    asymptotic lower bound                    31.1         0
    Vanilla TS, Agrawal-Goyal             5.75e+32  1.33e+34
    Vanilla TS, Theorem 1                 1.19e+05  1.21e+06
    Vanilla TS, refined (ours)            1.77e+03  9.34e+03
    """
    horizon = checks.at_least("horizon", horizon, 3.0)
    gaps = positive_gaps(means)
    arms = len(means)
    least = lower_bound(means)
    rows = [Row("asymptotic lower bound", least * math.log(horizon), least, None, None)]

    def add(name: str, bound: Callable[[float, float], Bound], draws: float | None) -> None:
        coefficient = max((bound(gap, horizon).coefficient for gap in gaps), default=None)
        start = nonvacuous_from(lambda t: total_regret(bound, gaps, t), max(gaps)) if gaps else None
        rows.append(Row(name, total_regret(bound, gaps, horizon), coefficient, start, draws))

    def add_worst_case(name: str, regret: Callable[[int, float], float], draws: float) -> None:
        if gaps:
            start = nonvacuous_from(lambda t: regret(arms, t), max(gaps))
            rows.append(Row(name, regret(arms, horizon), None, start, draws))

    fresh = vanilla_draws(arms, horizon)
    add("Vanilla TS, Agrawal-Goyal", agrawal_goyal, fresh)
    add("Vanilla TS, Theorem 1", theorem1, fresh)
    add("Vanilla TS, refined (ours)", refined, fresh)
    add("Vanilla TS, refined, best split (ours)", _refined_best, fresh)
    add("Vanilla TS, sharp (ours)", sharp, fresh)
    add("Vanilla TS on marks, sharp (ours)", sharp, sleepers_draws(arms) * horizon)
    two, limit = 2.0 if gaps else None, vanilla_limit(means) * math.log(horizon)
    rows.append(Row("Vanilla TS, limit (ours)", limit, two, None, fresh))
    add_worst_case("Vanilla TS, worst case", wc.theorem1_worst_case, fresh)
    add_worst_case("Vanilla TS, worst case, refined (ours)", wc.refined_worst_case, fresh)
    one = 1.0 / arms  # the usual epsilon: one draw a round
    add("ε-TS (ε = 1/K), sharp (ours)", partial(epsilon_ts_sharp, epsilon=one), one * fresh)
    best, bad = max(means), Counter(mean for mean in means if mean < max(means))

    def add_beta(name: str, samples: Callable[[float], float]) -> None:
        def bound(mean: float, t: float) -> Bound:
            return ts_ma_beta_sharp(mean, best, t, samples(t))

        def regret(t: float) -> float:
            return math.fsum(count * bound(mean, t).regret for mean, count in bad.items())

        largest = max((bound(mean, horizon).coefficient for mean in bad), default=None)
        start = nonvacuous_from(regret, max(gaps)) if gaps else None
        rows.append(Row(name, regret(horizon), largest, start, ts_ma_draws(horizon)))

    add_beta("TS-MA-0 (beta), sharp (ours)", lambda t: math.ceil(phi(t, 0.0)))
    add_beta("TS-MA-0 (beta, φ = T), sharp (ours)", lambda t: t)
    for value in _alphas(alpha):
        aggregate = ts_ma_draws(horizon)
        order = math.fsum(gap * first_order(gap, horizon, value) for gap in gaps)
        rows.append(Row(f"TS-MA-{value:g}, TS-TD-{value:g}, first order (ours)", order, two, None, None))
        add(f"TS-MA-{value:g}", partial(ts_ma, alpha=value), aggregate)
        add(f"TS-MA-{value:g}, sharp (ours)", partial(ts_ma_sharp, alpha=value), aggregate)
        again = ts_ma_anytime_draws(arms, horizon)
        add(f"TS-MA-{value:g}, anytime (ours)", partial(ts_ma_anytime, alpha=value, arms=arms), again)
        add_worst_case(f"TS-MA-{value:g}, worst case", partial(wc.ts_ma_worst_case, alpha=value), aggregate)
        duel = ts_td_draws(means, horizon, value)
        add(f"TS-TD-{value:g}, as written", partial(ts_td_as_written, alpha=value), duel)
        add(f"TS-TD-{value:g}, repaired", partial(ts_td_repaired, alpha=value), duel)
        add(f"TS-TD-{value:g}, refined (ours)", partial(ts_td_refined, alpha=value), duel)
        add(f"TS-TD-{value:g}, sharp (ours)", partial(ts_td_sharp, alpha=value), duel)
        again = ts_td_anytime_draws(means, horizon, value)
        add(f"TS-TD-{value:g}, anytime (ours)", partial(ts_td_anytime, alpha=value, arms=arms), again)
        add_worst_case(f"TS-TD-{value:g}, worst case", partial(wc.ts_td_worst_case, alpha=value), duel)
    return rows


def remarks(
    means: Sequence[float], horizon: float, alpha: float | Sequence[float] | None = None
) -> list[str]:
    """What is known beside the bounds where one arm is the best, in sentences: how much chance a run of
    Vanilla TS needs, and what TS-MA with Beta samples and the paper's phi loses in the long run.

    >>> for line in remarks([0.9, 0.8], 1e6):
    ...     print(line)
    Vanilla TS: the decisions of a run have at most 86,108 bits of entropy (Theorem M)
    TS-MA-0 (beta) with the paper's φ: regret T^0.285 in the long run (Theorem L)
    """
    gaps = positive_gaps(means)
    if not gaps or len(gaps) < len(means) - 1:
        return []
    pulls = min(len(gaps) * horizon, math.fsum(sharp(gap, horizon).pulls for gap in gaps))
    bits = min(tosses(pulls, len(means), horizon), horizon * math.log2(len(means)))
    lines = [f"Vanilla TS: the decisions of a run have at most {bits:,.0f} bits of entropy (Theorem M)"]
    for value in _alphas(alpha):
        if power := ts_ma_beta_exponent(means, value):
            least, theorem = ("", "L") if value == 0.0 else ("at least ", "N")
            lines.append(
                f"TS-MA-{value:g} (beta) with the paper's φ: regret {least}T^{power:.3f} in the long run "
                f"(Theorem {theorem})"
            )
    return lines


def _alphas(alpha: float | Sequence[float] | None) -> Sequence[float]:
    if alpha is None:
        return ALPHAS
    return checks.numbers("alpha", [alpha] if isinstance(alpha, float | int) else alpha)


def _refined_best(gap: float, horizon: float) -> Bound:
    return refined(gap, horizon, best_split(gap, horizon))
