"""The claims of the paper, each decided by a stated rule from the results it needs."""

from collections.abc import Callable

from thrifty.paper.claim import Claim, Results
from thrifty.paper.claims import counts, growth, practice, regret, theory, ts_ma, ts_td, worst_case

COMPUTED: tuple[Callable[[], Claim], ...] = (
    theory.old_bound_vacuous,
    theory.lemma_every_pull,
    theory.lemma_enough_pulls,
    theory.theorem1_constants,
    theory.new_bound_practical,
    theory.ts_td_proof,
    theory.savings_cost,
    theory.epsilon_ts_guarantee,
    theory.not_asymptotically_optimal,
)

# By the beginning of the names of the results they need.
SIMULATED: dict[str, tuple[Callable[[Results], Claim], ...]] = {
    "figure1": (
        regret.ts_td_zero_is_vanilla,
        regret.epsilon_one_is_ts,
        regret.order_of_figure1,
        regret.law_over_schedule,
        regret.little_reward_given_up,
        regret.gaussian_never_optimal,
    ),
    "draws-": (
        ts_td.ts_td_zero_basically_vanilla,
        ts_td.ts_td_zero_draws,
        ts_td.ts_td_draws_one,
        ts_td.ts_td_draws_ten,
        ts_td.ts_td_draws_grow,
        ts_td.suboptimal_draws_negligible,
        ts_td.two_phases,
        ts_td.alpha_trades_ts_td,
        ts_ma.ts_ma_over_ninety,
        ts_ma.ts_ma_share_one,
        ts_ma.ts_ma_share_ten,
        ts_ma.ts_ma_share_grows,
        ts_ma.alpha_trades_ts_ma,
        ts_ma.vanilla_share,
        ts_ma.epsilon_ignores_m,
    ),
    "arms-": (
        counts.vanilla_draws,
        counts.epsilon_draws,
        counts.ts_ma_draws,
        counts.ts_ma_batch_draws,
        counts.ts_ma_draws_free_of_arms,
        counts.batch_pays,
        counts.ts_td_many_arms,
    ),
    "growth-": (
        growth.root_growth,
        growth.polylogarithmic_growth,
        growth.ts_ma_regret_order,
        growth.ts_td_regret_order,
        growth.steady_with_volume,
    ),
    "hard-": (
        worst_case.vanilla_horizon,
        worst_case.vanilla_arms,
        worst_case.ours_horizon,
        worst_case.ours_arms,
    ),
    "bounded-": (practice.any_bounded_reward,),
    "cost-": (practice.steady_with_arms,),
}

# What these claims say more if the results are there: other horizons and settings.
BESIDE = {"draws-": ("share-", "grid-", "growth-"), "growth-": ("figure1", "draws-m1")}


def claims(results: Results) -> list[Claim]:
    """All claims that these results (of ``experiments``, by name) can decide, in the order of the page."""
    found = [compute() for compute in COMPUTED]
    for beginning, decide in SIMULATED.items():
        if any(name.startswith(beginning) for name in results):
            useful = (beginning, *BESIDE.get(beginning, ()))
            known = {name: result for name, result in results.items() if name.startswith(useful)}
            found += [one(known) for one in decide]
    return found
